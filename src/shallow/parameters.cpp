#include <coir/core/errors.hpp>
#include <coir/shallow/parameters.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

namespace coir::shallow {

void expects_good(Parameters const& parameters) {
  expects(parameters.columns >= 2, "a shallow-water model must have 2 columns of cells or more",
          parameters.columns);
  expects(parameters.rows >= parameters.halo(),
          "a shallow-water model must have " + std::to_string(parameters.halo()) +
              " rows of cells or more, which its halo has",
          parameters.rows);
  std::int64_t const cells = std::int64_t(parameters.rows) * parameters.columns;
  expects(cells <= 1'000'000'000'000,
          "a shallow-water model must have 1000000000000 cells or fewer", cells);
  struct Named {
    char const* name;
    double value;
  };
  for (auto const& [name, value] :
       {Named{"dx", parameters.dx}, Named{"dy", parameters.dy}, Named{"dt", parameters.dt},
        Named{"gravity", parameters.gravity}})
    expects(value > 0 && std::isfinite(value),
            std::string(name) + " of a shallow-water model must be above 0", value);
  for (auto const& [name, value] :
       {Named{"viscosity", parameters.viscosity}, Named{"drag", parameters.drag},
        Named{"epsilon", parameters.epsilon}})
    expects(value >= 0 && std::isfinite(value),
            std::string(name) + " of a shallow-water model must be 0 or above", value);
  for (auto const& [name, value] : {Named{"f0", parameters.f0}, Named{"beta", parameters.beta}})
    expects(std::isfinite(value), std::string(name) + " of a shallow-water model must be finite",
            value);
}

namespace {

/// How much a wave of frequency s / dt grows in a step: the larger root of
/// z^2 = z + i s ((1.5 + epsilon) z - (0.5 + epsilon)).
double growth(double s, double epsilon) {
  using Complex = std::complex<double>;
  Complex const half = 0.5 * (1.0 + Complex(0, s * (1.5 + epsilon)));
  Complex const root = std::sqrt(half * half - Complex(0, s * (0.5 + epsilon)));
  return std::max(std::abs(half + root), std::abs(half - root));
}

/// The largest s below which no wave grows by 1e-5 a step.
double longest_phase(double epsilon) {
  constexpr double step = 1e-3, most = 1.00001;
  double below = 0;
  while (growth(below + step, epsilon) <= most && below < 2) below += step;
  double above = below + step;
  for (int n = 0; n < 40; ++n) {
    double const middle = 0.5 * (below + above);
    (growth(middle, epsilon) <= most ? below : above) = middle;
  }
  return below;
}

}  // namespace

double longest_stable_step(Parameters const& parameters, double depth, double speed) {
  double const squares = 1 / (parameters.dx * parameters.dx) + 1 / (parameters.dy * parameters.dy);
  double const height = (parameters.rows - 1) * parameters.dy;
  double const f =
      std::max(std::abs(parameters.f0), std::abs(parameters.f0 + parameters.beta * height));
  double const frequency = std::sqrt(f * f + 4 * parameters.gravity * depth * squares) +
                           speed * (1 / parameters.dx + 1 / parameters.dy) + parameters.drag;
  double const of_viscosity = parameters.viscosity > 0 ? 1 / (2 * parameters.viscosity * squares)
                                                       : std::numeric_limits<double>::infinity();
  return std::min(longest_phase(parameters.epsilon) / frequency, of_viscosity);
}

}  // namespace coir::shallow
