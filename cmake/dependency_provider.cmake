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
#   5. the distribution's own source package, for hosts.
# What comes from source is built once for a backend, version, compiler and set of flags, and installed under
# COIR_DEPS_DIR, where later configure runs find it. Delete that folder to start afresh. A build tree keeps what it has found, as with
# find_package: cmake --fresh searches again.

include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

set(COIR_DEPS_DIR "${CMAKE_CURRENT_LIST_DIR}/../.deps" CACHE PATH "Where Kokkos is kept once it was built from source")
cmake_path(ABSOLUTE_PATH COIR_DEPS_DIR BASE_DIRECTORY "${CMAKE_BINARY_DIR}" NORMALIZE)
set(COIR_RELEASE_BASE_URL "https://github.com/kokkos"
    CACHE STRING "Where the releases of kokkos and kokkos-kernels are downloaded from (a mirror has the same paths)")
mark_as_advanced(COIR_RELEASE_BASE_URL)
set(coir_name_of_Kokkos kokkos)
set(coir_name_of_KokkosKernels kokkos-kernels)
set(COIR_RELEASE 4.7.02)
set(COIR_RELEASE_SHA256_Kokkos a81826ac0a167933d13506bc2a986fb5517038df9abb780fe9bb2c1d4e80803b)
set(COIR_RELEASE_SHA256_KokkosKernels 2d3b3e10ac112e382b88c50d66e4222ce543fca5d42be6d8376a684b82b8b238)

include("${CMAKE_CURRENT_LIST_DIR}/kokkos_lacks.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/dependencies/build.cmake")

# A macro, because find_package sets its results in the scope of whoever called it.
macro(coir_provide_dependency method package)
  if("${package}" MATCHES "^(Kokkos|KokkosKernels)$")
    if("${package}" STREQUAL "KokkosKernels" AND NOT Kokkos_FOUND)
      find_package(Kokkos REQUIRED)
    endif()
    if(NOT EXISTS "${${package}_DIR}/${package}Config.cmake") # neither named by the user nor found by an earlier configure run
      coir_locate(${package} ${ARGN})
    endif()
    # kokkos.cmake checks the version. It is left out here because the version file of Kokkos 3 refuses every
    # range that crosses a major version, and with it the range that coir supports.
    set(coir_find_arguments ${ARGN})
    list(FILTER coir_find_arguments EXCLUDE REGEX "^[0-9.]+(\\.\\.\\.<?[0-9.]+)?$")
    list(REMOVE_ITEM coir_find_arguments EXACT)
    find_package(${package} ${coir_find_arguments} BYPASS_PROVIDER)
    unset(coir_find_arguments)
  endif()
endmacro()
cmake_language(SET_DEPENDENCY_PROVIDER coir_provide_dependency SUPPORTED_METHODS FIND_PACKAGE)

# Points PACKAGE_DIR at a package that fits, made if need be, or says why there is none.
function(coir_locate package)
  string(TOUPPER ${package} upper)
  set(tried "")
  foreach(source IN ITEMS installed named built release distribution)
    if(source STREQUAL "installed")
      coir_from_installed(${package} dir why)
    elseif(source STREQUAL "named")
      set(dir "")
      set(why "FETCHCONTENT_SOURCE_DIR_${upper} isn't set")
      if(FETCHCONTENT_SOURCE_DIR_${upper})
        coir_build(${package} "${FETCHCONTENT_SOURCE_DIR_${upper}}" dir why)
      endif()
    elseif(source STREQUAL "built")
      coir_built_dir(${package} "*" dir prefix)
      set(why "there is none in ${COIR_DEPS_DIR} with these settings")
    else()
      file(LOCK "${COIR_DEPS_DIR}/lock" GUARD FUNCTION TIMEOUT 3600) # one configure run at a time
      cmake_language(CALL coir_fetch_${source} ${package} folder why)
      set(dir "")
      if(folder)
        coir_build(${package} "${folder}" dir why)
      endif()
      file(LOCK "${COIR_DEPS_DIR}/lock" RELEASE)
    endif()
    if(dir)
      list(TRANSFORM tried PREPEND "\n--   and not ")
      message(STATUS "${package} (${source}): ${dir}" ${tried})
      set(${package}_DIR "${dir}" CACHE PATH "Folder of ${package}Config.cmake" FORCE)
      return()
    endif()
    string(REPLACE ";" "," why "${why}") # one item of the list, whatever it says
    list(APPEND tried "${source}: ${why}")
  endforeach()

  list(JOIN tried "\n  - " tried)
  set(mode STATUS)
  if("REQUIRED" IN_LIST ARGN)
    set(mode FATAL_ERROR)
    set(${package}_FOUND TRUE PARENT_SCOPE) # so that find_package adds no second error to this one
  endif()
  message(
    ${mode}
    "No ${package} with ${COIR_REQUIRE_BACKEND} could be had. Tried:\n  - ${tried}\n"
    "Remedy, one of (by 'cmake --preset <name> -D...', also before a workflow, which takes no -D):\n"
    "  - install ${package} with ${COIR_REQUIRE_BACKEND} and name its prefix: -D${package}_ROOT=<prefix>\n"
    "  - unpack its source and that of Kokkos Kernels, and name both: -DFETCHCONTENT_SOURCE_DIR_KOKKOS=<folder> "
    "-DFETCHCONTENT_SOURCE_DIR_KOKKOSKERNELS=<folder>\n"
    "  - make one of the download sources above reachable and configure again")
