#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace coir::poisson {

/// Why a solver returned.
enum class StoppedBy {
  sweeps,       ///< it made the sweeps or cycles it was allowed
  tolerance,    ///< the relative residual fell to the tolerance
  stagnation,   ///< the residual no longer falls: rounding, or a tolerance beyond the precision
  not_finite,   ///< the residual is infinite or not a number
  interrupted,  ///< the monitor asked to stop
};

/// "sweeps", "tolerance", "stagnation", "not finite" or "interrupted".
constexpr std::string_view name_of(StoppedBy reason) {
  switch (reason) {
    case StoppedBy::sweeps: return "sweeps";
    case StoppedBy::tolerance: return "tolerance";
    case StoppedBy::stagnation: return "stagnation";
    case StoppedBy::not_finite: return "not finite";
    case StoppedBy::interrupted: return "interrupted";
  }
  return "unknown";
}

/// What a solver reports; the solution is in the caller's View. Norms are square roots of sums of
/// squares in double: sources and residuals below 1e-154 count as zero, and those above 1e154 as
/// infinite. Scale such problems.
struct Result {
  std::int64_t iterations = 0;   ///< sweeps, or cycles of multigrid
  double residual_norm = 0;      ///< |b - L u|, the Euclidean norm over the interior
  double relative_residual = 0;  ///< residual_norm over that of u = 0 with the same boundary values
  bool converged = false;        ///< the tolerance was reached, or the residual is zero
  StoppedBy stopped_by = StoppedBy::sweeps;
  double convergence_factor = 0;  ///< multigrid: mean residual reduction per cycle; else 0
};

/// A solver's progress, which it reports to its monitor while it runs.
struct Progress {
  std::int64_t iterations = 0;   ///< done so far
  std::int64_t total = 0;        ///< allowed
  double relative_residual = 0;  ///< at the last check; NaN before the first
};

/// Called by a solver now and then, between kernels. If it returns false, the solver stops.
using Monitor = std::function<bool(Progress const&)>;

}  // namespace coir::poisson
