#pragma once

/// \file
/// The wave numbers of a spectrum's elements.

#include <coir/core/kokkos.hpp>

#include <cstdint>

namespace coir::fft {

/// The wave number of element i of a spectrum of n, 0 <= i < n, in periods along the axis: i up to
/// the Nyquist frequency n / 2, and i - n beyond it.
KOKKOS_FORCEINLINE_FUNCTION constexpr std::int64_t wave_number(std::int64_t i, std::int64_t n) {
  return 2 * i <= n ? i : i - n;
}

}  // namespace coir::fft
