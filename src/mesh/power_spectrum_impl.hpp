#pragma once

#include "spectrum_bins.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/copy_to.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/profiling.hpp>
#include <coir/core/tasks.hpp>
#include <coir/distributed/together.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/fft/plan_over_ranks.hpp>
#include <coir/fft/wave_number.hpp>
#include <coir/mesh/ghosts.hpp>
#include <coir/mesh/paint.hpp>
#include <coir/mesh/power_spectrum.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace coir::mesh::detail {

/// Sums over the modes of a bin, each mode with its weight.
struct BinSum {
  double power = 0;
  double wave = 0;  ///< |q|
  double modes = 0;

  /// \param mode_power            of the mode, times its weight
  /// \param square, square_along  |q|^2, and the square of its component along the third axis
  KOKKOS_FORCEINLINE_FUNCTION void add_mode(double mode_power, double weight, double square,
                                            double /*square_along*/) {
    power += mode_power;
    wave += weight * math::sqrt(square);
    modes += weight;
  }
  KOKKOS_FORCEINLINE_FUNCTION void multiply_power(double factor) { power *= factor; }
  KOKKOS_FORCEINLINE_FUNCTION void operator+=(BinSum const& other) {
    power += other.power;
    wave += other.wave;
    modes += other.modes;
  }
  /// The power in a result from which shot noise is subtracted.
  static std::vector<double>& power_of(PowerSpectrum& spectrum) { return spectrum.power; }
};

/// Sums each bin over groups of rows. The order of the additions depends on the shape alone.
///
/// \tparam ByPlanes  groups are the planes of the second axis; `a` and `b` have those from
///   `first_plane` on
/// \tparam Sum       of a bin: BinSum, or one with more in it
template <class T, bool ByPlanes, class Sum>
struct GroupSums {
  SpectrumRows<T> a, b;
  std::int64_t n[3];
  double const* factor[3];    // along each axis, from compensation()
  std::int64_t const* first;  // see SpectrumBins
  std::int64_t bins, groups;
  Sum* sums;  // (groups, bins)
  std::int64_t first_plane = 0;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t rows() const { return n[0] * n[1]; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t first_row(std::int64_t group) const {
    return ByPlanes ? n[0] * group : rows() * group / groups;
  }
  /// A row's index along the first axis, and along the second axis of `a` and `b`.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t along_first(std::int64_t row) const {
    return ByPlanes ? row % n[0] : row / n[1];
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t along_second(std::int64_t row) const {
    return ByPlanes ? row / n[0] : row % n[1];
  }

  /// q_0^2 + q_1^2 of a row.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t square_of(std::int64_t row) const {
    std::int64_t const i = along_first(row), j = first_plane + along_second(row);
    std::int64_t const x = fft::wave_number(i, n[0]), y = fft::wave_number(j, n[1]);
    return x * x + y * y;
  }

  /// The number of modes of a row with |q|^2 below `limit`, which are the first ones.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t below(std::int64_t limit, std::int64_t square) const {
    if (limit <= square) return 0;
    // The root of a whole number below 2^53 is exact if it is whole, and otherwise isn't rounded to
    // a whole number.
    auto const count =
        static_cast<std::int64_t>(math::ceil(math::sqrt(static_cast<double>(limit - square))));
    return count < n[2] / 2 + 1 ? count : n[2] / 2 + 1;
  }

  /// Adds the modes [begin, end) of a row.
  KOKKOS_FORCEINLINE_FUNCTION void add(std::int64_t row, std::int64_t square, std::int64_t begin,
                                       std::int64_t end, Sum& sum) const {
    std::int64_t const i = along_first(row), j = along_second(row);
    Kokkos::complex<T> const* const at_a = a.data + i * a.plane + j * a.row;
    Kokkos::complex<T> const* const at_b = b.data + i * b.plane + j * b.row;
    Sum part;
    for (std::int64_t k = begin; k < end; ++k) {
      double const weight = k == 0 || 2 * k == n[2] ? 1 : 2;
      double const re = static_cast<double>(at_a[k].real()) * static_cast<double>(at_b[k].real());
      double const im = static_cast<double>(at_a[k].imag()) * static_cast<double>(at_b[k].imag());
      part.add_mode(weight * (re + im) * factor[2][k], weight, static_cast<double>(square + k * k),
                    static_cast<double>(k * k));
    }
    part.multiply_power(factor[0][i] * factor[1][first_plane + j]);
    sum += part;
  }

  /// On devices: a thread per group and bin; neighbours read the same rows.
  KOKKOS_FUNCTION void operator()(std::int64_t group, std::int64_t bin) const {
    Sum sum;
    for (std::int64_t row = first_row(group); row < first_row(group + 1); ++row) {
      std::int64_t const square = square_of(row), end = below(first[bin + 1], square);
      if (end > 0) add(row, square, below(first[bin], square), end, sum);
    }
    sums[group * bins + bin] = sum;
  }

  /// On hosts: a thread per group, which reads each row once.
  void operator()(std::int64_t group) const {
    Sum* const to = sums + group * bins;
    std::fill_n(to, bins, Sum{});
    for (std::int64_t row = first_row(group); row < first_row(group + 1); ++row) {
      std::int64_t const square = square_of(row);
      // The first bin that ends beyond the row's first mode.
      std::int64_t bin = std::upper_bound(first + 1, first + bins + 1, square) - (first + 1);
      if (bin == bins) continue;
      std::int64_t begin = below(first[bin], square);
      for (; bin < bins && begin < n[2] / 2 + 1; ++bin) {
        std::int64_t const end = below(first[bin + 1], square);
        add(row, square, begin, end, to[bin]);
        begin = end;
      }
    }
  }
};

