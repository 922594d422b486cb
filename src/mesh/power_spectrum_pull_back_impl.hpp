#pragma once

#include "power_spectrum_impl.hpp"

#include <coir/mesh/power_spectrum_pull_back.hpp>
#include <coir/mesh/pull_back.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace coir::mesh::detail {

/// Multiplies each mode by its bin's weight over the window squared, and modes outside of all bins
/// by 0.
template <class T>
struct WeightModes {
  static constexpr bool reads_no_neighbours = true;
  Kokkos::complex<T>* spectrum;
  std::int64_t n;
  distributed::Share rows;    // along the second axis, on this rank
  double const* factor[3];    // along each axis, from compensation()
  std::int64_t const* first;  // see SpectrumBins
  double const* of_bin;
  std::int64_t bins;

  /// The number of bins' edges at or below |q|^2: b + 1 for a mode in bin b.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t bin_beyond(std::int64_t square) const {
    std::int64_t low = 0, high = bins == 0 ? 0 : bins + 1;
    while (low < high) {
      std::int64_t const middle = (low + high) / 2;
      if (first[middle] <= square)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t row, std::int64_t k) const {
    std::int64_t const j = rows.first + row;
    std::int64_t const x = fft::wave_number(i, n), y = fft::wave_number(j, n);
    std::int64_t const beyond = bin_beyond(x * x + y * y + k * k);
    bool const inside = beyond >= 1 && beyond <= bins;
    double const weight =
        inside ? of_bin[beyond - 1] * factor[0][i] * factor[1][j] * factor[2][k] : 0;
    auto& mode = spectrum[(i * rows.count + row) * (n / 2 + 1) + k];
    mode = Kokkos::complex<T>(static_cast<T>(weight * static_cast<double>(mode.real())),
                              static_cast<T>(weight * static_cast<double>(mode.imag())));
  }
};

/// The adjoint of Interlace: spectrum / 2 and conj(phase) spectrum / 2, where each mode of the
/// planes k_2 = 0 and, for even n, k_2 = Nyquist is replaced by the mean of itself and of the
/// conjugate of the opposite mode. The sum of Re(mode exp(i k x)) over a plane stays the same.
/// Transforms back to real numbers require this symmetry. Phases of half a cell break it, because
/// components at the Nyquist frequency count as positive.
///
/// The opposite mode may be on another rank. It follows from this one: the transforms a and b of
/// both meshes have the symmetry, and a mode is (a + phase b) / 2, so that the conjugate of the
/// opposite mode is (a + conj(phase of the opposite mode) b) / 2.
template <class T>
struct SplitInterlaced {
  static constexpr bool reads_no_neighbours = true;
  using Complex = Kokkos::complex<T>;
  Complex* spectrum;     // modes, times their weights; out: for the mesh itself
  Complex* shifted;      // b, times the same weights; out: for the shifted mesh
  Complex const* phase;  // of wave i along an axis
  std::int64_t n;
  distributed::Share rows;  // along the second axis, on this rank

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t row, std::int64_t k) const {
    std::int64_t const at = (i * rows.count + row) * (n / 2 + 1) + k, j = rows.first + row;
    Complex const here = phase[i] * phase[j] * phase[k];
    Complex const opposite_phase = k == 0 || 2 * k == n
                                       ? phase[opposite(i)] * phase[opposite(j)] * phase[k]
                                       : Kokkos::conj(here);
    Complex const mode = spectrum[at],
                  opposite_mode =
                      mode + T(0.5) * (Kokkos::conj(opposite_phase) - here) * shifted[at];
    spectrum[at] = T(0.25) * (mode + opposite_mode);
    shifted[at] = T(0.25) * (Kokkos::conj(here) * mode + opposite_phase * opposite_mode);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t opposite(std::int64_t wave) const {
    return wave == 0 ? 0 : n - wave;
  }
};

