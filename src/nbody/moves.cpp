#include "scale_factors.hpp"

#include <coir/cosmology/factors.hpp>
#include <coir/nbody/moves.hpp>

#include <cstddef>

namespace coir::nbody {

namespace {

/// Kick, drift, kick; the first kick joins the closing one of the step before.
StepMoves kick_drift_kick(cosmology::KdkFactors<double> const& f, Move const& before) {
  return {{.kick = before.kick + f.kick_before, .drift_after = f.drift}, {.kick = f.kick_after}};
}

/// Drift, kick, drift; the first drift joins the closing one of the step before. BullFrog's velocities are derivatives
/// by D1, which are p / Growth::momentum().
StepMoves drift_kick_drift(cosmology::Growth<double> const& growth, double from, double to,
                           Move const& before) {
  auto const f = cosmology::bullfrog_dkd(growth, from, to);
  double const momentum = growth.momentum(from), momentum_after = growth.momentum(to);
  return {{.drift_before = before.drift_before + f.half_drift / momentum,
           .keep = f.alpha * momentum_after / momentum,
           .kick = f.force * momentum_after / (1.5 * growth.parameters().omega_m)},
          {.drift_before = f.half_drift / momentum_after}};
}

}  // namespace

std::vector<StepMoves> moves_of(Stepper stepper, cosmology::Growth<double> const& growth,
                                std::span<double const> scale_factors) {
  detail::expects_rising(scale_factors);
  std::vector<StepMoves> moves;
  Move before;
  for (std::size_t s = 0; s + 1 < scale_factors.size(); ++s) {
    double const from = scale_factors[s], to = scale_factors[s + 1], middle = 0.5 * (from + to);
    switch (stepper) {
      case Stepper::fastpm:
        moves.push_back(kick_drift_kick(cosmology::fastpm_kdk(growth, from, middle, to), before));
        break;
      case Stepper::plain:
        moves.push_back(
            kick_drift_kick(cosmology::quinn_kdk(growth.parameters(), from, middle, to), before));
        break;
      case Stepper::bullfrog: moves.push_back(drift_kick_drift(growth, from, to, before)); break;
    }
    before = moves.back().closing;
  }
  return moves;
}

}  // namespace coir::nbody
