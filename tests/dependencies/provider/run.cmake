# Configures this folder's project against made-up Kokkos packages, with no network, and checks what CMake said.
#   cmake -D FOLDER=<folder> -D COMPILER=<C++ compiler> -P run.cmake
cmake_minimum_required(VERSION 3.25)
set(here ${CMAKE_CURRENT_LIST_DIR})
set(provider -D CMAKE_PROJECT_TOP_LEVEL_INCLUDES=${here}/../../../cmake/dependency_provider.cmake)
file(REMOVE_RECURSE ${FOLDER})

# make_package(NAME VERSION DEVICES): an installed Kokkos, as far as its package files go
function(make_package name version devices)
  set(cmake_dir ${FOLDER}/${name}/lib/cmake/Kokkos)
  file(WRITE ${cmake_dir}/KokkosConfigVersion.cmake "set(PACKAGE_VERSION ${version})\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
  file(WRITE ${cmake_dir}/KokkosConfig.cmake "add_library(from_${name} INTERFACE IMPORTED)\nset(Kokkos_DEVICES ${devices})\n")
endfunction()

# configure(CASE PREFIX BACKEND [option...]): sets `said`. No download source can be reached.
function(configure case prefix backend)
  message(STATUS ${case})
  file(WRITE ${FOLDER}/apt.conf "Dir::Etc::sourcelist \"/dev/null\";\nDir::Etc::sourceparts \"${FOLDER}/none\";\n")
  file(MAKE_DIRECTORY ${FOLDER}/none)
  execute_process(
    COMMAND
      ${CMAKE_COMMAND} -E env APT_CONFIG=${FOLDER}/apt.conf ${CMAKE_COMMAND} -G "Ninja Multi-Config" -S ${here} -B
      ${FOLDER}/build/${case} -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF -D
      CMAKE_PREFIX_PATH=${FOLDER}/${prefix} -D COIR_REQUIRE_BACKEND=${backend} -D COIR_DEPS_DIR=${FOLDER}/deps -D
      COIR_RELEASE_BASE_URL=http://127.0.0.1:9 ${ARGN}
    OUTPUT_VARIABLE said
    ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  set(said "${said}" PARENT_SCOPE)
endfunction()

function(expect_said)
  foreach(text IN LISTS ARGN)
    string(FIND "${said}" "${text}" at)
    if(at EQUAL -1)
      message(SEND_ERROR "expected: ${text}\ngot: ${said}")
    endif()
  endforeach()
endfunction()

make_package(fit 4.5.1 "OPENMP\;SERIAL")
make_package(new 6.0.0 "OPENMP\;SERIAL")
make_package(serial_only 4.5.1 SERIAL)

configure(takes_the_installed_package_that_fits fit OPENMP ${provider})
expect_said("TOOK 4.5.1 OPENMP" "TARGETS from_fit")
if(EXISTS ${FOLDER}/deps)
  message(SEND_ERROR "something was fetched or built")
endif()

configure(without_it_a_missing_backend_stops_the_build serial_only CUDA)
expect_said("and found 4.5.1" "lacks 'CUDA'" "Remedy")

configure(passes_over_one_that_is_too_new new OPENMP ${provider})
expect_said("version 6.0.0 is not in 3.4.1...<6")

configure(says_why_every_source_failed serial_only OPENMP ${provider})
expect_said(
  "No Kokkos with OPENMP could be had"
  "version 4.5.1 lacks OPENMP (its backends: SERIAL)"
  "FETCHCONTENT_SOURCE_DIR_KOKKOS isn't set"
  "name both: -DFETCHCONTENT_SOURCE_DIR_KOKKOS=<folder> -DFETCHCONTENT_SOURCE_DIR_KOKKOSKERNELS=<folder>"
  "built: there is none"
  "http://127.0.0.1:9/kokkos/releases"
  "can't be downloaded"
  "source package trilinos: apt has no sources"
  "Remedy")
file(GLOB left ${FOLDER}/deps/source/*)
if(left)
  message(SEND_ERROR "left behind: ${left}")
endif()

# A source tree that refuses another launcher as that of Kokkos does, and whose package launches a script of its own. Where a generator
# has several configurations, one is built and installed.
set(config "set(Kokkos_VERSION 4.6.1)\nset(Kokkos_DEVICES CUDA)\n"
           "set_property(GLOBAL PROPERTY RULE_LAUNCH_COMPILE \\\"\\\${CMAKE_COMMAND} -E env A=kokkos_launch_compiler\\\")\n")
string(CONCAT config ${config})
file(WRITE ${FOLDER}/source/core.cpp "int core() { return 0; }\n")
file(
  WRITE ${FOLDER}/source/CMakeLists.txt
  "cmake_minimum_required(VERSION 3.25)\nproject(Kokkos LANGUAGES CXX)\n"
  "set(Kokkos_VERSION_MAJOR 4)\nset(Kokkos_VERSION_MINOR 6)\nset(Kokkos_VERSION_PATCH 1)\n"
  "if(CMAKE_CXX_COMPILER_LAUNCHER)\n  message(FATAL_ERROR \"Cannot use CMAKE_CXX_COMPILER_LAUNCHER\")\nendif()\n"
  "add_library(kokkoscore core.cpp)\ninstall(TARGETS kokkoscore)\n"
  "file(WRITE \${CMAKE_BINARY_DIR}/KokkosConfig.cmake \"${config}\")\n"
  "file(WRITE \${CMAKE_BINARY_DIR}/KokkosConfigVersion.cmake \"set(PACKAGE_VERSION 4.6.1)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n\")\n"
  "install(FILES \${CMAKE_BINARY_DIR}/KokkosConfig.cmake \${CMAKE_BINARY_DIR}/KokkosConfigVersion.cmake DESTINATION lib/cmake/Kokkos)\n")
set(ENV{CMAKE_CXX_COMPILER_LAUNCHER} env)
set(source -D FETCHCONTENT_SOURCE_DIR_KOKKOS=${FOLDER}/source)
configure(builds_once_and_for_cuda_without_another_launcher serial_only CUDA ${provider} ${source})
expect_said("Building kokkos-4.6.1-cuda-" "TOOK 4.6.1 CUDA" "Compiling without env of CMAKE_CXX_COMPILER_LAUNCHER" "LAUNCHER ''")
configure(takes_what_was_built_before serial_only CUDA ${provider} ${source})
expect_said("TOOK 4.6.1 CUDA")
if(said MATCHES "Building")
  message(SEND_ERROR "it was built again: ${said}")
endif()
