#pragma once

/// The model that benchmarks step: the demo's jet, without its balance. The arithmetic is the same.

#include <coir/core/loops.hpp>
#include <coir/shallow/model.hpp>

#include <cmath>
#include <cstddef>

namespace coir::bench {

template <class Field>
struct Start {
  using T = typename Field::value_type;
  Field h, u, v;

  KOKKOS_FUNCTION void operator()(int j, int i) const {
    T const y = T(j) / T(h.extent(0)) - T(0.5);
    h(j, i) = T(100) + T(0.01) * T((i * 7 + j * 13) % 20);
    u(j, i) = T(10) / (T(1) + y * y * T(100));
    v(j, i) = 0;
  }
};

inline shallow::Parameters parameters_of(int columns, int rows) {
  shallow::Parameters p;
  p.columns = columns;
  p.rows = rows;
  p.dx = p.dy = 5e3;
  p.f0 = 2e-4;
  p.beta = 2e-11;
  p.viscosity = 1e-3 * p.f0 * p.dx * p.dx;
  p.dt = 0.125 * p.dx / std::sqrt(9.81 * 100);
  return p;
}

/// Sets a model's fields. Each rank has a jet in its middle.
template <class Exec, class T>
void start(Exec const& exec, shallow::Model<Exec, T>& model) {
  using Field = typename shallow::Model<Exec, T>::Field;
  auto const rows = static_cast<std::size_t>(model.rows().count);
  auto const columns = static_cast<std::size_t>(model.parameters().columns);
  Start<Field> const start{Field("h", rows, columns), Field("u", rows, columns),
                           Field("v", rows, columns)};
  for_each("coir::bench::start", exec, box({int(rows), int(columns)}), start);
  model.set(start.h, start.u, start.v);
  exec.fence();
}

}  // namespace coir::bench
