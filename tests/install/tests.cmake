# Adds the tests that install this build and use it from another project. Label: install.
# They compile coir twice more, so they are left out of a plain `ctest` on the presets' build trees: ctest -L install
function(coir_add_install_test name)
  cmake_parse_arguments(test "" "" "SETTINGS" ${ARGN})
  list(TRANSFORM test_SETTINGS PREPEND -D)
  set(settings "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}" "-DCMAKE_BUILD_TYPE=None") # None: quick to compile
  foreach(variable IN ITEMS CMAKE_CXX_FLAGS BUILD_SHARED_LIBS CMAKE_PREFIX_PATH)
    string(REPLACE ";" "\\;" value "${${variable}}")
    list(APPEND settings "-D${variable}=${value}")
  endforeach()
  set(folder ${PROJECT_BINARY_DIR}/install_test)
  add_test(
    NAME install/${name}
    COMMAND
      ${CMAKE_CTEST_COMMAND} --build-and-test ${PROJECT_SOURCE_DIR}/tests/install ${folder}/${name}
      --build-generator ${CMAKE_GENERATOR} --build-options ${settings} ${test_SETTINGS} --test-command
      ${CMAKE_CTEST_COMMAND} --output-on-failure)
  set_tests_properties(install/${name} PROPERTIES LABELS install FIXTURES_REQUIRED installed RUN_SERIAL ON)
endfunction()

set(prefix ${PROJECT_BINARY_DIR}/install_test/prefix)
add_test(NAME install/install COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${prefix})
set_tests_properties(install/install PROPERTIES LABELS install FIXTURES_SETUP installed)

add_test(NAME install/every_header COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR}/include -D
                                           INSTALLED=${prefix}/include -P ${CMAKE_CURRENT_LIST_DIR}/every_header.cmake)
set_tests_properties(install/every_header PROPERTIES LABELS install FIXTURES_REQUIRED installed)

# Kokkos is found by way of coir; the other two ways need to be told where it is.
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
coir_add_install_test(add_subdirectory SETTINGS WAY=add_subdirectory COIR_SOURCE=${PROJECT_SOURCE_DIR}
                      Kokkos_DIR=${Kokkos_DIR})
coir_add_install_test(fetch_content SETTINGS WAY=FetchContent COIR_SOURCE=${PROJECT_SOURCE_DIR}
                      Kokkos_DIR=${Kokkos_DIR})
coir_add_install_test(unknown_component SETTINGS coir_ROOT=${prefix} COMPONENTS=no_such_module)
set_tests_properties(install/unknown_component PROPERTIES PASS_REGULAR_EXPRESSION "no_such_module")
