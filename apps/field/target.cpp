#include "target.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/memory.hpp>
#include <coir/io/finite.hpp>
#include <coir/io/format.hpp>
#include <coir/io/npy.hpp>
#include <coir/io/png.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>

namespace coir::apps::field {

namespace {

using Square = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

std::string shape_text(std::vector<std::int64_t> const& shape) {
  std::string text;
  for (auto const extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "(" + text + ")";
}

std::string powers(std::int64_t side, int power) {
  return std::to_string(side) + "^" + std::to_string(power);
}

/// averaged() of value(row, column).
template <class Value>
std::vector<double> averaged_of(Value const& value, std::int64_t rows, std::int64_t side) {
  // The share that value i has in part a, in units of a part: from a rows / side to (a + 1) rows /
  // side.
  double const length = static_cast<double>(rows) / static_cast<double>(side);
  auto const share = [&](std::int64_t i, std::int64_t a) {
    double const begin = std::max(double(i), double(a) * length);
    double const end = std::min(double(i + 1), double(a + 1) * length);
    return std::max(0.0, end - begin) / length;
  };
  auto const parts = [&](auto const& add) {
    for (std::int64_t a = 0; a < side; ++a)
      for (std::int64_t i = a * rows / side; i < rows && double(i) < double(a + 1) * length; ++i)
        add(a, i, share(i, a));
  };
  auto const at = [](std::int64_t i, std::int64_t columns, std::int64_t j) {
    return static_cast<std::size_t>(i * columns + j);
  };
  std::vector<double> rows_averaged(static_cast<std::size_t>(side * rows));
  parts([&](std::int64_t a, std::int64_t i, double weight) {
    for (std::int64_t j = 0; j < rows; ++j) rows_averaged[at(a, rows, j)] += weight * value(i, j);
  });
  std::vector<double> result(static_cast<std::size_t>(side * side));
  parts([&](std::int64_t b, std::int64_t j, double weight) {
    for (std::int64_t a = 0; a < side; ++a)
      result[at(a, side, b)] += weight * rows_averaged[at(a, rows, j)];
  });
  return result;
}

/// Columns of a square of value(row, column).
///
/// \param name  of the file, for messages
template <class Value>
Target columns_of(Value const& value, std::int64_t rows, std::int64_t side,
                  std::string const& name) {
  std::int64_t const m = std::min(rows, side);
  coir::expects_memory<Kokkos::HostSpace>(8 * m * (rows + 2 * m), "averaging " + name);
  std::vector<double> const columns = averaged_of(value, rows, m);
  Target target;
  target.cells = Target::Cells("coir::apps::field::target", static_cast<std::size_t>(m),
                               static_cast<std::size_t>(m), 1);
  std::copy(columns.begin(), columns.end(), target.cells.data());
  return target;
}

/// Makes the mean 1, from which it may be away by a tenth.
void expects_mean_of_one(Target const& target, std::string const& name) {
  std::span<double> const all(target.cells.data(), target.cells.size());
  double mean = 0;
  for (double const value : all) mean += value / static_cast<double>(all.size());
  if (!(std::abs(mean - 1) <= 0.1))
    throw InputError(name + ": the mean of a density must be 1 to a tenth, not " + in_words(mean) +
                     ": divide it by its mean, or add 1 if it is a density contrast");
  for (double& value : all) value /= mean;
}

Target read_array(std::filesystem::path const& path, std::int64_t side, bool finer) {
  auto const array = io::read_npy(path);
  auto const& shape = array.shape;
  bool const is_cube = (shape.size() == 2 || shape.size() == 3) && shape[0] >= 1 &&
                       std::ranges::count(shape, shape[0]) == std::ssize(shape);
  if (!is_cube)
    throw InputError(path.string() +
                     ": a density must have shape (m, m, m), or (m, m) seen along the third axis, "
                     "not " +
                     shape_text(shape) + ": save a cube or a square");
  std::int64_t const m = shape[0];
  Target target;
  if (shape.size() == 2) {
    auto const square = io::to_view<Square>(array, io::Rounding::allow);
    io::expects_finite(square, path.string());
    target = columns_of([&](std::int64_t i, std::int64_t j) { return square(i, j); }, m, side,
                        path.string());
    target.content = "a projected density of " + powers(m, 2) + " columns";
  } else {
    if (m > side && !finer)
      throw InputError(path.string() + ": a density of " + powers(m, 3) + " cells needs " +
                       powers(m, 3) + " particles or more, not " + powers(side, 3) +
                       ": use --side " + std::to_string(m) + ", or average the density");
    target.cells = io::to_view<Target::Cells>(array, io::Rounding::allow);
    io::expects_finite(target.cells, path.string());
    target.content = "a density of " + powers(m, 3) + " cells";
  }
  expects_mean_of_one(target, path.string());
  return target;
}

Target read_picture(std::filesystem::path const& path, std::int64_t side, double contrast) {
  auto const image = io::read_png(path);
  int const square = std::min(image.rows, image.columns);
  int const top = (image.rows - square) / 2, left = (image.columns - square) / 2;
  auto const brightness = [&](std::int64_t i, std::int64_t j) {
    return double(image(top + static_cast<int>(i), left + static_cast<int>(j))) / image.maximum();
  };
  Target target = columns_of(brightness, square, side, path.string());
  std::span<double> const all(target.cells.data(), target.cells.size());
  double mean = 0;
  for (double& value : all) {
    value = std::pow(contrast, value);
    mean += value / static_cast<double>(all.size());
  }
  for (double& value : all) value /= mean;
  target.content =
      "a picture of " + std::to_string(image.rows) + " x " + std::to_string(image.columns);
  if (image.rows != image.columns)
    target.content += ", of which the " + powers(square, 2) + " in the middle count";
  if (image.had_colours) target.content += ", its colours turned into grey";
  return target;
}

}  // namespace

std::vector<double> averaged(std::vector<double> const& values, std::int64_t rows,
                             std::int64_t side) {
  return averaged_of([&](std::int64_t i,
                         std::int64_t j) { return values[static_cast<std::size_t>(i * rows + j)]; },
                     rows, side);
}

Target read_target(std::filesystem::path const& path, std::int64_t side, double contrast,
                   bool finer) {
  auto target = io::format_of_content(path) == io::Format::npy ? read_array(path, side, finer)
                                                               : read_picture(path, side, contrast);
  auto const end = target.cells.data() + target.cells.size();
  target.is_even = std::adjacent_find(target.cells.data(), end, std::not_equal_to<double>()) == end;
  return target;
}

Target own_planes(Target const& whole, distributed::Group const& group) {
  auto const planes = whole.planes(group);
  if (planes.count == whole.side()) return whole;
  Target own = whole;
  own.cells = Target::Cells("coir::apps::field::target", static_cast<std::size_t>(planes.count),
                            whole.cells.extent(1), whole.cells.extent(2));
  std::copy_n(whole.cells.data() + planes.first * static_cast<std::int64_t>(whole.cells.extent(1) *
                                                                            whole.cells.extent(2)),
              own.cells.size(), own.cells.data());
  return own;
}

}  // namespace coir::apps::field