template <class Exec, class T, bool ByPlanes, class Sum>
void run_group_sums(Exec const& exec, GroupSums<T, ByPlanes, Sum> const& sums) {
  constexpr char const* label = "coir::mesh::power_spectrum/sums";
  if constexpr (runs_on_host<Exec>)
    for_each_task(label, exec, sums.groups, sums);
  else
    for_each(label, exec, coir::box<2, std::int64_t>({sums.groups, sums.bins}), sums);
}

/// \param sums  (groups, bins), which are added up in the order of the groups
template <class Sum>
std::vector<Sum> sums_of_bins(std::span<Sum const> sums, std::int64_t bins) {
  auto const count = static_cast<std::size_t>(bins);
  std::vector<Sum> result(count);
  for (std::size_t n = 0; n < sums.size(); ++n) result[n % count] += sums[n];
  return result;
}

/// The mean wave number of a bin's modes, or the middle of a bin without modes.
inline double wave_number_of(BinSum const& sum, SpectrumBins const& bins, std::size_t bin,
                             double box) {
  double const fundamental = 2 * std::numbers::pi / box;
  return fundamental * (sum.modes == 0 ? bins.middle[bin] : sum.wave / sum.modes);
}

/// scale sum / modes, NaN without modes.
inline double mean_of_modes(double sum, double modes, double scale) {
  return modes == 0 ? std::numeric_limits<double>::quiet_NaN() : scale * (sum / modes);
}

/// The mean wave number, power and modes of each bin.
///
/// \param box  length of the box
inline PowerSpectrum means_of_bins(std::vector<BinSum> const& sums, SpectrumBins const& bins,
                                   double box, double scale) {
  PowerSpectrum result;
  for (std::size_t bin = 0; bin < sums.size(); ++bin) {
    result.k.push_back(wave_number_of(sums[bin], bins, bin, box));
    result.power.push_back(mean_of_modes(sums[bin].power, sums[bin].modes, scale));
    result.modes.push_back(sums[bin].modes);
  }
  return result;
}

/// Tables in the memory of kernels: the weights of modes, and the beginnings of bins.
template <class Exec>
struct BinTables {
  using Space = typename Exec::memory_space;
  Kokkos::View<std::int64_t*, Space> first;
  Kokkos::View<double*, Space> factor[3];

  BinTables(SpectrumBins const& bins, Shape<3> const& shape, PowerSpectrumOptions const& options) {
    std::string const table = "coir::mesh::power_spectrum/table";
    first = copy_to<Space>(table, bins.first);
    for (int d = 0; d < 3; ++d)
      factor[d] = copy_to<Space>(
          table, compensation(shape[d], d == 2 ? shape[d] / 2 + 1 : shape[d], options));
  }
};

