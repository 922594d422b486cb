#pragma once

/// \file
/// Geometric multigrid for L u = b on a grid of any size.

#include <coir/poisson/detail/callers_grid.hpp>
#include <coir/poisson/result.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace coir::poisson {

/// The relaxation, which damps errors of wavelengths that coarse grids don't resolve.
enum class Smoother {
  red_black,  ///< Gauss-Seidel relaxation of every second cell in turn
  jacobi,     ///< damped Jacobi; needs a further field, and more sweeps for the same convergence
};

struct MultigridOptions {
  int max_cycles = 50;      ///< at least 1
  double tolerance = 1e-8;  ///< on the relative residual; 0 makes max_cycles cycles
  int pre_sweeps = 1;       ///< of the smoother before each coarse-grid correction, at least 1
  int post_sweeps = 1;      ///< and after it, at least 0
  Smoother smoother = Smoother::red_black;
  double omega = 0;  ///< of relaxation, in (0, 2); 0: the value that converges best on each grid
  bool full_multigrid = true;  ///< the first cycle solves its coarse problem by full multigrid
  Monitor monitor = {};        ///< called after every cycle
};

namespace detail {

/// The levels of a Multigrid, and the passes over them.
template <CompiledSpace Exec, class T, int Rank>
class MultigridSolver;

/// \param options  checked here, the extents before
template <CompiledSpace Exec, class T, int Rank>
Result multigrid(Exec const& exec, RowMajorView<Exec, T const, Rank> const& b,
                 RowMajorView<Exec, T, Rank> const& u, MultigridOptions const& options);

}  // namespace detail

/// A multigrid solver for one shape of grid: it holds the coarse grids, for any number of solves.
///
/// \tparam Exec  where to run
/// \tparam T     float or double
/// \tparam Rank  2 or 3
template <CompiledSpace Exec, class T, int Rank>
class Multigrid {
 public:
  static_assert(Real<T> && !std::is_const_v<T>);
  static_assert(Rank == 2 || Rank == 3);

  /// \param extents  of the source: cells along each axis, without the ring
  /// \throws PreconditionError if an option is out of its range, or an extent below 1
  /// \throws ResourceError     if the coarse grids don't fit into the free memory
  Multigrid(Exec const& exec, std::array<int, Rank> const& extents, MultigridOptions options = {});
  ~Multigrid();
  Multigrid(Multigrid&&) noexcept;
  Multigrid& operator=(Multigrid&&) noexcept;

  /// Solves L u = b, as coir::poisson::multigrid does. The coarse grids are set up again if the
  /// order of the Views' axes in memory differs from that of the last solve.
  ///
  /// \param b  [m, n] or [m, n, p] in; the source
  /// \param u  the same extents + 2, inout: the ring holds the boundary values, the rest a first
  ///   guess
  /// \throws PreconditionError unless the extents are those of the solver
  template <class B, class U>
    requires SourceAndUnknown<Exec, B, U> && WritableRealViewOfRank<U, Rank> &&
             std::same_as<typename U::value_type, T>
  Result solve(B const& b, U const& u) {
    detail::expects_extents("b", strided(b).extents, "the solver's grid", extents_);
    detail::CallersGrid<Exec, T const, T, Rank> const grid(exec_, b, u);
    Result const result = solve_fields(grid.source(), grid.unknown());
    grid.finish();
    return result;
  }

 private:
  Result solve_fields(detail::RowMajorView<Exec, T const, Rank> const& b,
                      detail::RowMajorView<Exec, T, Rank> const& u);

  Exec exec_;
  std::array<int, Rank> extents_;
  std::unique_ptr<detail::MultigridSolver<Exec, T, Rank>> solver_;
};

/// Solves L u = b by multigrid: V-cycles with a full-multigrid start, on a grid of any size.
///
///   L u = (sum of the 4 or 6 neighbours) - (4 or 6) u = b
///
/// Every cycle reduces the residual at least tenfold and costs about as much as five sweeps, on
/// grids of any size and shape. A coarse grid keeps every second cell along every axis. If cells
/// don't pair up, the boundary keeps its place, at 1/2 to 3/2 of the coarse spacing, and the
/// equations of the last cells are those of finite volumes of that size. Corrections are
/// interpolated linearly. Residuals are restricted by the transpose of the interpolation. The
/// coarsest grid is relaxed at the best omega.
///
/// On hosts the result has the same bits for any number of threads. There, boxes of 262 144 doubles
/// and more are solved by corrections in float, whose residuals are computed in double: the result
/// is as accurate.
///
/// Memory: the coarse grids, a seventh of the two fields in 3-D and a third in 2-D. Corrections in
/// float take two more fields of float, and coarse grids of float. On devices
/// boxes of a million cells and more take one more field of u's size, and so do their coarse grids,
/// if all that takes at most half of the free memory. Sweeps then are one pass over memory.
///
/// \param exec     where to run; waits for the result
/// \param b        [m, n] or [m, n, p] in; the source
/// \param u        [m+2, n+2] or [m+2, n+2, p+2] inout; the outermost cells hold the boundary
///   values, the others a first guess (zero, if there is none)
/// \param options  defaults: to a relative residual of 1e-8
/// \return         cycles, the residual they left, and the convergence factor: the geometric mean
///   of the residual's reduction by a cycle. With a tolerance, a cycle that leaves more than nine
///   tenths of the residual stops the solver by stagnation: rounding keeps it from the tolerance,
///   and u is as good as its precision allows
/// \throws PreconditionError if an option is out of its range, or the extents don't fit
/// \throws ResourceError     if the coarse grids don't fit into the free memory
/// \see Trottenberg, Oosterlee, Schueller, Multigrid (2001), sec. 2.4 to 2.8;
///      Briggs, Henson, McCormick, A Multigrid Tutorial (2000), ch. 3
template <CompiledSpace Exec, class B, class U>
  requires SourceAndUnknown<Exec, B, U>
Result multigrid(Exec const& exec, B const& b, U const& u, MultigridOptions const& options = {}) {
  using T = typename U::value_type;
  constexpr int rank = static_cast<int>(B::rank);
  detail::CallersGrid<Exec, T const, T, rank> const grid(exec, b, u);
  Result const result =
      detail::multigrid<Exec, T, rank>(exec, grid.source(), grid.unknown(), options);
  grid.finish();
  return result;
}

/// Solves on the default instance of the execution space of u.
template <class B, class U>
  requires SourceAndUnknown<typename U::execution_space, B, U>
Result multigrid(B const& b, U const& u, MultigridOptions const& options = {}) {
  return multigrid(typename U::execution_space{}, b, u, options);
}

}  // namespace coir::poisson
