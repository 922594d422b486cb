#pragma once

/// \file
/// Integrators, and the scale factors between steps.

#include <string_view>
#include <vector>

namespace coir::nbody {

/// The integrator. See cosmology/factors.hpp for the factors.
enum class Stepper {
  fastpm,    ///< kick, drift, kick that follow the Zel'dovich approximation; momenta at (a + b) / 2
  plain,     ///< kick, drift, kick with the factors of Quinn et al.
  bullfrog,  ///< drift, kick, drift in the time D1, exact to second order in perturbation theory
};

/// "fastpm", "plain", "bullfrog".
std::string_view name_of(Stepper stepper);
/// The stepper of that name.
/// \throws PreconditionError that lists the names if there is none
Stepper stepper_named(std::string_view name);

/// The variable in which steps are equal: a, or ln a.
enum class Spacing { linear, logarithmic };

/// a_start to a_end in equal steps of a, or of ln a: steps + 1 scale factors.
/// \throws PreconditionError unless 0 < a_start < a_end and there is at least one step
std::vector<double> scale_factors(double a_start, double a_end, int steps,
                                  Spacing spacing = Spacing::linear);

}  // namespace coir::nbody
