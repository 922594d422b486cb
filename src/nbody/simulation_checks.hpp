#pragma once

#include "scale_factors.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/overlap.hpp>
#include <coir/distributed/share.hpp>
#include <coir/distributed/together.hpp>
#include <coir/nbody/cotangents.hpp>
#include <coir/nbody/linear_growth.hpp>
#include <coir/nbody/particles.hpp>
#include <coir/nbody/simulation_options.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace coir::nbody::detail {

/// \throws PreconditionError naming the option that is out of its range
inline void expects_in_range(SimulationOptions const& options, std::int64_t side) {
  auto const& a = options.scale_factors;
  expects(a.size() >= 2, "a simulation needs at least two scale factors",
          static_cast<std::int64_t>(a.size()));
  expects_rising(a);
  expects(options.mesh_ratio >= 0.5 && options.mesh_ratio <= 4,
          "the mesh ratio must be in [0.5, 4]", options.mesh_ratio);
  std::string const fault = false_structure(options);
  expects(fault.empty() || options.allow_false_structure,
          fault + "; or set allow_false_structure, to compare with codes that have it");
  expects(side >= 1, "there must be at least one particle along a side", side);
  expects(options.headroom >= 0 && options.headroom <= 10, "the headroom must be in [0, 10]",
          options.headroom);
  expects(!options.reversible || options.force_source != ForceSource::potential,
          "a reversible simulation takes its forces from a mesh of vectors: leave the force source "
          "automatic");
  expects(options.momentum_range >= 1 && options.momentum_range <= 1 << 20,
          "the momentum range must be in [1, 2^20]", options.momentum_range);
}

/// Checks options and particles, before memory is allocated and particles are moved.
///
/// \throws PreconditionError naming the option that is out of its range, or if particles have
///   another shape
template <class Exec, class T>
void expects_to_begin(SimulationOptions const& options, Particles<Exec, T> const& particles,
                      distributed::Share const& sites, int first) {
  expects_in_range(options, particles.side);
  expects(first >= 0 && first < static_cast<int>(options.scale_factors.size()),
          "the first step must be one of the " + std::to_string(options.scale_factors.size()) +
              " scale factors",
          first);
  expects(particles.sites.count < 0 ? sites.count == particles.total() : particles.sites == sites,
          "particles over ranks must be those of the lattice's planes that share_of() gives");
  auto const count = static_cast<std::size_t>(particles.count());
  expects(particles.position.extent(0) == count && particles.momentum.extent(0) == count,
          "positions and momenta must be " + std::to_string(count) +
              ", the cube of the particles along a side",
          static_cast<std::int64_t>(particles.position.extent(0)));
}

/// The settings in which ranks must agree, because they would wait for each other otherwise.
inline std::vector<distributed::Setting> settings_of(SimulationOptions const& options,
                                                     std::int64_t side, double box, double omega_m,
                                                     int first) {
  std::vector<distributed::Setting> settings{
      {"number of particles along a side", side},
      {"box length", box},
      {"omega_m", omega_m},
      {"number of scale factors", options.scale_factors.size()}};
  for (double const a : options.scale_factors) settings.emplace_back("scale factor", a);
  settings.insert(settings.end(), {{"first step", first},
                                   {"stepper", name_of(options.stepper)},
                                   {"mesh ratio", options.mesh_ratio},
                                   {"kernel", name_of(options.kernel)},
                                   {"softening", name_of(softening_of(options))},
                                   {"assignment", name_of(options.assignment)},
                                   {"painting scheme", name_of(options.scheme)},
                                   {"force source", name_of(options.force_source)},
                                   {"choice to be deterministic", options.deterministic},
                                   {"choice to be reversible", options.reversible},
                                   {"choice to keep potentials", options.keep_potentials},
                                   {"momentum range", options.momentum_range},
                                   {"headroom", options.headroom}});
  return settings;
}

/// \throws PreconditionError if cotangents share memory with each other, or with the particles
template <class Exec, class T>
void expects_own_memory(Cotangents<Exec, T> const& cotangents,
                        Particles<Exec, T> const& particles) {
  auto const range = [&](auto const& vectors) {
    return byte_range<1>(vectors.data(), {3 * particles.count()}, {1}, sizeof(T));
  };
  auto const xi = range(cotangents.position), pi = range(cotangents.momentum),
             x = range(particles.position), p = range(particles.momentum);
  expects(!xi.overlaps(pi),
          "the cotangents of positions and those of momenta must have memory of their own");
  for (auto const& of_particles : {x, p})
    expects(!xi.overlaps(of_particles) && !pi.overlaps(of_particles),
            "cotangents must have other memory than the particles");
}

}  // namespace coir::nbody::detail
