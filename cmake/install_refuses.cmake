# Run by cmake --install: stops where the prefix has a `package` that coir didn't put there.
set(prefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
set(config cmake/${package}/${package}Config.cmake)
file(GLOB configs "${prefix}/lib*/${config}" "${prefix}/lib/*/${config}")
foreach(config IN LISTS configs)
  cmake_path(GET config PARENT_PATH folder)
  if(NOT EXISTS "${folder}/coir-recipe.txt")
    message(
      FATAL_ERROR # lines that begin with spaces are printed as they are
        "  ${prefix} has a ${package} already, in ${folder}; the one that was built for coir would be mixed with it.\n"
        "Remedy, one of:\n"
        "  - build coir with that one: -D ${package}_ROOT=${prefix}\n"
        "  - install into another prefix: cmake --install <build folder> --prefix <prefix>\n"
        "  - let coir's stay where it was built, ${built}: -D COIR_INSTALL_KOKKOS=OFF")
  endif()
endforeach()
