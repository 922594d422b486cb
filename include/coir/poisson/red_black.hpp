#pragma once

/// \file
/// Successive over-relaxation of L u = b in red-black order.

#include <coir/poisson/detail/callers_grid.hpp>
#include <coir/poisson/result.hpp>

#include <cstdint>

namespace coir::poisson {

struct RedBlackOptions {
  std::int64_t sweeps = 1000;  ///< the most to make; at least 0
  double omega = 0;            ///< relaxation parameter in (0, 2); 0 means optimal_omega
  double tolerance = 0;        ///< on the relative residual; 0 makes all the sweeps
  std::int64_t check_every =
      0;                 ///< sweeps between looks at the residual; 0 means a suitable number
  Monitor monitor = {};  ///< called about ten times a second
};

namespace detail {
double optimal_omega(int const* extents, int rank);
}

/// The relaxation parameter for which successive over-relaxation converges fastest on a box.
///
///   omega = 2 / (1 + sqrt(1 - rho^2)),   rho = mean over the axes of cos(pi / (n + 1))
///
/// rho is the spectral radius of Jacobi's method. At the best omega a sweep multiplies the error by
/// omega - 1, so that the number of sweeps grows with the side of the grid, not with its square.
///
/// \param extents  cells along each axis, without the ring
/// \see Young, Trans. Amer. Math. Soc. 76 (1954) 92;
///      Press et al., Numerical Recipes (2007), sec. 20.5
/// \throws PreconditionError unless every extent is at least 1
template <int Rank>
  requires(Rank == 2 || Rank == 3)
double optimal_omega(int const (&extents)[Rank]) {
  return detail::optimal_omega(extents, Rank);
}

namespace detail {

/// \param options  checked here, the extents before
template <CompiledSpace Exec, class T, int Rank>
Result red_black(Exec const& exec, RowMajorView<Exec, T const, Rank> const& b,
                 RowMajorView<Exec, T, Rank> const& u, RedBlackOptions const& options);

}  // namespace detail

/// Sweeps of successive over-relaxation in place, in red-black order.
///
///   u <- u + (omega / 4) (L u - b),   L u = (sum of the 4 neighbours) - 4 u
///
/// and in 3-D with 6 in place of 4. A sweep relaxes the cells where i + j (+ k) is even, counted
/// from the first interior cell, then the others. The result has the same bits for any number of
/// threads. On hosts the transposed problem has the same bits, and several sweeps share a pass over
/// memory.
///
/// Memory: on devices one more field of u's size for boxes of a million cells and more, if that
/// fits into the free memory. A sweep then is one pass over memory; without the field it is two.
///
/// \param exec     where to run; waits for the result
/// \param b        [m, n] or [m, n, p] in; the source
/// \param u        [m+2, n+2] or [m+2, n+2, p+2] inout; the outermost cells hold the boundary
///   values, the others the start and then the result
/// \param options  see RedBlackOptions
/// \return         sweeps made, and the residual they left
/// \throws PreconditionError if an option is out of range, or the extents don't fit
/// \see Young, Trans. Amer. Math. Soc. 76 (1954) 92;
///      Saad, Iterative Methods for Sparse Linear Systems, 2nd ed. (2003), sec. 4.1 and 4.2
template <CompiledSpace Exec, class B, class U>
  requires SourceAndUnknown<Exec, B, U>
Result red_black(Exec const& exec, B const& b, U const& u, RedBlackOptions const& options = {}) {
  using T = typename U::value_type;
  constexpr int rank = static_cast<int>(B::rank);
  detail::CallersGrid<Exec, T const, T, rank> const grid(exec, b, u);
  Result const result =
      detail::red_black<Exec, T, rank>(exec, grid.source(), grid.unknown(), options);
  grid.finish();
  return result;
}

/// Solves on the default instance of the execution space of u.
template <class B, class U>
  requires SourceAndUnknown<typename U::execution_space, B, U>
Result red_black(B const& b, U const& u, RedBlackOptions const& options = {}) {
  return red_black(typename U::execution_space{}, b, u, options);
}

}  // namespace coir::poisson
