# Finds FFTW in float and double precision: FFTW::fftw3 and FFTW::fftw3f. Debian's libfftw3-dev has neither a package
# file for CMake nor one pkg-config file for both. Installed with coir, whose users link it without knowing.
find_path(FFTW_INCLUDE_DIR fftw3.h DOC "Folder that holds fftw3.h (Debian: libfftw3-dev)")
find_library(FFTW_DOUBLE_LIBRARY fftw3 DOC "FFTW in double precision")
find_library(FFTW_FLOAT_LIBRARY fftw3f DOC "FFTW in float precision")
mark_as_advanced(FFTW_INCLUDE_DIR FFTW_DOUBLE_LIBRARY FFTW_FLOAT_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(FFTW REQUIRED_VARS FFTW_DOUBLE_LIBRARY FFTW_FLOAT_LIBRARY FFTW_INCLUDE_DIR)

if(FFTW_FOUND AND NOT TARGET FFTW::fftw3)
  foreach(coir_precision IN ITEMS DOUBLE FLOAT)
    set(coir_target FFTW::fftw3)
    if(coir_precision STREQUAL "FLOAT")
      set(coir_target FFTW::fftw3f)
    endif()
    add_library(${coir_target} UNKNOWN IMPORTED)
    set_target_properties(${coir_target} PROPERTIES IMPORTED_LOCATION "${FFTW_${coir_precision}_LIBRARY}"
                                                    INTERFACE_INCLUDE_DIRECTORIES "${FFTW_INCLUDE_DIR}")
  endforeach()
endif()
