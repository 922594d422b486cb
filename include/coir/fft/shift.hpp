#pragma once

/// \file
/// Spectra with frequency 0 in the middle: NumPy's fft.fftshift and fft.ifftshift.

#include <coir/array/joining.hpp>

#include <array>
#include <cstdint>

namespace coir::fft {

namespace detail {

template <class X>
auto shift_all_axes(X const& x, bool back) {
  std::array<std::int64_t, rank_of<X>> shifts{};
  std::array<int, rank_of<X>> axes{};
  for (int d = 0; d < rank_of<X>; ++d) {
    std::int64_t const half = x.shape()[d] / 2;
    shifts[d] = back ? -half : half;
    axes[d] = d;
  }
  return roll(x, shifts, axes);
}

}  // namespace detail

/// Frequency 0 moved from the first place to the middle, n / 2, along each axis. It works on frequencies as on spectra:
/// fftshift(fftfreq(n)) ascends. Of a half spectrum, as rfft gives, shift all axes but the last.
template <Expression X>
auto fftshift(X const& x) {
  return detail::shift_all_axes(x, false);
}

/// Frequency 0 moved from the first place to the middle, n / 2, along one axis.
///
/// \throws PreconditionError if there is no such axis
template <Expression X>
  requires(rank_of<X> >= 1)
auto fftshift(X const& x, int axis) {
  auto const slice = elements_of(x);
  return roll(slice, slice.shape()[checked_axis(slice, axis)] / 2, axis);
}

/// The inverse of fftshift, which differs from it where there is an odd number of elements.
template <Expression X>
auto ifftshift(X const& x) {
  return detail::shift_all_axes(x, true);
}

/// The inverse of fftshift along one axis.
///
/// \throws PreconditionError if there is no such axis
template <Expression X>
  requires(rank_of<X> >= 1)
auto ifftshift(X const& x, int axis) {
  auto const slice = elements_of(x);
  return roll(slice, -(slice.shape()[checked_axis(slice, axis)] / 2), axis);
}

}  // namespace coir::fft
