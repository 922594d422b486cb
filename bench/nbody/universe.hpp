#pragma once

/// \file
/// The universe that the benchmarks of particles simulate: one particle in a cubic Mpc/h, that of pmwd's own benchmarks.

#include <coir/cosmology/parameters.hpp>
#include <coir/cosmology/power.hpp>
#include <coir/nbody/initial_conditions.hpp>

#include <cstdint>

namespace coir::bench {

/// side^3 particles at a, by Lagrangian perturbation theory of this order.
template <class Exec, class T>
nbody::Particles<Exec, T> universe(Exec const& exec, std::int64_t side, double a, int order) {
  cosmology::LinearPower<double> const power(cosmology::simple_lcdm());
  return nbody::initial_conditions<Exec, T>(exec, side, double(side), power, a, {.order = order});
}

}  // namespace coir::bench
