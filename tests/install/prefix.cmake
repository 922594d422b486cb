# Installs the build tree BUILT, and then moves what was installed to PREFIX: nothing may hang on where it was first, nor on the CLONE.
# Folders that were there before keep their modes, those of a group's folder here.
# Beside it, a copy of the package without the Kokkos that it needs.
file(REMOVE_RECURSE ${PREFIX} ${PREFIX}_first ${PREFIX}_without_kokkos)
file(MAKE_DIRECTORY ${PREFIX}_first/bin ${PREFIX}_first/include ${PREFIX}_first/lib)
execute_process(COMMAND chmod -R 2770 ${PREFIX}_first COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILT} --prefix ${PREFIX}_first COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND stat -c %a . bin include lib
  WORKING_DIRECTORY ${PREFIX}_first
  OUTPUT_VARIABLE modes COMMAND_ERROR_IS_FATAL ANY)
if(NOT modes STREQUAL "2770\n2770\n2770\n2770\n")
  message(FATAL_ERROR "the prefix, bin, include and lib had mode 2770, and have\n${modes}")
endif()
file(RENAME ${PREFIX}_first ${PREFIX})
file(GLOB_RECURSE files ${PREFIX}/*/coir-*.cmake)
foreach(file IN LISTS files)
  file(STRINGS ${file} lines REGEX "${CLONE}/|${PREFIX}_first/")
  if(lines)
    message(SEND_ERROR "${file} names what isn't installed: ${lines}")
  endif()
endforeach()
file(COPY ${PREFIX}/${PACKAGE_DIR} DESTINATION ${PREFIX}_without_kokkos/lib/cmake)
