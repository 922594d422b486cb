# Debian's binary packages carry Kokkos as a part of Trilinos, whose config files make targets of other names and
# may name include folders that do not exist. Makes upstream's targets from them. Included after
# find_package(Kokkos) and after find_package(KokkosKernels).
if(Kokkos_FOUND AND NOT TARGET Kokkos::kokkos)
  find_path(coir_include Kokkos_Core.hpp HINTS ${Kokkos_INCLUDE_DIRS} PATH_SUFFIXES trilinos NO_CACHE REQUIRED)
  add_library(Kokkos::kokkos INTERFACE IMPORTED)
  set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_LINK_LIBRARIES "${Kokkos_LIBRARIES}"
                                                  INTERFACE_INCLUDE_DIRECTORIES "${coir_include}")
  unset(coir_include)
endif()
if(KokkosKernels_FOUND AND NOT TARGET Kokkos::kokkoskernels)
  add_library(Kokkos::kokkoskernels INTERFACE IMPORTED)
  set_target_properties(Kokkos::kokkoskernels PROPERTIES INTERFACE_LINK_LIBRARIES
                                                         "${KokkosKernels_LIBRARIES};Kokkos::kokkos")
endif()
