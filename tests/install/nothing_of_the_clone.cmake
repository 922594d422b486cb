# The project built in FOLDER compiles and links nothing of the CLONE, apart from its own sources there: an installed coir
# must outlive it.
string(REPLACE "[" "[[]" folder "${FOLDER}") # for file(GLOB), which takes it for the beginning of a set
file(GLOB_RECURSE files ${folder}/build.ninja ${folder}/link.txt ${folder}/flags.make)
if(NOT files)
  message(FATAL_ERROR "no files of a generator in ${FOLDER}")
endif()
foreach(file IN LISTS files)
  file(STRINGS ${file} lines REGEX "${CLONE}/")
  foreach(line IN LISTS lines)
    string(REPLACE "${INSTALLED}" "" line "${line}")
    string(REPLACE "${FOLDER}" "" line "${line}")
    string(REPLACE "${CLONE}/tests/install" "" line "${line}")
    if(line MATCHES "${CLONE}/[^ ]*")
      message(SEND_ERROR "${file} names ${CMAKE_MATCH_0}")
    endif()
  endforeach()
endforeach()
