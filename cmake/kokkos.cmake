# Finds Kokkos, or takes the one that the project around this one builds, and checks its version here rather than in
# find_package: the version file that Kokkos 3 installs refuses every range that crosses a major version, so
# "3.4.1...<6" would turn 3.4.1 away.
if(TARGET Kokkos::kokkos AND NOT Kokkos_FOUND) # by add_subdirectory or FetchContent: nothing but targets, seen from here
  get_target_property(coir_kokkos Kokkos::kokkos SOURCE_DIR)
  get_directory_property(Kokkos_DIR DIRECTORY ${coir_kokkos} DEFINITION PROJECT_BINARY_DIR)
  get_directory_property(Kokkos_VERSION DIRECTORY ${coir_kokkos} DEFINITION Kokkos_VERSION)
  foreach(coir_set IN ITEMS DEVICES OPTIONS TPLS)
    get_directory_property(Kokkos_${coir_set} DIRECTORY ${coir_kokkos} DEFINITION KOKKOS_ENABLED_${coir_set})
  endforeach()
  unset(coir_kokkos)
else()
  find_package(Kokkos REQUIRED)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/kokkos_lacks.cmake)
coir_kokkos_lacks(coir_lacks)
if(Kokkos_VERSION VERSION_LESS 3.4.1 OR Kokkos_VERSION VERSION_GREATER_EQUAL 6 OR coir_lacks)
  message(
    FATAL_ERROR
      "coir needs Kokkos 3.4.1 or newer, below 6, with all that was asked for, and found ${Kokkos_VERSION} in ${Kokkos_DIR}, "
      "which has ${Kokkos_DEVICES} and lacks '${coir_lacks}'.\n"
      "Remedy, one of:\n"
      "  - name another one, for a fresh build folder: -DKokkos_ROOT=<prefix>\n"
      "  - use a preset (cmake --list-presets), which builds one where none is installed\n"
      "  - configure for a backend it has: -DCOIR_REQUIRE_BACKEND=<backend>")
endif()
# Clang compiles for CUDA, too, and needs none of what nvcc must be told.
set(COIR_BY_NVCC OFF)
if(Kokkos_DEVICES MATCHES "CUDA" AND NOT "${Kokkos_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_ID}" MATCHES "Clang")
  set(COIR_BY_NVCC ON)
endif()
if(Kokkos_DEVICES MATCHES "CUDA|HIP") # nvcc and hipcc compile each source twice, and can't start from a precompiled header
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
# For CUDA, Kokkos' script before each command turns g++ into nvcc. It doesn't know g++ behind another launcher.
get_property(coir_launcher GLOBAL PROPERTY RULE_LAUNCH_COMPILE)
if(coir_launcher MATCHES "kokkos_launch_compiler" AND CMAKE_CXX_COMPILER_LAUNCHER)
  message(STATUS "Compiling without ${CMAKE_CXX_COMPILER_LAUNCHER} of CMAKE_CXX_COMPILER_LAUNCHER, "
                 "behind which Kokkos' script for nvcc wouldn't find the compiler")
  set(CMAKE_CXX_COMPILER_LAUNCHER "")
endif()
unset(coir_launcher)
include(${CMAKE_CURRENT_LIST_DIR}/kokkos_targets.cmake)
