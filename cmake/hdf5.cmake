# Finds HDF5's C library: the target hdf5::hdf5. CMake's module compiles a C program to learn about it, so the language
# must be there even where no project uses it.
if(NOT CMAKE_C_COMPILER_LOADED)
  include(CheckLanguage)
  check_language(C)
  if(CMAKE_C_COMPILER)
    enable_language(C)
  endif()
endif()
if(CMAKE_C_COMPILER_LOADED)
  find_package(HDF5 QUIET COMPONENTS C)
endif()
