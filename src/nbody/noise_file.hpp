#pragma once

/// \file
/// White noise from a file.

#include <coir/core/errors.hpp>
#include <coir/distributed/share.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/io/finite.hpp>
#include <coir/io/npy.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace coir::nbody::detail {

/// Reads planes of an NPY file of shape (n, n, n) into the real numbers of a half spectrum. Holds the whole file in memory
/// meanwhile, and checks all of its numbers.
///
/// \param planes  the planes of the first axis that are read
/// \throws InputError if the file is unreadable, of another shape, or has numbers that aren't finite
template <class Spectrum>
void read_noise(std::string const& path, std::int64_t n, distributed::Share const& planes,
                Spectrum const& spectrum) {
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
  if (planes.count == n) {
    io::copy_to_view(file, numbers, io::Rounding::allow);
    io::expects_finite(numbers, path);
    return;
  }
  using T = typename Spectrum::value_type::value_type;
  auto const all = io::to_view<Kokkos::View<T***, Kokkos::LayoutRight, Kokkos::HostSpace>>(
      file, io::Rounding::allow, "coir::nbody::noise");
  io::expects_finite(all, path);
  auto const bytes = std::as_bytes(
      std::span(all.data() + planes.first * n * n, static_cast<std::size_t>(planes.count * n * n)));
  io::copy_to_view(
      io::NpyArray{
          path, io::npy_type<T>, false, {planes.count, n, n}, {bytes.begin(), bytes.end()}},
      numbers);
}

}  // namespace coir::nbody::detail
