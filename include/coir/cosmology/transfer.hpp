#pragma once

/// \file
/// Transfer functions T(k) of matter, 1 at k = 0, by the fits of Eisenstein and Hu and of Bardeen
/// et al.
///
/// Wave numbers k are in h/Mpc; quantities of the fits are in 1/Mpc and Mpc, without h.
/// \see Eisenstein, Hu, Astrophys. J. 496, 605 (1998)

#include <coir/core/errors.hpp>
#include <coir/cosmology/parameters.hpp>

#include <cmath>
#include <numbers>

namespace coir::cosmology {

/// The scales of T(k): equations 2 to 7 of Eisenstein and Hu.
template <class T = double>
struct TransferScales {
  T z_eq;           ///< matter and radiation are equal
  T k_eq;           ///< the wave number of the horizon then, 1/Mpc
  T z_drag;         ///< baryons are released from the photons
  T r_eq;           ///< baryons' over photons' momentum density at z_eq
  T r_drag;         ///< the same at z_drag
  T sound_horizon;  ///< at z_drag, Mpc
  T k_silk;         ///< photons' diffusion damps beyond it, 1/Mpc
};

namespace detail {

/// As transfer_scales, of parameters that have been checked.
template <class T>
KOKKOS_FUNCTION TransferScales<T> scales_of(Parameters<T> const& p) {
  using std::log, std::pow, std::sqrt;
  T const matter = p.omega_m * p.h * p.h;
  T const baryons = p.omega_b * p.h * p.h;
  T const t = p.t_cmb / 2.7;
  T const t2 = t * t;
  T const t4 = t2 * t2;

  TransferScales<T> s;
  s.z_eq = 2.50e4 * matter / t4;
  s.k_eq = 7.46e-2 * matter / t2;
  T const b1 = 0.313 * pow(matter, -0.419) * (1 + 0.607 * pow(matter, 0.674));
  T const b2 = 0.238 * pow(matter, 0.223);
  s.z_drag =
      1291 * pow(matter, 0.251) / (1 + 0.659 * pow(matter, 0.828)) * (1 + b1 * pow(baryons, b2));
  s.r_eq = 31.5e3 * baryons / (t4 * s.z_eq);
  s.r_drag = 31.5e3 * baryons / (t4 * s.z_drag);
  s.sound_horizon = 2 / (3 * s.k_eq) * sqrt(6 / s.r_eq) *
                    log((sqrt(1 + s.r_drag) + sqrt(s.r_drag + s.r_eq)) / (1 + sqrt(s.r_eq)));
  s.k_silk = 1.6 * pow(baryons, 0.52) * pow(matter, 0.73) * (1 + pow(10.4 * matter, -0.95));
  return s;
}

/// As EisensteinHu, of parameters and wave numbers that have been checked.
template <class T>
class EisensteinHuFit {
 public:
  KOKKOS_FUNCTION explicit EisensteinHuFit(Parameters<T> const& p)
      : scales_(scales_of(p)), h_(p.h), baryon_fraction_(p.omega_b / p.omega_m) {
    using std::log, std::pow, std::sqrt;
    T const matter = p.omega_m * p.h * p.h;
    T const fb = baryon_fraction_;
    T const a1 = pow(46.9 * matter, 0.670) * (1 + pow(32.1 * matter, -0.532));
    T const a2 = pow(12.0 * matter, 0.424) * (1 + pow(45.0 * matter, -0.582));
    alpha_c_ = pow(a1, -fb) * pow(a2, -fb * fb * fb);
    T const b1 = 0.944 / (1 + pow(458 * matter, -0.708));
    T const b2 = pow(0.395 * matter, -0.0266);
    beta_c_ = 1 / (1 + b1 * (pow(1 - fb, b2) - 1));

    T const y = (1 + scales_.z_eq) / (1 + scales_.z_drag);
    T const root = sqrt(1 + y);
    T const g = y * (-6 * root + (2 + 3 * y) * log((root + 1) / (root - 1)));
    alpha_b_ = 2.07 * scales_.k_eq * scales_.sound_horizon * pow(1 + scales_.r_drag, -0.75) * g;
    beta_b_ = 0.5 + fb + (3 - 2 * fb) * sqrt(17.2 * matter * (17.2 * matter) + 1);
    beta_node_ = 8.41 * pow(matter, 0.435);
  }

  TransferScales<T> const& scales() const { return scales_; }

  KOKKOS_FUNCTION T operator()(T const& k) const {
    using std::cbrt, std::exp, std::log, std::pow, std::sin;
    if (k == 0) return T(1);
    T const k_mpc = k * h_;
    T const ks = k_mpc * scales_.sound_horizon;
    T const ks2 = ks * ks;
    T const q = k_mpc / (13.41 * scales_.k_eq);
    T const from_q = 386 / (1 + 69.9 * pow(q, 1.08));
    auto const pressureless = [&q, &from_q](auto const& alpha, auto const& beta) {
      constexpr double e = std::numbers::e;
      T const l = log(e + 1.8 * beta * q);
      return T(l / (l + (14.2 / alpha + from_q) * q * q));
    };

    T const f = 1 / (1 + ks2 * ks2 / (5.4 * 5.4 * 5.4 * 5.4));
    T const cold = f * pressureless(1.0, beta_c_) + (1 - f) * pressureless(alpha_c_, beta_c_);

    // (ks)^3 / ((ks)^3 + beta^3). Unlike 1 / (1 + (beta / ks)^3) it is finite at k = 0.
    T const ks3 = ks2 * ks;
    T const rise = ks3 / (ks3 + beta_b_ * beta_b_ * beta_b_);
    T const phase = ks2 / cbrt(ks3 + beta_node_ * beta_node_ * beta_node_);
    T const baryons = (pressureless(1.0, 1.0) / (1 + ks2 / (5.2 * 5.2)) +
                       alpha_b_ * rise * exp(-pow(k_mpc / scales_.k_silk, 1.4))) *
                      sin(phase) / phase;
    return (1 - baryon_fraction_) * cold + baryon_fraction_ * baryons;
  }

