# Adds the tests that install this build and use it from another project. Label: install.
# They compile coir twice more, so they are left out of a plain `ctest` on the presets' build trees: ctest -L install
set(folder "${PROJECT_BINARY_DIR}/install_test/[1]") # what is built may lie in such a folder
set(prefix ${PROJECT_BINARY_DIR}/install_test/prefix)

# What the other projects are configured with: everything that decides which Kokkos there is, as here.
set(settings "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}" "-DCMAKE_BUILD_TYPE=None") # None: quick to compile
foreach(variable IN ITEMS CMAKE_CXX_FLAGS BUILD_SHARED_LIBS CMAKE_PREFIX_PATH)
  string(REPLACE ";" "\\;" value "${${variable}}")
  list(APPEND settings "-D${variable}=${value}")
endforeach()

# coir_add_install_test(NAME [PROJECT folder] [GENERATOR generator] [TARGET target] [SETTINGS variable=value...]): builds and tests
# tests/install, or another folder; with TARGET that program alone, whose test has its name
function(coir_add_install_test name)
  cmake_parse_arguments(test "" "PROJECT;GENERATOR;TARGET" "SETTINGS" ${ARGN})
  if(NOT test_PROJECT)
    set(test_PROJECT install)
  endif()
  if(NOT test_GENERATOR)
    set(test_GENERATOR ${CMAKE_GENERATOR})
  endif()
  list(TRANSFORM test_SETTINGS PREPEND -D)
  set(target)
  set(tests)
  if(test_TARGET)
    set(target --build-target ${test_TARGET})
    set(tests --tests-regex "^${test_TARGET}$" --no-tests=error)
  endif()
  add_test(
    NAME install/${name}
    COMMAND
      ${CMAKE_CTEST_COMMAND} --build-and-test ${PROJECT_SOURCE_DIR}/tests/${test_PROJECT} ${folder}/${name}
      --build-generator ${test_GENERATOR} --build-config Debug --build-options ${settings} ${test_SETTINGS} ${target}
      --test-command ${CMAKE_CTEST_COMMAND} -C Debug --output-on-failure ${tests})
  set_tests_properties(install/${name} PROPERTIES LABELS install FIXTURES_REQUIRED installed RUN_SERIAL ON)
endfunction()

# coir_add_install_script(NAME VARIABLE=value...): runs NAME.cmake
function(coir_add_install_script name)
  list(TRANSFORM ARGN PREPEND -D)
  add_test(NAME install/${name} COMMAND ${CMAKE_COMMAND} ${ARGN} -P ${PROJECT_SOURCE_DIR}/tests/install/${name}.cmake)
  set_tests_properties(install/${name} PROPERTIES LABELS install FIXTURES_REQUIRED installed RUN_SERIAL ON)
endfunction()

coir_add_install_script(prefix BUILT=${PROJECT_BINARY_DIR} PREFIX=${prefix} PACKAGE_DIR=${coir_package_dir})
set_tests_properties(install/prefix PROPERTIES FIXTURES_REQUIRED "" FIXTURES_SETUP installed)
coir_add_install_script(every_header SOURCE=${PROJECT_SOURCE_DIR}/include INSTALLED=${prefix}/include)
coir_add_install_script(readme README=${PROJECT_SOURCE_DIR}/README.md INSTALL=${PROJECT_SOURCE_DIR}/docs/install.md
                        BUILT=${PROJECT_BINARY_DIR} FOLDER=${prefix}_readme COMPILER=${CMAKE_CXX_COMPILER})

set(with_linalg OFF)
if(TARGET coir_linalg)
  set(with_linalg ON)
endif()
set(with_hdf5 OFF)
if(TARGET coir_hdf5)
  set(with_hdf5 ON)
endif()
set(with_fft OFF)
if(TARGET coir_fft)
  set(with_fft ON)
endif()
coir_add_install_test(find_package SETTINGS coir_ROOT=${prefix} WITH_LINALG=${with_linalg} WITH_HDF5=${with_hdf5}
                      WITH_FFT=${with_fft})
set_tests_properties(install/find_package PROPERTIES FIXTURES_SETUP used)
set(modules array,poisson)
foreach(module IN ITEMS fft mesh hdf5)
  if(TARGET coir_${module})
    string(APPEND modules ",${module}")
  endif()
endforeach()
coir_add_install_test(own_views PROJECT own_views SETTINGS coir_ROOT=${prefix} Kokkos_DIR=${Kokkos_DIR}
                      MODULES=${modules})
coir_add_install_script(nothing_of_the_clone CLONE=${PROJECT_SOURCE_DIR} FOLDER=${folder}/find_package
                        INSTALLED=${prefix})
