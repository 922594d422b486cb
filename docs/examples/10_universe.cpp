// A universe: particles on a lattice, displaced as a cosmology and a seed say, fall together until
// today.
#include <coir/cosmology/power.hpp>
#include <coir/mesh/power_spectrum.hpp>
#include <coir/nbody/initial_conditions.hpp>
#include <coir/nbody/simulation.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstddef>
#include <iostream>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  namespace cosmology = coir::cosmology;
  namespace nbody = coir::nbody;
  using Exec = Kokkos::DefaultExecutionSpace;
  Exec const exec;

  cosmology::Parameters<> const parameters{
      .omega_m = 0.3, .omega_b = 0.05, .h = 0.7, .n_s = 0.96, .sigma8 = 0.8};
  cosmology::LinearPower<> const power(parameters);

  // 32^3 particles in (500 Mpc/h)^3, when the universe had a tenth of today's size.
  double const start = 0.1;
  auto const particles = nbody::initial_conditions<Exec, float>(exec, 32, 500.0, power, start);
  auto const measured = [&](auto const& positions) {
    return coir::mesh::power_spectrum(
        exec, positions, 500.0, 64, {.assignment = coir::mesh::Assignment::pcs, .interlace = true});
  };
  double const at_start = measured(particles.position).power[0];

  // Forces come from a mesh of 64^3 cells. On one of 32^3, as coarse as the lattice, waves of three
  // cells would have less than half of linear theory's power today.
  nbody::SimulationOptions const options{.scale_factors = nbody::scale_factors(start, 1, 10),
                                         .stepper = nbody::Stepper::bullfrog,
                                         .mesh_ratio = 2};
  nbody::Simulation<Exec, float> simulation(exec, particles, power.growth(), options);
  simulation.advance(10);
  auto const today = measured(simulation.particles().position);

  std::cout.precision(8);
  std::cout << "scale_factor " << simulation.a() << '\n';
  std::cout << "growth " << power.growth().d1(1) / power.growth().d1(start) << '\n';
  // The largest waves are hardly denser than their surroundings: they grow as linear theory says.
  std::cout << "growth_of_largest_waves " << std::sqrt(today.power[0] / at_start) << '\n';
  std::cerr << "  k [h/Mpc]   P [(Mpc/h)^3]   linear theory\n";
  // Up to the lattice's Nyquist frequency, 0.2 h/Mpc; at its end structure has grown beyond linear
  // theory.
  for (std::size_t bin = 0; bin < 16; bin += 3)
    std::cerr << "  " << today.k[bin] << "   " << today.power[bin] << "   " << power(today.k[bin])
              << '\n';
}
