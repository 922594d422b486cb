# Builds a source tree of Kokkos or Kokkos Kernels once and installs it under COIR_DEPS_DIR.

# coir_build_source(package source state dir reason)
#
# Sets `dir` to the folder of the installed config file. On failure `dir` is empty and `reason` says why.
# `state` tells trees of one version apart; it is empty for unchanged releases.
function(coir_build_source package source state dir reason)
  set(${dir} "" PARENT_SCOPE)
  coir_source_version(${package} "${source}" version)
  coir_version_serves(${package} "${version}" unfit)
  if(NOT unfit AND package STREQUAL "Kokkos")
    coir_source_knows_architectures("${source}" unfit)
  endif()
  if(unfit)
    set(${reason} "${unfit}" PARENT_SCOPE)
    return()
  endif()

  coir_recipe(${package} "${state}" recipe)
  coir_install_prefix(${package} ${version} "${recipe}" prefix)
  if(NOT EXISTS "${prefix}/coir-recipe.txt")
    coir_lock_deps()
  endif()
  if(NOT EXISTS "${prefix}/coir-recipe.txt") # another configure run may have built it while this one waited
    coir_build_and_install(${package} "${source}" "${prefix}" failure)
    if(failure)
      set(${reason} "${failure}" PARENT_SCOPE)
      return()
    endif()
    file(WRITE "${prefix}/coir-recipe.txt" "${recipe}") # last: it marks the folder as complete
  endif()
  coir_config_dir(${package} "${prefix}" config_dir)
  set(${dir} "${config_dir}" PARENT_SCOPE)
  set(${reason} "version ${version}, built in ${prefix}" PARENT_SCOPE)
endfunction()

# What an earlier configure run built from a release or the distribution's source with the same recipe.
function(coir_from_built_earlier package dir why)
  set(${dir} "" PARENT_SCOPE)
  coir_recipe(${package} "" recipe)
  coir_install_prefix(${package} "*" "${recipe}" pattern)
  file(GLOB markers "${pattern}/coir-recipe.txt")
  list(SORT markers COMPARE NATURAL ORDER DESCENDING)
  foreach(marker IN LISTS markers)
    cmake_path(GET marker PARENT_PATH prefix)
    coir_config_dir(${package} "${prefix}" config_dir)
    if(config_dir MATCHES "/kokkos(-kernels)?-([0-9.]+)-")
      coir_version_serves(${package} "${CMAKE_MATCH_2}" unfit)
      if(NOT unfit)
        set(${dir} "${config_dir}" PARENT_SCOPE)
        set(${why} "version ${CMAKE_MATCH_2}, built by an earlier configure run in ${prefix}" PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
  set(${why} "built by an earlier configure run: none in ${COIR_DEPS_DIR} with these settings" PARENT_SCOPE)
endfunction()

function(coir_upstream_name package result)
  if(package STREQUAL "Kokkos")
    set(${result} kokkos PARENT_SCOPE)
  else()
    set(${result} kokkos-kernels PARENT_SCOPE)
  endif()
endfunction()

# Sets `reason` to why a version can't be used, or to nothing.
function(coir_version_serves package version reason)
  set(${reason} "" PARENT_SCOPE)
  if(NOT version)
    set(${reason} "has no CMakeLists.txt of ${package}" PARENT_SCOPE)
  elseif(version VERSION_LESS COIR_KOKKOS_MINIMUM OR version VERSION_GREATER_EQUAL COIR_KOKKOS_LIMIT)
    set(${reason} "version ${version} is not in ${COIR_KOKKOS_MINIMUM}...<${COIR_KOKKOS_LIMIT}" PARENT_SCOPE)
  elseif(package STREQUAL "KokkosKernels" AND NOT version VERSION_EQUAL Kokkos_VERSION)
    set(${reason} "version ${version}, but Kokkos is ${Kokkos_VERSION}" PARENT_SCOPE)
  endif()
endfunction()

# The version a source tree's CMakeLists.txt states, as in "4.7.2"; empty if there is none.
function(coir_source_version package source result)
  set(parts "")
  foreach(part IN ITEMS MAJOR MINOR PATCH)
    set(line "")
    if(EXISTS "${source}/CMakeLists.txt")
      file(STRINGS "${source}/CMakeLists.txt" line REGEX "^ *[sS][eE][tT]\\(${package}_VERSION_${part} " LIMIT_COUNT 1)
    endif()
    if(line MATCHES " 0*([0-9]+)\\)")
      list(APPEND parts ${CMAKE_MATCH_1})
    endif()
  endforeach()
  list(JOIN parts "." version)
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# An old release may not know the device that the preset names: Kokkos would ignore the setting in silence.
function(coir_source_knows_architectures source reason)
  set(${reason} "" PARENT_SCOPE)
  file(READ "${source}/cmake/kokkos_arch.cmake" known)
  coir_kokkos_settings(settings)
  foreach(setting IN LISTS settings)
    if(setting MATCHES "^Kokkos_ARCH_(.*)=(ON|TRUE|1)$" AND NOT known MATCHES "[( ]${CMAKE_MATCH_1}[ )\n]")
      set(${reason} "this version does not know the architecture ${CMAKE_MATCH_1}" PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# One configure run at a time writes to COIR_DEPS_DIR. A macro: the lock lasts until the calling function ends, which ends here, with a
# `reason`, where the folder can't be used.
macro(coir_lock_deps)
  coir_deps_unfit(coir_unfit)
  if(coir_unfit)
    set(${reason} "COIR_DEPS_DIR ${coir_unfit}: ${COIR_DEPS_DIR} (name another folder by -D COIR_DEPS_DIR=<folder>)" PARENT_SCOPE)
    return()
  endif()
  file(LOCK "${COIR_DEPS_DIR}/lock" GUARD FUNCTION TIMEOUT 0 RESULT_VARIABLE coir_lock_result)
  if(NOT coir_lock_result EQUAL 0)
    message(STATUS "Waiting for another configure run that works in ${COIR_DEPS_DIR}")
    file(LOCK "${COIR_DEPS_DIR}/lock" GUARD FUNCTION TIMEOUT 3600)
  endif()
endmacro()

# Sets `why` to why nothing can be kept in COIR_DEPS_DIR, or to nothing. It is in the clone, which may be somebody else's.
function(coir_deps_unfit why)
  set(${why} "" PARENT_SCOPE)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E make_directory "${COIR_DEPS_DIR}" OUTPUT_QUIET ERROR_QUIET)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E touch "${COIR_DEPS_DIR}/lock" OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE failed)
  if(COIR_DEPS_DIR MATCHES "[][*?]") # CMake's own package files look for each other by file(GLOB)
    set(${why} "has a character that CMake takes for a pattern" PARENT_SCOPE)
  elseif(failed)
    set(${why} "can't be written to" PARENT_SCOPE)
  endif()
