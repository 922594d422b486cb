#pragma once

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

/// Some planes of the first axis, as another array. The file must be in C order.
inline io::NpyArray planes_of(io::NpyArray const& file, distributed::Share const& planes) {
  auto const plane =
      static_cast<std::ptrdiff_t>(file.shape[1] * file.shape[2] * io::size_of(file.type));
  auto const begin = file.bytes.begin() + planes.first * plane;
  return {file.name,
          file.type,
          false,
          {planes.count, file.shape[1], file.shape[2]},
          {begin, begin + planes.count * plane}};
}

/// Reads planes of an NPY file of shape (n, n, n) into the real numbers of a half spectrum. The
/// whole file is in memory meanwhile.
///
/// \param planes  the planes of the first axis that are read
/// \throws InputError if the file is unreadable, of another shape, or these planes have numbers
///   that aren't finite
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
  } else if (!file.fortran_order) {
    io::copy_to_view(planes_of(file, planes), numbers, io::Rounding::allow);
  } else {
    using T = typename Spectrum::value_type::value_type;
    auto const all = io::to_view<Kokkos::View<T***, Kokkos::LayoutRight, Kokkos::HostSpace>>(
        file, io::Rounding::allow, "coir::nbody::noise_file/noise");
    auto const bytes = std::as_bytes(std::span(all.data(), all.size()));
    io::NpyArray const in_order{
        path, io::npy_type<T>, false, file.shape, {bytes.begin(), bytes.end()}};
    io::copy_to_view(planes_of(in_order, planes), numbers);
  }
  io::expects_finite(numbers, path, planes.first);
}

}  // namespace coir::nbody::detail