/// Sums over the modes of bins, of each group of rows: see GroupSums.
///
/// \return  (groups, bins), in memory of the host
template <bool ByPlanes, class Sum, class Exec, class T>
auto sums_of_groups(Exec const& exec, SpectrumRows<T> const& a, SpectrumRows<T> const& b,
                    Shape<3> const& shape, SpectrumBins const& bins, std::int64_t groups,
                    std::int64_t first_plane, PowerSpectrumOptions const& options) {
  using Space = typename Exec::memory_space;
  expects_memory<Space>(groups * bins.count() * static_cast<std::int64_t>(sizeof(Sum)),
                        "the sums of " + std::to_string(bins.count()) + " bins");
  Kokkos::View<Sum**, Kokkos::LayoutRight, Space> const sums(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::mesh::power_spectrum/sums"),
      static_cast<std::size_t>(groups), static_cast<std::size_t>(bins.count()));
  BinTables<Exec> const tables(bins, shape, options);
  auto const& factor = tables.factor;
  if (groups > 0)
    run_group_sums(
        exec, GroupSums<T, ByPlanes, Sum>{a,
                                          b,
                                          {shape[0], shape[1], shape[2]},
                                          {factor[0].data(), factor[1].data(), factor[2].data()},
                                          tables.first.data(),
                                          bins.count(),
                                          groups,
                                          sums.data(),
                                          first_plane});
  exec.fence();
  return host_view_of(sums);
}

template <class Sums>
auto span_of(Sums const& sums) {
  return std::span<typename Sums::const_value_type>(sums.data(), sums.size());
}

template <class Exec, class T>
PowerSpectrum bin_spectrum(Exec const& exec, SpectrumRows<T> const& a, SpectrumRows<T> const& b,
                           Shape<3> const& shape, double box, double scale,
                           PowerSpectrumOptions const& options) {
  SpectrumBins const bins = spectrum_bins(shape, box, options);
  if (bins.count() == 0) return means_of_bins(std::vector<BinSum>(), bins, box, scale);
  std::int64_t const groups =
      std::min(shape[0] * shape[1], std::max<std::int64_t>(1024, (1 << 18) / bins.count()));
  auto const sums = sums_of_groups<false, BinSum>(exec, a, b, shape, bins, groups, 0, options);
  return means_of_bins(sums_of_bins<BinSum>(span_of(sums), bins.count()), bins, box, scale);
}

/// Bins spectra of which each rank has some rows. Sums of all ranks' rows are added up in the order
/// of the second axis, so that the order doesn't depend on the number of ranks. Collective.
template <class Sum, class Exec, class T>
auto sum_up_bins(Exec const& exec, distributed::Group const& group, SpectrumRows<T> const& a,
                 SpectrumRows<T> const& b, Shape<3> const& shape, double box, double scale,
                 PowerSpectrumOptions const& options) {
  SpectrumBins const bins = spectrum_bins(shape, box, options);
  if (bins.count() == 0) return means_of_bins(std::vector<Sum>(), bins, box, scale);
  auto const rows = distributed::share_of(shape[1], group.rank(), group.size());
  auto const here = distributed::together(group, [&] {
    return sums_of_groups<true, Sum>(exec, a, b, shape, bins, rows.count, rows.first, options);
  });
  auto const all = group.gather_all(span_of(here));
  return means_of_bins(sums_of_bins<Sum>(all, bins.count()), bins, box, scale);
}

template <class T>
struct ShiftPositions {
  T const* position;
  T* shifted;
  T by;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { shifted[i] = position[i] + by; }
};

/// spectrum = (spectrum + phase shifted) / 2, for the rows of a rank.
template <class T>
struct Interlace {
  static constexpr bool reads_no_neighbours = true;
  Kokkos::complex<T>* spectrum;
  Kokkos::complex<T> const* shifted;
  Kokkos::complex<T> const* phase;  // of wave i along an axis
  std::int64_t n, first, rows;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    std::int64_t const at = (i * rows + j) * (n / 2 + 1) + k;
    spectrum[at] = T(0.5) * (spectrum[at] + phase[i] * phase[first + j] * phase[k] * shifted[at]);
  }
};

/// The phases of waves along an axis when particles move by half a cell.
template <class T, class Space>
auto half_cell_phases(std::int64_t cells) {
  std::vector<Kokkos::complex<T>> phase;
  for (std::int64_t i = 0; i < cells; ++i) {
    double const angle = std::numbers::pi * static_cast<double>(fft::wave_number(i, cells)) /
                         static_cast<double>(cells);
    phase.emplace_back(static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle)));
  }
  return copy_to<Space>("coir::mesh::power_spectrum/table", phase);
}

