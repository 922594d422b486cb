#pragma once

/// \file
/// The parameters of a cosmology, and sets of parameters from papers and other codes.

#include <coir/core/errors.hpp>
#include <coir/core/math.hpp>
#include <coir/cosmology/detail/plain.hpp>
#include <coir/cosmology/detail/smooth.hpp>

#include <cmath>
#include <limits>
#include <string>

namespace coir::cosmology {

/// The speed of light over H0, in Mpc/h: c = 299792.458 km/s, H0 = 100 h km/s/Mpc.
inline constexpr double hubble_distance = 2997.92458;

/// A cosmology. Densities are those of today in units of the critical one.
///
/// Parameters without a usual value start as NaN. Functions that need them name them in their
/// errors. The amplitude of P(k) is given either by sigma8 or by A_s; the other one stays 0.
///
/// \tparam T  float, double, or a dual number of these for derivatives with respect to the
///   parameters
template <class T = double>
struct Parameters {
  static constexpr double unset = std::numeric_limits<double>::quiet_NaN();

  T omega_m = T(unset);   ///< all matter
  T omega_b = T(unset);   ///< baryons, part of omega_m
  T h = T(unset);         ///< H0 / (100 km/s/Mpc)
  T n_s = T(unset);       ///< spectral index of the primordial spectrum
  T sigma8 = T(0);        ///< rms of linear matter in spheres of 8 Mpc/h today; or
  T A_s = T(0);           ///< the primordial amplitude at k_pivot
  T omega_k = T(0);       ///< curvature: positive is open
  T omega_r = T(0);       ///< radiation
  T w0 = T(-1);           ///< dark energy's pressure over density is w0 + (1 - a) wa
  T wa = T(0);            ///< see w0
  T t_cmb = T(2.7255);    ///< temperature of the background radiation, K; enters transfer functions
  double k_pivot = 0.05;  ///< where A_s is defined, 1/Mpc (not h/Mpc)

  /// Dark energy: all densities add up to 1.
  KOKKOS_FUNCTION T omega_de() const { return 1 - omega_m - omega_k - omega_r; }
};

/// Converts parameters to numbers of another type, such as duals, which start without derivatives.
template <class U, class T>
Parameters<U> parameters_as(Parameters<T> const& p) {
  return {.omega_m = U(p.omega_m),
          .omega_b = U(p.omega_b),
          .h = U(p.h),
          .n_s = U(p.n_s),
          .sigma8 = U(p.sigma8),
          .A_s = U(p.A_s),
          .omega_k = U(p.omega_k),
          .omega_r = U(p.omega_r),
          .w0 = U(p.w0),
          .wa = U(p.wa),
          .t_cmb = U(p.t_cmb),
          .k_pivot = p.k_pivot};
}

/// Planck 2015 with external data: flat, without radiation. omega_m is the sum of cold dark matter
/// and baryons, without neutrinos.
/// \see Planck collaboration, Astron. Astrophys. 594, A13 (2016), table 4, last column
template <class T = double>
Parameters<T> planck15() {
  return {.omega_m = T(0.2589 + 0.0486),
          .omega_b = T(0.0486),
          .h = T(0.6774),
          .n_s = T(0.9667),
          .sigma8 = T(0.8159)};
}

/// Planck 2018 with baryon acoustic oscillations: flat, without radiation. omega_m includes
/// neutrinos.
/// \see Planck collaboration, Astron. Astrophys. 641, A6 (2020), table 2, last column
template <class T = double>
Parameters<T> planck18() {
  return {.omega_m = T(0.3111),
          .omega_b = T(0.02242 / (0.6766 * 0.6766)),
          .h = T(0.6766),
          .n_s = T(0.9665),
          .sigma8 = T(0.8102)};
}

/// Round numbers, with the amplitude by A_s: the default of the particle-mesh code pmwd.
/// \see Li et al., arXiv:2211.09815
template <class T = double>
Parameters<T> simple_lcdm() {
  return {.omega_m = T(0.3), .omega_b = T(0.05), .h = T(0.7), .n_s = T(0.96), .A_s = T(2e-9)};
}

namespace detail {

template <class T>
void expects_parameter(bool holds, char const* requirement, T const& value) {
  expects(holds && std::isfinite(plain(value)), requirement, plain(value));
}

template <class T>
void expects_finite(char const* requirement, T const& value) {
  expects_parameter(true, requirement, value);
}

/// Densities at a, in units of today's critical one: their sum is E^2.
template <class T>
struct Densities {
  T matter;
  T curvature;
  T radiation;
  T dark_energy;
  T dark_energy_slope;  ///< d ln dark_energy / d ln a

