#pragma once

/// \file
/// What a run writes of its particles at an output: spectrum, pictures, snapshot.

#include "picture.hpp"
#include "schedule.hpp"
#include "setting_list.hpp"
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

#include <support/text.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
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

/// Planes that each thread of a host paints for its neighbour.
///
/// \param support  cells that a particle touches along an axis
template <class Exec, class T>
std::int64_t ghost_bytes(Exec const& exec, std::int64_t cells, int support) {
  std::int64_t const threads =
      runs_on_host<Exec> ? std::min<std::int64_t>(exec.concurrency(), cells) : 1;
  std::int64_t const plane = cells * 2 * (cells / 2 + 1) * std::int64_t(sizeof(T));
  return threads > 1 ? threads * (support - 1) * plane : 0;
}

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
    std::int64_t const size = sizeof(T), n = settings.particles, cells = spectrum_cells(settings);
    if (settings.spectra) {
      // Two meshes, the particles moved by half a cell, the sums of bins, and what painting and transforms work in.
      std::int64_t const plane = cells * 2 * (cells / 2 + 1);
      std::int64_t const bins = std::max<std::int64_t>(1, cells / 2);
      std::int64_t const groups =
          std::min(cells * cells, std::max<std::int64_t>(1024, (1 << 18) / bins));
      std::int64_t const sums = groups * bins * 3 * std::int64_t(sizeof(double));
      spectrum.device =
          2 * cells * plane * size + 3 * n * n * n * size + sums +
          ghost_bytes<Exec, T>(exec, cells, 4) +
          fft::RealPlan<Exec, T, 3>::work_bytes(
              exec, {cells, cells, cells}, 1, {.in_place = true, .effort = fft::Effort::estimate});
      if (!runs_on_host<Exec>) spectrum.host = sums;
    }
    if (settings.pictures) {
      std::int64_t const pixels = std::int64_t(settings.picture_side()) * settings.picture_side();
      constexpr std::int64_t encoding = 4 << 20;  // rows, and what compression works in
      picture.device = 8 * pixels + (runs_on_host<Exec> ? encoding : 0);
      if (!runs_on_host<Exec>) picture.host = 8 * pixels + encoding;
    }
    // Of particles on their way to a file.
    std::int64_t const block = std::min<std::int64_t>(n * n * n, 1 << 18);
    std::int64_t const files = block * (settings.snapshots ? 6 * size + 8 : 3 * size);
    if (runs_on_host<Exec>) return {std::max({spectrum.device, picture.device, files}), 0};
    return {std::max(spectrum.device, picture.device),
            std::max({spectrum.host, picture.host, files})};
  }

  /// Writes what the settings ask for.
  ///
  /// \param poll  called between; may throw to stop
  void write(Particles const& particles, double a, std::function<void()> const& poll) {
    if (settings_.spectra) write_spectrum(particles, a);
    poll();
    if (settings_.pictures) {
      write_picture(particles, a, "slab", settings_.slab());
      poll();
      write_picture(particles, a, "projection", settings_.box);
      poll();
    }
    if (settings_.snapshots) write_snapshot(particles, a, poll);
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
    // Densities take the place of the masses that they are made of, and what is behind them is room to sort.
    auto const pixels = static_cast<std::size_t>(side) * static_cast<std::size_t>(side);
    auto* const bytes = reinterpret_cast<std::byte*>(mass_h.data());
    for (std::size_t n = 0; n < pixels; ++n) {
      std::uint64_t m;
      std::memcpy(&m, bytes + n * sizeof m, sizeof m);
      float const density = static_cast<float>(static_cast<double>(m) / mean);
      std::memcpy(bytes + n * sizeof density, &density, sizeof density);
    }
    auto* const density = reinterpret_cast<float*>(bytes);
    seconds_.pictures += watch.seconds();
    watch.restart();
    write_picture_of(names_.at(what, a, ".png"), side, {density, pixels},
                     {density + pixels, pixels});
    io::write_npy(names_.at(what, a, ".npy"),
                  Kokkos::View<float const**, Kokkos::LayoutRight, Kokkos::HostSpace,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>(density, side, side));
    seconds_.io += watch.seconds();
  }

  void write_snapshot(Particles const& particles, double a, std::function<void()> const& poll) {
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
                            poll();
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
