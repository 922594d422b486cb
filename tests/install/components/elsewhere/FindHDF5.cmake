# Somebody's: it finds an HDF5 of another version than coir's.
set(HDF5_FOUND TRUE)
set(HDF5_VERSION 1.8.23)
set(HDF5_INCLUDE_DIRS /somewhere/include)
if(NOT TARGET hdf5::hdf5)
  add_library(hdf5::hdf5 INTERFACE IMPORTED)
endif()
