#pragma once

#include <coir/core/errors.hpp>
#include <coir/distributed/share.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/io/finite.hpp>
#include <coir/io/npy.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace coir::nbody::detail {

/// Reads planes of an NPY file of shape (n, n, n) into the real numbers of a half spectrum.
///
/// \param planes  the planes of the first axis that are read
/// \throws InputError if the file is unreadable, of another shape, or these planes have numbers
///   that aren't finite
template <class Spectrum>
void read_noise(std::string const& path, std::int64_t n, distributed::Share const& planes,
                Spectrum const& spectrum) {
  auto const extents = io::npy_shape(path);
  if (extents != std::vector<std::int64_t>{n, n, n}) {
    std::string shape;
    for (auto const extent : extents) shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    std::string const side = std::to_string(n);
    throw InputError(path + ": white noise for " + side + "^3 particles must have shape (" + side +
                     ", " + side + ", " + side + "), not (" + shape +
                     "): set the particles along a side to the file's extent");
  }
  auto const numbers = fft::real_view_of(spectrum, n);
  io::copy_to_view(io::read_npy_slices(path, planes.first, planes.count), numbers,
                   io::Rounding::allow);
  io::expects_finite(numbers, path, planes.first);
}

}  // namespace coir::nbody::detail
