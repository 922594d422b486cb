#pragma once

/// \file
/// Initial conditions by Lagrangian perturbation theory, from a linear power spectrum.

#include <coir/core/concepts.hpp>
#include <coir/core/shape.hpp>
#include <coir/cosmology/power.hpp>
#include <coir/distributed/group.hpp>
#include <coir/nbody/particles.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace coir::nbody {

/// Options of the random numbers for the initial density.
struct NoiseOptions {
  std::uint64_t seed = 1;
  /// All modes have their mean amplitude, and only phases are random.
  bool fixed_amplitude = false;
  /// All modes change sign. Sampling errors of an inverted and an ordinary field of one seed partly
  /// cancel.
  bool inverted = false;
};

/// White noise in Fourier space: the transform of a real field of independent normal numbers of
/// mean 0 and variance 1 on n^3 sites. Each mode comes from the counter-based generator Threefry
/// with the seed and the mode's whole wave numbers. It is the same on every backend, for any number
/// of threads, and for any n that resolves it; in float and double to rounding.
///
/// \param spectrum  out: (n, n, n / 2 + 1), a View of any layout; written by way of a copy unless
///   it lies in C order without gaps
/// \throws PreconditionError if the extents differ, or two elements share an address
/// \throws ResourceError if there is no memory for a copy
/// \see Angulo & Pontzen, Mon. Not. R. Astron. Soc. 462, L1 (2016), for fixed amplitudes and pairs
template <CompiledSpace Exec, Real T>
void white_noise(Exec const& exec, NoiseOptions const& options,
                 Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutStride,
                              typename Exec::memory_space> const& spectrum);

/// Options of initial_conditions().
struct LptOptions {
  int order = 2;  ///< the order of Lagrangian perturbation theory: 1 (Zel'dovich) or 2
  NoiseOptions noise{};
  /// A file of white noise in place of the seed's: NPY, (n, n, n) with n particles along a side,
  /// float or double. fixed_amplitude and inverted of `noise` apply to it.
  std::string noise_file{};
};

/// Bytes that initial_conditions() needs on the calling rank, with the particles and the workspace
/// of transforms; an upper bound on devices. A noise file comes on top. Not collective.
template <CompiledSpace Exec, Real T>
std::int64_t initial_conditions_bytes(Exec const& exec, distributed::Group const& group,
                                      std::int64_t side);

/// Particles displaced from a lattice by Lagrangian perturbation theory,
///
///   x = q + D1 s1 + D2 s2,  p = a^2 E (D1' s1 + D2' s2),  s1 = -grad phi1,  s2 = -grad phi2,
///   phi1 = laplacian^-1 delta,  phi2 = laplacian^-1 sum_(i<j) (phi1,ii phi1,jj - phi1,ij^2),
///
/// with the linear density delta, normalised so that it grows as D1 delta. Derivatives are
/// spectral; those of odd order along an axis leave its Nyquist plane out. Each rank gets the
/// particles of the lattice planes that distributed::share_of() gives it. On hosts particles have
/// the same bits for any number of ranks. On devices the white noise has the same bits, and
/// particles differ by rounding. Collective.
///
/// \param group  the ranks that share the lattice
/// \param side   particles along a side, from 1 to 2^18
/// \param box    length of the box in Mpc/h, > 0
/// \param power  the linear spectrum; its growth must cover a
/// \param a      scale factor to start at
/// \throws PreconditionError if an argument is out of its range or differs between ranks, or a
///   table doesn't cover the modes of the lattice, from 2 pi / box to sqrt(3) pi side / box
/// \throws InputError if the noise file is unreadable, of another shape, or has numbers that aren't
///   finite
/// \throws ResourceError if there is no memory
/// \see Bouchet et al., Astron. Astrophys. 296, 575 (1995); Scoccimarro, Mon. Not. R. Astron. Soc.
///   299, 1097 (1998)
template <CompiledSpace Exec, Real T>
Particles<Exec, T> initial_conditions(Exec const& exec, distributed::Group const& group,
                                      std::int64_t side, double box,
                                      cosmology::LinearPower<double> const& power, double a,
                                      LptOptions const& options = {});

/// Initial conditions on one rank.
template <CompiledSpace Exec, Real T>
Particles<Exec, T> initial_conditions(Exec const& exec, std::int64_t side, double box,
                                      cosmology::LinearPower<double> const& power, double a,
                                      LptOptions const& options = {}) {
  return initial_conditions<Exec, T>(exec, distributed::Group::self(), side, box, power, a,
                                     options);
}

/// Initial conditions from white noise in Fourier space.
///
/// \param noise  (side, side, side / 2 + 1), as of white_noise(), of any layout. It is overwritten,
///   or copied if it doesn't lie in C order without gaps
template <CompiledSpace Exec, Real T>
Particles<Exec, T> initial_conditions(Exec const& exec, std::int64_t side, double box,
                                      cosmology::LinearPower<double> const& power, double a,
                                      int order,
                                      Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutStride,
                                                   typename Exec::memory_space> const& noise);

/// Initial conditions from white noise in real space: a number of mean 0 and variance 1 for each
/// site, as a noise file has. On hosts particles have the same bits for any number of ranks.
/// Collective.
///
/// \param noise  (planes, side, side), of this rank's planes of the lattice, as
///   distributed::share_of() gives them: a View of any layout, copied unless it lies in C order
///   without gaps
template <CompiledSpace Exec, Real T>
Particles<Exec, T> initial_conditions(
    Exec const& exec, distributed::Group const& group, std::int64_t side, double box,
    cosmology::LinearPower<double> const& power, double a, int order,
    Kokkos::View<T const***, Kokkos::LayoutStride, typename Exec::memory_space> const& noise);

/// Initial conditions from white noise in real space on one rank.
template <CompiledSpace Exec, Real T>
Particles<Exec, T> initial_conditions(
    Exec const& exec, std::int64_t side, double box, cosmology::LinearPower<double> const& power,
    double a, int order,
    Kokkos::View<T const***, Kokkos::LayoutStride, typename Exec::memory_space> const& noise) {
  return initial_conditions<Exec, T>(exec, distributed::Group::self(), side, box, power, a, order,
                                     noise);
}

}  // namespace coir::nbody
