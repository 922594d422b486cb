#pragma once

/// The files that a run writes at an output: spectrum, pictures, snapshot.

#include "files_of_ranks.hpp"
#include "picture.hpp"
#include "schedule.hpp"
#include "setting_list.hpp"
#include "settings.hpp"
#include "sheet.hpp"
#include "snapshot_files.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/timing.hpp>
#include <coir/cosmology/power.hpp>
#include <coir/distributed/share.hpp>
#include <coir/fft/plan_over_ranks.hpp>
#include <coir/hdf5/gadget.hpp>
#include <coir/io/atomic_file.hpp>
#include <coir/io/npy.hpp>
#include <coir/io/png.hpp>
#include <coir/mesh/ghosts.hpp>
#include <coir/mesh/power_multipoles.hpp>
#include <coir/mesh/power_spectrum.hpp>
#include <coir/nbody/redshift_space.hpp>

#include <support/on_all.hpp>
#include <support/text.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>

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
  copy_contiguous(target, source);
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

/// How spectra are measured, and their bins.
mesh::PowerSpectrumOptions spectrum_options(Settings const& settings);

/// Multipoles as text: k, P_0, P_2, P_4, the number of modes.
///
/// \param what  they are of
std::string multipoles_text(mesh::PowerMultipoles const& multipoles, std::string const& what);

