#pragma once

/// \file
/// The factors of momenta and forces in a particle-mesh step.
///
/// x is comoving and p = a^2 dx/dt, so that dx/dt = p / a^2 and dp/dt = F / a. F = -grad phi with
/// laplacian phi = 3/2 omega_m delta; t is in units of 1/H0. A drift is x += factor p, a kick
/// p += factor F. Steps go from a to b.

#include <coir/core/errors.hpp>
#include <coir/cosmology/background.hpp>
#include <coir/cosmology/detail/quadrature.hpp>
#include <coir/cosmology/growth.hpp>
#include <coir/cosmology/parameters.hpp>

#include <cmath>
#include <type_traits>

namespace coir::cosmology {

namespace detail {

/// int_a^b da' / (a'^power E), by Gauss and Legendre's rule in ln a, to 1e-12 or so.
template <int power, class T>
T over_expansion(Parameters<T> const& p, T const& a, T const& b) {
  using std::exp, std::log;
  expects(a > 0 && b > 0 && std::isfinite(plain(a)) && std::isfinite(plain(b)),
          "a step must be between scale factors above 0, not " + in_words(plain(a)) + " and " +
              in_words(plain(b)));
  T const from = log(a), to = log(b);
  int const panels = 1 + static_cast<int>(2 * std::abs(plain(to) - plain(from)));
  auto const integrand = [&p](T const& x) {
    T const at = exp(x);
    T result = 1 / expansion_rate(p, at);
    for (int i = 1; i < power; ++i) result /= at;
    return result;
  };
  return gauss_legendre(integrand, from, to, panels);
}

}  // namespace detail

/// The drift of free motion: int_a^b da' / (a'^3 E). Exact for constant momenta.
/// \throws PreconditionError unless a and b are above 0 and finite
/// \see Quinn et al., arXiv:astro-ph/9710043
template <class T>
T quinn_drift(Parameters<T> const& p, std::type_identity_t<T> const& a,
              std::type_identity_t<T> const& b) {
  return detail::over_expansion<3, T>(p, a, b);
}

/// The kick of a constant force: int_a^b da' / (a'^2 E).
/// \throws PreconditionError unless a and b are above 0 and finite
template <class T>
T quinn_kick(Parameters<T> const& p, std::type_identity_t<T> const& a,
             std::type_identity_t<T> const& b) {
  return detail::over_expansion<2, T>(p, a, b);
}

/// The drift that follows the Zel'dovich approximation exactly, with the momenta at a scale factor
/// c in [a, b]:
///
///   [D1(b) - D1(a)] / G(c),  G = a^2 E D1'
///
/// \throws PreconditionError unless a, b and c lie in the range of `growth`
/// \see Feng et al., Mon. Not. R. Astron. Soc. 463, 2273 (2016), section 2.2
template <class T>
T fastpm_drift(Growth<T> const& growth, std::type_identity_t<T> const& c,
               std::type_identity_t<T> const& a, std::type_identity_t<T> const& b) {
  return (growth.d1(b) - growth.d1(a)) / growth.momentum(c);
}

/// The kick that follows the Zel'dovich approximation exactly, with the forces at c:
///
///   [G(b) - G(a)] / (a E G')(c),  where a E G' = 3/2 omega_m D1 by the equation of growth
///
/// \throws PreconditionError unless a, b and c lie in the range of `growth`
template <class T>
T fastpm_kick(Growth<T> const& growth, std::type_identity_t<T> const& c,
              std::type_identity_t<T> const& a, std::type_identity_t<T> const& b) {
  return (growth.momentum(b) - growth.momentum(a)) /
         (1.5 * growth.parameters().omega_m * growth.d1(c));
}

/// A step kick, drift, kick: p += kick_before F(x); x += drift p; p += kick_after F(x).
template <class T>
struct KdkFactors {
  T kick_before;
  T drift;
  T kick_after;
};

/// The factors of a step from a to b: a kick from a to `middle`, a drift from a to b, and a kick
/// from `middle` to b.
///
/// \param middle  between a and b, usually (a + b) / 2 or sqrt(a b)
/// \throws PreconditionError unless all are above 0 and finite
template <class T>
KdkFactors<T> quinn_kdk(Parameters<T> const& p, std::type_identity_t<T> const& a,
                        std::type_identity_t<T> const& middle, std::type_identity_t<T> const& b) {
  return {quinn_kick(p, a, middle), quinn_drift(p, a, b), quinn_kick(p, middle, b)};
}

/// FastPM's factors of a kick, a drift and a kick, with forces at both ends and momenta in the
/// middle.
/// \throws PreconditionError unless all lie in the range of `growth`
template <class T>
KdkFactors<T> fastpm_kdk(Growth<T> const& growth, std::type_identity_t<T> const& a,
                         std::type_identity_t<T> const& middle, std::type_identity_t<T> const& b) {
  return {fastpm_kick(growth, a, a, middle), fastpm_drift(growth, middle, a, b),
          fastpm_kick(growth, b, middle, b)};
}

/// A step drift, kick, drift in the time D1, where velocities are v = dx/dD1 = p / (a^2 E D1'):
///
///   x += half_drift v;  v = alpha v + force A(x);  x += half_drift v
///
/// with A = -grad laplacian^-1 delta, which is F / (3/2 omega_m).
template <class T>
struct DkdFactors {
  T half_drift;  ///< [D1(b) - D1(a)] / 2
  T alpha;
  T force;  ///< (1 - alpha) / D1 half way, for which the Zel'dovich approximation is exact
};

namespace detail {

template <class T>
DkdFactors<T> dkd_factors(T const& from, T const& to, T const& alpha) {
  return {T((to - from) / 2), alpha, T(2 * (1 - alpha) / (from + to))};
}

}  // namespace detail

/// FastPM's factors for a step in D1: alpha = G(a) / G(b), G = a^2 E D1'.
/// \throws PreconditionError unless a and b lie in the range of `growth`
/// \see List, Hahn, J. Comput. Phys. 513, 113201 (2024), on integrators in the time D1
template <class T>
DkdFactors<T> fastpm_dkd(Growth<T> const& growth, std::type_identity_t<T> const& a,
                         std::type_identity_t<T> const& b) {
  return detail::dkd_factors(growth.d1(a), growth.d1(b),
                             T(growth.momentum(a) / growth.momentum(b)));
}

/// BullFrog's factors for a step in D1, which follow Lagrangian perturbation theory to second
/// order:
///
///   alpha = (d(b) - F) / (d(a) - F),  d = D2'/D1',
///   F = [D2(a) + d(a) (D1(b) - D1(a))/2] / H + H,  H = [D1(a) + D1(b)] / 2
///
/// \throws PreconditionError unless a and b lie in the range of `growth`
/// \see Rampf, List, Hahn, arXiv:2409.19049
template <class T>
DkdFactors<T> bullfrog_dkd(Growth<T> const& growth, std::type_identity_t<T> const& a,
                           std::type_identity_t<T> const& b) {
  GrowthValues<T> const from = growth.at(a), to = growth.at(b);
  T const d_from = from.d2_prime / from.d1_prime;
  T const d_to = to.d2_prime / to.d1_prime;
  T const half_way = (from.d1 + to.d1) / 2;
  T const f = (from.d2 + d_from * (to.d1 - from.d1) / 2) / half_way + half_way;
  return detail::dkd_factors(from.d1, to.d1, T((d_to - f) / (d_from - f)));
}

}  // namespace coir::cosmology
