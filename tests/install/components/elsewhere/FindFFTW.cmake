# Somebody's: it finds an FFTW of one precision, and sets variables alone.
set(FFTW_FOUND TRUE)
set(FFTW_LIBRARIES fftw3)
set(FFTW_INCLUDE_DIR /somewhere)
