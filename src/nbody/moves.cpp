#include "scale_factors.hpp"

#include <coir/core/dual.hpp>
#include <coir/cosmology/factors.hpp>
#include <coir/cosmology/parameter_derivatives.hpp>
#include <coir/nbody/moves.hpp>

#include <cstddef>

namespace coir::nbody {

namespace {

/// Kick, drift, kick; the first kick joins the closing one of the step before.
template <class T>
StepMovesOf<T> kick_drift_kick(cosmology::KdkFactors<T> const& f, MoveOf<T> const& before) {
  return {{.kick = before.kick + f.kick_before, .drift_after = f.drift}, {.kick = f.kick_after}};
}

/// Drift, kick, drift; the first drift joins the closing one of the step before. BullFrog's
/// velocities are derivatives with respect to D1: p / Growth::momentum().
template <class T>
StepMovesOf<T> drift_kick_drift(cosmology::Growth<T> const& growth, double from, double to,
                                MoveOf<T> const& before) {
  auto const f = cosmology::bullfrog_dkd(growth, T(from), T(to));
  T const momentum = growth.momentum(T(from)), momentum_after = growth.momentum(T(to));
  return {{.drift_before = before.drift_before + f.half_drift / momentum,
           .keep = f.alpha * momentum_after / momentum,
           .kick = f.force * momentum_after / (1.5 * growth.parameters().omega_m)},
          {.drift_before = f.half_drift / momentum_after}};
}

}  // namespace

template <class T>
std::vector<StepMovesOf<T>> moves_of(Stepper stepper, cosmology::Growth<T> const& growth,
                                     std::span<double const> scale_factors) {
  detail::expects_rising(scale_factors);
  std::vector<StepMovesOf<T>> moves;
  MoveOf<T> before;
  for (std::size_t s = 0; s + 1 < scale_factors.size(); ++s) {
    double const from = scale_factors[s], to = scale_factors[s + 1], middle = 0.5 * (from + to);
    switch (stepper) {
      case Stepper::fastpm:
        moves.push_back(
            kick_drift_kick(cosmology::fastpm_kdk(growth, T(from), T(middle), T(to)), before));
        break;
      case Stepper::plain:
        moves.push_back(kick_drift_kick(
            cosmology::quinn_kdk(growth.parameters(), T(from), T(middle), T(to)), before));
        break;
      case Stepper::bullfrog: moves.push_back(drift_kick_drift(growth, from, to, before)); break;
    }
    before = moves.back().closing;
  }
  return moves;
}

template std::vector<StepMoves> moves_of(Stepper, cosmology::Growth<double> const&,
                                         std::span<double const>);
using Varied = Dual<double, cosmology::varied_parameters>;
template std::vector<StepMovesOf<Varied>> moves_of(Stepper, cosmology::Growth<Varied> const&,
                                                   std::span<double const>);

}  // namespace coir::nbody
