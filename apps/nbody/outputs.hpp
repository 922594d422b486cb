#pragma once

/// \file
/// What a run writes of its particles at an output: spectrum, pictures, snapshot.

#include "fields.hpp"
#include "picture.hpp"
#include "schedule.hpp"
#include "settings.hpp"
#include "sheet.hpp"

#include <coir/core/timing.hpp>
#include <coir/cosmology/power.hpp>
#include <coir/fft/plan.hpp>
#include <coir/hdf5/gadget.hpp>
#include <coir/io/atomic_file.hpp>
#include <coir/io/npy.hpp>
#include <coir/io/png.hpp>
#include <coir/mesh/power_spectrum.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace coir::apps::nbody {

/// Rows first, first + 1, ... of vectors in memory of any space, as many as fit into `host`.
template <class Vectors, class T = typename Vectors::value_type>
void copy_rows(Vectors const& vectors, std::int64_t first, std::span<T> host) {
  auto const rows = host.size() / 3;
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  Kokkos::View<T const* [3], Kokkos::LayoutRight, typename Vectors::memory_space, Unmanaged> const
      source(vectors.data() + 3 * first, rows);
  Kokkos::View<T* [3], Kokkos::LayoutRight, Kokkos::HostSpace, Unmanaged> const target(host.data(),
                                                                                       rows);
  Kokkos::deep_copy(target, source);
}

/// Memory on the device, and on the host where that is not the same.
struct Bytes {
  std::int64_t device = 0;
  std::int64_t host = 0;
};

/// A measured spectrum as text: k, P, the number of modes, and linear theory's P (NaN where a table doesn't reach).
std::string spectrum_text(mesh::PowerSpectrum const& spectrum,
                          cosmology::LinearPower<double> const& power, double a,
                          Settings const& settings);

/// Where the time of outputs went.
struct OutputSeconds {
  double spectra = 0;
  double pictures = 0;
  double io = 0;  ///< writing files, checkpoints too
};

template <ExecutionSpace Exec, Real T>
class Outputs {
 public:
  using Particles = coir::nbody::Particles<Exec, T>;

  Outputs(Exec const& exec, Settings const& settings, FileNames names,
          cosmology::LinearPower<double> power)
      : exec_(exec), settings_(settings), names_(std::move(names)), power_(std::move(power)) {}

  /// What write() needs beside the particles, at most.
  static Bytes bytes(Exec const& exec, Settings const& settings) {
    Bytes spectrum, picture;
    std::int64_t const n = settings.particles, cells = spectrum_cells(settings);
    if (settings.spectra)  // two meshes, and the particles moved by half a cell
      spectrum.device =
          2 * cells * cells * 2 * (cells / 2 + 1) * std::int64_t(sizeof(T)) +
          3 * n * n * n * std::int64_t(sizeof(T)) +
          fft::RealPlan<Exec, T, 3>::work_bytes(
              exec, {cells, cells, cells}, 1, {.in_place = true, .effort = fft::Effort::estimate});
    if (settings.pictures) {
      // Mass; on the host a copy of it, densities, sorted ones, colours and the file.
      std::int64_t const pixels = std::int64_t(settings.picture_side()) * settings.picture_side();
      picture.device = 8 * pixels;
      picture.host = (runs_on_host<Exec> ? 0 : 8 * pixels) + (4 + 4 + 3 + 4) * pixels;
    }
    std::int64_t const block = 16 << 20;  // of particles on their way to a file
    return {std::max(spectrum.device, picture.device), std::max(picture.host, block)};
  }

  /// Writes what the settings ask for.
  void write(Particles const& particles, double a) {
    if (settings_.spectra) write_spectrum(particles, a);
    if (settings_.pictures) {
      write_picture(particles, a, "slab", settings_.slab());
      write_picture(particles, a, "projection", settings_.box);
    }
    if (settings_.snapshots) write_snapshot(particles, a);
  }

  OutputSeconds& seconds() { return seconds_; }

 private:
  static std::int64_t spectrum_cells(Settings const& settings) {
    return coir::nbody::Simulation<Exec, T>::mesh_side(settings.particles,
                                                       simulation_options(settings, {}));
  }

  void write_spectrum(Particles const& particles, double a) {
    Stopwatch<Exec> watch(exec_);
    mesh::PowerSpectrumOptions const options{.assignment = mesh::Assignment::pcs,
                                             .interlace = true};
    auto const spectrum = mesh::power_spectrum(exec_, particles.position, particles.box,
                                               spectrum_cells(settings_), options);
    seconds_.spectra += watch.seconds();
    watch.restart();
    io::write_file(names_.at("power", a, ".txt"), spectrum_text(spectrum, power_, a, settings_));
    seconds_.io += watch.seconds();
  }

  void write_picture(Particles const& particles, double a, std::string const& what,
                     double thickness) {
    Stopwatch<Exec> watch(exec_);
    int const side = settings_.picture_side();
    SheetPixels<Exec> const mass("coir::apps::nbody::mass", side, side);
    double const mean = paint_sheet<Exec, T>(exec_, particles, Sight{0, thickness, side}, mass);
    auto const mass_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, mass);
    Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> const density(
        "coir::apps::nbody::density", side, side);
    std::transform(
        mass_h.data(), mass_h.data() + mass_h.size(), density.data(),
        [mean](std::uint64_t m) { return static_cast<float>(static_cast<double>(m) / mean); });
    auto const picture = io::encode_png(picture_of(side, {density.data(), density.size()}));
    seconds_.pictures += watch.seconds();
    watch.restart();
    io::write_file(names_.at(what, a, ".png"), picture);
    io::write_npy(names_.at(what, a, ".npy"), density);
    seconds_.io += watch.seconds();
  }

  void write_snapshot(Particles const& particles, double a) {
    Stopwatch<Exec> const watch(exec_);
    constexpr double kpc = 1000;
    auto const& p = settings_.cosmology;
    hdf5::GadgetHeader header;
    header.particles = particles.count();
    header.scale_factor = a;
    header.box = particles.box * kpc;
    header.particle_mass = hdf5::particle_mass(p.omega_m, particles.box, particles.count());
    header.omega_m = p.omega_m;
    header.omega_lambda = p.omega_de();
    header.hubble = p.h;
    T const length = static_cast<T>(kpc), box = static_cast<T>(header.box);
    T const velocity = static_cast<T>(100 / a);
    hdf5::write_gadget<T>(names_.at("snapshot", a, ".hdf5"), header,
                          [&](hdf5::GadgetBlock<T> const& block) {
                            copy_rows(particles.position, block.first, block.positions);
                            copy_rows(particles.momentum, block.first, block.velocities);
                            for (T& x : block.positions) {
                              x *= length;
                              if (x >= box) x -= box;
                            }
                            for (T& v : block.velocities) v *= velocity;
                          });
    seconds_.io += watch.seconds();
  }

  Exec exec_;
  Settings settings_;
  FileNames names_;
  cosmology::LinearPower<double> power_;
  OutputSeconds seconds_;
};

}  // namespace coir::apps::nbody
