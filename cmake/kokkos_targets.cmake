# Debian's binary packages carry Kokkos as a part of Trilinos, whose config files make targets of other names.
# Gives them upstream's names. Included after find_package(Kokkos) and after find_package(KokkosKernels).
if(Kokkos_FOUND AND NOT TARGET Kokkos::kokkos)
  add_library(Kokkos::kokkos INTERFACE IMPORTED)
  set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_LINK_LIBRARIES "${Kokkos_LIBRARIES}"
                                                  INTERFACE_INCLUDE_DIRECTORIES "${Kokkos_INCLUDE_DIRS}")
endif()
if(KokkosKernels_FOUND AND NOT TARGET Kokkos::kokkoskernels)
  add_library(Kokkos::kokkoskernels INTERFACE IMPORTED)
  set_target_properties(
    Kokkos::kokkoskernels PROPERTIES INTERFACE_LINK_LIBRARIES "${KokkosKernels_LIBRARIES};Kokkos::kokkos"
                                     INTERFACE_INCLUDE_DIRECTORIES "${KokkosKernels_INCLUDE_DIRS}")
endif()
