#pragma once

/// \file
/// Derivatives of power spectra with respect to the positions of particles.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/strided.hpp>
#include <coir/mesh/cells.hpp>
#include <coir/mesh/detail/checks.hpp>
#include <coir/mesh/detail/staged.hpp>
#include <coir/mesh/power_spectrum.hpp>
#include <coir/mesh/pull_back.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace coir::mesh {

/// The derivatives dJ/dP_b of a loss J with respect to the power in each bin, for a spectrum that
/// was measured.
using SlopeOfPower = std::function<std::vector<double>(PowerSpectrum const&)>;

namespace detail {

template <class Exec, class T>
PowerSpectrum power_spectrum_pull_back(Exec const& exec, distributed::Group const& group,
                                       Sample<T> const& sample, double box, std::int64_t cells,
                                       SlopeOfPower const& slope_of_power, T* to,
                                       PowerSpectrumOptions const& options,
                                       Derivatives derivatives);

}  // namespace detail

/// Measures the power spectrum of particles as power_spectrum() does, calls a loss J for its
/// derivatives with respect to the power in bins, and computes the derivatives with respect to
/// positions:
///
///   slope_of_positions(p, d) = sum_b dJ/dP_b dP_b / dx_(p,d),
///   P_b = V / (N^2 M_b) sum_k |a(k)|^2 / window(k)^2 over the M_b modes of bin b.
///
/// With a(k) = sum_g n_g exp(-i k x_g) of the painted density n this is paint_pull_back() of
///
///   dJ/dn_g = sum_k 2 dJ/dP_b V / (N^2 M_b) a(k) / window(k)^2 exp(i k x_g),
///
/// one transform back. With interlacing both meshes have a part of a(k), and a readout each. Shot
/// noise doesn't depend on positions.
///
/// Each rank passes its particles and gets their derivatives, as for power_spectrum(). Collective.
/// On hosts derivatives have the same bits for any number of ranks.
///
/// \param positions           (N, 3), as for power_spectrum()
/// \param slope_of_power      called once with the spectrum, on each rank; returns dJ/dP_b for each
///   bin, the same on all ranks. Bins without modes are ignored
/// \param slope_of_positions  out: (N, 3), dJ / d position
/// \param derivatives         whether derivatives overwrite the output or are added to it
/// \return  the spectrum
/// \throws PreconditionError as power_spectrum(); if the result's shape doesn't fit or it lies in
///   the memory of the positions; if the slopes of the power aren't one for each bin, or one isn't
///   finite
/// \throws ResourceError if there is no memory
template <CompiledSpace Exec, VectorsOfParticles Positions, VectorsOfParticles Slopes>
  requires WritableRealViewOfRank<Slopes, 2> && SameValueType<Positions, Slopes> &&
           CanAccess<Exec, Positions, Slopes>
PowerSpectrum power_spectrum_pull_back(Exec const& exec, distributed::Group const& group,
                                       Positions const& positions, double box, std::int64_t cells,
                                       SlopeOfPower const& slope_of_power,
                                       Slopes const& slope_of_positions,
                                       PowerSpectrumOptions const& options = {},
                                       Derivatives derivatives = Derivatives::overwrite) {
  using T = typename Slopes::value_type;
  auto const at = detail::staged_sample(exec, group, positions);
  auto const to = distributed::together(group, [&] {
    detail::expects_vectors(slope_of_positions, "slopes of positions",
                            static_cast<std::int64_t>(positions.extent(0)));
    auto staged = detail::staged_particles(
        exec, slope_of_positions, derivatives == Derivatives::add ? Access::both : Access::write);
    detail::expects_apart(staged, "the slopes", at, "the positions");
    return staged;
  });
  PowerSpectrum spectrum = detail::power_spectrum_pull_back<Exec, T>(
      exec, group, detail::sample_of(at), box, cells, slope_of_power, to.elements().data, options,
      derivatives);
  to.finish();
  return spectrum;
}

/// The derivatives of the spectrum of one rank's particles.
template <CompiledSpace Exec, VectorsOfParticles Positions, VectorsOfParticles Slopes>
  requires WritableRealViewOfRank<Slopes, 2> && SameValueType<Positions, Slopes> &&
           CanAccess<Exec, Positions, Slopes>
PowerSpectrum power_spectrum_pull_back(Exec const& exec, Positions const& positions, double box,
                                       std::int64_t cells, SlopeOfPower const& slope_of_power,
                                       Slopes const& slope_of_positions,
                                       PowerSpectrumOptions const& options = {},
                                       Derivatives derivatives = Derivatives::overwrite) {
  return power_spectrum_pull_back(exec, distributed::Group::self(), positions, box, cells,
                                  slope_of_power, slope_of_positions, options, derivatives);
}

/// power_spectrum_pull_back() for derivatives dJ/dP_b that are known beforehand, one for each bin
/// of power_spectrum().
template <CompiledSpace Exec, VectorsOfParticles Positions, VectorsOfParticles Slopes>
  requires WritableRealViewOfRank<Slopes, 2> && SameValueType<Positions, Slopes> &&
           CanAccess<Exec, Positions, Slopes>
PowerSpectrum power_spectrum_pull_back(Exec const& exec, Positions const& positions, double box,
                                       std::int64_t cells, std::span<double const> slope_of_power,
                                       Slopes const& slope_of_positions,
                                       PowerSpectrumOptions const& options = {},
                                       Derivatives derivatives = Derivatives::overwrite) {
  SlopeOfPower const known = [&](PowerSpectrum const&) {
    return std::vector<double>(slope_of_power.begin(), slope_of_power.end());
  };
  return power_spectrum_pull_back(exec, positions, box, cells, known, slope_of_positions, options,
                                  derivatives);
}

}  // namespace coir::mesh
