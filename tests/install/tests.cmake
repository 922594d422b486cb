# Adds the tests that install this build and use it from another project. Label: install. They are left out of a plain `ctest` on the
# presets' build trees: ctest -L install
set(folder "${PROJECT_BINARY_DIR}/install_test/[1]") # what is built may lie in such a folder
set(prefix ${PROJECT_BINARY_DIR}/install_test/prefix)

# coir_add_install_script(NAME VARIABLE=value...): runs NAME.cmake
function(coir_add_install_script name)
  list(TRANSFORM ARGN PREPEND -D)
  add_test(NAME install/${name} COMMAND ${CMAKE_COMMAND} ${ARGN} -P ${PROJECT_SOURCE_DIR}/tests/install/${name}.cmake)
  set_tests_properties(install/${name} PROPERTIES LABELS install FIXTURES_REQUIRED installed RUN_SERIAL ON SKIP_REGULAR_EXPRESSION
                                                  "^skipped")
endfunction()
coir_add_install_script(prefix BUILT=${PROJECT_BINARY_DIR} CLONE=${PROJECT_SOURCE_DIR} PREFIX=${prefix} PACKAGE_DIR=${coir_package_dir})
set_tests_properties(install/prefix PROPERTIES FIXTURES_REQUIRED "" FIXTURES_SETUP installed)
coir_add_install_script(modes SOURCE=${PROJECT_SOURCE_DIR})
set_tests_properties(install/modes PROPERTIES FIXTURES_REQUIRED "")
coir_add_install_script(readme README=${PROJECT_SOURCE_DIR}/README.md INSTALL=${PROJECT_SOURCE_DIR}/docs/install.md
                        BUILT=${PROJECT_BINARY_DIR} FOLDER=${prefix}_readme COMPILER=${CMAKE_CXX_COMPILER})
if(NOT Kokkos_DEVICES MATCHES "CUDA|HIP")
  coir_add_install_script(
    pkg_config PREFIX=${prefix} LIBDIR=${CMAKE_INSTALL_LIBDIR} SOURCE=${PROJECT_SOURCE_DIR}/tests/install
    "COMPILE=${CMAKE_CXX_COMPILER} ${CMAKE_CXX_FLAGS}" FOLDER=${folder}/pkg_config)
endif()
if(coir_Kokkos_beside)
  coir_add_install_script(refuses BUILT=${PROJECT_BINARY_DIR} FOLDER=${prefix}_refuses)
endif()

# coir_add_install_test(NAME [PROJECT folder] [CONFIGURE_ONLY] [GENERATOR generator] SETTINGS variable=value...): configures tests/install, or
# another folder below it, builds it and runs its tests, with everything that decides which Kokkos there is as here
function(coir_add_install_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "CONFIGURE_ONLY" "PROJECT;GENERATOR" "SETTINGS")
  if(NOT test_GENERATOR)
    set(test_GENERATOR ${CMAKE_GENERATOR})
  endif()
  list(PREPEND test_SETTINGS "CMAKE_BUILD_TYPE=None" "CMAKE_CXX_FLAGS_DEBUG=") # quick to compile
  foreach(variable IN ITEMS CMAKE_CXX_FLAGS CMAKE_CXX_COMPILER BUILD_SHARED_LIBS CMAKE_PREFIX_PATH)
    list(PREPEND test_SETTINGS "${variable}=${${variable}}")
  endforeach()
  list(TRANSFORM test_SETTINGS PREPEND -D)
  set(source ${PROJECT_SOURCE_DIR}/tests/install/${test_PROJECT})
  if(test_CONFIGURE_ONLY)
    set(command ${CMAKE_COMMAND} -S ${source} -B ${folder}/${name} -G ${test_GENERATOR} ${test_SETTINGS})
  else()
    set(command ${CMAKE_CTEST_COMMAND} --build-and-test ${source} ${folder}/${name} --build-generator ${test_GENERATOR} --build-config Debug
                --build-options ${test_SETTINGS} --test-command ${CMAKE_CTEST_COMMAND} -C Debug --output-on-failure)
  endif()
  add_test(NAME install/${name} COMMAND ${command})
  set_tests_properties(install/${name} PROPERTIES LABELS install FIXTURES_REQUIRED installed RUN_SERIAL ON)