/// The number of planes by which a particle lies beyond a rank's own, by the shorter way around the
/// axis.
template <class T>
struct FarthestBeyond {
  T const* position;
  T per_cell;
  std::int64_t cells, first, count;
  bool above;
  KOKKOS_FUNCTION void operator()(std::int64_t p, std::int64_t& most) const {
    std::int64_t const plane =
        touched<2, T>(position[3 * p], per_cell, static_cast<T>(cells)).first;
    std::int64_t const away = plane < first ? plane - first + cells : plane - first;
    if (away < count) return;
    std::int64_t const up = away - count + 1, down = cells - away;
    std::int64_t const here = above == (up <= down) ? (above ? up : down) : 0;
    most = here > most ? here : most;
  }
};

template <class Exec, class T>
GhostWidths farthest_beyond(Exec const& exec, distributed::Group const& group,
                            Sample<T> const& sample, std::int64_t cells, double box) {
  auto const own = distributed::share_of(cells, group.rank(), group.size());
  auto const farthest = [&](bool above) {
    std::int64_t most = 0;
    if (sample.particles > 0 && own.count < cells)
      reduce("coir::mesh::power_spectrum/beyond", exec,
             coir::box<1, std::int64_t>({sample.particles}),
             FarthestBeyond<T>{sample.position, static_cast<T>(inverse_spacing(cells, box)), cells,
                               own.first, own.count, above},
             Kokkos::Max<std::int64_t>(most));
    return static_cast<int>(group.max(std::max<std::int64_t>(most, 0)));
  };
  int const below = farthest(false);
  return {below, farthest(true)};
}

/// Paints the particles of all ranks and transforms their density, in memory that it holds. All
/// functions are collective.
template <class Exec, class T>
class PaintedSpectra {
 public:
  using Plan = fft::PlanOverRanks<Exec, T>;
  using Block = typename Plan::Block;

  /// \param beyond          the most planes by which particles lie beyond their rank's planes
  /// \param fields          how many spectra will be held at a time
  /// \param most_particles  the most particles of one sample on this rank
  PaintedSpectra(Exec const& exec, distributed::Group const& group, std::int64_t cells, double box,
                 GhostWidths const& beyond, int fields, std::int64_t most_particles,
                 PowerSpectrumOptions const& options)
      : exec_(exec),
        group_(group),
        cells_(cells),
        box_(box),
        options_(options),
        ghosts_(group, cells, widths_needed(group, widths(beyond, options))),
        plan_(plan(fields, most_particles)) {
    distributed::together(group, [&] { allocate(fields, most_particles); });
  }

  /// The plan of the transforms.
  Plan const& transforms() const { return plan_; }

  /// With interlacing: the last sample's spectrum, and its positions, moved by half a cell; and
  /// half_cell_phases().
  Block second() const { return spectrum_in(spectra_.back()); }
  T const* shifted() const { return shifted_.data(); }
  Kokkos::complex<T> const* phase() const { return phase_.data(); }

  /// sum_p exp(-i k x_p), times the window of painting: this rank's rows.
  ///
  /// \param field  whose memory to take
  Block operator()(Sample<T> const& sample, int field) {
    Block const spectrum = spectrum_in(spectra_[static_cast<std::size_t>(field)]);
    transform(sample, spectrum);
    if (!options_.interlace) return spectrum;
    for_each("coir::mesh::power_spectrum/shift", exec_,
             coir::box<1, std::int64_t>({3 * sample.particles}),
             ShiftPositions<T>{sample.position, shifted_.data(),
                               static_cast<T>(box_ / static_cast<double>(cells_) / 2)});
    transform({shifted_.data(), sample.particles}, second());
    auto const rows = plan_.rows();
    for_each("coir::mesh::power_spectrum/interlace", exec_,
             coir::box<3, std::int64_t>({cells_, rows.count, cells_ / 2 + 1}),
             Interlace<T>{spectrum.data(), second().data(), phase_.data(), cells_, rows.first,
                          rows.count});
    return spectrum;
  }

  /// The adjoint of a transform and of painting up to the readout at particles: transforms a
  /// spectrum back, in memory that the next call overwrites, and fills the ghosts that particles
  /// touch.
  CellsWindow<T const> backward(Block const& spectrum) {
    auto const [first, held] = painted(spectrum);
    plan_.backward(spectrum, plan_.field_in(complex(first + before())));
    ghosts_.fill(exec_, first, plane(), plane());
    return read_only(ghosts_.window(fft::real_view_of(held, cells_)));
  }

