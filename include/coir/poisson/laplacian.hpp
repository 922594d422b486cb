#pragma once

/// \file
/// The discrete Laplacian on a grid of spacing 1, and how far a field is from solving L u = b.

#include <coir/core/loops.hpp>
#include <coir/poisson/detail/field.hpp>

#include <cmath>

namespace coir::poisson {

namespace detail {

/// north + south + west + east, in the order that every scheme keeps, so that they agree bit for bit.
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

template <class V, class B>
struct ApplyLaplacian {
  V u;
  B b;
  template <class... Index>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Index... index) const {
    using T = typename V::non_const_value_type;
    b((index - 1)...) = neighbour_sum(u, index...) - T(2 * sizeof...(Index)) * u(index...);
  }
};

template <class B, class V>
struct SquaredResidual {
  B b;
  V u;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j, double& sum) const {
    double const r = residual(b, u, i, j);
    sum += r * r;
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Index3 i, Index3 j, Index3 k, double& sum) const {
    double const r = residual(b, u, i, j, k);
    sum += r * r;
  }
};

/// The residual of u = 0 with u's ring: the source, less what the ring contributes.
template <class B, class V>
struct SquaredSource {
  B b;
  V u;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j, double& sum) const {
    int const m = static_cast<int>(b.extent(0)), n = static_cast<int>(b.extent(1));
    double r = b(i - 1, j - 1);
    if (i == 1) r -= u(0, j);
    if (i == m) r -= u(m + 1, j);
    if (j == 1) r -= u(i, 0);
    if (j == n) r -= u(i, n + 1);
    sum += r * r;
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Index3 i, Index3 j, Index3 k, double& sum) const {
    Index3 const m = b.extent(0), n = b.extent(1), p = b.extent(2);
    double r = b(i - 1, j - 1, k - 1);
    if (i == 1) r -= u(0, j, k);
    if (i == m) r -= u(m + 1, j, k);
    if (j == 1) r -= u(i, 0, k);
    if (j == n) r -= u(i, n + 1, k);
    if (k == 1) r -= u(i, j, 0);
    if (k == p) r -= u(i, j, p + 1);
    sum += r * r;
  }
};

}  // namespace detail

/// The Laplacian of a field on a grid of spacing 1.
///
///   b[i, j] = u[i, j+1] + u[i+2, j+1] + u[i+1, j] + u[i+1, j+2] - 4 u[i+1, j+1]
///
/// and in 3-D the sum of the six neighbours less 6 u.
///
/// \param exec  where to run; asynchronous on devices
/// \param u     [m+2, n+2] or [m+2, n+2, p+2] in; the outermost cells are the boundary values
/// \param b     [m, n] or [m, n, p] out
/// \throws PreconditionError unless the extents fit
template <class Exec, class U, class B>
  requires SourceAndUnknown<Exec, B, typename U::non_const_type> &&
           (!std::is_const_v<typename B::value_type>)
void laplacian(Exec const& exec, U const& u, B const& b) {
  detail::expects_ring(b, u);
  constexpr int rank = static_cast<int>(B::rank);
  using T = typename B::value_type;
  auto const axes = memory_order(strided(u));
  detail::CallersField<Exec, T const, rank> const from(exec, u, axes, Access::read);
  detail::CallersField<Exec, T, rank> const to(exec, b, axes, Access::write,
                                               !detail::share_memory(strided(b), strided(u)));
  for_each("coir::poisson::laplacian", exec, detail::interior(to.field()),
           detail::ApplyLaplacian<detail::Field<Exec, T const, rank>, detail::Field<Exec, T, rank>>{
               from.field(), to.field()});
  to.finish();
}

/// The same on the default instance of the execution space of u.
template <class U, class B>
  requires SourceAndUnknown<typename U::execution_space, B, typename U::non_const_type>
void laplacian(U const& u, B const& b) {
  laplacian(typename U::execution_space{}, u, b);
}

/// |b - L u|, the Euclidean norm over the interior; sums are kept in double. Waits for the result.
///
/// \param b  [m, n] or [m, n, p] the source
/// \param u  [m+2, n+2] or [m+2, n+2, p+2] the field with its ring
/// \throws PreconditionError unless the extents fit
template <class Exec, class B, class U>
  requires SourceAndUnknown<Exec, B, typename U::non_const_type>
double residual_norm(Exec const& exec, B const& b, U const& u) {
  detail::expects_ring(b, u);
  constexpr int rank = static_cast<int>(B::rank);
  using T = typename U::non_const_value_type;
  detail::CallersGrid<Exec, T const, rank> const grid(exec, b, u);
  using Read = detail::Field<Exec, T const, rank>;
  double sum = 0;
  reduce("coir::poisson::residual_norm", exec, detail::interior(grid.source()),
         detail::SquaredResidual<Read, Read>{grid.source(), grid.unknown()},
         Kokkos::Sum<double>(sum));
  return std::sqrt(sum);
}

/// |b - L 0|, where 0 is the field that vanishes inside and keeps u's ring: what residuals are
/// relative to. Waits for the result.
template <class Exec, class B, class U>
  requires SourceAndUnknown<Exec, B, typename U::non_const_type>
double source_norm(Exec const& exec, B const& b, U const& u) {
  detail::expects_ring(b, u);
  constexpr int rank = static_cast<int>(B::rank);
  using T = typename U::non_const_value_type;
  detail::CallersGrid<Exec, T const, rank> const grid(exec, b, u);
  using Read = detail::Field<Exec, T const, rank>;
  double sum = 0;
  reduce("coir::poisson::source_norm", exec, detail::interior(grid.source()),
         detail::SquaredSource<Read, Read>{grid.source(), grid.unknown()},
         Kokkos::Sum<double>(sum));
  return std::sqrt(sum);
}

}  // namespace coir::poisson
