# Does what docs/install.md says, as it is printed: its shell lines, and its files in an empty folder. README.md's arrays
# link with the same CMakeLists.txt, and nothing warns.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER}/home ${FOLDER}/mine ${FOLDER}/clone/build)
file(CREATE_LINK ${BUILT} ${FOLDER}/clone/build/openmp SYMBOLIC)

# readme_block(LANGUAGE TEXT RESULT): the first block of LANGUAGE in either page that has TEXT, a regular expression
file(READ ${README} page)
file(READ ${INSTALL} install_page)
string(APPEND page "\n${install_page}")
function(readme_block language text result)
  if(NOT page MATCHES "\n```${language}\n([^`]*${text}[^`]*)```")
    message(FATAL_ERROR "README.md and docs/install.md have no block of ${language} with '${text}'")
  endif()
  set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

# run(FOLDER LINES): by a shell that stops at the first error
function(run folder lines)
  message(STATUS "${lines}")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env HOME=${FOLDER}/home CXX=${COMPILER} sh -ec "${lines}"
    WORKING_DIRECTORY ${folder}
    OUTPUT_VARIABLE said ECHO_OUTPUT_VARIABLE
    COMMAND_ERROR_IS_FATAL ANY)
  set(said "${said}" PARENT_SCOPE)
endfunction()

readme_block(sh "cmake --install" install)
readme_block(cpp "int main" program)
readme_block(cmake "find_package" lists)
readme_block(sh "cmake -G" build)
readme_block(cpp "coir/array/all.hpp" arrays)
string(REPLACE "#include <coir/array/all.hpp>" "" arrays "${arrays}")
run(${FOLDER}/clone "${install}")
file(WRITE ${FOLDER}/mine/main.cpp "${program}")
file(WRITE ${FOLDER}/mine/arrays.cpp "#include <coir/array/all.hpp>\nfloat arrays();\nfloat arrays() {\n${arrays}\nreturn largest;\n}\n")
file(WRITE ${FOLDER}/mine/CMakeLists.txt "${lists}target_sources(mine PRIVATE arrays.cpp)\n"
     "target_compile_options(mine PRIVATE -Wall -Wextra -Werror)\n")
run(${FOLDER}/mine "${build}")
if(NOT page MATCHES "prints\n\n```\n(1000 sweeps [^\n]*)\n")
  message(FATAL_ERROR "docs/install.md doesn't say what its program prints")
endif()
string(FIND "${said}" "${CMAKE_MATCH_1}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "docs/install.md says that its program prints: ${CMAKE_MATCH_1}\nIt prints: ${said}")
endif()
