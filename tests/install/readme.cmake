# Does what README.md says under "From C++", as it is printed: its shell lines, and its files in an empty folder.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER}/home ${FOLDER}/mine ${FOLDER}/clone/build)
file(CREATE_LINK ${BUILT} ${FOLDER}/clone/build/openmp SYMBOLIC)

# readme_block(LANGUAGE TEXT RESULT): the first block of LANGUAGE in README.md that has TEXT. (Semicolons are words of C++, so
# that no list can hold the page.)
file(READ ${README} page)
function(readme_block language text result)
  set(rest "${page}")
  string(FIND "${rest}" "\n```${language}\n" at)
  while(at GREATER_EQUAL 0)
    string(LENGTH "\n```${language}\n" length)
    math(EXPR at "${at} + ${length}")
    string(SUBSTRING "${rest}" ${at} -1 rest)
    string(FIND "${rest}" "\n```\n" end)
    string(SUBSTRING "${rest}" 0 ${end} found)
    string(FIND "${found}" "${text}" at)
    if(at GREATER_EQUAL 0)
      set(${result} "${found}\n" PARENT_SCOPE)
      return()
    endif()
    string(FIND "${rest}" "\n```${language}\n" at)
  endwhile()
  message(FATAL_ERROR "README.md has no block of ${language} with '${text}'")
endfunction()

# run(FOLDER LINES): by a shell that stops at the first error
function(run folder lines)
  message(STATUS "${lines}")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env HOME=${FOLDER}/home CXX=${COMPILER} sh -ec "${lines}"
    WORKING_DIRECTORY ${folder}
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()

readme_block(sh "cmake --install" install)
readme_block(cpp "int main" program)
readme_block(cmake "find_package(coir" lists)
readme_block(sh "cmake -G" build)
run(${FOLDER}/clone "${install}")
file(WRITE ${FOLDER}/mine/main.cpp "${program}")
file(WRITE ${FOLDER}/mine/CMakeLists.txt "${lists}")
run(${FOLDER}/mine "${build}")
