#pragma once

/// \file
/// The expansion of the universe: its rate, densities and distances.
///
/// Scale factors a are 1 today, times are in units of 1/H0, lengths in Mpc/h. A prime is d/d ln a.

#include <coir/core/errors.hpp>
#include <coir/cosmology/detail/quadrature.hpp>
#include <coir/cosmology/parameters.hpp>

#include <cmath>
#include <type_traits>

namespace coir::cosmology {

/// E = H / H0 at a > 0:
///
///   E^2 = omega_m a^-3 + omega_k a^-2 + omega_r a^-4 + omega_de a^(-3(1+w0+wa)) exp(-3 wa (1-a))
///
/// \see Linder, Phys. Rev. Lett. 90, 091301 (2003), for w(a) = w0 + (1-a) wa
template <class T>
KOKKOS_FUNCTION T expansion_rate(Parameters<T> const& p, std::type_identity_t<T> const& a) {
  using std::sqrt;
  return sqrt(detail::densities(p, a).sum());
}

/// E'/E = d ln E / d ln a at a > 0: -3/2 where matter dominates.
template <class T>
KOKKOS_FUNCTION T expansion_rate_slope(Parameters<T> const& p, std::type_identity_t<T> const& a) {
  auto const d = detail::densities(p, a);
  return (-3 * d.matter - 2 * d.curvature - 4 * d.radiation + d.dark_energy_slope * d.dark_energy) /
         (2 * d.sum());
}

/// Matter over the critical density at a > 0: omega_m a^-3 / E^2.
template <class T>
KOKKOS_FUNCTION T omega_m_at(Parameters<T> const& p, std::type_identity_t<T> const& a) {
  auto const d = detail::densities(p, a);
  return d.matter / d.sum();
}

/// Dark energy over the critical density at a > 0.
template <class T>
KOKKOS_FUNCTION T omega_de_at(Parameters<T> const& p, std::type_identity_t<T> const& a) {
  auto const d = detail::densities(p, a);
  return d.dark_energy / d.sum();
}

/// The comoving distance along the line of sight, in Mpc/h, at which light was sent that arrives
/// today:
///
///   chi(a) = c/H0 int_a^1 da' / (a'^2 E(a'))
///
/// By Gauss and Legendre's rule in ln a, to 1e-12 or so. Negative for a > 1.
///
/// \throws PreconditionError unless a > 0 and the expansion is physical up to a: see
///   expects_background
template <class T>
T comoving_distance(Parameters<T> const& p, std::type_identity_t<T> const& a) {
  using std::exp, std::log;
  expects(a > 0 && std::isfinite(detail::plain(a)), "the scale factor a must be above 0 and finite",
          detail::plain(a));
  expects_background(p, a > 1 ? detail::plain(a) : 1.0);
  T const ln_a = log(a);
  int const panels = 1 + static_cast<int>(2 * std::abs(detail::plain(ln_a)));
  auto const integrand = [&p](T const& x) {
    T const at = exp(x);
    return T(1 / (at * expansion_rate(p, at)));
  };
  return static_cast<T>(hubble_distance) * detail::gauss_legendre(integrand, ln_a, T(0), panels);
}

/// The comoving length, in Mpc/h, that spans an angle of one radian at the comoving distance chi:
///
///   f_K(chi) = R sinh(chi / R) for omega_k > 0, R sin(chi / R) for omega_k < 0, R = c/H0 /
///   sqrt(|omega_k|)
template <class T>
KOKKOS_FUNCTION T transverse_of(Parameters<T> const& p, std::type_identity_t<T> const& chi) {
  using std::sin, std::sinh, std::sqrt;
  T const scaled = chi / T(double(hubble_distance));
  T const u = p.omega_k * scaled * scaled;
  // A series around flat space, where the root has no derivative. The first term left out is u^5 /
  // 11!.
  if (detail::plain(u) < 0.01 && detail::plain(u) > -0.01)
    return chi * (1 + u / 6 * (1 + u / 20 * (1 + u / 42 * (1 + u / 72))));
  if (u > 0) {
    T const root = sqrt(u);
    return chi * sinh(root) / root;
  }
  T const root = sqrt(-u);
  return chi * sin(root) / root;
}

/// f_K of comoving_distance(p, a). The angular diameter distance is a f_K, the luminosity distance
/// f_K / a.
///
/// \throws PreconditionError as comoving_distance does
template <class T>
T transverse_distance(Parameters<T> const& p, std::type_identity_t<T> const& a) {
  return transverse_of(p, comoving_distance(p, a));
}

}  // namespace coir::cosmology
