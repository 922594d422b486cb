// Particles sorted by the mesh, with their momenta and sites, as a simulation does between two steps, in turns with BinSort of
// Kokkos and bins of the same cells. They come in the order of the lattice, displaced as today.
//
// Counted are the bytes of what is moved, read and written once.

#include "universe.hpp"

#include <support/memory.hpp>
#include <support/timing.hpp>

#include <coir/nbody/detail/particle_sorter.hpp>

#include <Kokkos_Sort.hpp>

#include <algorithm>
#include <cstdint>

namespace coir::bench {

namespace {

using Particles = nbody::Particles<Space, float>;
using Vectors = Particles::Vectors;
using Numbers = Particles::Numbers;

/// Bins of hosts: 32 cells of a row of the mesh; of devices: 2 x 2 x 16 cells.
void sort_particles(benchmark::State& state) {
  std::int64_t const side = state.range(0), count = side * side * side;
  auto const places = static_cast<std::size_t>(count);
  Space const exec;
  double const moved = double(count) * (6 * sizeof(float) + sizeof(std::uint32_t));
  if (!fits(state,
            std::max(4 * moved, double(nbody::initial_conditions_bytes<Space, float>(exec, side)))))
    return;
  auto const start = universe<Space, float>(exec, side, /*a=*/1, /*order=*/1);
  Particles particles{side, double(side), Vectors("position", places), Vectors("momentum", places)};
  nbody::detail::ParticleState order;
  Numbers const site("site", places);
  Kokkos::View<float*, Memory> const lent("lent", 3 * places);
  nbody::detail::ParticleSorter<Space, float> sorter(exec, side, double(side), side,
                                                     /*lends_vectors=*/true);
  int bins[3]{int(side), int(side), int((side + 31) / 32)};
  if constexpr (!runs_on_host<Space>) {
    bins[0] = bins[1] = int((side + 1) / 2);
    bins[2] = int((side + 15) / 16);
  }
  float const least[3]{0, 0, 0};
  // Positions may round up to the end of the box, which must not be a bin of its own.
  float const most[3]{float(side) * 1.000001f, float(side) * 1.000001f, float(side) * 1.000001f};
  using Bins = Kokkos::BinOp3D<Vectors>;
  compare_kernels(
      state, exec, {double(count), 2 * moved, "particles"},
      [&] { sorter.sort(particles, order, {.vectors = lent.data(), .particles = count}); },
      [&] {
        Kokkos::BinSort<Vectors, Bins> by_bins(particles.position, Bins(bins, least, most));
        by_bins.create_permute_vector();
        by_bins.sort(particles.position);
        by_bins.sort(particles.momentum);
        by_bins.sort(site);
      },
      [&] {
        Kokkos::deep_copy(exec, particles.position, start.position);
        Kokkos::deep_copy(exec, particles.momentum, start.momentum);
        order = {};
      });
  state.counters["ns/particle"] = 1e9 * state.counters["seconds"].value / double(count);
}
BENCHMARK(sort_particles)
    ->Name("sort,particles")
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Args({64, 1})
    ->Args({128, 1})
    ->Args({256, 1});

}  // namespace

}  // namespace coir::bench
