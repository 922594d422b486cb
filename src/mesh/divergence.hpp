#pragma once

/// The adjoint of differences.hpp: a mesh of vectors becomes one of numbers.

#include "divergence_device.hpp"

#include <coir/core/loops.hpp>
#include <coir/core/shape.hpp>
#include <coir/mesh/cells.hpp>
#include <coir/mesh/detail/difference_weights.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace coir::mesh::detail {

/// to = sum_d D_d^T v_d for the differences D_d that make forces of a potential. D_d^T = -D_d, so
/// that this is the divergence of v by the same differences.
///
/// \tparam Points  2 or 4
template <class T, int Points>
struct Divergence {
  T const* vectors;  // (n_0, n_1, n_2, 3), which may be fewer planes than those of the mesh
  std::int64_t n[3];
  T* to;  // (n_0, n_1, n_2), its rows `row` apart
  std::int64_t row;
  DifferenceWeights<T> weights[3];

  Divergence(T const* from, Shape<3> const& shape, std::int64_t planes, double box, T* numbers)
      : vectors(from), to(numbers), row(2 * (shape[2] / 2 + 1)) {
    for (int d = 0; d < 3; ++d) {
      n[d] = d == 0 ? planes : shape[d];
      weights[d] = {Points, inverse_spacing(shape[d], box)};
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t around(std::int64_t i, int d) const {
    return i < 0 ? (i + 2 * n[d]) % n[d] : i >= n[d] ? i % n[d] : i;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    auto const along = [&](int d, std::int64_t at, std::int64_t stride, T const* line) {
      T const sum =
          weights[d].near * (line[around(at + 1, d) * stride] - line[around(at - 1, d) * stride]);
      if constexpr (Points == 2) return sum;
      return sum +
             weights[d].far * (line[around(at + 2, d) * stride] - line[around(at - 2, d) * stride]);
    };
    std::int64_t const of_row = 3 * n[2], of_plane = n[1] * of_row;
    T const x = along(0, i, of_plane, vectors + j * of_row + 3 * k);
    T const y = along(1, j, of_row, vectors + i * of_plane + 3 * k + 1);
    T const z = along(2, k, 3, vectors + i * of_plane + j * of_row + 2);
    to[(i * n[1] + j) * row + k] = x + y + z;
  }

  void stretch(std::int64_t i, std::int64_t j, std::int64_t begin, std::int64_t end) const {
    std::int64_t const first = begin < 2 ? 2 : begin, last = end > n[2] - 2 ? n[2] - 2 : end;
    if (first >= last) {
      for (std::int64_t k = begin; k < end; ++k) (*this)(i, j, k);
      return;
    }
    for (std::int64_t k = begin; k < first; ++k) (*this)(i, j, k);
    std::int64_t const of_row = 3 * n[2], of_plane = n[1] * of_row;
    T const *x[4], *y[4];
    for (int s = 0; s < 4; ++s) {
      int const step = s < 2 ? s - 2 : s - 1;
      x[s] = vectors + around(i + step, 0) * of_plane + j * of_row;
      y[s] = vectors + i * of_plane + around(j + step, 1) * of_row + 1;
    }
    between(vectors + i * of_plane + j * of_row + 2, x, y, first, last, to + (i * n[1] + j) * row);
    for (std::int64_t k = last; k < end; ++k) (*this)(i, j, k);
  }

 private:
  void between(T const* here, T const* const (&x)[4], T const* const (&y)[4], std::int64_t first,
               std::int64_t last, T* numbers) const {
    T const *const x0 = x[0], *const x1 = x[1], *const x2 = x[2], *const x3 = x[3];
    T const *const y0 = y[0], *const y1 = y[1], *const y2 = y[2], *const y3 = y[3];
    T const nx = weights[0].near, ny = weights[1].near, nz = weights[2].near;
    T const fx = weights[0].far, fy = weights[1].far, fz = weights[2].far;
    COIR_INDEPENDENT_ITERATIONS
    for (std::int64_t k = first; k < last; ++k) {
      std::int64_t const at = 3 * k;
      T along_x = nx * (x2[at] - x1[at]), along_y = ny * (y2[at] - y1[at]),
        along_z = nz * (here[at + 3] - here[at - 3]);
      if constexpr (Points == 4) {
        along_x += fx * (x3[at] - x0[at]);
        along_y += fy * (y3[at] - y0[at]);
        along_z += fz * (here[at + 6] - here[at - 6]);
      }
      numbers[k] = along_x + along_y + along_z;
    }
  }
};

/// to += D_d^T v, or for d = 0 to = D_d^T v, where v is one component of a mesh of vectors, all in
/// whole numbers. D_d is in units of the least weight of all axes. Sums wrap around.
///
/// \tparam Points  2 or 4
template <int Points>
struct AddWholeDifference {
  using Whole = std::uint64_t;
  Whole const* component;  // (n_0, n_1, n_2), whose ends meet
  std::int64_t n[3];
  Whole* to;  // its rows `row` apart
  std::int64_t row;
  int d;
  Whole factor;

  /// \param shape   of the whole mesh
  /// \param planes  that are here
  AddWholeDifference(std::int64_t const* from, Shape<3> const& shape, std::int64_t planes, int axis,
                     std::int64_t* numbers)
      : component(reinterpret_cast<Whole const*>(from)),
        n{planes, shape[1], shape[2]},
        to(reinterpret_cast<Whole*>(numbers)),
        row(2 * (shape[2] / 2 + 1)),
        d(axis),
        factor(static_cast<Whole>(shape[axis] / common(shape))) {}

  static std::int64_t common(Shape<3> const& shape) {
    return std::gcd(std::gcd(shape[0], shape[1]), shape[2]);
  }
  /// The least weight.
  static double unit(Shape<3> const& shape, double box) {
    return inverse_spacing(common(shape), box) / (Points == 2 ? 2 : 12);
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    std::int64_t const at = d == 0 ? i : d == 1 ? j : k, extent = n[d];
    std::int64_t const stride = d == 0 ? n[1] * n[2] : d == 1 ? n[2] : 1;
    Whole const* const line = component + ((i * n[1] + j) * n[2] + k - at * stride);
    auto const number = [&](std::int64_t step) {
      return line[(at + step + 2 * extent) % extent * stride];
    };
    put(to[(i * n[1] + j) * row + k], sum(number(-2), number(-1), number(1), number(2)));
  }

  void stretch(std::int64_t i, std::int64_t j, std::int64_t begin, std::int64_t end) const {
    auto const around = [](std::int64_t at, std::int64_t extent) {
      return (at + 2 * extent) % extent;
    };
    Whole const* line[4];
    std::int64_t const here = (i * n[1] + j) * n[2];
    for (int s = 0; s < 4; ++s) {
      int const step = s < 2 ? s - 2 : s - 1;
      line[s] = component + (d == 0   ? (around(i + step, n[0]) * n[1] + j) * n[2]
                             : d == 1 ? (i * n[1] + around(j + step, n[1])) * n[2]
                                      : here + step);
    }
    std::int64_t const first = d < 2 ? begin : std::min(end, std::max<std::int64_t>(begin, 2)),
                       last = d < 2 ? end : std::max(first, std::min(end, n[2] - 2));
    for (std::int64_t k = begin; k < first; ++k) (*this)(i, j, k);
    Whole const *const a = line[0], *const b = line[1], *const e = line[2], *const f = line[3];
    Whole* const numbers = to + (i * n[1] + j) * row;
    AddWholeDifference const local = *this;
    COIR_INDEPENDENT_ITERATIONS
    for (std::int64_t k = first; k < last; ++k)
      local.put(numbers[k], local.sum(a[k], b[k], e[k], f[k]));
    for (std::int64_t k = last; k < end; ++k) (*this)(i, j, k);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION Whole sum(Whole a, Whole b, Whole e, Whole f) const {
    return factor * (Points == 2 ? e - b : 8 * (e - b) - (f - a));
  }
  KOKKOS_FORCEINLINE_FUNCTION void put(Whole& number, Whole sum) const {
    number = d == 0 ? sum : number + sum;
  }
};

/// \param shape   of the whole mesh
/// \param planes  that are here, whose ends meet
template <int Points, class Exec, class T>
void find_divergence(Exec const& exec, T const* vectors, Shape<3> const& shape, std::int64_t planes,
                     double box, T* numbers) {
  constexpr auto label = "coir::mesh::divergence";
  Divergence<T, Points> const body(vectors, shape, planes, box, numbers);
  if constexpr (runs_on_host<Exec>)
    for_each(label, exec, coir::box<3, std::int64_t>({planes, shape[1], shape[2]}), body);
  else
    DivergenceInBlocks<T, Points>::run(label, exec, body);
}

}  // namespace coir::mesh::detail
