# Builds a target that must not compile, and looks at what the compiler says: first of all the message that is asked
# for, then at most one more error, and all of it on a screen.
#   cmake -D BUILD=folder -D TARGET=name -D MESSAGE=words -D SCREEN=lines -D NINJA=program -P misuse.cmake
# Without a message the target must compile. Ninja is asked for the compiler's command alone, so that several of these can run at
# a time: two Ninjas must not work in a folder together.
execute_process(COMMAND ${NINJA} -C ${BUILD} -t commands ${TARGET} OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "[^\n]* -o ([^ \n]+) -c [^\n]*/misuse.cpp" line "${lines}")
if(NOT line)
  message(FATAL_ERROR "Ninja names no command that compiles ${TARGET}: ${lines}")
endif()
cmake_path(GET CMAKE_MATCH_1 PARENT_PATH folder)
file(MAKE_DIRECTORY ${BUILD}/${folder})
execute_process(COMMAND sh -c "${line}" WORKING_DIRECTORY ${BUILD} RESULT_VARIABLE status OUTPUT_VARIABLE output
                ERROR_VARIABLE output)
message("${output}")
if(NOT MESSAGE)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "it doesn't compile")
  endif()
  return()
endif()

string(REGEX MATCH ": error: [^\n]*" first "${output}")
string(FIND "${first}" "${MESSAGE}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "the first error must say: ${MESSAGE}")
endif()
string(REGEX MATCHALL "\n" lines "${output}")
list(LENGTH lines lines)
string(REGEX MATCHALL ": error: " errors "${output}")
list(LENGTH errors errors)
if(errors GREATER 2 OR lines GREATER SCREEN)
  message(FATAL_ERROR "${errors} errors in ${lines} lines are more than 2 errors, or more than a screen of ${SCREEN} lines")
endif()