  KOKKOS_FUNCTION T sum() const { return matter + curvature + radiation + dark_energy; }
};

template <class T>
KOKKOS_FUNCTION Densities<T> densities(Parameters<T> const& p, T const& a) {
  T const a2 = a * a;
  T const exponent = -3 * (1 + p.w0 + p.wa);
  return {T(p.omega_m / (a2 * a)), T(p.omega_k / a2), T(p.omega_r / (a2 * a2)),
          T(p.omega_de() * smooth_exp(T(exponent * smooth_log(a) - 3 * p.wa * (1 - a)))),
          T(exponent + 3 * p.wa * a)};
}

/// A scale factor in [1e-6, a_max] at which E^2 isn't above 0; 0 if there is none.
template <class T>
KOKKOS_FUNCTION double end_of_expansion(Parameters<T> const& p, double a_max) {
  // E^2 is smooth in ln a; before 1e-6 only matter and radiation are left.
  constexpr int points = 256;
  for (int i = 0; i <= points; ++i) {
    double const a = a_max * std::exp(std::log(1e-6 / a_max) * i / points);
    if (!(plain(densities(p, T(a)).sum()) > 0)) return a;
  }
  return 0;
}

/// Whether expects_parameters(p) has nothing to say.
KOKKOS_FUNCTION inline bool is_physical(Parameters<double> const& p) {
  double const numbers[] = {p.omega_m, p.omega_b, p.h,  p.n_s, p.sigma8, p.A_s,
                            p.omega_k, p.omega_r, p.w0, p.wa,  p.t_cmb,  p.k_pivot};
  for (double const x : numbers)
    if (!math::isfinite(x)) return false;
  return p.omega_m > 0 && p.omega_r >= 0 && p.w0 + p.wa < 0 && p.omega_b > 0 &&
         p.omega_b < p.omega_m && p.h > 0 && p.h < 10 && p.t_cmb > 0 && p.sigma8 >= 0 &&
         p.A_s >= 0 && (p.sigma8 > 0) != (p.A_s > 0) && p.k_pivot > 0 &&
         end_of_expansion(p, 1) == 0;
}

}  // namespace detail

/// Checks the parameters of expansion and growth: omega_m, omega_k, omega_r, w0, wa.
///
/// \param a_max  E^2 must be positive up to this scale factor
/// \throws PreconditionError naming the first parameter that is not finite or out of its range:
///   omega_m > 0, omega_r >= 0, w0 + wa < 0 (dark energy fades in the past); or the scale factor
///   where E^2 <= 0
template <class T>
void expects_background(Parameters<T> const& p, double a_max = 1) {
  using detail::expects_finite, detail::expects_parameter;
  expects_parameter(p.omega_m > 0, "set omega_m, matter today, to a number above 0, such as 0.3",
                    p.omega_m);
  expects_finite("set omega_k, curvature today, to a number, such as 0", p.omega_k);
  expects_parameter(p.omega_r >= 0,
                    "set omega_r, radiation today, to 0 or a small number above, such as 9e-5",
                    p.omega_r);
  expects_finite("set w0, dark energy's equation of state, to a number, such as -1", p.w0);
  expects_finite("set wa, the change of dark energy's equation of state, to a number, such as 0",
                 p.wa);
  expects_parameter(p.w0 + p.wa < 0,
                    "w0 + wa must be below 0, so that matter outweighs dark energy in the past",
                    T(p.w0 + p.wa));
  expects_parameter(a_max > 0, "a_max must be above 0", a_max);
  if (double const a = detail::end_of_expansion(p, a_max); a > 0) {
    double const e2 = detail::plain(detail::densities(p, T(a)).sum());
    expects(false, "E^2 must be above 0 up to a = " + in_words(a_max) +
                       ", and at a = " + in_words(a) + " it is " + in_words(e2) +
                       ": bring omega_k and wa closer to 0, or w0 closer to -1");
  }
}

/// Checks the parameters of transfer functions: omega_m, omega_b, h, t_cmb.
///
/// \throws PreconditionError naming the first parameter that is not finite or out of its range:
///         0 < omega_b < omega_m, 0 < h < 10 (not km/s/Mpc), 0 < t_cmb
template <class T>
void expects_transfer(Parameters<T> const& p) {
  using detail::expects_parameter;
  expects_parameter(p.omega_m > 0, "set omega_m, matter today, to a number above 0, such as 0.3",
                    p.omega_m);
  expects_parameter(p.omega_b > 0, "set omega_b, baryons today, to a number above 0, such as 0.05",
                    p.omega_b);
  expects_parameter(p.omega_b < p.omega_m,
                    "omega_b, baryons, must be below omega_m, which is all matter", p.omega_b);
  expects_parameter(p.h > 0 && p.h < 10,
                    "set h, H0 over 100 km/s/Mpc, to a number in (0, 10), such as 0.7", p.h);
  expects_parameter(p.t_cmb > 0, "set t_cmb, in K, to a number above 0, such as 2.7255", p.t_cmb);
}

/// Checks all parameters, also those of the primordial spectrum: n_s, and sigma8 or A_s.
///
/// \throws PreconditionError as expects_background and expects_transfer do; if n_s is not finite;
///   unless exactly one of sigma8 and A_s is above 0 and the other one 0; if k_pivot <= 0
template <class T>
void expects_parameters(Parameters<T> const& p) {
  using detail::expects_finite, detail::expects_parameter;
  expects_background(p);
  expects_transfer(p);
  expects_finite("set n_s, the spectral index, to a number, such as 0.96", p.n_s);
  expects_parameter(p.sigma8 >= 0, "set sigma8 to a number above 0, or to 0 to use A_s", p.sigma8);
  expects_parameter(p.A_s >= 0, "set A_s to a number above 0, or to 0 to use sigma8", p.A_s);
  expects((p.sigma8 > 0) != (p.A_s > 0),
          "give the amplitude either by sigma8 or by A_s and leave the other one 0, not sigma8 = " +
              in_words(detail::plain(p.sigma8)) + " and A_s = " + in_words(detail::plain(p.A_s)));
  expects_parameter(p.k_pivot > 0, "set k_pivot, in 1/Mpc, to a number above 0, such as 0.05",
                    p.k_pivot);
}

}  // namespace coir::cosmology
