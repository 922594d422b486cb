#pragma once

/// \file
/// Jacobi's method for L u = b, one sweep at a time or many sweeps per pass over memory.

#include <coir/poisson/detail/callers_grid.hpp>
#include <coir/poisson/result.hpp>

#include <cstdint>
#include <string_view>

namespace coir::poisson {

/// How the sweeps are made. All schemes give the same bits.
enum class JacobiScheme {
  automatic,  ///< blocked where that is faster, otherwise plain
  plain,      ///< one pass over memory per sweep; of boxes on hosts one for up to eight
  blocked,    ///< many sweeps per pass, in cache or scratch memory; 2-D only
};

/// "auto", "plain" or "blocked".
constexpr std::string_view name_of(JacobiScheme scheme) {
  switch (scheme) {
    case JacobiScheme::automatic: return "auto";
    case JacobiScheme::plain: return "plain";
    case JacobiScheme::blocked: return "blocked";
  }
  return "unknown";
}

struct JacobiOptions {
  JacobiScheme scheme = JacobiScheme::automatic;
  std::int64_t sweeps = 1000;    ///< the most to make; at least 0
  double tolerance = 0;          ///< on the relative residual; 0 makes all the sweeps
  std::int64_t check_every = 0;  ///< sweeps between looks at the residual; 0 means 500
  Monitor monitor = {};          ///< called about ten times a second
};

/// The result of jacobi(), and the scheme that it took.
struct JacobiResult : Result {
  JacobiScheme scheme = JacobiScheme::plain;
};

namespace detail {

/// \param options  checked here, the extents before
template <CompiledSpace Exec, class T, int Rank>
JacobiResult jacobi(Exec const& exec, RowMajorView<Exec, T const, Rank> const& b,
                    RowMajorView<Exec, T, Rank> const& u, JacobiOptions const& options);

}  // namespace detail

/// Solves L u = b by Jacobi's method on a grid of spacing 1, starting from what u holds.
///
///   u_new[i, j] = (((u[i-1, j] + u[i+1, j]) + u[i, j-1]) + u[i, j+1] - b[i-1, j-1]) / 4
///
/// and in 3-D (six neighbours - b) * (1/6). The order of summation is fixed, so that the result has
/// the same bits for either scheme, any number of threads and any backend. If u's first axis is
/// contiguous, the transposed grid is solved, with the bits of a row-major copy of that grid.
///
/// Memory: one more field of u's size. On hosts the blocked scheme works on copies with aligned
/// rows if all three fit into 32 MiB, and otherwise in place. Copies that a layout needs
/// (SourceAndUnknown) come on top.
///
/// \param exec     where to run; returns when the result is there
/// \param b        [m, n] or [m, n, p] in; the source
/// \param u        [m+2, n+2] or [m+2, n+2, p+2] inout; the outermost cells are the boundary
///   values, the others the start and then the result
/// \param options  see JacobiOptions
/// \throws PreconditionError if extents don't fit, an option is out of range, or the scheme is
///   blocked in 3-D
/// \throws ResourceError     if the second field, or a copy, doesn't fit into the free memory
/// \see Saad, Iterative Methods for Sparse Linear Systems, 2nd ed. (2003), section 4.1
template <CompiledSpace Exec, class B, class U>
  requires SourceAndUnknown<Exec, B, U>
JacobiResult jacobi(Exec const& exec, B const& b, U const& u, JacobiOptions const& options = {}) {
  using T = typename U::value_type;
  constexpr int rank = static_cast<int>(B::rank);
  detail::CallersGrid<Exec, T const, T, rank> const grid(exec, b, u);
  JacobiResult const result =
      detail::jacobi<Exec, T, rank>(exec, grid.source(), grid.unknown(), options);
  grid.finish();
  return result;
}

/// Solves on the default instance of the execution space of u.
template <class B, class U>
  requires SourceAndUnknown<typename U::execution_space, B, U>
JacobiResult jacobi(B const& b, U const& u, JacobiOptions const& options = {}) {
  return jacobi(typename U::execution_space{}, b, u, options);
}

}  // namespace coir::poisson
