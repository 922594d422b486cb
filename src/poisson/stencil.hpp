#pragma once

/// The five- and seven-point stencils on row-major Views, cell by cell.

#include <coir/core/loops.hpp>

#include <cstdint>

namespace coir::poisson::detail {

/// The type of indices in 3-D kernels. Before Kokkos 5, Views of rank 3 compute offsets of ints in
/// 32 bits, which overflow on large grids, and which compilers don't vectorise.
using Index3 = std::int64_t;

/// The grid's interior as a box of indices into a field with a one-cell ring.
template <class B>
auto interior(B const& b) {
  if constexpr (static_cast<int>(B::rank) == 2)
    return box({1, 1}, {static_cast<int>(b.extent(0)) + 1, static_cast<int>(b.extent(1)) + 1});
  else
    return box<3, Index3>(
        {1, 1, 1}, {static_cast<Index3>(b.extent(0)) + 1, static_cast<Index3>(b.extent(1)) + 1,
                    static_cast<Index3>(b.extent(2)) + 1});
}

/// north + south + west + east. Every scheme adds in this order, so that all agree bit for bit.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION typename V::non_const_value_type neighbour_sum(V const& u, int i,
                                                                           int j) {
  return ((u(i - 1, j) + u(i + 1, j)) + u(i, j - 1)) + u(i, j + 1);
}

template <class V>
KOKKOS_FORCEINLINE_FUNCTION typename V::non_const_value_type neighbour_sum(V const& u, Index3 i,
                                                                           Index3 j, Index3 k) {
  return ((((u(i - 1, j, k) + u(i + 1, j, k)) + u(i, j - 1, k)) + u(i, j + 1, k)) +
          u(i, j, k - 1)) +
         u(i, j, k + 1);
}

/// b - L u at one cell of the interior (indices of u).
template <class B, class V, class... Index>
  requires(sizeof...(Index) == 2 || sizeof...(Index) == 3)
KOKKOS_FORCEINLINE_FUNCTION typename V::non_const_value_type residual(B const& b, V const& u,
                                                                      Index... index) {
  using T = typename V::non_const_value_type;
  constexpr T diagonal = T(2 * sizeof...(Index));
  return (b((index - 1)...) + diagonal * u(index...)) - neighbour_sum(u, index...);
}

}  // namespace coir::poisson::detail
