#pragma once

/// Solvers for L u = b on grids whose rows the ranks of a group share. Each rank gives its rows, in
/// order of ranks: b with m_r of all m rows, and u with the same rows, one row more on either side
/// and the ring's columns (in 3-D: planes in place of rows). The first row of the first rank's u
/// and the last row of the last rank's are the ring's. The other ranks' outer rows needn't be set,
/// and hold the neighbours' rows afterwards.
///
///     auto const own = distributed::share_of(m, world.rank(), world.size());
///     View b("b", own.count, n), u("u", own.count + 2, n + 2);
///     poisson::jacobi(exec, world, b, u, {.sweeps = 1000});
///
/// All functions are collective, with the same options on every rank, and a monitor on every rank
/// or on none. What a monitor throws on one rank is thrown on all.
///
/// Memory: where a rank has a neighbour and halos of more than one row, copies of b and u with
/// these halos; also where a View isn't row-major. Devices keep the copies, and Jacobi's second
/// field, for the next call with the same scheme and extents: see kept_view(). Messages count as
/// "distributed/halos".

#include <coir/distributed/group.hpp>
#include <coir/poisson/jacobi.hpp>
#include <coir/poisson/multigrid.hpp>
#include <coir/poisson/red_black.hpp>

#include <type_traits>

namespace coir::poisson {

namespace detail {

template <CompiledSpace Exec, class T, int Rank>
JacobiResult jacobi(Exec const& exec, distributed::Group const& group,
                    Strided<T const, Rank> const& b, Strided<T, Rank> const& u,
                    JacobiOptions const& options, int sweeps_per_exchange);

template <CompiledSpace Exec, class T, int Rank>
Result red_black(Exec const& exec, distributed::Group const& group, Strided<T const, Rank> const& b,
                 Strided<T, Rank> const& u, RedBlackOptions const& options,
                 int sweeps_per_exchange);

template <CompiledSpace Exec, class T, int Rank>
Result multigrid(Exec const& exec, distributed::Group const& group, Strided<T const, Rank> const& b,
                 Strided<T, Rank> const& u, MultigridOptions const& options);

}  // namespace detail

/// jacobi() of a grid whose rows ranks share. The result has the bits of row-major Views on one
/// rank; residuals differ by rounding. A halo has as many rows as sweeps are made between two
/// exchanges; their rows are computed on both ranks.
///
/// \param sweeps_per_exchange  0: 16 for the blocked scheme and 1 for the plain one, or as many as
///   the smallest part has rows
/// \throws PreconditionError on every rank, as jacobi(); if a rank has fewer rows than sweeps are
///   made between exchanges, or other columns or options than another
/// \throws ResourceError     on every rank if one lacks memory
template <CompiledSpace Exec, class B, class U>
  requires SourceAndUnknown<Exec, B, U>
JacobiResult jacobi(Exec const& exec, distributed::Group const& group, B const& b, U const& u,
                    JacobiOptions const& options = {}, int sweeps_per_exchange = 0) {
  using T = typename U::value_type;
  constexpr int rank = static_cast<int>(B::rank);
  return detail::jacobi<Exec, T, rank>(exec, group, strided(b), strided(u), options,
                                       sweeps_per_exchange);
}

/// red_black() of a grid whose rows ranks share, with the bits of row-major Views on one rank;
/// residuals differ by rounding. A halo has two rows for each sweep between two exchanges, and one
/// more.
///
/// \param sweeps_per_exchange  0: 8, or fewer if their halo has more rows than the smallest part
/// \throws PreconditionError on every rank, as red_black(); if a rank has fewer rows than a halo,
///   or other columns or options than another
/// \throws ResourceError     on every rank if one lacks memory
template <CompiledSpace Exec, class B, class U>
  requires SourceAndUnknown<Exec, B, U>
Result red_black(Exec const& exec, distributed::Group const& group, B const& b, U const& u,
                 RedBlackOptions const& options = {}, int sweeps_per_exchange = 0) {
  using T = typename U::value_type;
  constexpr int rank = static_cast<int>(B::rank);
  return detail::red_black<Exec, T, rank>(exec, group, strided(b), strided(u), options,
                                          sweeps_per_exchange);
}

/// multigrid() of a grid whose rows ranks share, to rounding that of one rank but for the start: of
/// full multigrid there are the grids that the first rank has. These are the grids of fewer than
/// 8192 cells, and those of which a rank would have fewer rows than a halo: 7 with one sweep before
/// and after a correction. If that is the finest grid, the first rank solves alone, and the others
/// only answer their monitors. Between the first rank and the others messages count as
/// "poisson/multigrid".
///
/// \throws PreconditionError on every rank, as multigrid(); if a rank has other columns or options
///   than another
/// \throws ResourceError     on every rank if one lacks memory
template <CompiledSpace Exec, class B, class U>
  requires SourceAndUnknown<Exec, B, U>
Result multigrid(Exec const& exec, distributed::Group const& group, B const& b, U const& u,
                 MultigridOptions const& options = {}) {
  using T = typename U::value_type;
  constexpr int rank = static_cast<int>(B::rank);
  return detail::multigrid<Exec, T, rank>(exec, group, strided(b), strided(u), options);
}

}  // namespace coir::poisson
