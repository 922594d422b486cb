#pragma once

/// The deposits of a particle in the cells that it touches: numbers, or whole numbers, whose sum
/// doesn't depend on the order of additions.

#include <coir/core/kokkos.hpp>
#include <coir/core/math.hpp>

#include <cstdint>
#include <type_traits>

namespace coir::mesh::detail {

/// The type of whole numbers for parts of a particle. It is as wide as a T, because the numbers lie
/// in the memory of a mesh of T.
template <class T>
using Fixed = std::conditional_t<std::is_same_v<T, float>, std::int32_t, std::int64_t>;

/// Adds to a cell. Whole numbers that overflow wrap around; paint_parts() detects it.
template <class Cell>
KOKKOS_FUNCTION void add_to(Cell& cell, Cell amount) {
  if constexpr (std::is_integral_v<Cell>) {
    using Unsigned = std::make_unsigned_t<Cell>;
    cell = static_cast<Cell>(static_cast<Unsigned>(cell) + static_cast<Unsigned>(amount));
  } else {
    cell += amount;
  }
}

/// Cuts `whole` into parts in proportion to weights that add up to 1. The first part is the
/// remainder of the others, so that the parts add up to `whole`.
template <int Support, class T, class I = Fixed<T>>
KOKKOS_FORCEINLINE_FUNCTION void cut(I whole, T const (&weight)[Support], I (&part)[Support]) {
  T const all = static_cast<T>(whole);
  I rest = whole;
  COIR_UNROLL
  for (int o = 1; o < Support; ++o) {
    // Rounded half away from zero, by truncation, which is the same on every backend. NaN deposits
    // zero.
    T const share = all * weight[o];
    T const rounded = share + (share < T(0) ? T(-0.5) : T(0.5));
    part[o] = static_cast<I>(rounded == rounded ? rounded : T(0));
    rest -= part[o];
  }
  part[0] = rest;
}

/// Cuts `whole` into a part for each cell that a particle touches: plane by plane, row by row, and
/// then cell by cell, so that the parts add up to `whole`.
template <int Support, class T, class I, class Add>
KOKKOS_FORCEINLINE_FUNCTION void deposit_whole(I whole, T const (&wx)[Support],
                                               T const (&wy)[Support], T const (&wz)[Support],
                                               Add const& add) {
  I in_plane[Support], in_row[Support], in_cell[Support];
  cut<Support, T>(whole, wx, in_plane);
  COIR_UNROLL
  for (int a = 0; a < Support; ++a) {
    cut<Support, T>(in_plane[a], wy, in_row);
    COIR_UNROLL
    for (int b = 0; b < Support; ++b) {
      cut<Support, T>(in_row[b], wz, in_cell);
      COIR_UNROLL
      for (int c = 0; c < Support; ++c) add(a, b, c, 0, in_cell[c]);
    }
  }
}

/// Deposits the product of the weights along the axes, times the particle's value.
///
/// \tparam Components  0 for masses of 1, 1 or 3 for values
template <int Support, int Components, class T>
struct DepositNumbers {
  using Cell = T;
  T const* value;

  /// add(a, b, c, component, number) puts `number` into the cell that is the a-th, b-th and c-th
  /// along the axes.
  template <class Add>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t particle, T const (&wx)[Support],
                                              T const (&wy)[Support], T const (&wz)[Support],
                                              Add const& add) const {
    COIR_UNROLL
    for (int a = 0; a < Support; ++a) {
      COIR_UNROLL
      for (int b = 0; b < Support; ++b) {
        T const w = wx[a] * wy[b];
        COIR_UNROLL
        for (int c = 0; c < Support; ++c) {
          if constexpr (Components == 0) {
            add(a, b, c, 0, w * wz[c]);
          } else {
            COIR_UNROLL
            for (int v = 0; v < Components; ++v)
              add(a, b, c, v, w * wz[c] * value[particle * Components + v]);
          }
        }
      }
    }
  }
};

/// Deposits a mass of `whole` parts.
template <int Support, class T>
struct DepositParts {
  using Cell = Fixed<T>;
  Cell whole;

  template <class Add>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t, T const (&wx)[Support],
                                              T const (&wy)[Support], T const (&wz)[Support],
                                              Add const& add) const {
    deposit_whole<Support, T>(whole, wx, wy, wz, add);
  }
};

/// Deposits one component of each particle's vector as a whole number of units 1 / scale.
template <int Support, class T>
struct DepositWholeNumbers {
  using Cell = std::int64_t;
  T const* vector;  ///< the component of the first particle; the next one is three numbers further
  double scale;

  template <class Add>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t particle, T const (&wx)[Support],
                                              T const (&wy)[Support], T const (&wz)[Support],
                                              Add const& add) const {
    double const number = static_cast<double>(vector[3 * particle]) * scale;
    auto const whole = static_cast<Cell>(math::rint(number == number ? number : 0.0));
    deposit_whole<Support, T>(whole, wx, wy, wz, add);
  }
};

}  // namespace coir::mesh::detail
