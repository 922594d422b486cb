#pragma once

/// \file
/// L u = b on a grid of spacing 1, by the solver that is the fastest for the grid and the
/// tolerance.

#include <coir/poisson/direct.hpp>
#include <coir/poisson/laplacian.hpp>
#include <coir/poisson/multigrid.hpp>

#include <cmath>
#include <string_view>

namespace coir::poisson {

enum class Solver { direct, multigrid };

/// "direct" or "multigrid".
constexpr std::string_view name_of(Solver solver) {
  return solver == Solver::direct ? "direct" : "multigrid";
}

struct SolveOptions {
  double tolerance = 1e-8;  ///< on the relative residual, in (0, 1)
  Monitor monitor = {};     ///< of multigrid's cycles
};

/// The result of solve(), and the solver that it took first. A direct solve counts as one
/// iteration, and each cycle that follows it as one more.
struct SolveResult : Result {
  Solver solver = Solver::multigrid;
};

namespace detail {

/// Whether a direct solve of a grid is faster than multigrid to a tolerance, by the measurements of
/// docs/poisson.md, and there is memory for it.
template <CompiledSpace Exec, class T>
bool direct_pays(Exec const& exec, DirectProblem const& problem, double tolerance);

}  // namespace detail

/// Solves L u = b on a grid of spacing 1, with the boundary values in the ring of u. For a spacing
/// h, multiply b by h^2.
///
/// The direct solver is taken, unless the build lacks it, memory is short, or a length has a large
/// prime factor, for which multigrid is faster. Where rounding keeps the direct solution from the
/// tolerance, cycles of multigrid follow.
///
/// \param b        [m, n] or [m, n, p] in; the source
/// \param u        the same extents + 2, inout; the cells inside are multigrid's first guess
/// \return         `converged` says whether the tolerance was reached
/// \throws PreconditionError if the tolerance is out of its range, or the extents don't fit
/// \throws ResourceError     if memory is missing for both
template <CompiledSpace Exec, class B, class U>
  requires SourceAndUnknown<Exec, B, U>
SolveResult solve(Exec const& exec, B const& b, U const& u, SolveOptions const& options = {}) {
  using T = typename U::value_type;
  constexpr int rank = static_cast<int>(B::rank);
  expects(options.tolerance > 0 && options.tolerance < 1, "the tolerance must lie in (0, 1)",
          options.tolerance);
  detail::DirectProblem problem;
  for (int d = 0; d < rank; ++d) {
    auto const at = static_cast<std::size_t>(3 - rank + d);
    problem.extents[at] = static_cast<std::int64_t>(b.extent(d));
    problem.boundary[at] = Boundary::values;
  }
  SolveResult result;
  if (b.size() == 0 || !detail::direct_pays<Exec, T>(exec, problem, options.tolerance)) {
    static_cast<Result&>(result) =
        multigrid(exec, b, u, {.tolerance = options.tolerance, .monitor = options.monitor});
    return result;
  }
  result.solver = Solver::direct;
  double const scale = source_norm(exec, b, u);
  direct(exec, b, u);
  result.iterations = 1;
  result.residual_norm = residual_norm(exec, b, u);
  result.relative_residual = scale > 0 ? result.residual_norm / scale : result.residual_norm;
  bool const is_finite = std::isfinite(result.residual_norm) && std::isfinite(scale);
  result.converged = is_finite && result.relative_residual <= options.tolerance;
  result.stopped_by = is_finite ? StoppedBy::tolerance : StoppedBy::not_finite;
  if (is_finite && !result.converged) {
    Result const cycles =
        multigrid(exec, b, u, {.tolerance = options.tolerance, .monitor = options.monitor});
    static_cast<Result&>(result) = cycles;
    result.iterations = cycles.iterations + 1;
  }
  return result;
}

/// Solves on the default instance of the execution space of u.
template <class B, class U>
  requires SourceAndUnknown<typename U::execution_space, B, U>
SolveResult solve(B const& b, U const& u, SolveOptions const& options = {}) {
  return solve(typename U::execution_space{}, b, u, options);
}

}  // namespace coir::poisson
