# A prefix that has somebody else's Kokkos is left as it is.
set(prefix ${FOLDER}/prefix)
file(REMOVE_RECURSE ${FOLDER})
file(WRITE ${prefix}/lib/cmake/Kokkos/KokkosConfig.cmake "# somebody's\n")
execute_process(
  COMMAND ${CMAKE_COMMAND} --install ${BUILT} --prefix ${prefix}
  OUTPUT_VARIABLE said
  ERROR_VARIABLE said
  RESULT_VARIABLE failed)
string(REGEX REPLACE "[ \n]+" " " said "${said}") # CMake breaks lines by the lengths of the paths in them
file(GLOB_RECURSE files RELATIVE ${prefix} ${prefix}/*)
if(NOT failed
   OR NOT said MATCHES "has a Kokkos already.*Kokkos_ROOT=.*COIR_INSTALL_KOKKOS=OFF"
   OR NOT files STREQUAL "lib/cmake/Kokkos/KokkosConfig.cmake")
  message(FATAL_ERROR "ended with ${failed}, the prefix has ${files}; said:\n${said}")
endif()
