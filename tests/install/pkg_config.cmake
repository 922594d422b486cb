# Compiles a user's program by a line with pkg-config, without CMake.
find_program(pkg_config NAMES pkg-config pkgconf)
if(NOT pkg_config)
  message("skipped: there is no pkg-config")
  return()
endif()
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
set(line "${COMPILE} -std=c++20 main.cpp $(${pkg_config} --cflags --libs coir-poisson) -o ${FOLDER}/program && ${FOLDER}/program")
message(STATUS "${line}")
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env "PKG_CONFIG_PATH=${PREFIX}/${LIBDIR}/pkgconfig" sh -ec "${line}"
  WORKING_DIRECTORY ${SOURCE}
  COMMAND_ERROR_IS_FATAL ANY)
