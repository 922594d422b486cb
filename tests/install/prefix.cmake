# Installs the build tree BUILT, and then moves what was installed to PREFIX: nothing may hang on where it was first.
# Beside it, a copy of the package without the Kokkos that it needs.
cmake_path(GET PREFIX PARENT_PATH folder)
file(REMOVE_RECURSE ${folder}/first ${PREFIX} ${folder}/without_kokkos)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILT} --prefix ${folder}/first COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${folder}/first ${PREFIX})
file(COPY ${PREFIX}/${PACKAGE_DIR} DESTINATION ${folder}/without_kokkos/lib/cmake)
