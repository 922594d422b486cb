#pragma once

/// \file
/// From the input file to the equation: read the picture, take its Laplacian.

#include "settings.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/loops.hpp>
#include <coir/io/c_order.hpp>
#include <coir/io/finite.hpp>
#include <coir/io/format.hpp>
#include <coir/io/npy.hpp>
#include <coir/io/png.hpp>
#include <coir/poisson/laplacian.hpp>

#include <support/interrupt.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace coir::apps::jacobi {

template <class Exec, class T>
using Grid = Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space>;

/// L u = b on an m x n grid.
template <class Exec, class T>
struct Problem {
  Grid<Exec, T> source;                     ///< b, [m, n]
  std::optional<Grid<Exec, T>> photograph;  ///< what u should become, [m, n], if that is known
  int bits = 8;                             ///< of a grey level, for output as a picture
  double white = 255;        ///< the value of white; for an array, how far its values spread
  bool had_colours = false;  ///< whether the file had colours, which were turned into grey

  int rows() const { return static_cast<int>(source.extent(0)); }
  int columns() const { return static_cast<int>(source.extent(1)); }
};

/// How far a result lies from the photograph.
struct Error {
  double largest = 0;  ///< max |u - photograph|, in grey levels
  double psnr = 0;     ///< peak signal-to-noise ratio, 10 log10(white^2 / mean square), in dB
};

template <class Exec, class T>
double spread_of(Exec const& exec, Grid<Exec, T> const& values) {
  T low = 0, high = 0;
  auto const all = box({int(values.extent(0)), int(values.extent(1))});
  reduce(
      "coir::apps::jacobi/min", exec, all,
      KOKKOS_LAMBDA(int i, int j, T& value) {
        if (values(i, j) < value) value = values(i, j);
      },
      Kokkos::Min<T>(low));
  reduce(
      "coir::apps::jacobi/max", exec, all,
      KOKKOS_LAMBDA(int i, int j, T& value) {
        if (values(i, j) > value) value = values(i, j);
      },
      Kokkos::Max<T>(high));
  return high > low ? double(high) - double(low) : 1;
}

/// A new field, not set.
///
/// \throws ResourceError that names it, its bytes and what is free if memory is short
template <class Exec, class T>
Grid<Exec, T> new_grid(std::string const& what, std::int64_t rows, std::int64_t columns) {
  return io::allocate<Grid<Exec, T>>(what, std::array{rows, columns});
}

/// Reads a picture or an array, which their first bytes tell apart, and sets those members of the
/// problem that tell what the values mean.
///
/// \returns the values
/// \throws InputError if it is neither, is malformed, has no cells, or holds NaN or infinities
template <class T, class Exec>
Grid<Exec, T> read_input(Exec const& exec, std::filesystem::path const& path,
                         Problem<Exec, T>& problem) {
  Activity const reading("reading " + path.string());
  if (io::format_of_content(path) != io::Format::npy) {
    auto const image = io::read_png(path);
    problem.bits = image.bits;
    problem.white = image.maximum();
    problem.had_colours = image.had_colours;
    return io::to_view<Grid<Exec, T>>(image);
  }
  auto const array = io::read_npy(path);
  if (array.shape.size() != 2)
    throw InputError(path.string() + ": the array must have 2 dimensions, not " +
                     std::to_string(array.shape.size()) + ": save one of rows and columns");
  for (std::int64_t const extent : array.shape)
    if (extent < 1 || extent > 2'000'000'000)
      throw InputError(path.string() + ": the array's extents must be 1 to 2000000000, not " +
                       std::to_string(extent) + ": save one with that many rows and columns");
  auto const values = io::to_view<Grid<Exec, T>>(array, io::Rounding::allow);
  io::expects_finite(values, path.string());
  problem.white = spread_of(exec, values);
  return values;
}

/// Puts a field into the inside of another that has a ring, which becomes zero.
template <class Exec, class T>
void put_inside(Exec const& exec, Grid<Exec, T> const& inside, Grid<Exec, T> const& field) {
  set_to_zero(exec, field);
  for_each(
      "coir::apps::jacobi/put_inside", exec, box({int(inside.extent(0)), int(inside.extent(1))}),
      KOKKOS_LAMBDA(int i, int j) { field(i + 1, j + 1) = inside(i, j); });
}

/// The inside of a field with a ring, in the same memory.
template <class Field>
auto inside_of(Field const& field) {
  using Range = std::pair<std::size_t, std::size_t>;
  return Kokkos::subview(field, Range(1, field.extent(0) - 1), Range(1, field.extent(1) - 1));
}

/// b = scale (values - offset), for a file that holds the Laplacian itself.
template <class Exec, class T>
void undo_offset_and_scale(Exec const& exec, Grid<Exec, T> const& values, T offset, T scale) {
  for_each(
      "coir::apps::jacobi/scale", exec, box({int(values.extent(0)), int(values.extent(1))}),
      KOKKOS_LAMBDA(int i, int j) { values(i, j) = scale * (values(i, j) - offset); });
}

template <class T, class Exec>
Problem<Exec, T> make_problem(Exec const& exec, JacobiSettings const& settings) {
  Problem<Exec, T> problem;
  Grid<Exec, T> const values = read_input<T>(exec, settings.input, problem);
  Activity const starting("taking the Laplacian");
  if (settings.input_is_laplacian) {
    undo_offset_and_scale(exec, values, T(settings.offset), T(settings.scale));
    problem.source = values;
    return problem;
  }
  auto const rows = std::int64_t(values.extent(0)), columns = std::int64_t(values.extent(1));
  auto const with_ring = new_grid<Exec, T>("the photograph", rows + 2, columns + 2);
  put_inside(exec, values, with_ring);
  problem.source = new_grid<Exec, T>("its Laplacian", rows, columns);
  poisson::laplacian(exec, with_ring, problem.source);
  problem.photograph = values;
  return problem;
}

template <class Exec, class T>
Error error_of(Exec const& exec, Grid<Exec, T> const& u, Problem<Exec, T> const& problem) {
  auto const photograph = *problem.photograph;
  auto const all = box({problem.rows(), problem.columns()});
  Error error;
  double squares = 0;
  reduce(
      "coir::apps::jacobi/largest_error", exec, all,
      KOKKOS_LAMBDA(int i, int j, double& value) {
        double const difference = double(u(i + 1, j + 1)) - double(photograph(i, j));
        double const size = difference < 0 ? -difference : difference;
        if (size > value) value = size;
      },
      Kokkos::Max<double>(error.largest));
  reduce(
      "coir::apps::jacobi/squared_error", exec, all,
      KOKKOS_LAMBDA(int i, int j, double& value) {
        double const difference = double(u(i + 1, j + 1)) - double(photograph(i, j));
        value += difference * difference;
      },
      Kokkos::Sum<double>(squares));
  double const mean = squares / double(all.size());
  error.psnr = mean > 0 ? 10 * std::log10(problem.white * problem.white / mean)
                        : std::numeric_limits<double>::infinity();
  return error;
}

}  // namespace coir::apps::jacobi