set_tests_properties(install/nothing_of_the_clone PROPERTIES FIXTURES_REQUIRED used)
list(JOIN coir_modules "," modules)
coir_add_install_test(components PROJECT install/components SETTINGS coir_ROOT=${prefix} MODULES=${modules})
coir_add_install_script(modes SOURCE=${PROJECT_SOURCE_DIR})
set_tests_properties(install/modes PROPERTIES FIXTURES_REQUIRED "" SKIP_REGULAR_EXPRESSION "^skipped")
if(NOT Kokkos_DEVICES MATCHES "CUDA|HIP")
  coir_add_install_script(
    pkg_config PREFIX=${prefix} LIBDIR=${CMAKE_INSTALL_LIBDIR} SOURCE=${PROJECT_SOURCE_DIR}/tests/install
    "COMPILE=${CMAKE_CXX_COMPILER} ${CMAKE_CXX_FLAGS}" FOLDER=${folder}/pkg_config)
  set_tests_properties(install/pkg_config PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped")
endif()
if(coir_Kokkos_beside)
  coir_add_install_script(refuses BUILT=${PROJECT_BINARY_DIR} FOLDER=${prefix}_refuses)
  coir_add_install_test(without_kokkos SETTINGS coir_ROOT=${prefix}_without_kokkos)
  set_tests_properties(install/without_kokkos PROPERTIES PASS_REGULAR_EXPRESSION
                                                       "Name[ \n]+it[ \n]+by[ \n]+-D[ \n]+Kokkos_ROOT=<prefix>")
endif()
# Another compiler, for which functions with constraints have other names.
find_program(COIR_NEWER_CLANG NAMES clang++-20 clang++-19 clang++-18 DOC "A Clang to use an installed coir with, for tests")
mark_as_advanced(COIR_NEWER_CLANG)
if(COIR_NEWER_CLANG
   AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU"
   AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14
   AND NOT Kokkos_DEVICES MATCHES "CUDA|HIP"
   AND NOT CMAKE_CXX_FLAGS MATCHES "--coverage|-fsanitize")
  coir_add_install_test(refuses_clang SETTINGS coir_ROOT=${prefix} CMAKE_CXX_COMPILER=${COIR_NEWER_CLANG})
  set_tests_properties(install/refuses_clang PROPERTIES PASS_REGULAR_EXPRESSION
                                                        "Use[ \n]+the[ \n]+same[ \n]+compiler")
  coir_add_install_test(
    clang TARGET consumer SETTINGS coir_ROOT=${prefix} CMAKE_CXX_COMPILER=${COIR_NEWER_CLANG}
    "CMAKE_CXX_FLAGS=${CMAKE_CXX_FLAGS} -fclang-abi-compat=17")
endif()

add_test(NAME install/says_what_is_not_optimised
         COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR}/tests/install -B ${folder}/says -G ${CMAKE_GENERATOR}
                 ${settings} -D coir_ROOT=${prefix} -D CMAKE_BUILD_TYPE=)
set_tests_properties(
  install/says_what_is_not_optimised PROPERTIES LABELS install FIXTURES_REQUIRED installed PASS_REGULAR_EXPRESSION
                                                "coir: CMAKE_BUILD_TYPE is empty")

# The examples beside an installed coir, as their page says.
add_test(
  NAME install/examples
  COMMAND
    ${CMAKE_CTEST_COMMAND} --build-and-test ${PROJECT_SOURCE_DIR}/docs/examples ${folder}/examples --build-generator
    ${CMAKE_GENERATOR} --build-options ${settings} -Dcoir_ROOT=${prefix} --build-target example_01_view --test-command
    ${CMAKE_CTEST_COMMAND} --output-on-failure --tests-regex 01_view --no-tests=error)
set_tests_properties(install/examples PROPERTIES LABELS install FIXTURES_REQUIRED installed RUN_SERIAL ON)

# With coir_ROOT, Kokkos is found by way of coir; the other two ways need to be told where it is, or bring one. The first of them
# compiles all of coir, and joined (cmake/unity.cmake) that takes a third of the time; on hosts it makes shared libraries, by a generator
# of several configurations, and installs them. The other one would compile the same by the
# same commands, and compiles what a program that links two of its modules needs.
set(joined COIR_JOIN_SOURCES=ALL CMAKE_UNITY_BUILD=ON CMAKE_UNITY_BUILD_BATCH_SIZE=0)
set(several)
set(shared)
if(NOT Kokkos_DEVICES MATCHES "CUDA|HIP")
  if(CMAKE_GENERATOR STREQUAL "Ninja")
    set(several GENERATOR "Ninja Multi-Config")
  endif()
  set(shared BUILD_SHARED_LIBS=ON)
  coir_add_install_script(shared BUILT=${folder}/add_subdirectory PREFIX=${prefix}_shared LIBDIR=${CMAKE_INSTALL_LIBDIR})
  set_tests_properties(install/shared PROPERTIES FIXTURES_REQUIRED compiled FIXTURES_SETUP shared)
  coir_add_install_test(find_shared TARGET consumer ${several} SETTINGS coir_ROOT=${prefix}_shared CMAKE_CXX_FLAGS_DEBUG=)
  set_tests_properties(install/find_shared PROPERTIES FIXTURES_REQUIRED shared)
endif()
coir_add_install_test(add_subdirectory ${several} SETTINGS WAY=add_subdirectory COIR_SOURCE=${PROJECT_SOURCE_DIR}
                      Kokkos_DIR=${Kokkos_DIR} CMAKE_CXX_FLAGS_DEBUG= ${shared} ${joined})
set_tests_properties(install/add_subdirectory PROPERTIES FIXTURES_SETUP compiled)
set(provided Kokkos_DIR=${Kokkos_DIR})
if(COMMAND coir_provide_dependency) # docs/install.md's other way to a Kokkos
  set(provided
      CMAKE_PROJECT_TOP_LEVEL_INCLUDES=${PROJECT_SOURCE_DIR}/cmake/dependency_provider.cmake
      COIR_DEPS_DIR=${COIR_DEPS_DIR}
      COIR_REQUIRE_BACKEND=${COIR_REQUIRE_BACKEND}
      Kokkos_ROOT=${Kokkos_ROOT}
      FETCHCONTENT_SOURCE_DIR_KOKKOS=${FETCHCONTENT_SOURCE_DIR_KOKKOS}
      FETCHCONTENT_SOURCE_DIR_KOKKOSKERNELS=${FETCHCONTENT_SOURCE_DIR_KOKKOSKERNELS})
endif()
coir_add_install_test(fetch_content TARGET consumer SETTINGS WAY=FetchContent COIR_SOURCE=${PROJECT_SOURCE_DIR} ${provided}
                      ${joined})