 private:
  TransferScales<T> scales_;
  T h_;
  T baryon_fraction_;
  T alpha_c_;
  T beta_c_;
  T alpha_b_;
  T beta_b_;
  T beta_node_;
};

}  // namespace detail

/// \throws PreconditionError if expects_transfer finds a parameter at fault
template <class T>
TransferScales<T> transfer_scales(Parameters<T> const& p) {
  expects_transfer(p);
  return detail::scales_of(p);
}

/// T(k) with acoustic oscillations: equations 8 to 24. Within a few percent of a Boltzmann code.
template <class T = double>
class EisensteinHu {
 public:
  /// \throws PreconditionError if expects_transfer finds a parameter at fault
  explicit EisensteinHu(Parameters<T> const& p) : fit_((expects_transfer(p), p)) {}

  TransferScales<T> const& scales() const { return fit_.scales(); }

  /// T at k in h/Mpc.
  /// \throws PreconditionError unless k >= 0
  T operator()(T const& k) const {
    expects(k >= 0, "the wave number k, in h/Mpc, must be at least 0", detail::plain(k));
    return fit_(k);
  }

 private:
  detail::EisensteinHuFit<T> fit_;
};

/// The sound horizon of the smooth transfer function.
enum class SoundHorizon {
  exact,   ///< equation 6
  fitted,  ///< equation 26: 44.5 ln(9.83 / (omega_m h^2)) / sqrt(1 + 10 (omega_b h^2)^0.75) Mpc
};

/// T(k) with baryons' suppression but without acoustic oscillations: equations 26 to 31.
template <class T = double>
class NoWiggle {
 public:
  /// \param horizon  the paper takes `fitted` here, other codes take `exact`
  /// \throws PreconditionError if expects_transfer finds a parameter at fault
  explicit NoWiggle(Parameters<T> const& p, SoundHorizon horizon = SoundHorizon::exact) : h_(p.h) {
    using std::log, std::pow, std::sqrt;
    auto const scales = transfer_scales(p);
    T const matter = p.omega_m * p.h * p.h;
    T const baryons = p.omega_b * p.h * p.h;
    T const fb = p.omega_b / p.omega_m;
    k_eq_ = scales.k_eq;
    sound_horizon_ = horizon == SoundHorizon::exact
                         ? scales.sound_horizon
                         : T(44.5 * log(9.83 / matter) / sqrt(1 + 10 * pow(baryons, 0.75)));
    alpha_ = 1 - 0.328 * log(431 * matter) * fb + 0.38 * log(22.3 * matter) * fb * fb;
  }

  /// In Mpc.
  T const& sound_horizon() const { return sound_horizon_; }

  /// T at k in h/Mpc.
  /// \throws PreconditionError unless k >= 0
  T operator()(T const& k) const {
    using std::log;
    expects(k >= 0, "the wave number k, in h/Mpc, must be at least 0", detail::plain(k));
    T const k_mpc = k * h_;
    T const x = 0.43 * k_mpc * sound_horizon_;
    T const x2 = x * x;
    T const shape = alpha_ + (1 - alpha_) / (1 + x2 * x2);
    T const q = k_mpc / (13.41 * k_eq_ * shape);
    T const l = log(2 * std::numbers::e + 1.8 * q);
    return l / (l + (14.2 + 731 / (1 + 62.5 * q)) * q * q);
  }

 private:
  T h_;
  T k_eq_;
  T sound_horizon_;
  T alpha_;
};

/// T(k) of Bardeen, Bond, Kaiser and Szalay for cold dark matter, with Sugiyama's correction for
/// baryons. There is no trace of acoustic oscillations in it; it serves to compare codes by.
///
///   T = ln(1 + 2.34 q) / (2.34 q) [1 + 3.89 q + (16.1 q)^2 + (5.46 q)^3 + (6.71 q)^4]^(-1/4)
///   q = k (t_cmb / 2.7 K)^2 / (omega_m h^2 exp(-omega_b (1 + sqrt(2 h) / omega_m))),  k in 1/Mpc
///
/// \see Bardeen et al., Astrophys. J. 304, 15 (1986), equation G3; Sugiyama, Astrophys. J. Suppl.
///   100, 281 (1995)
template <class T = double>
class Bbks {
 public:
  /// \throws PreconditionError if expects_transfer finds a parameter at fault
  explicit Bbks(Parameters<T> const& p) {
    using std::exp, std::sqrt;
    expects_transfer(p);
    T const t = p.t_cmb / 2.7;
    q_over_k_ = t * t / (p.omega_m * p.h) * exp(p.omega_b * (1 + sqrt(2 * p.h) / p.omega_m));
  }

  /// T at k in h/Mpc.
  /// \throws PreconditionError unless k >= 0
  T operator()(T const& k) const {
    using std::log1p, std::sqrt;
    expects(k >= 0, "the wave number k, in h/Mpc, must be at least 0", detail::plain(k));
    if (k == 0) return T(1);
    T const q = k * q_over_k_;
    T const x = 2.34 * q, square = 16.1 * q, cube = 5.46 * q, fourth = 6.71 * q;
    T const sum =
        1 + 3.89 * q + square * square + cube * cube * cube + fourth * fourth * (fourth * fourth);
    return log1p(x) / (x * sqrt(sqrt(sum)));
  }

 private:
  T q_over_k_;
};

}  // namespace coir::cosmology
