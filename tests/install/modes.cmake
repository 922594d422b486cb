# Kokkos that was built under umask 077 is installed by a user who may write to a folder of a group and owns nothing there: folders
# keep their modes, and everybody can read what comes. Root takes the part of both users; others can't, and skip it.
execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
find_program(setpriv setpriv)
if(NOT user EQUAL 0 OR NOT setpriv)
  message("skipped: it takes root, and setpriv of util-linux")
  return()
endif()

# run(COMMAND...): by a shell under umask 077 that stops at the first error, in a folder that everybody reaches
execute_process(COMMAND mktemp -d OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
function(run)
  list(JOIN ARGN " " line)
  execute_process(COMMAND sh -ec "umask 077; ${line}" WORKING_DIRECTORY ${folder} RESULT_VARIABLE failed OUTPUT_VARIABLE said
                  ERROR_VARIABLE said)
  if(failed)
    file(REMOVE_RECURSE ${folder})
    message(FATAL_ERROR "${line}: ended with ${failed}, said:\n${said}")
  endif()
  set(said "${said}" PARENT_SCOPE)
endfunction()

set(nobody "setpriv --reuid 65534 --regid 65534 --clear-groups")
file(COPY ${SOURCE}/cmake/install_kokkos.cmake ${SOURCE}/cmake/install_refuses.cmake DESTINATION ${folder}/cmake)
file(COPY ${SOURCE}/tests/install/modes/CMakeLists.txt DESTINATION ${folder})
run("mkdir -p built/lib/cmake/Kokkos built/include built/bin && touch built/coir-recipe.txt built/lib/cmake/Kokkos/KokkosConfig.cmake"
    "built/include/Kokkos_Core.hpp built/bin/nvcc_wrapper && chown -R 65534 . && chmod -R u+rwX,go+rX cmake CMakeLists.txt")
# The group's folder, which is root's, with another's package in it.
run("mkdir -p prefix/lib/cmake prefix/include && chgrp -R 65534 prefix && chown -R 0 prefix && chmod -R 2775 prefix")
run("${nobody} ${CMAKE_COMMAND} -S . -B build -D CMAKE_MAKE_PROGRAM=true --log-level=ERROR")
run("umask 022 && ${nobody} ${CMAKE_COMMAND} --install build --prefix ${folder}/prefix")
run("cd prefix && stat -c '%a %n' . lib include lib/cmake lib/cmake/Kokkos/* include/* bin/* | tr '\\n' ' '")
set(expected "2775 . 2775 lib 2775 include 2775 lib/cmake 644 lib/cmake/Kokkos/KokkosConfig.cmake \
644 lib/cmake/Kokkos/coir-recipe.txt 644 include/Kokkos_Core.hpp 755 bin/nvcc_wrapper ")
file(REMOVE_RECURSE ${folder})
if(NOT said STREQUAL expected)
  message(FATAL_ERROR "modes are   ${said}\nexpected is ${expected}")
endif()
