#pragma once

/// What is known of a draw.

#include <coir/inference/detail/scale.hpp>

#include <algorithm>
#include <cmath>

namespace coir::inference::detail {

/// A trajectory whose energy grows by more than this has diverged: its step is too long.
inline constexpr double most_energy_error = 1000;

struct Transition {
  double log_density = 0, energy = 0, acceptance = 0, steps = 0;
  bool diverged = false;
  double square_error = 0;  // of the energy, per step and parameter
};

/// The probability with which a change of the energy is accepted, 0 for NaN.
inline double acceptance_of(double energy_error) {
  return energy_error <= 0 ? 1 : energy_error < infinity ? std::exp(-energy_error) : 0;
}

/// A step of the leapfrog method, of length h, backwards for h < 0.
template <ExecutionSpace Exec, Target<Exec> T>
void leapfrog(Exec const& exec, T const& target, Scale<Exec> const& scale, double h,
              Phase<Exec>& at) {
  scale.kick(exec, h / 2, at.place.slope, at.momentum);
  scale.drift(exec, h, at.momentum, at.place.theta);
  at.place.evaluate(exec, target);
  scale.kick(exec, h / 2, at.place.slope, at.momentum);
}

/// The first step to try: half or twice as long, again and again, until accepts(step) changes.
/// \see Hoffman & Gelman, J. Mach. Learn. Res. 15, 1593 (2014), algorithm 4
///
/// \throws NumericalError if there is none from 1e-12 to 1e12
template <class Accepts>
double crossing(Accepts const& accepts) {
  double step = 1;
  bool const grows = accepts(step);
  while (step < 1e12 && step > 1e-12) {
    step *= grows ? 2 : 0.5;
    if (accepts(step) != grows) return step;
  }
  throw NumericalError(
      "no step from 1e-12 to 1e12 keeps the energy where a chain is: see whether the slope is the "
      "log density's gradient, and whether the target returns NaN beside its start");
}

/// The step at which the acceptance of one step of the leapfrog method crosses 0.8. What is in
/// `trial` and `start` is lost.
template <ExecutionSpace Exec, Target<Exec> T>
double first_step(Exec const& exec, T const& target, Scale<Exec> const& scale,
                  random::Key const& key, Place<Exec> const& from, Phase<Exec>& trial,
                  Vector<Exec> const& start) {
  fill_normal(exec, key, start);
  double const before = 0.5 * dot(exec, start, start) - from.log_density;
  auto const accepts = [&](double step) {
    trial.place.take(exec, from);
    copy(exec, start, trial.momentum);
    leapfrog(exec, target, scale, step, trial);
    return acceptance_of(trial.energy(exec) - before) > 0.8;
  };
  return crossing(accepts);
}

}  // namespace coir::inference::detail
