#pragma once

/// \file
/// The discrete Laplacian on a grid of spacing 1, and the residual of L u = b.

#include <coir/poisson/detail/callers_grid.hpp>

#include <type_traits>

namespace coir::poisson {

namespace detail {

// The functions below call these once their arguments are checked.

template <CompiledSpace Exec, class T, int Rank>
void laplacian(Exec const& exec, RowMajorView<Exec, T const, Rank> const& u,
               RowMajorView<Exec, T, Rank> const& b);

template <CompiledSpace Exec, class T, int Rank>
double residual_norm(Exec const& exec, RowMajorView<Exec, T const, Rank> const& b,
                     RowMajorView<Exec, T const, Rank> const& u);

template <CompiledSpace Exec, class T, int Rank>
double source_norm(Exec const& exec, RowMajorView<Exec, T const, Rank> const& b,
                   RowMajorView<Exec, T const, Rank> const& u);

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
template <CompiledSpace Exec, class U, class B>
  requires SourceAndUnknown<Exec, B, typename U::non_const_type> &&
           (!std::is_const_v<typename B::value_type>)
void laplacian(Exec const& exec, U const& u, B const& b) {
  constexpr int rank = static_cast<int>(B::rank);
  using T = typename B::value_type;
  detail::CallersGrid<Exec, T, T const, rank> const grid(exec, b, u);
  detail::laplacian<Exec, T, rank>(exec, grid.unknown(), grid.source());
  grid.finish();
}

/// The Laplacian on the default instance of the execution space of u.
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
template <CompiledSpace Exec, class B, class U>
  requires SourceAndUnknown<Exec, B, typename U::non_const_type>
double residual_norm(Exec const& exec, B const& b, U const& u) {
  constexpr int rank = static_cast<int>(B::rank);
  using T = typename U::non_const_value_type;
  detail::CallersGrid<Exec, T const, T const, rank> const grid(exec, b, u);
  return detail::residual_norm<Exec, T, rank>(exec, grid.source(), grid.unknown());
}

/// The norm of the residual for u = 0 inside with u's boundary values. Relative residuals are
/// divided by it. Waits for the result.
template <CompiledSpace Exec, class B, class U>
  requires SourceAndUnknown<Exec, B, typename U::non_const_type>
double source_norm(Exec const& exec, B const& b, U const& u) {
  constexpr int rank = static_cast<int>(B::rank);
  using T = typename U::non_const_value_type;
  detail::CallersGrid<Exec, T const, T const, rank> const grid(exec, b, u);
  return detail::source_norm<Exec, T, rank>(exec, grid.source(), grid.unknown());
}

}  // namespace coir::poisson
