# Builds a source tree of Kokkos or Kokkos Kernels once and installs it under COIR_DEPS_DIR.

# Sets `dir` to the folder of the config file of what was built with these settings, of any VERSION if that is "*", or to nothing;
# `prefix` to where it is, or belongs.
function(coir_built_dir package version dir prefix)
  string(TOLOWER "${COIR_REQUIRE_BACKEND}" backend)
  coir_settings(${package} settings)
  string(SHA256 digest "${settings}")
  string(SUBSTRING ${digest} 0 10 digest)
  set(${prefix} "${COIR_DEPS_DIR}/${coir_name_of_${package}}-${version}-${backend}-${digest}" PARENT_SCOPE)
  set(${dir} "" PARENT_SCOPE)
  file(GLOB marks "${COIR_DEPS_DIR}/${coir_name_of_${package}}-${version}-${backend}-${digest}/coir-recipe.txt")
  foreach(mark IN LISTS marks)
    cmake_path(GET mark PARENT_PATH built)
    file(GLOB config "${built}/lib*/cmake/${package}/${package}Config.cmake")
    cmake_path(GET config PARENT_PATH folder)
    set(${dir} "${folder}" PARENT_SCOPE)
  endforeach()
endfunction()

# Configures, builds and installs what wasn't built with these settings before. Sets `dir` to the folder of the installed config file, or
# to nothing, and then `why` to the reason.
function(coir_build package source dir why)
  set(${dir} "" PARENT_SCOPE)
  set(version "") # as its CMakeLists.txt states it
  foreach(part IN ITEMS MAJOR MINOR PATCH)
    file(STRINGS "${source}/CMakeLists.txt" line REGEX "^ *[sS][eE][tT]\\(${package}_VERSION_${part} " LIMIT_COUNT 1)
    string(REGEX REPLACE ".* 0*([0-9]+)\\).*" "\\1" line "${line}")
    list(APPEND version ${line})
  endforeach()
  list(JOIN version "." version)
  if(package STREQUAL "KokkosKernels" AND NOT version VERSION_EQUAL Kokkos_VERSION)
    set(${why} "${source} has version ${version}, but Kokkos is ${Kokkos_VERSION}" PARENT_SCOPE)
    return()
  endif()
  coir_built_dir(${package} "${version}" built prefix)
  if(built)
    set(${dir} "${built}" PARENT_SCOPE)
    return()
  endif()

  cmake_path(GET prefix FILENAME label)
  set(build "${COIR_DEPS_DIR}/build/${label}")
  set(log "${COIR_DEPS_DIR}/build/${label}.log")
  file(REMOVE_RECURSE "${build}" "${prefix}" "${log}")
  coir_settings(${package} settings)
  file(WRITE "${build}/settings.cmake" "${settings}")
  set(flags)
  if(version VERSION_LESS 4) # names uint32_t without its header, which g++ 13 and newer no longer bring along
    set(flags "|-DCMAKE_CXX_FLAGS=${CMAKE_CXX_FLAGS} -include cstdint")
  endif()
  # Kokkos has nvcc launched by a script of its own, and refuses another launcher.
  set(environment "")
  if(COIR_REQUIRE_BACKEND STREQUAL "CUDA")
    set(environment -E env --unset=CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}")
  endif()
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  if(DEFINED ENV{CMAKE_BUILD_PARALLEL_LEVEL})
    set(cores $ENV{CMAKE_BUILD_PARALLEL_LEVEL})
  endif()
  message(STATUS "Building ${label} from ${source}, once (log: ${log})")
  foreach(step IN ITEMS "-G|${CMAKE_GENERATOR}|-C|${build}/settings.cmake|-DCMAKE_INSTALL_PREFIX=${prefix}|-S|${source}|-B|${build}${flags}"
                        "--build|${build}|--config|Release|--parallel|${cores}" "--install|${build}|--config|Release")
    string(REPLACE "|" ";" arguments "${step}")
    execute_process(
      COMMAND "${CMAKE_COMMAND}" ${environment} ${arguments}
      OUTPUT_VARIABLE output
      ERROR_VARIABLE output
      RESULT_VARIABLE failed)
    file(APPEND "${log}" "${output}")
    if(failed)
      file(REMOVE_RECURSE "${build}" "${prefix}")
      set(${why} "${source} does not build with these settings; see ${log}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  file(REMOVE_RECURSE "${build}")
  file(WRITE "${prefix}/coir-recipe.txt" "${settings}") # last: it marks the folder as complete
  coir_built_dir(${package} "${version}" built prefix)
  set(${dir} "${built}" PARENT_SCOPE)
endfunction()

# The settings of the build, as a script for cmake -C. They tell one build from another, and their digest names it.
function(coir_settings package result)
  set(CMAKE_INSTALL_LIBDIR lib)
  set(CMAKE_INSTALL_RPATH "")
  if(BUILD_SHARED_LIBS) # its libraries find each other
    set(CMAKE_INSTALL_RPATH "$ORIGIN")
  endif()
  set(CMAKE_BUILD_TYPE Release)
  set(CMAKE_CXX_STANDARD 20)
  set(CMAKE_CXX_EXTENSIONS OFF)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  string(REGEX REPLACE "-Werror[^ ]*|--coverage" "" CMAKE_CXX_FLAGS "${CMAKE_CXX_FLAGS}")
  set(names CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_RPATH CMAKE_BUILD_TYPE CMAKE_CXX_STANDARD CMAKE_CXX_EXTENSIONS
            CMAKE_POSITION_INDEPENDENT_CODE CMAKE_CXX_COMPILER CMAKE_CXX_FLAGS CMAKE_EXE_LINKER_FLAGS CMAKE_SHARED_LINKER_FLAGS
            CMAKE_MAKE_PROGRAM CMAKE_TOOLCHAIN_FILE CMAKE_PREFIX_PATH CUDAToolkit_ROOT BUILD_SHARED_LIBS)
  get_cmake_property(variables CACHE_VARIABLES)
  list(FILTER variables INCLUDE REGEX "^Kokkos_(ENABLE|ARCH)_[A-Z0-9_]+$")
  if(package STREQUAL "Kokkos")
    set(Kokkos_ENABLE_SERIAL ON)
    set(Kokkos_ENABLE_${COIR_REQUIRE_BACKEND} ON)
    if(COIR_REQUIRE_BACKEND STREQUAL "CUDA")
      set(Kokkos_ENABLE_CUDA_LAMBDA ON)
      set(Kokkos_ENABLE_OPENMP ON)
    endif()
    list(APPEND names ${variables} Kokkos_ENABLE_SERIAL Kokkos_ENABLE_${COIR_REQUIRE_BACKEND} Kokkos_ENABLE_CUDA_LAMBDA
         Kokkos_ENABLE_OPENMP)
  else()
    # coir calls gemm, gemv and spmv, compiled where they are called: all else would only take time
    # to build. From version 4 on the sparse component brings the batched one along; version 3 installs every header.
    set(KokkosKernels_ADD_DEFAULT_ETI OFF)
    set(KokkosKernels_ENABLE_ALL_COMPONENTS OFF)
    set(KokkosKernels_ENABLE_COMPONENT_BLAS ON)
    set(KokkosKernels_ENABLE_COMPONENT_SPARSE ON)
    list(APPEND names Kokkos_DIR KokkosKernels_ADD_DEFAULT_ETI KokkosKernels_ENABLE_ALL_COMPONENTS
         KokkosKernels_ENABLE_COMPONENT_BLAS KokkosKernels_ENABLE_COMPONENT_SPARSE)
    if("CUDA" IN_LIST Kokkos_DEVICES)
      set(KokkosKernels_ENABLE_TPL_CUSPARSE OFF)
      set(KokkosKernels_ENABLE_TPL_CUSOLVER OFF)
      list(APPEND names KokkosKernels_ENABLE_TPL_CUSPARSE KokkosKernels_ENABLE_TPL_CUSOLVER)
    endif()
    # OpenBLAS, and where Debian has several builds of it the one for OpenMP: it runs in the threads that Kokkos uses.
    # That for pthreads has threads of its own, which the waiting ones of OpenMP slow down by half, and which all share
    # one core once OpenMP has bound the main thread to it.
    find_library(openblas openblas PATH_SUFFIXES openblas-openmp NO_CACHE)
    if(openblas)
      set(KokkosKernels_ENABLE_TPL_BLAS ON)
      set(BLA_VENDOR OpenBLAS)
      set(F77_BLAS_MANGLE "(name,NAME) name ## _") # as OpenBLAS names its functions; else a Fortran compiler is asked
      cmake_path(GET openblas PARENT_PATH CMAKE_LIBRARY_PATH)
      list(APPEND names KokkosKernels_ENABLE_TPL_BLAS BLA_VENDOR F77_BLAS_MANGLE CMAKE_LIBRARY_PATH)
    endif()
  endif()
  list(REMOVE_DUPLICATES names)
  set(settings "")
  foreach(name IN LISTS names)
    if(NOT "${${name}}" STREQUAL "")
      string(APPEND settings "set(${name} [==[${${name}}]==] CACHE STRING \"\")\n")
    endif()
  endforeach()
  # What -march=native means on this machine, and the compiler's version, by its own account of a dry run. Quoted: -### would begin a
  # comment. From one folder: clang names the one it runs in.
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
  execute_process(
    COMMAND "${CMAKE_CXX_COMPILER}" ${flags} "-###" -E -x c++ /dev/null
    WORKING_DIRECTORY /
    OUTPUT_VARIABLE compiler
    ERROR_VARIABLE compiler)
  set(${result} "${settings}# ${CMAKE_CXX_COMPILER_VERSION} ${FETCHCONTENT_SOURCE_DIR_KOKKOS}\n#[==[\n${compiler}]==]\n" PARENT_SCOPE)
endfunction()
