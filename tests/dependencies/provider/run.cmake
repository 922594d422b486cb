# Runs one CASE: configures this folder's project against made-up Kokkos packages and checks what CMake said.
cmake_minimum_required(VERSION 3.25)
set(here ${CMAKE_CURRENT_LIST_DIR})
file(REMOVE_RECURSE ${FOLDER})

# make_package(NAME VERSION DEVICES [config text...]): an installed Kokkos, as far as its package files go
function(make_package name version devices)
  set(cmake_dir ${FOLDER}/${name}/lib/cmake/Kokkos)
  file(WRITE ${cmake_dir}/KokkosConfigVersion.cmake "set(PACKAGE_VERSION ${version})\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
  file(WRITE ${cmake_dir}/KokkosConfig.cmake "add_library(from_${name} INTERFACE IMPORTED)\n"
       "set(Kokkos_DEVICES ${devices})\n${ARGN}\n")
endfunction()

# make_source(NAME): a source tree of Kokkos, as far as its build goes
function(make_source name)
  set(config "set(Kokkos_VERSION 4.6.1)\nset(Kokkos_DEVICES OPENMP)\n")
  file(WRITE ${FOLDER}/${name}/cmake/kokkos_arch.cmake "")
  file(WRITE ${FOLDER}/${name}/core.cpp "int core() { return 0; }\n")
  file(
    WRITE ${FOLDER}/${name}/CMakeLists.txt
    "cmake_minimum_required(VERSION 3.25)\nproject(Kokkos LANGUAGES CXX)\n"
    "set(Kokkos_VERSION_MAJOR 4)\nset(Kokkos_VERSION_MINOR 6)\nset(Kokkos_VERSION_PATCH 1)\n"
    "add_library(kokkoscore core.cpp)\ninstall(TARGETS kokkoscore)\n"
    "file(WRITE \${CMAKE_BINARY_DIR}/KokkosConfig.cmake \"${config}\")\n"
    "file(WRITE \${CMAKE_BINARY_DIR}/KokkosConfigVersion.cmake \"set(PACKAGE_VERSION 4.6.1)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n\")\n"
    "install(FILES \${CMAKE_BINARY_DIR}/KokkosConfig.cmake \${CMAKE_BINARY_DIR}/KokkosConfigVersion.cmake DESTINATION lib/cmake/Kokkos)\n")
endfunction()

# configure(PREFIX_PATH BACKEND [option...]): sets `failed` and `said`. No download source can be reached.
function(configure prefix_path backend)
  file(WRITE ${FOLDER}/apt.conf "Dir::Etc::sourcelist \"/dev/null\";\nDir::Etc::sourceparts \"${FOLDER}/none\";\n")
  file(MAKE_DIRECTORY ${FOLDER}/none)
  list(TRANSFORM prefix_path PREPEND ${FOLDER}/)
  list(JOIN prefix_path "\\;" prefix_path)
  execute_process(
    COMMAND
      ${CMAKE_COMMAND} -E env APT_CONFIG=${FOLDER}/apt.conf ${CMAKE_COMMAND} -G "${GENERATOR}" -S ${here} -B
      ${FOLDER}/build -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF -D
      CMAKE_PREFIX_PATH=${prefix_path} -D COIR_REQUIRE_BACKEND=${backend} -D COIR_DEPS_DIR=${FOLDER}/deps -D
      COIR_RELEASE_BASE_URL=http://127.0.0.1:9 ${ARGN}
    OUTPUT_VARIABLE said
    ERROR_VARIABLE said
    RESULT_VARIABLE failed)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  set(said "${said}" PARENT_SCOPE)
  set(failed "${failed}" PARENT_SCOPE)
endfunction()

function(expect_said)
  foreach(text IN LISTS ARGN)
    string(FIND "${said}" "${text}" at)
    if(at EQUAL -1)
      message(SEND_ERROR "expected: ${text}\ngot: ${said}")
    endif()
  endforeach()
endfunction()

set(provider -D CMAKE_PROJECT_TOP_LEVEL_INCLUDES=${here}/../../../cmake/dependency_provider.cmake)

if(CASE STREQUAL "takes_the_installed_package_that_fits")
  make_package(fit 4.5.1 "OPENMP;SERIAL")
  configure("fit" OPENMP ${provider})
  expect_said("Kokkos: installed package in" "TOOK 4.5.1 OPENMP;SERIAL TARGETS from_fit")
  if(EXISTS ${FOLDER}/deps)
    message(SEND_ERROR "something was fetched or built")
  endif()
elseif(CASE STREQUAL "passes_over_one_without_the_backend")
  make_package(serial_only 4.5.1 SERIAL)
  make_package(fit 4.6.2 "OPENMP;SERIAL")
  configure("serial_only;fit" OPENMP ${provider})
  expect_said("TOOK 4.6.2 OPENMP;SERIAL TARGETS from_fit")
elseif(CASE STREQUAL "passes_over_one_that_is_too_new")
  make_package(new 6.0.0 "OPENMP;SERIAL")
  make_package(fit 5.1.0 "OPENMP;SERIAL")
  configure("new;fit" OPENMP ${provider})
  expect_said("TOOK 5.1.0 OPENMP;SERIAL TARGETS from_fit")
elseif(CASE STREQUAL "passes_over_one_whose_config_fails")
  make_package(broken 4.5.1 OPENMP "message(FATAL_ERROR \"a file is missing\")")
  make_package(fit 4.6.2 OPENMP)
  configure("broken;fit" OPENMP ${provider})
  expect_said("TOOK 4.6.2 OPENMP TARGETS from_fit")
elseif(CASE STREQUAL "says_why_every_source_failed")
  make_package(serial_only 4.5.1 SERIAL)
  string(TIMESTAMP begin %s)
  configure("serial_only" OPENMP ${provider})
  string(TIMESTAMP end %s)
  math(EXPR seconds "${end} - ${begin}")
  expect_said(
    "No Kokkos with OPENMP could be had"
    "version 4.5.1 lacks OPENMP (its backends: SERIAL)"
    "FETCHCONTENT_SOURCE_DIR_KOKKOS: not set"
    "name both: -DFETCHCONTENT_SOURCE_DIR_KOKKOS=<folder> -DFETCHCONTENT_SOURCE_DIR_KOKKOSKERNELS=<folder>"
    "built by an earlier configure run: none"
    "release http://127.0.0.1:9/kokkos/releases"
    "can't be downloaded"
    "distribution's source package trilinos: apt has no sources"
    "Remedy")
  if(NOT failed OR seconds GREATER 20)
    message(SEND_ERROR "ended with ${failed} after ${seconds} s")
  endif()
  file(GLOB left ${FOLDER}/deps/source/*)
  if(left)
    message(SEND_ERROR "left behind: ${left}")
  endif()
elseif(CASE STREQUAL "without_it_a_missing_backend_stops_the_build")
  make_package(serial_only 4.5.1 SERIAL)
  configure("serial_only" CUDA)
  expect_said("CUDA was asked for, but Kokkos 4.5.1" "built without it" "Remedy")
elseif(CASE STREQUAL "builds_again_where_native_means_another_machine")
  # A compiler whose -march=native is what the variable MACHINE says.
  file(WRITE ${FOLDER}/compiler
       "#!/bin/sh\nfor option; do [ \"$option\" != '-###' ] || echo \"cc1plus -march=$MACHINE\" >&2; done\n")
  file(CHMOD ${FOLDER}/compiler PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  include(${here}/../../../cmake/dependencies/requirements.cmake)
  include(${here}/../../../cmake/dependencies/build.cmake)
  set(CMAKE_CXX_COMPILER ${FOLDER}/compiler)
  set(CMAKE_CXX_FLAGS -march=native)
  foreach(machine IN ITEMS znver5 skylake)
    set(ENV{MACHINE} ${machine})
    coir_recipe(Kokkos "" recipe)
    set(said "${recipe}")
    expect_said("cc1plus -march=${machine}")
  endforeach()
elseif(CASE STREQUAL "looks_again_where_other_components_are_asked_for")
  # A build folder that an earlier version of coir configured has a Kokkos Kernels with fewer of them.
  include(${here}/../../../cmake/dependencies/requirements.cmake)
  include(${here}/../../../cmake/dependencies/build.cmake)
  set(COIR_KOKKOS_KERNELS_COMPONENTS BLAS)
  coir_request_fingerprint(KokkosKernels before)
  set(COIR_KOKKOS_KERNELS_COMPONENTS BLAS SPARSE)
  coir_request_fingerprint(KokkosKernels now)
  if(now STREQUAL before)
    message(SEND_ERROR "both are ${now}")
  endif()
elseif(CASE STREQUAL "builds_for_cuda_without_another_launcher")
  # A source tree that refuses one as that of Kokkos does, and whose package launches a script of its own.
  set(config "set(Kokkos_VERSION 4.6.1)\nset(Kokkos_DEVICES CUDA)\n"
             "set_property(GLOBAL PROPERTY RULE_LAUNCH_COMPILE \\\"\\\${CMAKE_COMMAND} -E env A=kokkos_launch_compiler\\\")\n")
  string(CONCAT config ${config})
  file(WRITE ${FOLDER}/source/cmake/kokkos_arch.cmake "")
  file(
    WRITE ${FOLDER}/source/CMakeLists.txt
    "cmake_minimum_required(VERSION 3.25)\nproject(Kokkos LANGUAGES CXX)\n"
    "set(Kokkos_VERSION_MAJOR 4)\nset(Kokkos_VERSION_MINOR 6)\nset(Kokkos_VERSION_PATCH 1)\n"
    "if(CMAKE_CXX_COMPILER_LAUNCHER)\n  message(FATAL_ERROR \"Cannot use CMAKE_CXX_COMPILER_LAUNCHER\")\nendif()\n"
    "file(WRITE \${CMAKE_BINARY_DIR}/KokkosConfig.cmake \"${config}\")\n"
    "file(WRITE \${CMAKE_BINARY_DIR}/KokkosConfigVersion.cmake \"set(PACKAGE_VERSION 4.6.1)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n\")\n"
    "install(FILES \${CMAKE_BINARY_DIR}/KokkosConfig.cmake \${CMAKE_BINARY_DIR}/KokkosConfigVersion.cmake DESTINATION lib/cmake/Kokkos)\n")
  set(ENV{CMAKE_CXX_COMPILER_LAUNCHER} env)
  configure("" CUDA ${provider} -D FETCHCONTENT_SOURCE_DIR_KOKKOS=${FOLDER}/source)
  expect_said("It is built without env of CMAKE_CXX_COMPILER_LAUNCHER" "TOOK 4.6.1 CUDA"
              "Compiling without env of CMAKE_CXX_COMPILER_LAUNCHER" "LAUNCHER ''")
elseif(CASE STREQUAL "builds_and_installs_the_same_configuration")
  # Where a generator has several, plain --build builds Debug and plain --install installs Release.
  make_source(source)
  set(GENERATOR "Ninja Multi-Config")
  configure("" OPENMP ${provider} -D FETCHCONTENT_SOURCE_DIR_KOKKOS=${FOLDER}/source)
  expect_said("TOOK 4.6.1 OPENMP")
elseif(CASE STREQUAL "says_that_brackets_are_patterns")
  make_source("a [b] c")
  configure("" OPENMP ${provider} "-DFETCHCONTENT_SOURCE_DIR_KOKKOS=${FOLDER}/a [b] c" "-DCOIR_DEPS_DIR=${FOLDER}/[deps]")
  expect_said("COIR_DEPS_DIR has a character that CMake takes for a pattern: ${FOLDER}/[deps] (name another folder by -D COIR_DEPS_DIR=<folder>)")
  configure("" OPENMP ${provider} "-DFETCHCONTENT_SOURCE_DIR_KOKKOS=${FOLDER}/a [b] c")
  expect_said("TOOK 4.6.1 OPENMP")
elseif(CASE STREQUAL "names_the_folder_that_it_cannot_write_to")
  make_source(source)
  file(WRITE ${FOLDER}/deps "a file, below which nobody can make a folder")
  configure("" OPENMP ${provider} -D FETCHCONTENT_SOURCE_DIR_KOKKOS=${FOLDER}/source)
  expect_said("COIR_DEPS_DIR can't be written to: ${FOLDER}/deps (name another folder by -D COIR_DEPS_DIR=<folder>)")
  string(REGEX MATCHALL "CMake Error" errors "${said}")
  if(NOT errors STREQUAL "CMake Error")
    message(SEND_ERROR "one error was expected, and not: ${said}")
  endif()
elseif(CASE STREQUAL "gives_old_sources_the_header_that_they_lack")
  # Kokkos 3 needs it from g++ 13 on.
  include(${here}/../../../cmake/dependencies/requirements.cmake)
  include(${here}/../../../cmake/dependencies/build.cmake)
  set(CMAKE_CXX_FLAGS -march=native)
  file(WRITE ${FOLDER}/old/CMakeLists.txt
       "set(Kokkos_VERSION_MAJOR 3)\nset(Kokkos_VERSION_MINOR 4)\nset(Kokkos_VERSION_PATCH 01)\n")
  file(WRITE ${FOLDER}/new/CMakeLists.txt
       "set(Kokkos_VERSION_MAJOR 4)\nset(Kokkos_VERSION_MINOR 6)\nset(Kokkos_VERSION_PATCH 1)\n")
  coir_initial_cache(Kokkos ${FOLDER}/old ${FOLDER}/prefix said)
  expect_said("CMAKE_CXX_FLAGS [==[-march=native -include cstdint]==]")
  coir_initial_cache(Kokkos ${FOLDER}/new ${FOLDER}/prefix said)
  expect_said("CMAKE_CXX_FLAGS [==[-march=native]==]")
else()
  message(FATAL_ERROR "no case '${CASE}'")
endif()