endfunction()

# An installed package. It is looked at from a separate small project (probe/), so that an unfit one leaves no
# imported targets behind in this build. Sets `dir` to the folder of its config file, or to nothing, and then `why` to the reason.
function(coir_from_installed package dir why)
  set(folder "${CMAKE_BINARY_DIR}/CMakeFiles/coir_probe/${package}")
  file(REMOVE_RECURSE "${folder}")
  file(MAKE_DIRECTORY "${folder}")
  set(options "-DCOIR_PROBE_PACKAGE=${package}")
  get_cmake_property(names CACHE_VARIABLES)
  list(FILTER names INCLUDE REGEX "^Kokkos_ENABLE_")
  foreach(name IN LISTS names ITEMS CMAKE_PREFIX_PATH CMAKE_TOOLCHAIN_FILE CMAKE_CXX_COMPILER CMAKE_MAKE_PROGRAM Kokkos_ROOT Kokkos_DIR
                                    KokkosKernels_ROOT CUDAToolkit_ROOT COIR_REQUIRE_BACKEND CMAKE_FIND_USE_CMAKE_SYSTEM_PATH)
    if(NOT "${${name}}" STREQUAL "")
      string(REPLACE ";" "\\;" value "${${name}}")
      list(APPEND options "-D${name}=${value}")
    endif()
  endforeach()
  execute_process(COMMAND "${CMAKE_COMMAND}" -G "${CMAKE_GENERATOR}" -S "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/dependencies/probe" -B "${folder}"
                          ${options} OUTPUT_FILE "${folder}.log" ERROR_FILE "${folder}.log")
  set(probed_dir "")
  set(probed_reason "its config file fails, see ${folder}.log")
  include("${folder}/found.cmake" OPTIONAL)
  set(${dir} "${probed_dir}" PARENT_SCOPE)
  set(${why} "${probed_reason}" PARENT_SCOPE)
endfunction()

# The pinned upstream release, downloaded and unpacked, all or nothing. Sets `folder` to that of its source, or to nothing, and then
# `why` to the reason.
function(coir_fetch_release package folder why)
  set(${folder} "" PARENT_SCOPE)
  set(url "${COIR_RELEASE_BASE_URL}/${coir_name_of_${package}}/releases/download/${COIR_RELEASE}/${coir_name_of_${package}}-${COIR_RELEASE}.tar.gz")
  set(source "${COIR_DEPS_DIR}/source/${coir_name_of_${package}}-${COIR_RELEASE}")
  if(package STREQUAL "KokkosKernels" AND NOT Kokkos_VERSION VERSION_EQUAL COIR_RELEASE)
    set(${why} "${url} doesn't fit Kokkos ${Kokkos_VERSION}" PARENT_SCOPE)
    return()
  endif()
  if(NOT EXISTS "${source}")
    # One byte first: a host that can't be reached shows within these few seconds.
    file(DOWNLOAD "${url}" RANGE_START 0 RANGE_END 0 TIMEOUT 8 STATUS status)
    if(status MATCHES "^0;")
      message(STATUS "Downloading ${url}")
      file(DOWNLOAD "${url}" "${source}.part" TIMEOUT 300 INACTIVITY_TIMEOUT 15 STATUS status
           EXPECTED_HASH SHA256=${COIR_RELEASE_SHA256_${package}})
    endif()
    if(NOT status MATCHES "^0;")
      set(${why} "${url} can't be downloaded (${status})" PARENT_SCOPE)
      return()
    endif()
    file(REMOVE_RECURSE "${source}.unpacked")
    file(ARCHIVE_EXTRACT INPUT "${source}.part" DESTINATION "${source}.unpacked")
    file(GLOB top "${source}.unpacked/*")
    file(RENAME "${top}" "${source}")
    file(REMOVE_RECURSE "${source}.unpacked" "${source}.part")
  endif()
  set(${folder} "${source}" PARENT_SCOPE)
endfunction()

# The distribution's source package: Debian and Ubuntu carry Kokkos and Kokkos Kernels inside that of Trilinos. debian_source.sh fetches
# it, without root and without touching the system's own apt state. An old one doesn't know today's devices.
function(coir_fetch_distribution package folder why)
  set(${folder} "" PARENT_SCOPE)
  set(source "${COIR_DEPS_DIR}/source/trilinos")
  if(COIR_REQUIRE_BACKEND MATCHES "CUDA|HIP")
    set(${why} "it is for hosts" PARENT_SCOPE)
    return()
  endif()
  if(NOT EXISTS "${source}")
    message(STATUS "Downloading the source package trilinos from the distribution's archive (166 MB)")
    execute_process(
      COMMAND sh "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/dependencies/debian_source.sh" trilinos "${source}" packages/kokkos
              packages/kokkos-kernels
      OUTPUT_QUIET
      ERROR_VARIABLE errors
      RESULT_VARIABLE failed
      TIMEOUT 900)
    if(failed)
      string(REGEX REPLACE "[ \n]+" " " errors "${errors}")
      set(${why} "source package trilinos: ${errors}" PARENT_SCOPE)
      file(REMOVE_RECURSE "${source}.part")
      return()
    endif()
  endif()
  set(${folder} "${source}/${coir_name_of_${package}}" PARENT_SCOPE)
endfunction()
