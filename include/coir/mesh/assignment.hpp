#pragma once

/// \file
/// The assignment functions of particle-mesh codes: the weights by which a particle is shared among
/// the cells around it, and by which these are read at its position.

#include <coir/core/kokkos.hpp>
#include <coir/core/math.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace coir::mesh {

/// The shape of a particle, by its support: the number of cells that it touches along an axis. Cell
/// i lies at i h; with the distance u = |x / h - i| the weights along an axis are (Hockney &
/// Eastwood 1988, section 5-3)
///
///   cic  1 - u                        u < 1
///   tsc  3/4 - u^2                    u < 1/2
///        (3/2 - u)^2 / 2              1/2 <= u < 3/2
///   pcs  (4 - 6 u^2 + 3 u^3) / 6      u < 1
///        (2 - u)^3 / 6                1 <= u < 2
///
/// and a cell's weight is their product over the axes. The weights of a particle add up to 1. In
/// Fourier space the shape is prod_d sinc(k_d h / 2)^p with sinc(x) = sin(x) / x and p the number
/// of cells.
enum class Assignment { cic = 2, tsc = 3, pcs = 4 };

/// "cic", "tsc", "pcs".
constexpr std::string_view name_of(Assignment assignment) {
  return assignment == Assignment::cic ? "cic" : assignment == Assignment::tsc ? "tsc" : "pcs";
}

/// Calls f with the assignment's support as a compile-time constant.
template <class F>
void with_support(Assignment assignment, F const& f) {
  switch (assignment) {
    case Assignment::cic: return f(std::integral_constant<int, 2>{});
    case Assignment::tsc: return f(std::integral_constant<int, 3>{});
    case Assignment::pcs: return f(std::integral_constant<int, 4>{});
  }
}

namespace detail {

/// A particle along one periodic axis of `cells` cells: the first cell that it touches, in
/// [0, cells), and the weights of that cell and the next ones.
template <int Support, class T>
struct Touched {
  std::int32_t first;
  T weight[Support];
};

/// \param position  anywhere; the axis is periodic. NaN gives cell 0, and NaN for weights.
/// \param per_cell  1 / h
template <int Support, class T>
KOKKOS_FORCEINLINE_FUNCTION Touched<Support, T> touched(T position, T per_cell, T cells) {
  static_assert(Support >= 2 && Support <= 4);
  T const scaled = position * per_cell + (Support == 3 ? T(0.5) : T(0));
  T const below = math::floor(scaled);
  T const u =
      Support == 3 ? scaled - below - T(0.5) : scaled - below;  // tsc: from the nearest cell
  constexpr int before = Support == 2 ? 0 : 1;
  T cell = below - T(before);
  // Hosts wrap positions inside the box, too: a branch would keep the loop from vectorising.
  if (!COIR_ON_DEVICE || cell < T(0) || cell >= cells) cell -= cells * math::floor(cell / cells);
  Touched<Support, T> result;
  // Rounding may give `cells` itself; NaN fails both comparisons. Two separate selections
  // vectorise.
  cell = cell > T(0) ? cell : T(0);
  cell = cell < cells ? cell : T(0);
  result.first = static_cast<std::int32_t>(cell);
  auto& w = result.weight;
  if constexpr (Support == 2) {
    w[0] = T(1) - u;
    w[1] = u;
  } else if constexpr (Support == 3) {
    w[0] = (T(0.5) - u) * (T(0.5) - u) * T(0.5);
    w[1] = T(0.75) - u * u;
    w[2] = (T(0.5) + u) * (T(0.5) + u) * T(0.5);
  } else {
    T const v = T(1) - u;
    constexpr T sixth = T(1) / T(6);
    w[0] = v * v * v * sixth;
    w[1] = (T(4) + u * u * (T(3) * u - T(6))) * sixth;
    w[2] = (T(4) + v * v * (T(3) * v - T(6))) * sixth;
    w[3] = u * u * u * sixth;
  }
  return result;
}

/// The derivatives of Touched::weight with respect to the position in cells. Divided by h they are
/// those with respect to the position. At a mesh point cic has the derivative towards larger
/// positions.
template <int Support, class T>
KOKKOS_FORCEINLINE_FUNCTION void weight_slopes(T position, T per_cell, T (&slope)[Support]) {
  static_assert(Support >= 2 && Support <= 4);
  T const scaled = position * per_cell + (Support == 3 ? T(0.5) : T(0));
  T const below = math::floor(scaled);
  T const u = Support == 3 ? scaled - below - T(0.5) : scaled - below;  // as in touched()
  if constexpr (Support == 2) {
    slope[0] = u == u ? T(-1) : u;  // NaN stays NaN
    slope[1] = u == u ? T(1) : u;
  } else if constexpr (Support == 3) {
    slope[0] = u - T(0.5);
    slope[1] = T(-2) * u;
    slope[2] = u + T(0.5);
  } else {
    T const v = T(1) - u;
    slope[0] = T(-0.5) * v * v;
    slope[1] = T(0.5) * u * (T(3) * u - T(4));
    slope[2] = T(-0.5) * v * (T(3) * v - T(4));
    slope[3] = T(0.5) * u * u;
  }
}

}  // namespace detail

}  // namespace coir::mesh