 private:
  using Space = typename Exec::memory_space;
  using Numbers = Kokkos::View<T*, Space>;

  static GhostWidths widths(GhostWidths const& beyond, PowerSpectrumOptions const& options) {
    GhostWidths const touched = touched_beyond(options.assignment);
    return {touched.below + beyond.below,
            touched.above + beyond.above + (options.interlace ? 1 : 0)};
  }

  // Numbers of a plane, and of the ghosts before the own planes.
  std::int64_t plane() const { return cells_ * 2 * (cells_ / 2 + 1); }
  std::int64_t before() const { return ghosts_.widths().below * plane(); }
  /// Numbers before the first plane held, so that the own planes begin at a multiple of 64 numbers.
  std::int64_t lead() const { return (before() + 63) / 64 * 64 - before(); }
  /// Numbers of the mesh that particles are painted on. Where transforms are in place it is the
  /// spectrum's memory.
  std::int64_t mesh_size() const {
    return fft::transforms_in_place(group_) ? 0 : lead() + ghosts_.held() * plane();
  }

  // Checks that there is memory for everything before the plan is made.
  Plan plan(int fields, std::int64_t most_particles) const {
    Shape<3> const shape{cells_, cells_, cells_};
    distributed::together(group_, [&] {
      auto const rows = distributed::share_of(cells_, group_.rank(), group_.size()).count;
      std::int64_t const spectra = (fields + (options_.interlace ? 1 : 0)) * rows * plane(),
                         positions = options_.interlace ? 3 * most_particles : 0;
      expects_memory<Space>(
          (mesh_size() + spectra + positions) * static_cast<std::int64_t>(sizeof(T)) +
              Plan::work_bytes(exec_, group_, shape, fft::Effort::estimate),
          "the power spectrum on " + std::to_string(cells_) + "^3 cells");
    });
    return Plan(exec_, group_, shape, fft::Effort::estimate);
  }

  void allocate(int fields, std::int64_t most_particles) {
    auto const numbers = [](std::string const& label, std::int64_t count) {
      return Numbers(label, static_cast<std::size_t>(count));
    };
    field_ = numbers("coir::mesh::power_spectrum/density", mesh_size());
    for (int n = 0; n < fields + (options_.interlace ? 1 : 0); ++n)
      spectra_.push_back(numbers("coir::mesh::power_spectrum/spectrum", 2 * plan_.spectrum_size()));
    if (!options_.interlace) return;
    shifted_ = numbers("coir::mesh::power_spectrum/shifted", 3 * most_particles);
    phase_ = half_cell_phases<T, Space>(cells_);
  }

  static Kokkos::complex<T>* complex(T* data) {
    return reinterpret_cast<Kokkos::complex<T>*>(data);
  }
  Block spectrum_in(Numbers const& memory) const {
    return plan_.spectrum_in(complex(memory.data()));
  }

  /// The first number of the planes held, and these planes: where transforms are in place they lie
  /// in the spectrum's memory.
  std::pair<T*, Block> painted(Block const& spectrum) const {
    T* const first =
        plan_.is_in_place() ? reinterpret_cast<T*>(spectrum.data()) : field_.data() + lead();
    return {first,
            Block(complex(first), static_cast<std::size_t>(ghosts_.held()),
                  static_cast<std::size_t>(cells_), static_cast<std::size_t>(cells_ / 2 + 1))};
  }

  void transform(Sample<T> const& sample, Block const& spectrum) {
    auto const [first, held] = painted(spectrum);
    PaintOptions paint;
    paint.assignment = options_.assignment;
    paint.deterministic = true;
    detail::paint<Exec, T>(exec_, ghosts_, {sample.position, sample.particles, nullptr, 0}, box_,
                           ghosts_.window(fft::real_view_of(held, cells_)), paint);
    plan_.forward(plan_.field_in(complex(first + before())), spectrum);
  }

  Exec exec_;
  distributed::Group group_;
  std::int64_t cells_;
  double box_;
  PowerSpectrumOptions options_;
  GhostPlanes<Exec> ghosts_;
  Plan plan_;
  Numbers field_, shifted_;
  std::vector<Numbers> spectra_;  // with interlacing the last one is of positions half a cell away
  Kokkos::View<Kokkos::complex<T>*, Space> phase_;
};

