# A CMake dependency provider for Kokkos and Kokkos Kernels; every other package is left to find_package.
#
# The presets switch it on (CMAKE_PROJECT_TOP_LEVEL_INCLUDES). CMakeLists.txt knows nothing of it: without it,
# find_package searches as usual.
#
# A package is taken from the first of these that can serve it:
#   1. an installed package of a supported version that has the backend asked for (COIR_REQUIRE_BACKEND);
#   2. the source tree named by FETCHCONTENT_SOURCE_DIR_KOKKOS or FETCHCONTENT_SOURCE_DIR_KOKKOSKERNELS;
#   3. what an earlier configure run built from 4 or 5;
#   4. the pinned upstream release;
#   5. the distribution's own source package.
# What comes from source is built once for a backend, version, compiler and set of flags, and installed under
# COIR_DEPS_DIR, where later configure runs find it. Delete that folder to start afresh.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

set(COIR_DEPS_DIR "${CMAKE_CURRENT_LIST_DIR}/../.deps" CACHE PATH "Where Kokkos is kept once it was built from source")
cmake_path(ABSOLUTE_PATH COIR_DEPS_DIR BASE_DIRECTORY "${CMAKE_BINARY_DIR}" NORMALIZE)

set(COIR_KOKKOS_MINIMUM 3.4.1)
set(COIR_KOKKOS_LIMIT 6)
set(COIR_KOKKOS_KERNELS_COMPONENTS BLAS SPARSE)

include("${CMAKE_CURRENT_LIST_DIR}/dependencies/requirements.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/dependencies/build.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/dependencies/installed.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/dependencies/named_source.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/dependencies/release.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/dependencies/debian_source.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/dependencies/locate.cmake")

# A macro, because find_package sets its results in the scope of whoever called it.
macro(coir_provide_dependency method package)
  if("${package}" MATCHES "^(Kokkos|KokkosKernels)$")
    if("${package}" STREQUAL "KokkosKernels" AND NOT Kokkos_FOUND)
      find_package(Kokkos REQUIRED)
    endif()
    coir_locate(${package} ${ARGN})
    # The version was checked above. It is left out here because the version file of Kokkos 3 refuses every
    # range that crosses a major version, and with it the range that coir supports.
    set(coir_find_arguments ${ARGN})
    list(FILTER coir_find_arguments EXCLUDE REGEX "^[0-9.]+(\\.\\.\\.<?[0-9.]+)?$")
    list(REMOVE_ITEM coir_find_arguments EXACT)
    find_package(${package} ${coir_find_arguments} BYPASS_PROVIDER)
    unset(coir_find_arguments)
  endif()
endmacro()

cmake_language(SET_DEPENDENCY_PROVIDER coir_provide_dependency SUPPORTED_METHODS FIND_PACKAGE)
