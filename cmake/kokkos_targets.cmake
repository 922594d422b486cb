# Mends what Debian's binary packages leave amiss: they carry Kokkos as a part of Trilinos, and there the target
# Kokkos::kokkos names an include folder that does not exist, and Kokkos::kokkoskernels is missing. Included after
# find_package(Kokkos) and after find_package(KokkosKernels).
if(TARGET Kokkos::kokkos AND Kokkos_INCLUDE_DIRS MATCHES "trilinos")
  set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Kokkos_INCLUDE_DIRS}")
endif()
if(KokkosKernels_FOUND AND NOT TARGET Kokkos::kokkoskernels)
  add_library(Kokkos::kokkoskernels INTERFACE IMPORTED)
  set_target_properties(Kokkos::kokkoskernels PROPERTIES INTERFACE_LINK_LIBRARIES
                                                         "${KokkosKernels_LIBRARIES};Kokkos::kokkos")
endif()
