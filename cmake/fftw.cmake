# Finds FFTW in float and double precision: the targets coirFFTW::fftw3 and coirFFTW::fftw3f. Debian's libfftw3-dev has neither
# a package file for CMake nor one pkg-config file for both. Users of an installed coir include this file, too. It is no module of
# find_package, and its targets have names of their own, because many projects have a FindFFTW.cmake with other targets.
find_path(COIR_FFTW_INCLUDE_DIR fftw3.h HINTS "${FFTW_ROOT}" ENV FFTW_ROOT PATH_SUFFIXES include
          DOC "Folder that holds fftw3.h (Debian: libfftw3-dev)")
find_library(COIR_FFTW_DOUBLE_LIBRARY fftw3 HINTS "${FFTW_ROOT}" ENV FFTW_ROOT PATH_SUFFIXES lib lib64
             DOC "FFTW in double precision")
find_library(COIR_FFTW_FLOAT_LIBRARY fftw3f HINTS "${FFTW_ROOT}" ENV FFTW_ROOT PATH_SUFFIXES lib lib64
             DOC "FFTW in float precision")
mark_as_advanced(COIR_FFTW_INCLUDE_DIR COIR_FFTW_DOUBLE_LIBRARY COIR_FFTW_FLOAT_LIBRARY)

if(COIR_FFTW_INCLUDE_DIR
   AND COIR_FFTW_DOUBLE_LIBRARY
   AND COIR_FFTW_FLOAT_LIBRARY
   AND NOT TARGET coirFFTW::fftw3)
  add_library(coirFFTW::fftw3 UNKNOWN IMPORTED)
  add_library(coirFFTW::fftw3f UNKNOWN IMPORTED)
  set_target_properties(coirFFTW::fftw3 PROPERTIES IMPORTED_LOCATION "${COIR_FFTW_DOUBLE_LIBRARY}")
  set_target_properties(coirFFTW::fftw3f PROPERTIES IMPORTED_LOCATION "${COIR_FFTW_FLOAT_LIBRARY}")
  set_target_properties(coirFFTW::fftw3 coirFFTW::fftw3f PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${COIR_FFTW_INCLUDE_DIR}")
endif()
