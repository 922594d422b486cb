#include "start.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/io/format.hpp>
#include <coir/io/npy.hpp>
#include <coir/io/png.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>

namespace coir::apps::shallow {

namespace {

void expects_shape(Settings const& s, std::int64_t rows, std::int64_t columns) {
  if (rows == s.rows && columns == s.columns) return;
  throw InputError(s.topography.string() + " has " + std::to_string(rows) + " rows and " +
                   std::to_string(columns) + " columns, and the model " + std::to_string(s.rows) +
                   " and " + std::to_string(s.columns) + ": give --size " +
                   std::to_string(columns) + "x" + std::to_string(rows) + ", or another file");
}

/// The demo's jet: an eastward current in the middle, in balance with the surface but for a small
/// wave. Its sums run over an edge of one cell around the grid, as the demo's do.
struct Jet {
  Settings const& s;
  Parameters p;
  double length_x, length_y, mean = 0;
  Table balance;  ///< of the surface, by rows from -1 on

  explicit Jet(Settings const& settings)
      : s(settings),
        p(parameters_of(settings)),
        length_x((s.columns - 1) * s.cell),
        length_y((s.rows - 1) * s.cell) {
    double sum = 0;
    for (int j = -1; j <= s.rows; ++j) {
      sum -= s.cell * u(j) * (p.f0 + p.beta * j * s.cell) / s.gravity;
      balance.push_back(sum);
      mean += sum / (s.rows + 2);
    }
  }
  double u(int j) const {
    double const y = (j * s.cell - 0.5 * length_y) / (0.02 * length_x);
    return s.amplitude.value_or(10) * std::exp(-y * y);
  }
  double h(int j, int i) const {
    constexpr double pi = std::numbers::pi;
    return s.depth + balance[static_cast<std::size_t>(j + 1)] - mean +
           0.2 * std::sin(i * s.cell / length_x * 10 * pi) *
               std::cos(j * s.cell / length_y * 8 * pi);
  }
};

/// A round hill of the surface, with the height 1 in its middle.
struct Hill {
  Settings const& s;
  double radius;

  double operator()(double j, double i) const {
    double const x = (i + 0.5 - s.place_x.value_or(0.5) * s.columns) * s.cell / radius,
                 y = (j + 0.5 - s.place_y.value_or(0.5) * s.rows) * s.cell / radius;
    return std::exp(-0.5 * (x * x + y * y));
  }
};

/// A hill of the surface around which the water flows so that the Coriolis force holds it:
/// u = -g/f dh/dy and v = g/f dh/dx, by differences of h at corners, so that nothing flows
/// together.
void add_vortex(Settings const& s, distributed::Share const& rows, StartState& state) {
  Parameters const p = parameters_of(s);
  expects(p.f0 != 0, "--start vortex needs rotation: --f0 must not be 0");
  double const height = s.amplitude.value_or(0.01 * s.depth);
  Hill const hill{s, s.radius.value_or(0.08 * std::min(s.rows, s.columns) * s.cell)};
  double const flow = s.gravity * height / (p.f0 * s.cell);
  std::size_t n = 0;
  for (std::int64_t j = rows.first; j < rows.end(); ++j)
    for (int i = 0; i < s.columns; ++i, ++n) {
      double const y = static_cast<double>(j);
      double const corner = hill(y + 0.5, i + 0.5);
      state.h[n] += height * hill(y, i);
      state.u[n] = -flow * (corner - hill(y - 0.5, i + 0.5));
      state.v[n] = flow * (corner - hill(y + 0.5, i - 0.5));
    }
}

}  // namespace

Table topography_of(Settings const& s) {
  Table bottom;
  if (io::format_of_name(s.topography) == io::Format::png) {
    auto const image = io::read_png(s.topography);
    expects_shape(s, image.rows, image.columns);
    double const level = s.relief.value_or(0.9 * s.depth) / image.maximum();
    bottom.reserve(static_cast<std::size_t>(image.rows) * static_cast<std::size_t>(image.columns));
    for (int j = 0; j < s.rows; ++j)
      for (int i = 0; i < s.columns; ++i) bottom.push_back(level * image(s.rows - 1 - j, i));
    return bottom;
  }
  auto const array = io::read_npy(s.topography);
  io::expects_rank(array, 2);
  expects_shape(s, array.shape[0], array.shape[1]);
  using View = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
  auto const view = io::to_view<View>(array);
  bottom.assign(view.data(), view.data() + view.size());
  auto const bad =
      std::find_if(bottom.begin(), bottom.end(), [](double b) { return !std::isfinite(b); });
  if (bad != bottom.end())
    throw InputError(s.topography.string() + " holds " + in_words(*bad) +
                     ": heights of a bottom must be finite");
  return bottom;
}

StartState start_of(Settings const& s, distributed::Share const& rows, Table const& bottom) {
  auto const columns = static_cast<std::size_t>(s.columns);
  auto const cells = static_cast<std::size_t>(rows.count) * columns;
  StartState state{Table(cells, s.depth), Table(cells), Table(cells)};
  Jet const jet(s);
  Hill const wave{s, s.radius.value_or(0.04 * std::min(s.rows, s.columns) * s.cell)};
  if (s.start == Start::vortex) add_vortex(s, rows, state);
  std::size_t n = 0;
  for (std::int64_t j = rows.first; j < rows.end(); ++j)
    for (int i = 0; i < s.columns; ++i, ++n) {
      if (s.start == Start::jet) {
        state.h[n] = jet.h(static_cast<int>(j), i);
        state.u[n] = jet.u(static_cast<int>(j));
      } else if (s.start == Start::dam) {
        state.h[n] += i < s.columns / 2 ? s.amplitude.value_or(0.2 * s.depth) : 0;
      } else if (s.start == Start::tsunami) {
        state.h[n] += s.amplitude.value_or(0.05 * s.depth) * wave(static_cast<double>(j), i);
      }
      if (!bottom.empty())
        state.h[n] -= bottom[static_cast<std::size_t>(j) * columns + static_cast<std::size_t>(i)];
      if (state.h[n] > 0) continue;
      std::string const cell = "row " + std::to_string(j) + ", column " + std::to_string(i);
      if (bottom.empty())
        throw PreconditionError("the start has no water in " + cell +
                                ": --depth must be larger, or --amplitude" +
                                (s.start == Start::jet ? ", --f0 or --beta" : "") + " closer to 0");
      throw InputError(s.topography.string() + " stands " + in_words(0 - state.h[n]) +
                       " m above the surface in " + cell +
                       ": every cell needs water; lower it, or give a larger --depth");
    }
  return state;
}

}  // namespace coir::apps::shallow
