#pragma once

/// \file
/// White noise from a file.

#include <coir/core/errors.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/io/finite.hpp>
#include <coir/io/npy.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace coir::nbody::detail {

/// Reads an NPY file of shape (n, n, n) into the real numbers of a half spectrum.
///
/// \throws InputError if the file is unreadable, of another shape, or has numbers that aren't finite
template <class Spectrum>
void read_noise(std::string const& path, std::int64_t n, Spectrum const& spectrum) {
  auto const file = io::read_npy(path);
  if (file.shape != std::vector<std::int64_t>{n, n, n}) {
    std::string shape;
    for (auto const extent : file.shape)
      shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    std::string const side = std::to_string(n);
    throw InputError(path + ": white noise for " + side + "^3 particles must have shape (" + side +
                     ", " + side + ", " + side + "), not (" + shape +
                     "): set the particles along a side to the file's extent");
  }
  auto const numbers = fft::real_view_of(spectrum, n);
  io::copy_to_view(file, numbers, io::Rounding::allow);
  io::expects_finite(numbers, path);
}

}  // namespace coir::nbody::detail
