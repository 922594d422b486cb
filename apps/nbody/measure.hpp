#pragma once

/// Spectra and the density of particles in a snapshot, without a run.

#include "options.hpp"
#include "outputs.hpp"
#include "settings.hpp"
#include "snapshot_reader.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/memory.hpp>
#include <coir/cosmology/background.hpp>
#include <coir/io/atomic_file.hpp>
#include <coir/io/npy.hpp>
#include <coir/mesh/paint.hpp>
#include <coir/mesh/power_multipoles.hpp>
#include <coir/mesh/power_spectrum.hpp>
#include <coir/nbody/simulation.hpp>

#include <support/exit_codes.hpp>
#include <support/interrupt.hpp>
#include <support/output_folder.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <span>
#include <string>
#include <vector>

namespace coir::apps::nbody {

namespace detail {

template <class Exec, class T>
using VectorsOf = Kokkos::View<T* [3], Kokkos::LayoutRight, typename Exec::memory_space>;

template <class Exec, class T>
VectorsOf<Exec, T> allocate_vectors(std::int64_t count) {
  expects_memory<typename Exec::memory_space>(
      3 * count * static_cast<std::int64_t>(sizeof(T)),
      "the positions of " + std::to_string(count) + " particles");
  return VectorsOf<Exec, T>(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::apps::nbody::positions"),
      static_cast<std::size_t>(count));
}

/// Copies vectors to rows from `first` on.
template <class Exec, class T>
void copy_to_rows(VectorsOf<Exec, T> const& rows, std::int64_t first, std::span<T const> vectors) {
  copy_bytes<typename Exec::memory_space, Kokkos::HostSpace>(
      rows.data() + 3 * first, vectors.data(), static_cast<std::int64_t>(vectors.size_bytes()));
}

/// Mpc/h by which a velocity of 1 km/s moves a particle in redshift space: 1 / (a H).
inline double length_of_velocity(Snapshot const& snapshot) {
  cosmology::Parameters<double> expansion;
  expansion.omega_m = snapshot.omega_m;
  expansion.omega_k = 1 - snapshot.omega_m - snapshot.omega_lambda;
  return 1 / (100 * snapshot.a * cosmology::expansion_rate(expansion, snapshot.a));
}

template <class T>
struct MultiplyBy {
  T* numbers;
  T factor;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const { numbers[at] *= factor; }
};

/// Writes the particles' density on cells^3 cells over its mean.
template <class Exec, class T>
void write_density_of(Exec const& exec, VectorsOf<Exec, T> const& positions, double box,
                      std::int64_t cells, mesh::Assignment assignment,
                      std::filesystem::path const& path) {
  using Space = typename Exec::memory_space;
  std::int64_t const all = cells * cells * cells;
  expects_memory<Space>(all * static_cast<std::int64_t>(sizeof(T)),
                        "the density on " + std::to_string(cells) + "^3 cells");
  auto const n = static_cast<std::size_t>(cells);
  Kokkos::View<T***, Kokkos::LayoutRight, Space> const density("coir::apps::nbody::density", n, n,
                                                               n);
  mesh::paint(exec, positions, box, density, {.assignment = assignment, .deterministic = true});
  for_each("coir::apps::nbody::density", exec, coir::box<1, std::int64_t>({all}),
           MultiplyBy<T>{density.data(), static_cast<T>(static_cast<double>(all) /
                                                        static_cast<double>(positions.extent(0)))});
  exec.fence();
  io::write_npy(path, density);
}

}  // namespace detail

/// Measures what the settings ask for: the power spectrum, its multipoles in redshift space, the
/// density.
///
/// \throws InputError if the snapshot can't be read
/// \throws PreconditionError if bins don't fit its box
/// \throws ResourceError if memory is short, or a file can't be written
template <class T, class Exec>
ExitCode measure(Exec const& exec, Settings settings) {
  Snapshot const snapshot = find_snapshot(settings.measure);
  settings.box = snapshot.box;
  settings.particles =
      std::max<std::int64_t>(1, std::llround(std::cbrt(static_cast<double>(snapshot.particles))));
  expects_bins(settings);
  std::int64_t const cells = coir::nbody::Simulation<Exec, T>::mesh_side(
      settings.particles, simulation_options(settings, {}));
  auto const named = [&](std::string const& ending) {
    return settings.output / (snapshot.name + ending);
  };
  auto const power = named("_power.txt");
  OutputFolder const folder(settings.output, power);

  auto const positions = detail::allocate_vectors<Exec, T>(snapshot.particles);
  auto const seen = detail::allocate_vectors<Exec, T>(settings.multipoles ? snapshot.particles : 0);
  double const shift = settings.multipoles ? detail::length_of_velocity(snapshot) : 0;
  std::vector<T> block;
  read_snapshot<T>(snapshot, [&](hdf5::GadgetBlock<T const> const& read) {
    stop_if_interrupted();
    block.assign(read.positions.begin(), read.positions.end());
    for (T& x : block) x = place_in_box<T>(snapshot, snapshot.to_mpc * static_cast<double>(x));
    detail::copy_to_rows<Exec, T>(positions, read.first, block);
    if (!settings.multipoles) return;
    for (std::size_t z = 2; z < block.size(); z += 3)
      block[z] = place_in_box<T>(snapshot, static_cast<double>(block[z]) +
                                               shift * static_cast<double>(read.velocities[z]));
    detail::copy_to_rows<Exec, T>(seen, read.first, block);
  });

  std::string const what = std::to_string(snapshot.particles) + " particles in " +
                           exact_text(snapshot.box) + " Mpc/h at a = " + exact_text(snapshot.a);
  auto const options = spectrum_options(settings);
  std::vector<std::string> const header{"Power spectrum of " + what};
  mesh::write_power_spectrum(
      power, mesh::power_spectrum(exec, positions, snapshot.box, cells, options), header);
  std::vector<std::filesystem::path> written{power};
  if (settings.multipoles) {
    written.push_back(named("_multipoles.txt"));
    io::write_file(
        written.back(),
        multipoles_text(mesh::power_multipoles(exec, seen, snapshot.box, cells, options), what));
  }
  if (settings.density) {
    written.push_back(named("_density.npy"));
    detail::write_density_of<Exec, T>(exec, positions, snapshot.box, cells, settings.assignment,
                                      written.back());
  }
  if (!settings.quiet) {
    std::cout << what << ", measured on " << cells << "^3 cells\n";
    for (auto const& path : written) std::cout << "written to " << path.string() << '\n';
  }
  return ExitCode::success;
}

}  // namespace coir::apps::nbody
