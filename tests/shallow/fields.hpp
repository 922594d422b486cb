#pragma once

/// Starts for shallow-water models, and their fields as plain numbers.

#include <coir/core/contiguous.hpp>
#include <coir/core/strided.hpp>
#include <coir/shallow/model.hpp>

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace coir::testing {

using Numbers = std::vector<double>;

/// h, u and v on all rows, row by row.
struct ShallowState {
  Numbers h, u, v;
};

/// f(j, i) on a grid.
template <class F>
Numbers tabulated(int rows, int columns, F const& f) {
  Numbers result;
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < columns; ++i) result.push_back(f(j, i));
  return result;
}

/// Waves of every direction on a current, about as uneven as the demo's jet.
inline ShallowState uneven_start(shallow::Parameters const& p) {
  double const pi = std::numbers::pi;
  auto const wave = [&](double j, double i, int kx, int ky, double phase) {
    return std::sin(2 * pi * (kx * i / p.columns + ky * j / p.rows) + phase);
  };
  ShallowState state;
  state.h = tabulated(p.rows, p.columns, [&](int j, int i) {
    return 100 + 2 * wave(j, i, 1, 2, 0.3) + 0.5 * wave(j, i, -2, 1, 1);
  });
  state.u = tabulated(p.rows, p.columns, [&](int j, int i) {
    return 3 * std::cos(pi * (j + 0.5) / p.rows) + wave(j, i, 2, 1, 2);
  });
  state.v = tabulated(p.rows, p.columns, [&](int j, int i) { return 2 * wave(j, i, 1, -1, 0.7); });
  if (!p.periodic_y)
    for (int i = 0; i < p.columns; ++i) state.v[state.v.size() - 1 - i] = 0;
  if (!p.periodic_x)
    for (int j = 0; j < p.rows; ++j) state.u[(j + 1) * p.columns - 1] = 0;
  return state;
}

/// This rank's rows of a table of all rows, in memory of the model's space.
template <class Exec, class T>
auto rows_of(shallow::Model<Exec, T> const& model, Numbers const& all) {
  auto const rows = static_cast<std::size_t>(model.rows().count);
  auto const columns = static_cast<std::size_t>(model.parameters().columns);
  Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace> const host("host", rows, columns);
  for (std::size_t n = 0; n < rows * columns; ++n)
    host.data()[n] =
        static_cast<T>(all[static_cast<std::size_t>(model.rows().first) * columns + n]);
  typename shallow::Model<Exec, T>::Field const field("field", rows, columns);
  copy_contiguous(field, host);
  return field;
}

template <class Exec, class T>
void set(shallow::Model<Exec, T>& model, ShallowState const& state) {
  model.set(rows_of(model, state.h), rows_of(model, state.u), rows_of(model, state.v));
}

/// This rank's rows of a field.
template <class Exec, class T>
std::vector<T> elements(
    Exec const& exec,
    Kokkos::View<T**, Kokkos::LayoutStride, typename Exec::memory_space> const& cells) {
  Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space> const packed(
      "packed", cells.extent(0), cells.extent(1));
  copy_strided<Exec, T, 2>(exec, strided(cells), strided(packed));
  auto const host = host_view_of(packed);
  return {host.data(), host.data() + host.size()};
}

}  // namespace coir::testing
