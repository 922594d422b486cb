#pragma once

/// \file
/// cuFFT or hipFFT, whose interfaces differ by a prefix.

#include <coir/core/kokkos.hpp>
#include <coir/core/stream.hpp>

// COIR_FFT(SetStream) is the library's function or type, COIR_FFT_CONSTANT(SUCCESS) its constant.
#if defined(KOKKOS_ENABLE_CUDA)
#include <cufft.h>
#define COIR_FFT(name) cufft##name
#define COIR_FFT_CONSTANT(name) CUFFT_##name
#define COIR_FFT_NAME "cuFFT"
#else
#include <hipfft/hipfft.h>
#define COIR_FFT(name) hipfft##name
#define COIR_FFT_CONSTANT(name) HIPFFT_##name
#define COIR_FFT_NAME "hipFFT"
#endif
