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

/// The random numbers that the initial density is drawn from.
struct NoiseOptions {
  std::uint64_t seed = 1;
  /// All modes get their mean amplitude, and only phases are random.
  bool fixed_amplitude = false;
  /// All modes change sign. Together with the field of this seed that isn't inverted this makes a pair, whose sampling
  /// errors partly cancel.
  bool inverted = false;
};

/// White noise in Fourier space: the transform of a real field of independent normal numbers of mean 0 and variance 1 on n^3
/// sites. Each mode comes from the counter-based generator Threefry with the seed and the mode's three whole wave numbers
/// alone, so that it is the same on every backend, for any number of threads, for any n that resolves it, and to rounding in
/// float and in double.
///
/// \param spectrum  out: (n, n, n / 2 + 1), a View of any layout; written by way of a copy unless it lies in C order without gaps
/// \throws PreconditionError unless the extents are these, and each element has a place of its own
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
  /// A file of white noise in place of that of the seed: NPY, (n, n, n), n the particles along a side, float or double. Its modes
  /// get their mean amplitude, or are inverted, as `noise` says.
  std::string noise_file{};
};

/// Bytes that initial_conditions() needs on the rank that calls it, with the particles that it makes and the workspace of transforms,
/// on devices at most; a noise file takes its own beside. Not collective.
template <CompiledSpace Exec, Real T>
std::int64_t initial_conditions_bytes(Exec const& exec, distributed::Group const& group,
                                      std::int64_t side);

/// Bytes that initial_conditions() needs on one rank.
template <CompiledSpace Exec, Real T>
std::int64_t initial_conditions_bytes(Exec const& exec, std::int64_t side) {
  return initial_conditions_bytes<Exec, T>(exec, distributed::Group::self(), side);
}

/// Particles displaced from a lattice by Lagrangian perturbation theory. With the linear density delta, normalised so
/// that it grows as D1 delta, and phi1 = laplacian^-1 delta, phi2 = laplacian^-1 sum_(i<j) (phi1,ii phi1,jj - phi1,ij^2),
///
///   s1 = -grad phi1,  s2 = -grad phi2,  x = q + D1 s1 + D2 s2,  p = a^2 E (D1' s1 + D2' s2).
///
/// Derivatives are spectral; those of odd order along an axis leave its Nyquist plane out. Each rank gets the particles
/// of the lattice planes that distributed::share_of() gives it. On hosts particles have the same bits for any number of
/// ranks; on devices the white noise has, and particles differ by rounding. Collective.
///
/// \param group  the ranks that share the lattice
/// \param side   particles along a side, from 1 to 2^18
/// \param box    length of the box in Mpc/h, > 0
/// \param power  the linear spectrum; its growth must cover a
/// \param a      scale factor to start at
/// \throws PreconditionError if an argument is out of its range, or differs between ranks, or the spectrum (a table) doesn't cover
///   the modes of the lattice, from 2 pi / box to sqrt(3) pi side / box
/// \throws InputError if the noise file is unreadable, of another shape, or has numbers that aren't finite
/// \throws ResourceError if there is no memory
/// \see Bouchet et al., Astron. Astrophys. 296, 575 (1995); Scoccimarro, Mon. Not. R. Astron. Soc. 299, 1097 (1998)
template <CompiledSpace Exec, Real T>
Particles<Exec, T> initial_conditions(Exec const& exec, distributed::Group const& group,
                                      std::int64_t side, double box,
                                      cosmology::LinearPower<double> const& power, double a,
                                      LptOptions const& options = {});

/// Initial conditions on one rank: see above.
template <CompiledSpace Exec, Real T>
Particles<Exec, T> initial_conditions(Exec const& exec, std::int64_t side, double box,
                                      cosmology::LinearPower<double> const& power, double a,
                                      LptOptions const& options = {}) {
  return initial_conditions<Exec, T>(exec, distributed::Group::self(), side, box, power, a,
                                     options);
}

/// Initial conditions from white noise in Fourier space.
///
/// \param noise  (side, side, side / 2 + 1), as of white_noise(): a View of any layout. It is overwritten; or copied, unless it lies
///   in C order without gaps
template <CompiledSpace Exec, Real T>
Particles<Exec, T> initial_conditions(Exec const& exec, std::int64_t side, double box,
                                      cosmology::LinearPower<double> const& power, double a,
                                      int order,
                                      Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutStride,
                                                   typename Exec::memory_space> const& noise);

/// Initial conditions from white noise in real space: a number of mean 0 and variance 1 for each site, as a noise file has.
///
/// \param noise  (side, side, side), a View of any layout; copied unless it lies in C order without gaps
template <CompiledSpace Exec, Real T>
Particles<Exec, T> initial_conditions(
    Exec const& exec, std::int64_t side, double box, cosmology::LinearPower<double> const& power,
    double a, int order,
    Kokkos::View<T const***, Kokkos::LayoutStride, typename Exec::memory_space> const& noise);

}  // namespace coir::nbody