/// A measured spectrum as text: k, P, the number of modes, and linear theory's P (NaN where a table
/// doesn't reach).
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

  /// \param replaces  whether snapshots take the place of those that were written on another number
  ///   of ranks
  Outputs(Exec const& exec, distributed::Group const& ranks, Settings const& settings,
          FileNames names, cosmology::LinearPower<double> power, bool replaces)
      : exec_(exec),
        ranks_(ranks),
        settings_(settings),
        names_(std::move(names)),
        power_(std::move(power)),
        replaces_(replaces) {}

  /// An upper bound of the memory that write() needs beside the particles.
  ///
  /// \param astray  Mpc/h that particles may be away from where they started, which over ranks are
  ///   their planes
  static Bytes bytes(Exec const& exec, distributed::Group const& ranks, Settings const& settings,
                     double astray) {
    Bytes spectrum, picture;
    std::int64_t const size = sizeof(T), side = settings.particles;
    std::int64_t const planes = (side + ranks.size() - 1) / ranks.size(),
                       here = planes * side * side;
    if (settings.spectra || settings.multipoles) {
      // Two spectra, the particles moved by half a cell, the sums of bins here and of all ranks,
      // and what painting and transforms work in. Transforms that aren't in place take a slab with
      // ghost planes, too, and what comes of these. Multipoles take positions in redshift space.
      std::int64_t const cells = spectrum_cells(settings);
      std::int64_t const plane = cells * 2 * (cells / 2 + 1);
      std::int64_t const own = (cells + ranks.size() - 1) / ranks.size();
      auto const widths = mesh::touched_beyond(
          mesh::Assignment::pcs,
          static_cast<int>(std::ceil(astray / settings.box * static_cast<double>(cells))));
      std::int64_t const ghosts = widths.below + widths.above + 1;
      std::int64_t const painted = fft::transforms_in_place(ranks) ? 0 : own + 2 * ghosts;
      // The sums of each bin over each plane. Without --bins there is one for each multiple of the
      // fundamental, up to the last mode where --k-max is beyond.
      std::int64_t const longest = settings.k_max > 0 ? cells : cells / 2;
      std::int64_t const bins =
          std::max<std::int64_t>(1, settings.bins > 0 ? settings.bins : longest);
      std::int64_t const sums =
          2 * cells * bins * (settings.multipoles ? 5 : 3) * std::int64_t(sizeof(double));
      spectrum.device = (2 * own + painted) * plane * size +
                        (settings.multipoles ? 6 : 3) * here * size + sums +
                        ghost_bytes<Exec, T>(exec, cells, 4) +
                        fft::PlanOverRanks<Exec, T>::work_bytes(exec, ranks, {cells, cells, cells},
                                                                fft::Effort::estimate);
      if (!runs_on_host<Exec>) spectrum.host = sums;
    }
    if (settings.pictures) {
      std::int64_t const pixels = std::int64_t(settings.picture_side()) * settings.picture_side();
      constexpr std::int64_t encoding = 4 << 20;  // rows, and what compression works in
      // Over ranks the pixels of another one, too, and a plane of its particles.
      std::int64_t const over_ranks = ranks.size() > 1 ? 8 * pixels + 3 * side * side * size : 0;
      picture.device = 8 * pixels + over_ranks + (runs_on_host<Exec> ? encoding : 0);
      if (!runs_on_host<Exec>) picture.host = 8 * pixels + encoding;
    }
    // Buffers for particles on their way to a file.
    std::int64_t const block = std::min<std::int64_t>(side * side * side, 1 << 18);
    std::int64_t const files = block * (settings.snapshots ? 6 * size + 8 : 3 * size);
    if (runs_on_host<Exec>) return {std::max({spectrum.device, picture.device, files}), 0};
    return {std::max(spectrum.device, picture.device),
            std::max({spectrum.host, picture.host, files})};
  }

  /// Writes what the settings ask for. Collective.
  ///
  /// \param poll  called between; may throw to stop
  void write(Particles const& particles, double a, std::function<void()> const& poll) {
    auto const pause = [&] { on_all(ranks_, poll); };
    if (settings_.spectra) write_spectrum(particles, a);
    pause();
    if (settings_.multipoles) write_multipoles(particles, a);
    pause();
    if (settings_.pictures) {
      write_picture(particles, a, "slab", settings_.slab());
      pause();
      write_picture(particles, a, "projection", settings_.box);
      pause();
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
    auto const options = spectrum_options(settings_);
    std::int64_t const cells = spectrum_cells(settings_);
    auto const spectrum =
        mesh::power_spectrum(exec_, ranks_, particles.position, particles.box, cells, options);
    seconds_.spectra += watch.seconds();
    watch.restart();
    on_first(ranks_, [&] {
      io::write_file(names_.at("power", a, ".txt"), spectrum_text(spectrum, power_, a, settings_));
    });
    seconds_.io += watch.seconds();
  }

  void write_multipoles(Particles const& particles, double a) {
    Stopwatch<Exec> watch(exec_);
    auto const seen = on_all(ranks_, [&] {
      return coir::nbody::redshift_space(exec_, particles, settings_.cosmology, a);
    });
    std::int64_t const cells = spectrum_cells(settings_);
    auto const options = spectrum_options(settings_);
    auto const multipoles =
        mesh::power_multipoles(exec_, ranks_, seen, particles.box, cells, options);
    seconds_.spectra += watch.seconds();
    watch.restart();
    on_first(ranks_, [&] {
      io::write_file(
          names_.at("multipoles", a, ".txt"),
          multipoles_text(multipoles, std::to_string(settings_.particles) + "^3 particles in " +
                                          exact_text(settings_.box) +
                                          " Mpc/h at a = " + exact_text(a)));
    });
    seconds_.io += watch.seconds();
  }

  void write_picture(Particles const& particles, double a, std::string const& what,
                     double thickness) {
    Stopwatch<Exec> watch(exec_);
    int const side = settings_.picture_side();
    SheetPixels<Exec> mass;
    on_all(ranks_, [&] { mass = SheetPixels<Exec>("coir::apps::nbody::mass", side, side); });
    double const mean =
        paint_sheet<Exec, T>(exec_, ranks_, particles, Sight{0, thickness, side}, mass);
    seconds_.pictures += watch.seconds();
    on_first(ranks_, [&] { write_pixels(a, what, mass, mean); });
  }

  void write_pixels(double a, std::string const& what, SheetPixels<Exec> const& mass, double mean) {
    Stopwatch<Exec> watch(exec_);
    int const side = settings_.picture_side();
    auto const mass_h = host_view_of(mass);
    // Densities take the place of the masses that they are made of; the memory behind them is
    // scratch for sorting.
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

  /// One file, or over ranks one of each that has particles. None appears before all are on the
  /// disk.
  void write_snapshot(Particles const& particles, double a, std::function<void()> const& poll) {
    Stopwatch<Exec> const watch(exec_);
    FilesOfRanks const all(ranks_, particles.count());
    std::optional<hdf5::Writer> written;
    on_all(ranks_, [&] {
      if (particles.count() == 0) return;
      written =
          snapshot_at(names_.snapshot(a, all.files(), all.number), all.files(), particles, a, poll);
      written->sync(poll);
    });
    on_all(ranks_, [&] {
      if (written) written->commit();
    });
    on_first(ranks_, [&] {
      if (replaces_) remove_other_snapshot_files(names_, a, all.files());
    });
    seconds_.io += watch.seconds();
  }

  hdf5::Writer snapshot_at(std::filesystem::path const& path, int files, Particles const& particles,
                           double a, std::function<void()> const& poll) const {
    constexpr double kpc = 1000;
    auto const& p = settings_.cosmology;
    hdf5::GadgetHeader header;
    header.particles = particles.count();
    header.particles_total = particles.total();
    header.files = files;
    header.scale_factor = a;
    header.box = particles.box * kpc;
    header.particle_mass = hdf5::particle_mass(p.omega_m, particles.box, particles.total());
    header.omega_m = p.omega_m;
    header.omega_lambda = p.omega_de();
    header.hubble = p.h;
    auto const before = static_cast<std::uint64_t>(particles.first());
    T const length = static_cast<T>(kpc), box = static_cast<T>(header.box);
    T const velocity = static_cast<T>(100 / a);
    return hdf5::write_gadget_uncommitted<T>(path, header, [&](hdf5::GadgetBlock<T> const& block) {
      poll();
      copy_rows(particles.position, block.first, block.positions);
      copy_rows(particles.momentum, block.first, block.velocities);
      for (T& x : block.positions) {
        x *= length;
        if (x >= box) x -= box;
      }
      for (T& v : block.velocities) v *= velocity;
      for (std::uint64_t& id : block.ids) id += before;
    });
  }

  Exec exec_;
  distributed::Group ranks_;
  Settings settings_;
  FileNames names_;
  cosmology::LinearPower<double> power_;
  bool replaces_;
  OutputSeconds seconds_;
};

}  // namespace coir::apps::nbody