endfunction()

# Everything that tells one build from another, as text: it is kept beside the build, and its digest names it.
function(coir_recipe package state result)
  # The compiler's own account of a dry run has its version and what -march=native means on this machine. Quoted: -###
  # would begin a comment. From one folder: clang names the one it runs in.
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
  execute_process(
    COMMAND "${CMAKE_CXX_COMPILER}" ${flags} "-###" -E -x c++ /dev/null
    WORKING_DIRECTORY /
    OUTPUT_VARIABLE compiler
    ERROR_VARIABLE compiler)
  coir_kokkos_settings(settings)
  list(JOIN settings "\n" settings)
  set(recipe "recipe 1\nstate ${state}\nbackend ${COIR_REQUIRE_BACKEND}\nshared ${BUILD_SHARED_LIBS}\n${settings}\n")
  if(BUILD_SHARED_LIBS)
    string(APPEND recipe "with rpath\n")
  endif()
  if(COIR_REQUIRE_BACKEND STREQUAL "CUDA")
    find_program(nvcc nvcc HINTS "${CUDAToolkit_ROOT}" ENV CUDA_PATH PATH_SUFFIXES bin NO_CACHE)
    execute_process(COMMAND "${nvcc}" --version OUTPUT_VARIABLE nvcc_version)
    string(APPEND recipe "${nvcc_version}\n")
  endif()
  if(package STREQUAL "KokkosKernels")
    coir_find_openblas(openblas)
    string(APPEND recipe "Kokkos ${Kokkos_DIR}\nOpenBLAS ${openblas}\n")
    if(NOT Kokkos_VERSION VERSION_LESS 4) # version 3 has no components
      list(JOIN COIR_KOKKOS_KERNELS_COMPONENTS " " components)
      string(APPEND recipe "components ${components}\n")
    endif()
  endif()
  string(APPEND recipe "compiler ${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_VERSION}\n")
  string(APPEND recipe "flags ${CMAKE_CXX_FLAGS}\nlinker flags ${CMAKE_EXE_LINKER_FLAGS}\n${compiler}")
  set(${result} "${recipe}" PARENT_SCOPE)
