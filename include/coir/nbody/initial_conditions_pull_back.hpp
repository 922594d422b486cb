#pragma once

/// \file
/// Derivatives of a loss with respect to the white noise and the cosmology of initial conditions.

#include <coir/core/concepts.hpp>
#include <coir/cosmology/parameters.hpp>
#include <coir/cosmology/power.hpp>
#include <coir/distributed/group.hpp>
#include <coir/nbody/cotangents.hpp>
#include <coir/nbody/initial_conditions.hpp>

#include <cstdint>

namespace coir::nbody {

/// Bytes that the functions below need on the calling rank beside their arguments, with the
/// workspace of transforms; an upper bound on devices. Copies of arguments that aren't in C order
/// without gaps come on top.
template <CompiledSpace Exec, Real T>
std::int64_t initial_conditions_pull_back_bytes(Exec const& exec, distributed::Group const& group,
                                                std::int64_t side);

/// The pull-back of initial_conditions() from white noise in real space: from derivatives of a loss
/// J with respect to the particles to derivatives with respect to the noise. xi and pi are dJ / d
/// position and dJ / d momentum:
///
///   X = sum_a d_a laplacian^-1 xi_a,  Q = sum_a d_a laplacian^-1 pi_a,  P_i = a^2 E D_i',
///   sigma = D2 X + P2 Q,  w_ii = sigma sum_(j != i) phi1,jj,  w_ij = -2 sigma phi1,ij,
///   dJ/d delta = D1 X + P1 Q + laplacian^-1 sum_(i<=j) d_i d_j w_ij,
///   dJ/d noise = sqrt(P / volume of a cell) dJ/d delta
///
/// To first order sigma = 0. The mean of the noise has no effect: the slopes add up to 0. On hosts
/// the slope has the same bits for any number of threads and ranks. Collective.
///
/// For the modes of a half spectrum dJ / d Re mode + i dJ / d Im mode is the forward transform of
/// the slope times weight / n^3. The weight is 1 on the planes k_z = 0 and, for even n, k_z = n /
/// 2, and 2 elsewhere.
///
/// \param group           each rank passes what belongs to its planes of the lattice, as
///   distributed::share_of() gives them
/// \param side, box, power, a, order, noise  as for initial_conditions()
/// \param cotangents      dJ / d position and dJ / d momentum, (planes side^2, 3), in lattice order
/// \param slope_of_noise  out: (planes, side, side), dJ / d noise. It and the noise may have any
///   layout, and are copied unless they lie in C order without gaps
/// \throws PreconditionError as initial_conditions(), or if a View's extents differ, or two
///   elements of the slope share an address
/// \throws ResourceError if there is no memory
template <CompiledSpace Exec, Real T>
void initial_conditions_noise_pull_back(
    Exec const& exec, distributed::Group const& group, std::int64_t side, double box,
    cosmology::LinearPower<double> const& power, double a, int order,
    Kokkos::View<T const***, Kokkos::LayoutStride, typename Exec::memory_space> const& noise,
    Cotangents<Exec, T> const& cotangents,
    Kokkos::View<T***, Kokkos::LayoutStride, typename Exec::memory_space> const& slope_of_noise);
/// On one rank.
template <CompiledSpace Exec, Real T>
void initial_conditions_noise_pull_back(
    Exec const& exec, std::int64_t side, double box, cosmology::LinearPower<double> const& power,
    double a, int order,
    Kokkos::View<T const***, Kokkos::LayoutStride, typename Exec::memory_space> const& noise,
    Cotangents<Exec, T> const& cotangents,
    Kokkos::View<T***, Kokkos::LayoutStride, typename Exec::memory_space> const& slope_of_noise) {
  initial_conditions_noise_pull_back<Exec, T>(exec, distributed::Group::self(), side, box, power, a,
                                              order, noise, cotangents, slope_of_noise);
}

/// The pull-back of initial_conditions() to the noise, as above, and to the parameters of the
/// cosmology. Parameters change P(k), D1, D2, a^2 E D1' and a^2 E D2'; the noise and a stay. The
/// one of sigma8 and A_s that isn't given has no derivative, and neither has omega_r = 0: see
/// cosmology::variables(). Sums over modes are in double. Their bits don't depend on the number of
/// threads and ranks on hosts, and are the same in each run on devices.
///
/// \return  dJ / d parameter, each in the place of its parameter
/// \throws PreconditionError also if the spectrum is a table, which has no such derivatives
template <CompiledSpace Exec, Real T>
cosmology::Parameters<double> initial_conditions_pull_back(
    Exec const& exec, distributed::Group const& group, std::int64_t side, double box,
    cosmology::LinearPower<double> const& power, double a, int order,
    Kokkos::View<T const***, Kokkos::LayoutStride, typename Exec::memory_space> const& noise,
    Cotangents<Exec, T> const& cotangents,
    Kokkos::View<T***, Kokkos::LayoutStride, typename Exec::memory_space> const& slope_of_noise);
/// On one rank.
template <CompiledSpace Exec, Real T>
cosmology::Parameters<double> initial_conditions_pull_back(
    Exec const& exec, std::int64_t side, double box, cosmology::LinearPower<double> const& power,
    double a, int order,
    Kokkos::View<T const***, Kokkos::LayoutStride, typename Exec::memory_space> const& noise,
    Cotangents<Exec, T> const& cotangents,
    Kokkos::View<T***, Kokkos::LayoutStride, typename Exec::memory_space> const& slope_of_noise) {
  return initial_conditions_pull_back<Exec, T>(exec, distributed::Group::self(), side, box, power,
                                               a, order, noise, cotangents, slope_of_noise);
}

}  // namespace coir::nbody
