#pragma once

#include "power_spectrum_impl.hpp"

#include <coir/mesh/power_multipoles.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace coir::mesh::detail {

/// The sums of a bin, and its power weighted with Legendre's polynomials of the angle to the third
/// axis.
struct MultipoleSum : BinSum {
  double quadrupole = 0;
  double hexadecapole = 0;

  KOKKOS_FORCEINLINE_FUNCTION void add_mode(double mode_power, double weight, double square,
                                            double square_along) {
    BinSum::add_mode(mode_power, weight, square, square_along);
    double const mu2 = square_along / square;
    quadrupole += mode_power * (1.5 * mu2 - 0.5);
    hexadecapole += mode_power * ((4.375 * mu2 - 3.75) * mu2 + 0.375);
  }
  KOKKOS_FORCEINLINE_FUNCTION void multiply_power(double factor) {
    BinSum::multiply_power(factor);
    quadrupole *= factor;
    hexadecapole *= factor;
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator+=(MultipoleSum const& other) {
    BinSum::operator+=(other);
    quadrupole += other.quadrupole;
    hexadecapole += other.hexadecapole;
  }
  static std::vector<double>& power_of(PowerMultipoles& multipoles) { return multipoles.monopole; }
};

inline PowerMultipoles means_of_bins(std::vector<MultipoleSum> const& sums,
                                     SpectrumBins const& bins, double box, double scale) {
  PowerMultipoles result;
  for (std::size_t bin = 0; bin < sums.size(); ++bin) {
    auto const& sum = sums[bin];
    result.k.push_back(wave_number_of(sum, bins, bin, box));
    result.monopole.push_back(mean_of_modes(sum.power, sum.modes, scale));
    result.quadrupole.push_back(5 * mean_of_modes(sum.quadrupole, sum.modes, scale));
    result.hexadecapole.push_back(9 * mean_of_modes(sum.hexadecapole, sum.modes, scale));
    result.modes.push_back(sum.modes);
  }
  return result;
}

template <class Exec, class T>
PowerMultipoles multipoles_of_particles(Exec const& exec, distributed::Group const& group,
                                        Sample<T> const& sample, double box, std::int64_t cells,
                                        PowerSpectrumOptions const& options) {
  return bins_of_particles<MultipoleSum, Exec, T>(exec, group, sample, nullptr, box, cells,
                                                  options);
}

}  // namespace coir::mesh::detail

#define COIR_INSTANTIATE_POWER_MULTIPOLES_OF(Exec, T)                                 \
  template PowerMultipoles multipoles_of_particles<Exec, T>(                          \
      Exec const&, distributed::Group const&, Sample<T> const&, double, std::int64_t, \
      PowerSpectrumOptions const&);
#define COIR_INSTANTIATE_POWER_MULTIPOLES(Exec)      \
  namespace coir::mesh::detail {                     \
  COIR_INSTANTIATE_POWER_MULTIPOLES_OF(Exec, float)  \
  COIR_INSTANTIATE_POWER_MULTIPOLES_OF(Exec, double) \
  }
