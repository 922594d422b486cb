#pragma once

/// \file
/// Multipoles of the power spectrum of particles, seen along an axis.

#include <coir/core/concepts.hpp>
#include <coir/distributed/group.hpp>
#include <coir/mesh/power_spectrum.hpp>

#include <cstdint>
#include <vector>

namespace coir::mesh {

/// Multipoles of a power spectrum in bins of |k|.
struct PowerMultipoles {
  std::vector<double> k;  ///< mean |k| of a bin's modes, h/Mpc; the middle of a bin without modes
  std::vector<double> monopole, quadrupole,
      hexadecapole;           ///< P_0, P_2, P_4, (Mpc/h)^3; NaN in a bin without modes
  std::vector<double> modes;  ///< modes of the whole spectrum, k and -k counted both
  double shot_noise = 0;      ///< box^3 / N for N particles
};

namespace detail {

template <class Exec, class T>
PowerMultipoles multipoles_of_particles(Exec const& exec, distributed::Group const& group,
                                        Sample<T> const& sample, double box, std::int64_t cells,
                                        PowerSpectrumOptions const& options);

}  // namespace detail

/// The multipoles l = 0, 2, 4 of the power spectrum of particles of equal mass, seen along the
/// third axis from far away,
///
///   P_l(k) = (2 l + 1) V <|delta(k)|^2 L_l(mu)>,  mu = k_3 / |k|,
///   L_2 = (3 mu^2 - 1) / 2,  L_4 = (35 mu^4 - 30 mu^2 + 3) / 8,
///
/// averaged over the modes with |k| in a bin. P_0 is that of power_spectrum(). Bins of few modes
/// are not isotropic: on the largest scales P_2 and P_4 of an isotropic field are near 0 only in
/// the mean over many universes.
///
/// Every rank gets the multipoles of all ranks' particles. Collective.
///
/// \param positions  (N, 3), in Mpc/h, as for power_spectrum(). For the spectrum that surveys see:
///   the positions in redshift space, x_3 + v_3 / (a H)
/// \param options    as for power_spectrum(); shot noise is subtracted from P_0 alone
/// \throws as power_spectrum()
/// \see Kaiser, Mon. Not. R. Astron. Soc. 227, 1 (1987); Hamilton, in "The Evolving Universe"
///   (1998), astro-ph/9708102
template <CompiledSpace Exec, VectorsOfParticles Positions>
  requires CanAccess<Exec, Positions>
PowerMultipoles power_multipoles(Exec const& exec, distributed::Group const& group,
                                 Positions const& positions, double box, std::int64_t cells,
                                 PowerSpectrumOptions const& options = {}) {
  using T = typename Positions::non_const_value_type;
  auto const staged = detail::staged_sample(exec, group, positions);
  return detail::multipoles_of_particles<Exec, T>(exec, group, detail::sample_of(staged), box,
                                                  cells, options);
}

/// The multipoles of the particles of one rank.
template <CompiledSpace Exec, VectorsOfParticles Positions>
  requires CanAccess<Exec, Positions>
PowerMultipoles power_multipoles(Exec const& exec, Positions const& positions, double box,
                                 std::int64_t cells, PowerSpectrumOptions const& options = {}) {
  return power_multipoles(exec, distributed::Group::self(), positions, box, cells, options);
}

}  // namespace coir::mesh
