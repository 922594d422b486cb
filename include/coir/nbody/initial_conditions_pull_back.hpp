#pragma once

/// \file
/// The derivatives of a loss with respect to the white noise and the cosmology that initial conditions were made of.

#include <coir/core/concepts.hpp>
#include <coir/cosmology/parameters.hpp>
#include <coir/cosmology/power.hpp>
#include <coir/nbody/cotangents.hpp>
#include <coir/nbody/initial_conditions.hpp>

#include <cstdint>

namespace coir::nbody {

/// Bytes that the functions below need beside their arguments, with the workspace of transforms, on devices at most. Copies of arguments
/// that don't lie in C order without gaps come beside.
template <CompiledSpace Exec, Real T>
std::int64_t initial_conditions_pull_back_bytes(Exec const& exec, std::int64_t side);

/// The pull-back of initial_conditions() from white noise in real space: from the derivatives of a loss J with respect to the
/// particles that it makes of the noise to those with respect to the noise. With xi and pi for these, X = the sum over the axes
/// of d_a laplacian^-1 xi_a, Q the same of pi, and P_i = a^2 E D_i',
///
///   sigma = D2 X + P2 Q,  w_ii = sigma sum_(j != i) phi1,jj,  w_ij = -2 sigma phi1,ij,
///   dJ/d delta = D1 X + P1 Q + laplacian^-1 sum_(i<=j) d_i d_j w_ij,  dJ/d noise = sqrt(P / volume of a cell) dJ/d delta
///
/// with the first order alone without sigma. The noise's mean has no effect: the slopes add up to 0. On hosts the slope has
/// the same bits for any number of threads. For those who draw the modes of a half spectrum: dJ / d Re mode + i dJ / d Im mode is the
/// forward transform of the slope times weight / n^3, weight 2, but 1 on the planes k_z = 0 and, of an even n, k_z = n / 2.
///
/// \param side, box, power, a, order, noise  those that the particles were made with
/// \param cotangents      dJ / d position and dJ / d momentum, (side^3, 3), in lattice order
/// \param slope_of_noise  out: (side, side, side), dJ / d noise. As the noise a View of any layout, which a copy stands in for unless
///   it lies in C order without gaps
/// \throws PreconditionError as initial_conditions(), or if a View's extents aren't these, or elements of the slope lie in the same
///   place
/// \throws ResourceError if there is no memory
template <CompiledSpace Exec, Real T>
void initial_conditions_noise_pull_back(
    Exec const& exec, std::int64_t side, double box, cosmology::LinearPower<double> const& power,
    double a, int order,
    Kokkos::View<T const***, Kokkos::LayoutStride, typename Exec::memory_space> const& noise,
    Cotangents<Exec, T> const& cotangents,
    Kokkos::View<T***, Kokkos::LayoutStride, typename Exec::memory_space> const& slope_of_noise);

/// The pull-back of initial_conditions() to the noise, as above, and to the parameters of the cosmology, where the noise and a stay
/// as they are and P(k), D1, D2, a^2 E D1' and a^2 E D2' change. Whichever of sigma8 and A_s isn't given has no derivative, nor has
/// omega_r = 0: see cosmology::variables(). Sums over modes are of double precision; on hosts their bits don't depend on the number
/// of threads, on devices they are the same each time. Takes some milliseconds more, and seven transforms to second order.
///
/// \return  dJ / d parameter, each in the place of its parameter
/// \throws PreconditionError also if the spectrum is a table, which has no such derivatives: the function above works with it
template <CompiledSpace Exec, Real T>
cosmology::Parameters<double> initial_conditions_pull_back(
    Exec const& exec, std::int64_t side, double box, cosmology::LinearPower<double> const& power,
    double a, int order,
    Kokkos::View<T const***, Kokkos::LayoutStride, typename Exec::memory_space> const& noise,
    Cotangents<Exec, T> const& cotangents,
    Kokkos::View<T***, Kokkos::LayoutStride, typename Exec::memory_space> const& slope_of_noise);

}  // namespace coir::nbody
