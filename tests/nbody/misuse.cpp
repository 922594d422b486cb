// Execution spaces that the library has no kernels for.

#include <coir/nbody/initial_conditions.hpp>
#include <coir/nbody/simulation.hpp>

#if defined(MISUSE_no_mistake)
using Exec = Kokkos::DefaultHostExecutionSpace;
#else
using Exec = Kokkos::Serial;
#endif

void misuse(coir::cosmology::LinearPower<double> const& power) {
#if !defined(MISUSE_simulation_on_serial)
  auto const particles = coir::nbody::initial_conditions<Exec, float>(Exec{}, 8, 100.0, power, 0.1);
#endif
#if !defined(MISUSE_initial_conditions_on_serial)
  coir::nbody::Simulation<Exec, float> simulation(Exec{}, coir::nbody::Particles<Exec, float>{},
                                                  power.growth(), {});
#endif
}
