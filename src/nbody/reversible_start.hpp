#pragma once

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/cosmology/growth.hpp>
#include <coir/nbody/detail/particle_reverser.hpp>
#include <coir/nbody/moves.hpp>
#include <coir/nbody/particles.hpp>
#include <coir/nbody/simulation_options.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace coir::nbody::detail {

template <class T>
struct SumOfSquares {
  T const* number;
  KOKKOS_FUNCTION void operator()(std::int64_t at, double& sum) const {
    sum += static_cast<double>(number[at]) * static_cast<double>(number[at]);
  }
};

template <class T>
struct CountBeyond {
  T const* number;
  double limit;
  KOKKOS_FUNCTION void operator()(std::int64_t at, std::int64_t& beyond) const {
    beyond += math::abs(static_cast<double>(number[at])) > limit ? 1 : 0;
  }
};

/// The largest p / scale in steps from `first` on, for momenta p of linear theory, in units of the
/// momenta at the start. Momenta are held as p / scale.
inline double growth_of_held_momenta(SimulationOptions const& options,
                                     cosmology::Growth<double> const& growth, int first) {
  auto const a = std::span(options.scale_factors).subspan(static_cast<std::size_t>(first));
  auto const momentum = [&](double at) {
    // Quinn's factors need no growth functions. While matter dominates, momenta grow as a^1.5.
    return at >= growth.a_min() && at <= growth.a_max() ? growth.momentum(at) : std::pow(at, 1.5);
  };
  double scale = 1, largest_scale = 1, most = 1;
  auto const moves = moves_of(options.stepper, growth, a);
  for (std::size_t s = 0; s < moves.size(); ++s) {
    scale *= moves[s].move.keep;
    if (std::abs(scale) < least_scale * largest_scale) scale = largest_scale = 1;
    largest_scale = std::max(largest_scale, std::abs(scale));
    most = std::max(most, std::abs(momentum(a[s + 1]) / momentum(a[0]) / scale));
  }
  return most;
}

/// The end of a message about a momentum that is too large to be held in a ..., with the remedy.
inline std::string too_large(SimulationOptions const& options) {
  return "reversible simulation: raise SimulationOptions::momentum_range above " +
         in_words(options.momentum_range);
}

/// The largest momentum that must be held, by SimulationOptions::momentum_range.
///
/// \param first  number of steps that were made before
/// \throws NumericalError if a momentum is infinite or NaN
/// \throws PreconditionError if momenta at the start are too small compared with the largest
template <class Exec, class T>
double largest_momentum(Exec const& exec, Particles<Exec, T> const& particles,
                        SimulationOptions const& options, cosmology::Growth<double> const& growth,
                        int first) {
  double const a = options.scale_factors[static_cast<std::size_t>(first)];
  double const numbers = 3 * static_cast<double>(particles.count());
  double squares = 0;
  reduce("coir::nbody::reversible_start/rms", exec,
         coir::box<1, std::int64_t>({3 * particles.count()}),
         SumOfSquares<T>{particles.momentum.data()}, Kokkos::Sum<double>(squares));
  if (!std::isfinite(squares))
    throw NumericalError("a momentum of the particles that are given is infinite or no number");
  // Particles at rest need a quantum, too. It is the one for the momenta of linear theory,
  // sqrt(a) s for a displacement s, that displace particles by a thousandth of their distance
  // until today.
  double const least = 1e-3 * particles.box / static_cast<double>(particles.side) * std::sqrt(a);
  double const grown = growth_of_held_momenta(options, growth, first);
  expects(options.momentum_range * grown / static_cast<double>(most_quanta<T>) <= 1.0 / 16,
          "momenta that grow by a factor of " + in_words(grown) +
              " are too small at the start to be held as whole numbers of one quantum: start later "
              "than at a = " +
              in_words(a) + ", use double, or set a lower SimulationOptions::momentum_range",
          options.momentum_range);
  return options.momentum_range * std::max(std::sqrt(squares / numbers), least) * grown;
}

/// \throws NumericalError if a momentum is too large to be held
template <class Exec, class T>
void expects_held(Exec const& exec, Particles<Exec, T> const& particles, double largest_held,
                  SimulationOptions const& options) {
  std::int64_t beyond = 0;
  reduce("coir::nbody::reversible_start/beyond", exec,
         coir::box<1, std::int64_t>({3 * particles.count()}),
         CountBeyond<T>{particles.momentum.data(), largest_held},
         Kokkos::Sum<std::int64_t>(beyond));
  if (beyond > 0)
    throw NumericalError(
        "a momentum of the particles that are given is too large to be held in a " +
        too_large(options));
}

}  // namespace coir::nbody::detail
