#pragma once

/// \file
/// The kernels of power_spectrum.hpp, for one execution space.

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
#include <coir/fft/plan.hpp>
#include <coir/fft/slab.hpp>
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
};

/// Sums each bin over groups of rows. The order of the additions depends on the shape alone.
///
/// \tparam ByPlanes  groups are the planes of the second axis, of which `a` and `b` have those from `first_plane` on
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

  /// How many modes of a row have |q|^2 below `limit`; they are the first ones.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t below(std::int64_t limit, std::int64_t square) const {
    if (limit <= square) return 0;
    // The root of a whole number below 2^53 is exact if it is whole, and else never rounded to a whole number.
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
template <class Sums>
auto sums_of_bins(Sums const& sums) {
  std::vector<typename Sums::non_const_value_type> result(sums.extent(1));
  for (std::size_t group = 0; group < sums.extent(0); ++group)
    for (std::size_t bin = 0; bin < result.size(); ++bin) result[bin] += sums(group, bin);
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

/// Means over the modes of bins.
///
/// \tparam ByPlanes, Sum  see GroupSums
template <bool ByPlanes, class Sum = BinSum, class Exec, class T>
auto sum_up_bins(Exec const& exec, SpectrumRows<T> const& a, SpectrumRows<T> const& b,
                 Shape<3> const& shape, double box, double scale,
                 PowerSpectrumOptions const& options) {
  using Space = typename Exec::memory_space;
  SpectrumBins const bins = spectrum_bins(shape, box, options);
  if (bins.count() == 0) return means_of_bins(std::vector<Sum>(), bins, box, scale);

  std::int64_t const groups =
      ByPlanes
          ? shape[1]
          : std::min(shape[0] * shape[1], std::max<std::int64_t>(1024, (1 << 18) / bins.count()));
  std::int64_t const bytes = groups * bins.count() * static_cast<std::int64_t>(sizeof(Sum));
  std::string const what = "the sums of " + std::to_string(bins.count()) + " bins";
  expects_memory<Space>(bytes, what);
  Kokkos::View<Sum**, Kokkos::LayoutRight, Space> const sums(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::mesh::power_spectrum/sums"), groups,
      bins.count());
  BinTables<Exec> const tables(bins, shape, options);
  auto const& factor = tables.factor;
  run_group_sums(exec,
                 GroupSums<T, ByPlanes, Sum>{a,
                                             b,
                                             {shape[0], shape[1], shape[2]},
                                             {factor[0].data(), factor[1].data(), factor[2].data()},
                                             tables.first.data(),
                                             bins.count(),
                                             groups,
                                             sums.data()});
  exec.fence();
  auto const sums_h = host_view_of(sums);
  return means_of_bins(sums_of_bins(sums_h), bins, box, scale);
}

template <class Exec, class T>
PowerSpectrum bin_spectrum(Exec const& exec, SpectrumRows<T> const& a, SpectrumRows<T> const& b,
                           Shape<3> const& shape, double box, double scale,
                           PowerSpectrumOptions const& options) {
  return sum_up_bins<false>(exec, a, b, shape, box, scale, options);
}

template <class T>
struct ShiftPositions {
  T const* position;
  T* shifted;
  T by;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { shifted[i] = position[i] + by; }
};

/// spectrum = (spectrum + phase shifted) / 2
template <class T>
struct Interlace {
  static constexpr bool reads_no_neighbours = true;
  Kokkos::complex<T>* spectrum;
  Kokkos::complex<T> const* shifted;
  Kokkos::complex<T> const* phase;  // of wave i along an axis
  std::int64_t n;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    std::int64_t const at = (i * n + j) * (n / 2 + 1) + k;
    spectrum[at] = T(0.5) * (spectrum[at] + phase[i] * phase[j] * phase[k] * shifted[at]);
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

/// Paints particles and transforms their density, in memory that it holds.
template <class Exec, class T>
class PaintedSpectra {
 public:
  using Space = typename Exec::memory_space;
  using Spectrum = Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutRight, Space>;

  /// \param fields          how many spectra will be held at a time
  /// \param most_particles  the most particles of one sample
  PaintedSpectra(Exec const& exec, std::int64_t cells, double box, int fields,
                 std::int64_t most_particles, PowerSpectrumOptions const& options)
      : exec_(exec),
        cells_(cells),
        box_(box),
        options_(options),
        plan_(plan(fields, most_particles)) {
    if (!options.interlace) return;
    second_ = fft::allocate_in_place<T, Space>("coir::mesh::power_spectrum/second", shape());
    shifted_ = Kokkos::View<T*, Space>(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::mesh::power_spectrum/shifted"),
        3 * most_particles);
    phase_ = half_cell_phases<T, Space>(cells);
  }

  Shape<3> shape() const { return {cells_, cells_, cells_}; }
  /// The plan of the transforms, in place.
  fft::RealPlan<Exec, T, 3> const& transforms() const { return plan_; }

  /// With interlacing: the memory of the second mesh, the last sample's positions moved by half a cell, and half_cell_phases().
  Spectrum const& second() const { return second_; }
  T const* shifted() const { return shifted_.data(); }
  Kokkos::complex<T> const* phase() const { return phase_.data(); }

  /// sum_p exp(-i k x_p), times the window of painting.
  Spectrum operator()(Sample<T> const& sample) const {
    auto const spectrum =
        fft::allocate_in_place<T, Space>("coir::mesh::power_spectrum/density", shape());
    transform(sample, spectrum);
    if (!options_.interlace) return spectrum;
    for_each("coir::mesh::power_spectrum/shift", exec_,
             coir::box<1, std::int64_t>({3 * sample.particles}),
             ShiftPositions<T>{sample.position, shifted_.data(),
                               static_cast<T>(box_ / static_cast<double>(cells_) / 2)});
    transform({shifted_.data(), sample.particles}, second_);
    for_each("coir::mesh::power_spectrum/interlace", exec_,
             coir::box<3, std::int64_t>({cells_, cells_, cells_ / 2 + 1}),
             Interlace<T>{spectrum.data(), second_.data(), phase_.data(), cells_});
    return spectrum;
  }

 private:
  using Plan = fft::RealPlan<Exec, T, 3>;

  // Checks that there is memory for everything before the plan, the first member, is made.
  Plan plan(int fields, std::int64_t most_particles) const {
    // By planes, as over ranks, because both must give the same bits.
    fft::PlanOptions const in_place{
        .in_place = true, .effort = fft::Effort::estimate, .by_planes = true};
    int const meshes = fields + (options_.interlace ? 1 : 0);
    std::int64_t const mesh =
        cells_ * cells_ * (cells_ / 2 + 1) * static_cast<std::int64_t>(sizeof(Kokkos::complex<T>));
    std::int64_t const positions =
        options_.interlace ? 3 * most_particles * static_cast<std::int64_t>(sizeof(T)) : 0;
    expects_memory<Space>(meshes * mesh + positions + Plan::work_bytes(exec_, shape(), 1, in_place),
                          "the power spectrum on " + std::to_string(cells_) + "^3 cells");
    return Plan(exec_, shape(), 1, in_place);
  }

  void transform(Sample<T> const& sample, Spectrum const& spectrum) const {
    auto const density = fft::real_view_of(spectrum, cells_);
    paint<Exec, T>(exec_, {sample.position, sample.particles, nullptr, 0}, box_, cells_of(density),
                   {.assignment = options_.assignment, .deterministic = true});
    plan_.forward(density, spectrum);
  }

  Exec exec_;
  std::int64_t cells_;
  double box_;
  PowerSpectrumOptions options_;
  Plan plan_;
  Spectrum second_;
  Kokkos::View<T*, Space> shifted_;
  Kokkos::View<Kokkos::complex<T>*, Space> phase_;
};

/// Checks the arguments of a spectrum of particles before the work.
///
/// \throws PreconditionError naming the argument that is out of its range
inline void expects_measurable(double box, std::int64_t cells,
                               PowerSpectrumOptions const& options) {
  expects_box(box);
  expects(cells >= 1 && cells <= 32768,
          "cells of a power spectrum's mesh must be from 1 to 32768 along an axis", cells);
  spectrum_bins({cells, cells, cells}, box, options);
}

/// Means over bins of the spectrum of particles.
///
/// \param b  null for the spectrum of `a` alone
template <class Sum, class Exec, class T>
auto bins_of_particles(Exec const& exec, Sample<T> const& a, Sample<T> const* b, double box,
                       std::int64_t cells, PowerSpectrumOptions const& options) {
  expects_measurable(box, cells, options);

  ProfilingRegion const region("coir::mesh::power_spectrum");
  bool const cross = b != nullptr;
  double const volume = box * box * box, of_a = static_cast<double>(a.particles);
  double const of_b = cross ? static_cast<double>(b->particles) : of_a;
  PaintedSpectra<Exec, T> const spectra(exec, cells, box, cross ? 2 : 1,
                                        cross ? std::max(a.particles, b->particles) : a.particles,
                                        options);
  auto const first = spectra(a);
  auto const second = cross ? spectra(*b) : first;
  return sum_up_bins<true, Sum>(exec, rows_of(first), rows_of(second), spectra.shape(), box,
                                volume / (of_a * of_b), options);
}

inline void tell_shot_noise(PowerSpectrum& spectrum, double shot_noise,
                            PowerSpectrumOptions const& options) {
  spectrum.shot_noise = shot_noise;
  if (options.subtract_shot_noise)
    for (double& power : spectrum.power) power -= shot_noise;
}

template <class Exec, class T>
PowerSpectrum spectrum_of_particles(Exec const& exec, Sample<T> const& a, Sample<T> const* b,
                                    double box, std::int64_t cells,
                                    PowerSpectrumOptions const& options) {
  PowerSpectrum result = bins_of_particles<BinSum>(exec, a, b, box, cells, options);
  if (b == nullptr)
    tell_shot_noise(result, box * box * box / static_cast<double>(a.particles), options);
  return result;
}

/// How many planes beyond a rank's own a particle lies, by the shorter way around the axis.
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

/// Interlace for the rows of a rank.
template <class T>
struct InterlaceRows {
  static constexpr bool reads_no_neighbours = true;
  Kokkos::complex<T>* spectrum;
  Kokkos::complex<T> const* shifted;
  Kokkos::complex<T> const* phase;
  std::int64_t n, first, rows;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    std::int64_t const at = (i * rows + j) * (n / 2 + 1) + k;
    spectrum[at] = T(0.5) * (spectrum[at] + phase[i] * phase[first + j] * phase[k] * shifted[at]);
  }
};

/// Bins spectra that ranks share by rows. Sums of all ranks' rows are added up in the order of the second axis, so that
/// the order doesn't depend on the number of ranks.
template <class Sum, class Exec, class T>
auto sum_up_bins_on_ranks(Exec const& exec, distributed::Group const& group,
                          SpectrumRows<T> const& a, SpectrumRows<T> const& b, Shape<3> const& shape,
                          double box, double scale, PowerSpectrumOptions const& options) {
  using Space = typename Exec::memory_space;
  SpectrumBins const bins = spectrum_bins(shape, box, options);
  if (bins.count() == 0) return means_of_bins(std::vector<Sum>(), bins, box, scale);
  auto const rows = distributed::share_of(shape[1], group.rank(), group.size());
  std::vector<Sum> here;
  distributed::together(group, [&] {
    expects_memory<Space>(rows.count * bins.count() * static_cast<std::int64_t>(sizeof(Sum)),
                          "the sums of " + std::to_string(bins.count()) + " bins");
    Kokkos::View<Sum**, Kokkos::LayoutRight, Space> const sums(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::mesh::power_spectrum/sums"),
        static_cast<std::size_t>(rows.count), static_cast<std::size_t>(bins.count()));
    BinTables<Exec> const tables(bins, shape, options);
    if (rows.count == 0) return;
    run_group_sums(exec, GroupSums<T, true, Sum>{a,
                                                 b,
                                                 {shape[0], shape[1], shape[2]},
                                                 {tables.factor[0].data(), tables.factor[1].data(),
                                                  tables.factor[2].data()},
                                                 tables.first.data(),
                                                 bins.count(),
                                                 rows.count,
                                                 sums.data(),
                                                 rows.first});
    exec.fence();
    auto const sums_h = host_view_of(sums);
    here.assign(sums_h.data(), sums_h.data() + sums_h.size());
  });
  auto const all = group.gather_all(std::span<Sum const>(here));
  Kokkos::View<Sum const**, Kokkos::LayoutRight, Kokkos::HostSpace,
               Kokkos::MemoryTraits<Kokkos::Unmanaged>> const
      sums(all.data(), static_cast<std::size_t>(shape[1]), static_cast<std::size_t>(bins.count()));
  return means_of_bins(sums_of_bins(sums), bins, box, scale);
}

/// The largest numbers of planes by which particles of any rank lie below and above that rank's own planes. Collective.
template <class Exec, class T>
GhostWidths farthest_beyond(Exec const& exec, distributed::Group const& group,
                            Sample<T> const& sample, std::int64_t cells, double box) {
  auto const own = distributed::share_of(cells, group.rank(), group.size());
  auto const farthest = [&](bool above) {
    std::int64_t most = 0;
    if (sample.particles > 0)
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

/// Paints the particles of all ranks and transforms their density, in memory that it holds. All functions are collective.
template <class Exec, class T>
class PaintedSpectraOfRanks {
 public:
  /// \param beyond          the most planes by which particles lie beyond their rank's planes
  /// \param fields          how many spectra will be held at a time
  /// \param most_particles  the most particles of one sample on this rank
  PaintedSpectraOfRanks(Exec const& exec, distributed::Group const& group, std::int64_t cells,
                        double box, GhostWidths const& beyond, int fields,
                        std::int64_t most_particles, PowerSpectrumOptions const& options)
      : exec_(exec),
        cells_(cells),
        box_(box),
        options_(options),
        fields_(fields),
        ghosts_(group, cells, widths(beyond, options)),
        slab_(exec, group, {cells, cells, cells}, {.effort = fft::Effort::estimate}) {
    distributed::together(group, [&] { allocate(most_particles); });
  }

  Shape<3> shape() const { return slab_.shape(); }

  /// sum_p exp(-i k x_p), times the window of painting: this rank's rows.
  ///
  /// \param field  whose memory to take
  SpectrumRows<T> operator()(Sample<T> const& sample, int field) {
    Block const spectrum = rows_of_field(field);
    transform(sample, spectrum);
    if (options_.interlace) {
      Block const second = rows_of_field(fields_);
      for_each("coir::mesh::power_spectrum/shift", exec_,
               coir::box<1, std::int64_t>({3 * sample.particles}),
               ShiftPositions<T>{sample.position, shifted_.data(),
                                 static_cast<T>(box_ / static_cast<double>(cells_) / 2)});
      transform({shifted_.data(), sample.particles}, second);
      auto const rows = slab_.rows();
      for_each("coir::mesh::power_spectrum/interlace", exec_,
               coir::box<3, std::int64_t>({cells_, rows.count, cells_ / 2 + 1}),
               InterlaceRows<T>{spectrum.data(), second.data(), phase_.data(), cells_, rows.first,
                                rows.count});
    }
    return {spectrum.data(), slab_.rows().count * (cells_ / 2 + 1), cells_ / 2 + 1};
  }

 private:
  using Space = typename Exec::memory_space;
  using Numbers = Kokkos::View<T*, Space>;
  using Slab = fft::RealSlab<Exec, T>;
  using Block = typename Slab::Block;

  static GhostWidths widths(GhostWidths const& beyond, PowerSpectrumOptions const& options) {
    GhostWidths const touched = touched_beyond(options.assignment);
    return {touched.below + beyond.below,
            touched.above + beyond.above + (options.interlace ? 1 : 0)};
  }

  // Numbers of a row, of a plane, of the ghosts before the own planes, and of this rank's part of a spectrum.
  std::int64_t row() const { return 2 * (cells_ / 2 + 1); }
  std::int64_t plane() const { return cells_ * row(); }
  std::int64_t before() const { return ghosts_.widths().below * plane(); }
  std::int64_t part() const { return cells_ * slab_.rows().count * row(); }
  /// Numbers before the first plane held, so that the own planes begin at a multiple of 64 numbers and are as well
  /// aligned as the memory.
  std::int64_t lead() const { return (before() + 63) / 64 * 64 - before(); }

  void allocate(std::int64_t most_particles) {
    std::int64_t const mesh = lead() + ghosts_.held() * plane();
    std::int64_t const parts = (fields_ + (options_.interlace ? 1 : 0)) * part();
    std::int64_t const copy = options_.interlace ? 3 * most_particles : 0;
    expects_memory<Space>(
        (mesh + parts + copy) * static_cast<std::int64_t>(sizeof(T)),
        "this rank's part of the power spectrum on " + std::to_string(cells_) + "^3 cells");
    auto const numbers = [](std::string const& label, std::int64_t count) {
      return Numbers(label, static_cast<std::size_t>(count));
    };
    field_ = numbers("coir::mesh::power_spectrum/density", mesh);
    spectra_ = numbers("coir::mesh::power_spectrum/spectrum", parts);
    shifted_ = numbers("coir::mesh::power_spectrum/shifted", copy);
    if (options_.interlace) phase_ = half_cell_phases<T, Space>(cells_);
  }

  Block block(T* data, std::int64_t n0, std::int64_t n1) const {
    return Block(reinterpret_cast<Kokkos::complex<T>*>(data), static_cast<std::size_t>(n0),
                 static_cast<std::size_t>(n1), static_cast<std::size_t>(cells_ / 2 + 1));
  }
  Block rows_of_field(int field) const {
    return block(spectra_.data() + field * part(), cells_, slab_.rows().count);
  }

  void transform(Sample<T> const& sample, Block const& spectrum) {
    Block const held = block(field_.data() + lead(), ghosts_.held(), cells_);
    PaintOptions paint;
    paint.assignment = options_.assignment;
    paint.deterministic = true;
    paint_on_ranks<Exec, T>(exec_, ghosts_, {sample.position, sample.particles, nullptr, 0}, box_,
                            window_of(fft::real_view_of(held, cells_), ghosts_.first(), cells_),
                            paint);
    slab_.forward(block(field_.data() + lead() + before(), ghosts_.own().count, cells_), spectrum);
  }

  Exec exec_;
  std::int64_t cells_;
  double box_;
  PowerSpectrumOptions options_;
  int fields_;
  GhostPlanes<Exec> ghosts_;
  Slab slab_;
  Numbers field_, spectra_, shifted_;
  Kokkos::View<Kokkos::complex<T>*, Space> phase_;
};

/// The particles of all ranks, of which there must be some.
inline double particles_of_all(distributed::Group const& group, std::int64_t here) {
  std::int64_t const particles = group.sum(here);
  expects(particles >= 1, "a power spectrum must be of at least one particle", particles);
  return static_cast<double>(particles);
}

/// bins_of_particles() over ranks.
template <class Sum, class Exec, class T>
auto bins_of_particles_on_ranks(Exec const& exec, distributed::Group const& group,
                                Sample<T> const& a, Sample<T> const* b, double box,
                                std::int64_t cells, PowerSpectrumOptions const& options) {
  distributed::together(group, [&] { expects_measurable(box, cells, options); });
  distributed::expects_alike(
      group, {{"number of cells along an axis", cells},
              {"box length", box},
              {"assignment", name_of(options.assignment)},
              {"choice to interlace", options.interlace},
              {"choice to compensate", options.compensate},
              {"number of bins", spectrum_bins({cells, cells, cells}, box, options).count()},
              {"choice of a second sample", b != nullptr}});
  bool const cross = b != nullptr;
  double const volume = box * box * box, of_a = particles_of_all(group, a.particles);
  double const of_b = cross ? particles_of_all(group, b->particles) : of_a;

  ProfilingRegion const region("coir::mesh::power_spectrum");
  GhostWidths beyond = farthest_beyond(exec, group, a, cells, box);
  if (cross) beyond = widest(beyond, farthest_beyond(exec, group, *b, cells, box));
  PaintedSpectraOfRanks<Exec, T> spectra(exec, group, cells, box, beyond, cross ? 2 : 1,
                                         cross ? std::max(a.particles, b->particles) : a.particles,
                                         options);
  auto const first = spectra(a, 0);
  auto const second = cross ? spectra(*b, 1) : first;
  return sum_up_bins_on_ranks<Sum, Exec, T>(exec, group, first, second, spectra.shape(), box,
                                            volume / (of_a * of_b), options);
}

template <class Exec, class T>
PowerSpectrum spectrum_of_particles_on_ranks(Exec const& exec, distributed::Group const& group,
                                             Sample<T> const& a, Sample<T> const* b, double box,
                                             std::int64_t cells,
                                             PowerSpectrumOptions const& options) {
  PowerSpectrum result = bins_of_particles_on_ranks<BinSum>(exec, group, a, b, box, cells, options);
  if (b == nullptr)
    tell_shot_noise(result, box * box * box / particles_of_all(group, a.particles), options);
  return result;
}

}  // namespace coir::mesh::detail

#define COIR_INSTANTIATE_POWER_SPECTRUM_OF(Exec, T)                                             \
  template PowerSpectrum spectrum_of_particles<Exec, T>(Exec const&, Sample<T> const&,          \
                                                        Sample<T> const*, double, std::int64_t, \
                                                        PowerSpectrumOptions const&);           \
  template PowerSpectrum spectrum_of_particles_on_ranks<Exec, T>(                               \
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
