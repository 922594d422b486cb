#pragma once

#include "reversible_moves.hpp"

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/reducer.hpp>
#include <coir/cosmology/growth.hpp>
#include <coir/distributed/group.hpp>
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

/// The sum of squares, rounded so that it doesn't depend on the order.
template <class T>
struct SumOfSquares {
  T const* number;
  double anchor;
  KOKKOS_FUNCTION void operator()(std::int64_t at, double& sum) const {
    double const x = static_cast<double>(number[at]);
    sum += rounded_for_sum(x * x, anchor);
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

/// The momenta of all particles at the start.
struct MomentaAtStart {
  double largest = 0;  ///< the size of a component; infinite or NaN if one is
  double rms = 0;      ///< of components
};

/// Has the same bits for any number of ranks. Collective.
template <class Exec, class T>
MomentaAtStart momenta_at_start(Exec const& exec, distributed::Group const& group,
                                Particles<Exec, T> const& particles) {
  auto const all = coir::box<1, std::int64_t>({3 * particles.count()});
  Found<T> found;
  reduce("coir::nbody::reversible_start/largest", exec, all,
         FindLargest<T>{particles.momentum.data(), particles.momentum.data()},
         MonoidReducer<FoundMonoid<T>>({}, found));
  MomentaAtStart result;
  result.largest = static_cast<double>(from_bits<T>(of_all_ranks(group, found).largest[0]));
  double const numbers = 3 * static_cast<double>(particles.total());
  double squares = 0;
  reduce("coir::nbody::reversible_start/rms", exec, all,
         SumOfSquares<T>{particles.momentum.data(),
                         anchor_for(numbers, result.largest * result.largest)},
         Kokkos::Sum<double>(squares));
  result.rms = std::sqrt(group.sum(squares) / numbers);
  return result;
}

/// The largest momentum that must be held, by SimulationOptions::momentum_range.
///
/// \param first  number of steps that were made before
/// \throws NumericalError if a momentum is infinite or NaN, or too large to be held
/// \throws PreconditionError if momenta at the start are too small compared with the largest
template <class Exec, class T>
double largest_momentum(Exec const& exec, distributed::Group const& group,
                        Particles<Exec, T> const& particles, SimulationOptions const& options,
                        cosmology::Growth<double> const& growth, int first) {
  double const a = options.scale_factors[static_cast<std::size_t>(first)];
  auto const momenta = momenta_at_start(exec, group, particles);
  if (!std::isfinite(momenta.rms))
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
  double const largest = options.momentum_range * std::max(momenta.rms, least) * grown;
  if (momenta.largest > largest * (1 - 1 / static_cast<double>(most_quanta<T>)))
    throw NumericalError(
        "a momentum of the particles that are given is too large to be held in a " +
        too_large(options));
  return largest;
}

}  // namespace coir::nbody::detail
