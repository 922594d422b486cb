# Installs the build tree BUILT, and then moves what was installed to PREFIX: nothing may hang on where it was first, nor on the CLONE.
# Beside it, a copy of the package without the Kokkos that it needs.
file(REMOVE_RECURSE ${PREFIX} ${PREFIX}_first ${PREFIX}_without_kokkos)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILT} --prefix ${PREFIX}_first COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${PREFIX}_first ${PREFIX})
file(GLOB_RECURSE files ${PREFIX}/*/coir-*.cmake)
foreach(file IN LISTS files)
  file(STRINGS ${file} lines REGEX "${CLONE}/|${PREFIX}_first/")
  if(lines)
    message(SEND_ERROR "${file} names what isn't installed: ${lines}")
  endif()
endforeach()
file(COPY ${PREFIX}/${PACKAGE_DIR} DESTINATION ${PREFIX}_without_kokkos/lib/cmake)
