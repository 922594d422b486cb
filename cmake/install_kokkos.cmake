# Installs Kokkos and Kokkos Kernels beside coir where the dependency provider built them for it: users then need neither
# the clone nor its .deps/. A Kokkos from elsewhere stays where it is, and coirConfig.cmake finds it there again.
# Sets coir_<package>_beside to the folder of the package's config file below the prefix, or to nothing.
option(COIR_INSTALL_KOKKOS "Install beside coir the Kokkos that was built for it" ON)

foreach(package IN ITEMS Kokkos KokkosKernels)
  set(coir_${package}_beside "")
  cmake_path(SET built NORMALIZE "${${package}_DIR}/../../..")
  if(COIR_INSTALL_KOKKOS AND ${package}_FOUND AND EXISTS "${built}/coir-recipe.txt") # the provider's mark
    cmake_path(RELATIVE_PATH ${package}_DIR BASE_DIRECTORY "${built}" OUTPUT_VARIABLE coir_${package}_beside)
    # Before anything is installed, and for that reason above all other rules: nobody else's is written over.
    install(CODE "set(package ${package})\nset(built [==[${built}]==])")
    install(SCRIPT "${CMAKE_CURRENT_LIST_DIR}/install_refuses.cmake")
  endif()
endforeach()
# File by file: install(DIRECTORY) would give the prefix and its folders, which may be anybody's, the modes of those in .deps/.
foreach(package IN ITEMS Kokkos KokkosKernels)
  if(coir_${package}_beside)
    cmake_path(SET built NORMALIZE "${${package}_DIR}/../../..")
    file(GLOB_RECURSE files LIST_DIRECTORIES OFF "${built}/*")
    foreach(file IN LISTS files)
      cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${built}" OUTPUT_VARIABLE relative)
      cmake_path(GET relative PARENT_PATH folder)
      if(folder STREQUAL "bin")
        install(PROGRAMS "${file}" DESTINATION bin)
      elseif(folder) # not coir-recipe.txt
        install(FILES "${file}" DESTINATION "${folder}")
      endif()
    endforeach()
    install(FILES "${built}/coir-recipe.txt" DESTINATION ${coir_${package}_beside})
  endif()
endforeach()