endfunction()

function(coir_install_prefix package version recipe result)
  coir_upstream_name(${package} name)
  string(TOLOWER "${COIR_REQUIRE_BACKEND}" backend)
  if(NOT backend)
    set(backend serial)
  endif()
  string(SHA256 digest "${recipe}")
  string(SUBSTRING ${digest} 0 10 digest)
  set(${result} "${COIR_DEPS_DIR}/${name}-${version}-${backend}-${digest}" PARENT_SCOPE)
endfunction()

function(coir_config_dir package prefix result)
  file(GLOB configs "${prefix}/lib*/cmake/${package}/${package}Config.cmake")
  cmake_path(GET configs PARENT_PATH folder)
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

# OpenBLAS, and where Debian has several builds of it the one for OpenMP: it runs in the threads that Kokkos uses.
# That for pthreads has threads of its own, which the waiting ones of OpenMP slow down by half, and which all share
# one core once OpenMP has bound the main thread to it.
function(coir_find_openblas result)
  find_library(openblas openblas PATH_SUFFIXES openblas-openmp NO_CACHE)
  if(NOT openblas)
    set(openblas "")
  endif()
  set(${result} "${openblas}" PARENT_SCOPE)
endfunction()

# Configures, builds and installs. Sets `failure` to what went wrong, or to nothing.
function(coir_build_and_install package source prefix failure)
  set(${failure} "" PARENT_SCOPE)
  cmake_path(GET prefix FILENAME label)
  set(build "${COIR_DEPS_DIR}/build/${label}")
  set(log "${COIR_DEPS_DIR}/build/${label}.log")
  file(REMOVE_RECURSE "${build}" "${prefix}" "${log}")
  file(MAKE_DIRECTORY "${build}")
  coir_initial_cache(${package} "${source}" "${prefix}" cache)
  file(WRITE "${build}/settings.cmake" "${cache}")
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  if(DEFINED ENV{CMAKE_BUILD_PARALLEL_LEVEL})
    set(cores $ENV{CMAKE_BUILD_PARALLEL_LEVEL})
  endif()
  message(STATUS "Building ${label} from ${source}, once (log: ${log})")
  # Kokkos has nvcc launched by a script of its own, and refuses another launcher.
  set(environment "")
  if(COIR_REQUIRE_BACKEND STREQUAL "CUDA" AND DEFINED ENV{CMAKE_CXX_COMPILER_LAUNCHER})
    set(environment -E env --unset=CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}")
    message(STATUS "It is built without $ENV{CMAKE_CXX_COMPILER_LAUNCHER} of CMAKE_CXX_COMPILER_LAUNCHER, "
                   "which Kokkos refuses for CUDA")
  endif()
  string(TIMESTAMP begin %s)
  foreach(
    step IN
    ITEMS "-G|${CMAKE_GENERATOR}|-C|${build}/settings.cmake|-S|${source}|-B|${build}" #
          "--build|${build}|--config|Release|--parallel|${cores}" #
          "--install|${build}|--config|Release")
    string(REPLACE "|" ";" arguments "${step}")
    execute_process(
      COMMAND "${CMAKE_COMMAND}" ${environment} ${arguments}
      OUTPUT_VARIABLE output
      ERROR_VARIABLE output
      RESULT_VARIABLE failed)
    file(APPEND "${log}" "${output}")
    if(failed)
      file(REMOVE_RECURSE "${build}" "${prefix}")
      set(${failure} "does not build with these settings; see ${log}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  file(REMOVE_RECURSE "${build}")
  string(TIMESTAMP end %s)
  math(EXPR seconds "${end} - ${begin}")
  message(STATUS "Built ${label} in ${seconds} s")
endfunction()

# The build's settings, as a script for cmake -C.
function(coir_initial_cache package source prefix result)
  set(CMAKE_INSTALL_PREFIX "${prefix}")
  set(CMAKE_INSTALL_LIBDIR lib)
  set(CMAKE_BUILD_TYPE Release)
  set(CMAKE_CXX_STANDARD 20)
  set(CMAKE_CXX_EXTENSIONS OFF)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  set(CMAKE_INSTALL_RPATH "")
  if(BUILD_SHARED_LIBS) # its libraries find each other
    set(CMAKE_INSTALL_RPATH "$ORIGIN")
  endif()
  string(REGEX REPLACE "-Werror[^ ]*" "" CMAKE_CXX_FLAGS "${CMAKE_CXX_FLAGS}")
  coir_source_version(${package} "${source}" version)
  if(version VERSION_LESS 4) # names uint32_t without its header, which g++ 13 and newer no longer bring along
    string(APPEND CMAKE_CXX_FLAGS " -include cstdint")
  endif()
  set(names
      CMAKE_INSTALL_PREFIX
      CMAKE_INSTALL_LIBDIR
      CMAKE_INSTALL_RPATH
      CMAKE_BUILD_TYPE
      CMAKE_CXX_STANDARD
      CMAKE_CXX_EXTENSIONS
      CMAKE_POSITION_INDEPENDENT_CODE
      CMAKE_CXX_COMPILER
      CMAKE_CXX_FLAGS
      CMAKE_EXE_LINKER_FLAGS
      CMAKE_SHARED_LINKER_FLAGS
      CMAKE_MAKE_PROGRAM
      CMAKE_TOOLCHAIN_FILE
      CMAKE_PREFIX_PATH
      CUDAToolkit_ROOT
      BUILD_SHARED_LIBS)
  if(package STREQUAL "Kokkos")
    set(Kokkos_ENABLE_SERIAL ON)
    set(Kokkos_ENABLE_${COIR_REQUIRE_BACKEND} ON)
    if(COIR_REQUIRE_BACKEND STREQUAL "CUDA")
      set(Kokkos_ENABLE_CUDA_LAMBDA ON)
      set(Kokkos_ENABLE_OPENMP ON)
    endif()
    set(Kokkos_ENABLE_TESTS OFF)
    set(Kokkos_ENABLE_EXAMPLES OFF)
    get_cmake_property(variables VARIABLES)
    list(FILTER variables INCLUDE REGEX "^Kokkos_(ENABLE|ARCH)_[A-Z0-9_]+$")
    list(APPEND names ${variables})
  else()
    # coir calls gemm, gemv, spmv and the batched SerialGemm, compiled where they are called: all else would only take time
    # to build. From version 4 on the sparse component brings the batched one along; version 3 installs every header.
    set(KokkosKernels_ADD_DEFAULT_ETI OFF)
    set(KokkosKernels_ENABLE_ALL_COMPONENTS OFF)
    foreach(component IN LISTS COIR_KOKKOS_KERNELS_COMPONENTS)
      set(KokkosKernels_ENABLE_COMPONENT_${component} ON)
      list(APPEND names KokkosKernels_ENABLE_COMPONENT_${component})
    endforeach()
    set(KokkosKernels_ENABLE_TPL_CUSPARSE OFF)
    set(KokkosKernels_ENABLE_TPL_CUSOLVER OFF)
    set(KokkosKernels_ENABLE_TESTS OFF)
    set(KokkosKernels_ENABLE_EXAMPLES OFF)
    list(
      APPEND
      names
      Kokkos_DIR
      KokkosKernels_ADD_DEFAULT_ETI
      KokkosKernels_ENABLE_ALL_COMPONENTS
      KokkosKernels_ENABLE_TESTS
      KokkosKernels_ENABLE_EXAMPLES)
    if("CUDA" IN_LIST Kokkos_DEVICES)
      list(APPEND names KokkosKernels_ENABLE_TPL_CUSPARSE KokkosKernels_ENABLE_TPL_CUSOLVER)
    endif()
    coir_find_openblas(openblas)
    if(openblas)
      set(KokkosKernels_ENABLE_TPL_BLAS ON)
      set(BLA_VENDOR OpenBLAS)
      set(F77_BLAS_MANGLE "(name,NAME) name ## _") # as OpenBLAS names its functions; else a Fortran compiler is asked
      cmake_path(GET openblas PARENT_PATH CMAKE_LIBRARY_PATH)
      list(APPEND names KokkosKernels_ENABLE_TPL_BLAS BLA_VENDOR F77_BLAS_MANGLE CMAKE_LIBRARY_PATH)
    endif()
  endif()
  set(cache "")
  foreach(name IN LISTS names)
    if(DEFINED ${name} AND NOT "${${name}}" STREQUAL "")
      string(APPEND cache "set(${name} [==[${${name}}]==] CACHE STRING \"\")\n")
    endif()
  endforeach()
  set(${result} "${cache}" PARENT_SCOPE)
endfunction()