endfunction()

# How the dependency provider chooses, and what scripts/setup.sh says: with made-up packages.
add_test(NAME install/provider COMMAND ${CMAKE_COMMAND} -D FOLDER=${prefix}_provider -D COMPILER=${CMAKE_CXX_COMPILER} -P
                                       ${PROJECT_SOURCE_DIR}/tests/dependencies/provider/run.cmake)
add_test(NAME install/setup COMMAND ${PROJECT_SOURCE_DIR}/tests/dependencies/setup/run.sh ${PROJECT_SOURCE_DIR}/scripts/setup.sh
                                    ${prefix}_setup)
set_tests_properties(install/provider install/setup PROPERTIES LABELS install)

set(programs main)
foreach(module IN ITEMS linalg hdf5 fft)
  if(TARGET coir_${module})
    string(APPEND programs "\\;${module}")
  endif()
endforeach()
coir_add_install_test(find_package SETTINGS coir_ROOT=${prefix} "PROGRAMS=${programs}")
list(JOIN coir_modules "," modules)
coir_add_install_test(components PROJECT components CONFIGURE_ONLY SETTINGS coir_ROOT=${prefix} MODULES=${modules})
if(coir_Kokkos_beside)
  coir_add_install_test(without_kokkos CONFIGURE_ONLY SETTINGS coir_ROOT=${prefix}_without_kokkos)
  set_tests_properties(install/without_kokkos PROPERTIES PASS_REGULAR_EXPRESSION "Name[ \n]+it[ \n]+by[ \n]+-D[ \n]+Kokkos_ROOT=<prefix>")
endif()

# Another compiler, for which functions with constraints have other names unless a flag says otherwise (docs/install.md).
find_program(COIR_NEWER_CLANG NAMES clang++-20 clang++-19 clang++-18 DOC "A Clang to use an installed coir with, for tests")
mark_as_advanced(COIR_NEWER_CLANG)
if(COIR_NEWER_CLANG
   AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU"
   AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14
   AND NOT Kokkos_DEVICES MATCHES "CUDA|HIP"
   AND NOT CMAKE_CXX_FLAGS MATCHES "--coverage|-fsanitize")
  coir_add_install_test(clang SETTINGS coir_ROOT=${prefix} CMAKE_CXX_COMPILER=${COIR_NEWER_CLANG}
                        "CMAKE_CXX_FLAGS=${CMAKE_CXX_FLAGS} -fclang-abi-compat=17")
endif()

# The source tree in another project, as shared libraries on hosts, by a generator of several configurations, joined; without the modules
# that take compilers longest.
set(shared)
if(NOT Kokkos_DEVICES MATCHES "CUDA|HIP")
  set(shared BUILD_SHARED_LIBS=ON)
  coir_add_install_script(shared BUILT=${folder}/fetch_content PREFIX=${prefix}_shared LIBDIR=${CMAKE_INSTALL_LIBDIR})
  set_tests_properties(install/shared PROPERTIES FIXTURES_REQUIRED compiled)
endif()
coir_add_install_test(
  fetch_content GENERATOR "Ninja Multi-Config"
  SETTINGS COIR_SOURCE=${PROJECT_SOURCE_DIR} CMAKE_PROJECT_TOP_LEVEL_INCLUDES=${PROJECT_SOURCE_DIR}/cmake/dependency_provider.cmake
           Kokkos_DIR=${Kokkos_DIR} COIR_REQUIRE_BACKEND=${COIR_REQUIRE_BACKEND} CMAKE_DISABLE_FIND_PACKAGE_KokkosKernels=ON
           CMAKE_DISABLE_FIND_PACKAGE_HDF5=ON COIR_FFTW_INCLUDE_DIR= CMAKE_UNITY_BUILD=ON CMAKE_UNITY_BUILD_BATCH_SIZE=0 ${shared})
set_tests_properties(install/fetch_content PROPERTIES FIXTURES_SETUP compiled)
