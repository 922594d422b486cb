# Installs the modules, their headers and the package files, so that find_package(coir) works elsewhere.
include(CMakePackageConfigHelpers)
include(cmake/install_kokkos.cmake)

set(coir_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/coir)
set(coir_module_needs "") # for coirConfig.cmake: of each module itself and all that it uses, and the packages of these

# One export set, and so one file of targets, for each module: a component of find_package.
foreach(module IN LISTS coir_modules)
  get_target_property(header_sets coir_${module} INTERFACE_HEADER_SETS)
  list(TRANSFORM header_sets PREPEND "FILE_SET;")
  install(TARGETS coir_${module} EXPORT coir_${module} ${header_sets})
  install(
    EXPORT coir_${module}
    NAMESPACE coir::
    FILE coir-${module}.cmake
    DESTINATION ${coir_package_dir})

  get_target_property(links coir_${module} INTERFACE_LINK_LIBRARIES)
  string(REGEX MATCHALL "coir_[a-z0-9]+" used_modules "${links}")
  set(needed_modules "")
  string(REGEX MATCHALL "[A-Za-z0-9_]+::" needed_packages "${links}")
  list(TRANSFORM needed_packages REPLACE "::" "")
  if(links MATCHES "Kokkos::kokkoskernels") # a target that isn't named after its package, as CUDA's and hip's below
    list(APPEND needed_packages KokkosKernels)
  endif()
  list(TRANSFORM needed_packages REPLACE "^CUDA$" "CUDAToolkit")
  list(TRANSFORM needed_packages REPLACE "^hip$" "hipfft")
  list(REMOVE_ITEM needed_packages Kokkos)
  foreach(used IN LISTS used_modules)
    list(APPEND needed_modules ${modules_of_${used}})
    list(APPEND needed_packages ${packages_of_${used}})
  endforeach()
  list(APPEND needed_modules ${module})
  list(REMOVE_DUPLICATES needed_modules)
  list(REMOVE_DUPLICATES needed_packages)
  set(modules_of_coir_${module} ${needed_modules})
  set(packages_of_coir_${module} ${needed_packages})
  string(APPEND coir_module_needs "set(coir_${module}_modules \"${needed_modules}\")\n"
         "set(coir_${module}_packages \"${needed_packages}\")\n")
endforeach()

# For coirConfig.cmake
string(REGEX MATCH "^[0-9]+[.][0-9]+" coir_hdf5_series "${HDF5_VERSION}")
configure_package_config_file(cmake/coirConfig.cmake.in coirConfig.cmake INSTALL_DESTINATION ${coir_package_dir})
write_basic_package_version_file(coirConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(
  FILES ${CMAKE_CURRENT_BINARY_DIR}/coirConfig.cmake
        ${CMAKE_CURRENT_BINARY_DIR}/coirConfigVersion.cmake
        cmake/kokkos_targets.cmake
        cmake/hdf5.cmake
        cmake/fftw.cmake
  DESTINATION ${coir_package_dir})
include(cmake/pkg_config.cmake)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
