#pragma once

/// \file
/// White noise from a file.

#include <coir/core/errors.hpp>
#include <coir/distributed/share.hpp>
#include <coir/io/finite.hpp>
#include <coir/io/npy.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace coir::nbody {

/// Reads planes of an NPY file of white noise at the sites of a lattice, of shape (n, n, n).
///
/// \param planes   the planes of the first axis that are read
/// \param numbers  (planes.count, n, n) out
/// \param remedy   for a file of another shape
/// \throws InputError if the file is unreadable, of another shape, or these planes have numbers
///   that aren't finite
template <class Numbers>
void read_noise(std::string const& path, std::int64_t n, distributed::Share const& planes,
                Numbers const& numbers,
                std::string const& remedy = "set the particles along a side to the file's extent") {
  auto const extents = io::npy_shape(path);
  if (extents != std::vector<std::int64_t>{n, n, n}) {
    std::string shape;
    for (auto const extent : extents) shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    std::string const side = std::to_string(n);
    throw InputError(path + ": white noise for " + side + "^3 particles must have shape (" + side +
                     ", " + side + ", " + side + "), not (" + shape + "): " + remedy);
  }
  io::copy_to_view(io::read_npy_slices(path, planes.first, planes.count), numbers,
                   io::Rounding::allow);
  io::expects_finite(numbers, path, planes.first);
}

}  // namespace coir::nbody
