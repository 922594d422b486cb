# Finds Kokkos and checks its version here rather than in find_package: the version file that Kokkos 3
# installs refuses every range that crosses a major version, so "3.4.1...<6" would turn 3.4.1 away.
find_package(Kokkos REQUIRED)
if(Kokkos_VERSION VERSION_LESS 3.4.1 OR Kokkos_VERSION VERSION_GREATER_EQUAL 6)
  message(
    FATAL_ERROR
      "coir needs Kokkos 3.4.1 or newer, below 6, and found ${Kokkos_VERSION} in ${Kokkos_DIR}. "
      "Name another with -DKokkos_ROOT=<prefix>, or use a preset, which brings one.")
endif()
include(${CMAKE_CURRENT_LIST_DIR}/kokkos_targets.cmake)
