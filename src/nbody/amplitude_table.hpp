#pragma once

/// The amplitudes of initial conditions as a table, so that kernels needn't compute power spectra.

#include <coir/cosmology/power.hpp>

#include <cstdint>
#include <vector>

namespace coir::nbody::detail {

/// ln sqrt(P / volume of a cell) for ln |q| = first + step s, s = 0, 1, ..., with q = k box / 2 pi.
/// P is normalised so that the density grows as D1, which is a where matter dominates.
///
/// \tparam T  double, or a dual number of it
template <class T = double>
struct AmplitudeTable {
  double first, step;
  std::vector<T> log_amplitude;

  int steps() const { return static_cast<int>(log_amplitude.size()) - 1; }
};

/// Steps of the table: it has a node more.
inline constexpr int amplitude_steps = 8192;

/// The table for all modes of side^3 cells. Linear interpolation in it is within 1e-6.
///
/// \tparam T  double or Dual<double, cosmology::varied_parameters>
/// \throws PreconditionError if the power spectrum doesn't reach over these modes
template <class T>
AmplitudeTable<T> amplitude_table(cosmology::LinearPower<T> const& power, std::int64_t side,
                                  double box);

}  // namespace coir::nbody::detail