/// 2 dJ/dP_b scale / M_b of each bin, 0 for those without modes.
inline std::vector<double> weights_of_bins(PowerSpectrum const& spectrum, double scale,
                                           SlopeOfPower const& slope_of_power) {
  std::vector<double> weights = slope_of_power(spectrum);
  auto const given = static_cast<std::int64_t>(weights.size());
  auto const bins = static_cast<std::int64_t>(spectrum.power.size());
  expects(given == bins,
          "slopes of the power must be " + std::to_string(bins) + ", one for each bin", given);
  for (std::size_t b = 0; b < weights.size(); ++b) {
    double const slope = weights[b];
    if (spectrum.modes[b] == 0) {
      weights[b] = 0;
      continue;
    }
    expects(std::isfinite(slope),
            "the slope of the power in bin " + std::to_string(b) + " must be finite", slope);
    weights[b] = 2 * slope * scale / spectrum.modes[b];
  }
  return weights;
}

template <class Exec, class T>
PowerSpectrum power_spectrum_pull_back(Exec const& exec, distributed::Group const& group,
                                       Sample<T> const& sample, double box, std::int64_t cells,
                                       SlopeOfPower const& slope_of_power, T* to,
                                       PowerSpectrumOptions const& options,
                                       Derivatives derivatives) {
  using Space = typename Exec::memory_space;
  double const particles = particles_of_all(group, sample.particles);
  expects_measurable(group, box, cells, false, options);

  ProfilingRegion const region("coir::mesh::power_spectrum_pull_back");
  double const volume = box * box * box, scale = volume / (particles * particles);
  PaintedSpectra<Exec, T> spectra(exec, group, cells, box,
                                  farthest_beyond(exec, group, sample, cells, box), 1,
                                  sample.particles, options);
  auto const& transforms = spectra.transforms();
  auto const spectrum = spectra(sample, 0);
  auto const rows = rows_of(spectrum);
  PowerSpectrum result =
      sum_up_bins<BinSum>(exec, group, rows, rows, transforms.shape(), box, scale, options);
  tell_shot_noise<BinSum>(result, volume / particles, options);
  auto const of_bin = distributed::together(group, [&] {
    return copy_to<Space>("coir::mesh::power_spectrum_pull_back/weights",
                          weights_of_bins(result, scale, slope_of_power));
  });

  SpectrumBins const bins = spectrum_bins(transforms.shape(), box, options);
  BinTables<Exec> const tables(bins, transforms.shape(), options);
  auto const half = coir::box<3, std::int64_t>({cells, transforms.rows().count, cells / 2 + 1});
  auto const& factor = tables.factor;
  auto const weight = [&](Kokkos::complex<T>* modes) {
    for_each("coir::mesh::power_spectrum_pull_back/weight", exec, half,
             WeightModes<T>{modes,
                            cells,
                            transforms.rows(),
                            {factor[0].data(), factor[1].data(), factor[2].data()},
                            tables.first.data(),
                            of_bin.data(),
                            bins.count()});
  };
  weight(spectrum.data());
  if (options.interlace) {
    weight(spectra.second().data());
    for_each("coir::mesh::power_spectrum_pull_back/split", exec, half,
             SplitInterlaced<T>{spectrum.data(), spectra.second().data(), spectra.phase(), cells,
                                transforms.rows()});
  }

  auto const read_slopes = [&](auto const& modes, T const* position, Derivatives into) {
    interpolation_slopes<Exec, T, 1>(exec, position, sample.particles, box, spectra.backward(modes),
                                     nullptr, to, options.assignment, into);
  };
  read_slopes(spectrum, sample.position, derivatives);
  if (options.interlace) read_slopes(spectra.second(), spectra.shifted(), Derivatives::add);
  exec.fence();  // the meshes are freed next
  return result;
}

}  // namespace coir::mesh::detail

#define COIR_INSTANTIATE_POWER_SPECTRUM_PULL_BACK_OF(Exec, T)                         \
  template PowerSpectrum power_spectrum_pull_back<Exec, T>(                           \
      Exec const&, distributed::Group const&, Sample<T> const&, double, std::int64_t, \
      SlopeOfPower const&, T*, PowerSpectrumOptions const&, Derivatives);
#define COIR_INSTANTIATE_POWER_SPECTRUM_PULL_BACK(Exec)      \
  namespace coir::mesh::detail {                             \
  COIR_INSTANTIATE_POWER_SPECTRUM_PULL_BACK_OF(Exec, float)  \
  COIR_INSTANTIATE_POWER_SPECTRUM_PULL_BACK_OF(Exec, double) \
  }