/// Checks the arguments of a spectrum of particles before the work. Collective.
///
/// \throws PreconditionError on all ranks, naming the argument that is out of its range or differs
inline void expects_measurable(distributed::Group const& group, double box, std::int64_t cells,
                               bool cross, PowerSpectrumOptions const& options) {
  auto const bins = distributed::together(group, [&] {
    expects_box(box);
    expects(cells >= 1 && cells <= 32768,
            "cells of a power spectrum's mesh must be from 1 to 32768 along an axis", cells);
    return spectrum_bins({cells, cells, cells}, box, options).count();
  });
  distributed::expects_alike(group, {{"number of cells along an axis", cells},
                                     {"box length", box},
                                     {"assignment", name_of(options.assignment)},
                                     {"choice to interlace", options.interlace},
                                     {"choice to compensate", options.compensate},
                                     {"number of bins", bins},
                                     {"choice of a second sample", cross}});
}

/// The particles of all ranks, of which there must be some. Collective.
inline double particles_of_all(distributed::Group const& group, std::int64_t here) {
  std::int64_t const particles = group.sum(here);
  expects(particles >= 1, "a power spectrum must be of at least one particle", particles);
  return static_cast<double>(particles);
}

/// \tparam Sum  of the bins that the result is made of
template <class Sum, class Result>
void tell_shot_noise(Result& result, double shot_noise, PowerSpectrumOptions const& options) {
  result.shot_noise = shot_noise;
  if (options.subtract_shot_noise)
    for (double& power : Sum::power_of(result)) power -= shot_noise;
}

/// Means over bins of the spectrum of particles.
///
/// \tparam Sum  of a bin: means_of_bins() makes the result of such sums
/// \param b     null for the spectrum of `a` alone
template <class Sum, class Exec, class T>
auto bins_of_particles(Exec const& exec, distributed::Group const& group, Sample<T> const& a,
                       Sample<T> const* b, double box, std::int64_t cells,
                       PowerSpectrumOptions const& options) {
  bool const cross = b != nullptr;
  double const volume = box * box * box, of_a = particles_of_all(group, a.particles);
  double const of_b = cross ? particles_of_all(group, b->particles) : of_a;
  expects_measurable(group, box, cells, cross, options);

  ProfilingRegion const region("coir::mesh::power_spectrum");
  GhostWidths beyond = farthest_beyond(exec, group, a, cells, box);
  if (cross) beyond = widest(beyond, farthest_beyond(exec, group, *b, cells, box));
  PaintedSpectra<Exec, T> spectra(exec, group, cells, box, beyond, cross ? 2 : 1,
                                  cross ? std::max(a.particles, b->particles) : a.particles,
                                  options);
  auto const first = rows_of(spectra(a, 0));
  auto const second = cross ? rows_of(spectra(*b, 1)) : first;
  auto result = sum_up_bins<Sum>(exec, group, first, second, spectra.transforms().shape(), box,
                                 volume / (of_a * of_b), options);
  if (!cross) tell_shot_noise<Sum>(result, volume / of_a, options);
  return result;
}

template <class Exec, class T>
PowerSpectrum spectrum_of_particles(Exec const& exec, distributed::Group const& group,
                                    Sample<T> const& a, Sample<T> const* b, double box,
                                    std::int64_t cells, PowerSpectrumOptions const& options) {
  return bins_of_particles<BinSum>(exec, group, a, b, box, cells, options);
}

}  // namespace coir::mesh::detail

#define COIR_INSTANTIATE_POWER_SPECTRUM_OF(Exec, T)                                             \
  template GhostWidths farthest_beyond<Exec, T>(Exec const&, distributed::Group const&,         \
                                                Sample<T> const&, std::int64_t, double);        \
  template PowerSpectrum spectrum_of_particles<Exec, T>(                                        \
      Exec const&, distributed::Group const&, Sample<T> const&, Sample<T> const*, double,       \
      std::int64_t, PowerSpectrumOptions const&);                                               \
  template PowerSpectrum bin_spectrum<Exec, T>(Exec const&, SpectrumRows<T> const&,             \
                                               SpectrumRows<T> const&, Shape<3> const&, double, \
                                               double, PowerSpectrumOptions const&);
#define COIR_INSTANTIATE_POWER_SPECTRUM(Exec)      \
  namespace coir::mesh::detail {                   \
  COIR_INSTANTIATE_POWER_SPECTRUM_OF(Exec, float)  \
  COIR_INSTANTIATE_POWER_SPECTRUM_OF(Exec, double) \
  }
