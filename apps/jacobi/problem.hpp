#pragma once

/// \file
/// From the input file to the equation: read the picture, take its Laplacian.

#include "settings.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/strided.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>
#include <coir/distributed/view_exchange.hpp>
#include <coir/io/c_order.hpp>
#include <coir/io/finite.hpp>
#include <coir/io/format.hpp>
#include <coir/io/npy.hpp>
#include <coir/io/png.hpp>
#include <coir/poisson/laplacian.hpp>

#include <support/interrupt.hpp>
#include <support/on_all.hpp>

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

/// L u = b on a grid whose rows the ranks share.
template <class Exec, class T>
struct Problem {
  Grid<Exec, T> source;                     ///< b, [m, n], of this rank's m rows
  std::optional<Grid<Exec, T>> photograph;  ///< what u should become, [m, n], if that is known
  std::int64_t first_row = 0;               ///< of this rank
  int all_rows = 0;                         ///< of all ranks
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

/// Puts rows from `first` on, and those beside them, into the inside of a field that has a ring,
/// which is zero where there is no row.
template <class Exec, class T>
void put_inside(Exec const& exec, Grid<Exec, T> const& rows, Grid<Exec, T> const& field,
                std::int64_t first = 0) {
  int const last = int(rows.extent(0)) - 1, before = int(first) - 1;
  set_to_zero(exec, field);
  for_each(
      "coir::apps::jacobi/put_inside", exec, box({int(field.extent(0)), int(rows.extent(1))}),
      KOKKOS_LAMBDA(int i, int j) {
        int const row = before + i;
        if (row >= 0 && row <= last) field(i, j + 1) = rows(row, j);
      });
}

/// Rows of a field: the field itself, if these are all.
template <class Exec, class T>
Grid<Exec, T> rows_of(Exec const& exec, std::string const& what, Grid<Exec, T> const& field,
                      distributed::Share const& own) {
  if (own.count == std::int64_t(field.extent(0))) return field;
  auto const part = new_grid<Exec, T>(what, own.count, std::int64_t(field.extent(1)));
  if (own.count > 0)
    copy_contiguous(
        exec, part,
        Kokkos::subview(field, std::pair(own.first, own.first + own.count), Kokkos::ALL));
  exec.fence();
  return part;
}

/// All ranks' rows of a field, on the first rank. Collective.
template <class Exec, class T, class Field>
Grid<Exec, T> on_first_rank(Exec const& exec, distributed::Group const& ranks, Field const& own,
                            Problem<Exec, T> const& problem) {
  bool const is_here = ranks.is_first();
  auto const all = on_all(ranks, [&] {
    return new_grid<Exec, T>("the field of all ranks", is_here ? problem.all_rows : 0,
                             is_here ? problem.columns() : 0);
  });
  distributed::ViewExchange exchange(exec, ranks, "jacobi/output");
  exchange.send(0, own);
  for (int rank = 0; is_here && rank < ranks.size(); ++rank) {
    auto const part = distributed::share_of(problem.all_rows, rank, ranks.size());
    auto at = strided(all);
    at.data += part.first * at.strides[0];
    at.extents[0] = part.count;
    exchange.receive(rank, at);
  }
  exchange.run();
  exec.fence();
  return all;
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

/// This rank's part of the problem. Each rank reads the whole file, and keeps its rows.
template <class T, class Exec>
Problem<Exec, T> make_problem(Exec const& exec, distributed::Group const& ranks,
                              JacobiSettings const& settings) {
  Problem<Exec, T> problem;
  Grid<Exec, T> const values = read_input<T>(exec, settings.input, problem);
  Activity const starting("taking the Laplacian");
  problem.all_rows = int(values.extent(0));
  auto const own = distributed::share_of(problem.all_rows, ranks.rank(), ranks.size());
  problem.first_row = own.first;
  if (settings.input_is_laplacian) {
    undo_offset_and_scale(exec, values, T(settings.offset), T(settings.scale));
    problem.source = rows_of(exec, "the Laplacian", values, own);
    return problem;
  }
  auto const columns = std::int64_t(values.extent(1));
  auto const with_ring = new_grid<Exec, T>("the photograph", own.count + 2, columns + 2);
  put_inside(exec, values, with_ring, own.first);
  problem.source = new_grid<Exec, T>("its Laplacian", own.count, columns);
  poisson::laplacian(exec, with_ring, problem.source);
  problem.photograph = rows_of(exec, "the photograph", values, own);
  return problem;
}

/// Of all ranks' rows. Collective.
template <class Exec, class T>
Error error_of(Exec const& exec, distributed::Group const& ranks, Grid<Exec, T> const& u,
               Problem<Exec, T> const& problem) {
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
  error.largest = ranks.max(error.largest);
  double const mean = ranks.sum(squares) / (double(problem.all_rows) * double(problem.columns()));
  error.psnr = mean > 0 ? 10 * std::log10(problem.white * problem.white / mean)
                        : std::numeric_limits<double>::infinity();
  return error;
}

}  // namespace coir::apps::jacobi
