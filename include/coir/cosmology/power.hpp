#pragma once

/// \file
/// The linear power spectrum of matter and its variance in spheres.

#include <coir/core/errors.hpp>
#include <coir/cosmology/detail/quadrature.hpp>
#include <coir/cosmology/growth.hpp>
#include <coir/cosmology/parameters.hpp>
#include <coir/cosmology/power_table.hpp>
#include <coir/cosmology/transfer.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <utility>
#include <variant>
#include <vector>

namespace coir::cosmology {

/// The Fourier transform of a sphere of volume 1 at x = k R: 3 (sin x - x cos x) / x^3.
template <class T>
T w_tophat(T const& x) {
  using std::cos, std::sin;
  T const x2 = x * x;
  // The difference cancels for small x. The first term left out is x^10 / 172972800.
  if (detail::plain(x2) < 0.25) return 1 - x2 / 10 * (1 - x2 / 28 * (1 - x2 / 54 * (1 - x2 / 88)));
  return 3 * (sin(x) - x * cos(x)) / (x2 * x);
}

namespace detail {

/// W^2 of w_tophat. Around x = 300 it goes over to its mean over oscillations, 9/2 (x^-4 + x^-6).
/// In the integral of a spectrum that is smooth over 20 in x the difference is below rounding.
template <class T>
T w_tophat_squared(T const& x) {
  double const at = plain(x), exact = at < 200 ? 1 : at > 400 ? 0 : std::erfc((at - 300) / 20) / 2;
  T const inverse = 1 / (x * x);
  T result(0);
  if (exact > 0) {
    T const w = w_tophat(x);
    result += static_cast<T>(exact) * (w * w);
  }
  if (exact < 1) result += static_cast<T>(4.5 * (1 - exact)) * (inverse * inverse * (1 + inverse));
  return result;
}

/// The ends of panels for the variance in spheres of a radius, between two wave numbers. Ten nodes
/// are for less than two periods of W^2 where it oscillates, for one of the acoustic oscillations,
/// and for a factor of 4/3 in k.
inline std::vector<double> variance_panels(double radius, double from, double to) {
  std::vector<double> ends{from};
  while (ends.back() < to) {
    double const k = ends.back(), wiggles = k < 1 ? 0.04 : to;
    double const waves = k * radius < 400 ? 3 / radius : to;
    ends.push_back(std::min(k + std::min({k / 3, waves, wiggles}), to));
  }
  return ends;
}

/// The range of wave numbers beyond which little is left of the variance: below it k^3 P falls at
/// least as k^4, and above it P W^2 falls as k^-6. For spheres larger than the waves at the
/// spectrum's peak the range includes the peak.
inline std::pair<double, double> variance_range(double radius) {
  return {std::min(1e-5, 1e-3 / radius), std::max(300 / radius, 10.0)};
}

/// What k^n_s T^2 is multiplied by in P today, given A_s and D1(1).
template <class T>
KOKKOS_FUNCTION T amplitude_by_A_s(Parameters<T> const& p, T const& d1_today) {
  using std::pow;
  // One factor after the other, because (c/H0)^4 alone is about 1e14.
  T const distance = T(double(hubble_distance)), length = distance * d1_today / p.omega_m;
  return 8 * std::numbers::pi * std::numbers::pi / 25 * p.A_s * length * length * distance *
         distance * pow(p.k_pivot / p.h, 1 - p.n_s);
}

}  // namespace detail

/// Whether a table is P(k), or the shape of P(k) alone.
enum class TableAmplitude {
  as_given,  ///< the table is P(k)
  sigma8,    ///< the table is scaled so that sigma(8 Mpc/h) is the parameters' sigma8
};

/// The transfer function of P(k).
enum class TransferFunction {
  eisenstein_hu,  ///< with acoustic oscillations: class EisensteinHu
  no_wiggle,      ///< without: class NoWiggle
  bbks,           ///< without, and older: class Bbks
};

/// The linear power spectrum P(k, a) of matter in (Mpc/h)^3: <|delta(k)|^2> = V P(k) in a volume V.
///
/// With a transfer function T(k), k in h/Mpc, D1 -> a where matter dominates, k_p = k_pivot / h:
///
///   by A_s:     k^3 P / (2 pi^2) = 4/25 A_s (k/k_p)^(n_s - 1) T^2 (k c/H0)^4 / omega_m^2 D1^2(a)
///   by sigma8:  P = N k^n_s T^2 [D1(a) / D1(1)]^2, with the N for which sigma(8 Mpc/h) is sigma8
///   today
///
/// With a table for the scale factor a_t, P is its value at k times [D1(a) / D1(a_t)]^2.
///
/// \see Dodelson, Modern Cosmology (2003), section 7.1
template <class T = double>
class LinearPower {
 public:
  /// \param growth  its parameters, and its range of a, which must hold 1
  /// \throws PreconditionError as expects_parameters, or if a = 1 is out of range
  explicit LinearPower(Growth<T> growth,
                       TransferFunction transfer = TransferFunction::eisenstein_hu)
      : growth_(std::move(growth)), shape_(shape_of(parameters(), transfer)) {
    auto const& p = parameters();
    expects_parameters(p);
    d1_today_ = growth_.d1(T(1));
    n_s_ = p.n_s;
    if (p.sigma8 > 0) {
      normalise_to_sigma8();
    } else {
      amplitude_ = detail::amplitude_by_A_s(p, d1_today_);
    }
  }

  /// The power spectrum with growth from a = 1e-3 to 1.
  explicit LinearPower(Parameters<T> const& p,
                       TransferFunction transfer = TransferFunction::eisenstein_hu)
      : LinearPower(Growth<T>(p), transfer) {}

  /// \param table      P(k), or its shape
  /// \param amplitude  which of both; as_given needs the parameters of the expansion alone
  /// \param a          the scale factor of the table, in the range of `growth`; ignored for a shape
  /// \throws PreconditionError as expects_background, or if a = 1 is out of range; with
  ///   TableAmplitude::sigma8 also if sigma8 is not above 0, or the table is too short: see sigma
  LinearPower(Growth<T> growth, PowerTable table,
              TableAmplitude amplitude = TableAmplitude::as_given, double a = 1)
      : growth_(std::move(growth)), shape_(std::move(table)) {
    d1_today_ = growth_.d1(T(1));
    n_s_ = T(0);
    if (amplitude == TableAmplitude::as_given) {
      T const growth_since = d1_today_ / growth_.d1(T(a));
      amplitude_ = growth_since * growth_since;
      return;
    }
    detail::expects_parameter(
        parameters().sigma8 > 0,
        "set sigma8, to which the table is normalised, to a number above 0, such as 0.8",
        parameters().sigma8);
    normalise_to_sigma8();
  }

  /// The power spectrum of a table, with growth from a = 1e-3 to 1.
  LinearPower(Parameters<T> const& p, PowerTable table,
              TableAmplitude amplitude = TableAmplitude::as_given)
      : LinearPower(Growth<T>(p), std::move(table), amplitude) {}

  Parameters<T> const& parameters() const { return growth_.parameters(); }
  Growth<T> const& growth() const { return growth_; }

  /// Whether the spectrum is a table. Its shape doesn't depend on the parameters.
  bool is_table() const { return table() != nullptr; }
  /// The table, or null.
  PowerTable const* table() const { return std::get_if<PowerTable>(&shape_); }

  /// The spectrum of other parameters, such as variables(), with the same transfer function, and
  /// with growth over the same range of a.
  ///
  /// \throws PreconditionError as expects_parameters, or if this spectrum is a table
  template <class U>
  LinearPower<U> with_parameters(Parameters<U> const& p) const {
    if (auto const* const table = std::get_if<PowerTable>(&shape_))
      expects(false, table->name() +
                         ": a table of P(k) isn't one of other parameters: make the spectrum of a "
                         "transfer function");
    return LinearPower<U>(Growth<U>(p, growth_.a_min(), growth_.a_max()), transfer_function());
  }

  /// P today at k in h/Mpc; (Mpc/h)^3.
  /// \throws PreconditionError unless k >= 0, or for a table within its range
  T operator()(T const& k) const {
    using std::pow;
    if (auto const* const table = std::get_if<PowerTable>(&shape_)) return amplitude_ * (*table)(k);
    auto const at_k = [&k](auto const& shape) { return T(shape(k)); };
    T const transfer = std::visit(at_k, shape_);
    return amplitude_ * pow(k, n_s_) * transfer * transfer;
  }

  /// P at scale factor a.
  /// \throws PreconditionError as P today, or if a is outside of the range of growth()
  T operator()(T const& k, T const& a) const {
    T const ratio = growth_.d1(a) / d1_today_;
    return (*this)(k)*ratio * ratio;
  }

  /// The rms of the linear density today, averaged over spheres of radius r in Mpc/h:
  ///
  ///   sigma^2 = 1/(2 pi^2) int k^3 P(k) W^2(k r) dln k,  W as in w_tophat
  ///
  /// By Gauss and Legendre's rule up to k = 10 h/Mpc or k r = 300, whichever is more, to about
  /// 1e-7.
  ///
  /// \throws PreconditionError unless r > 0, and a table covers 0.02 / r to 30 / r, and to 1 h/Mpc
  ///   at least. For cold dark matter less than 1e-4 of sigma^2 lies beyond
  T sigma(T const& r) const {
    using std::sqrt;
    return sqrt(variance(r));
  }

  /// Whether P can be evaluated in all of [k_min, k_max].
  bool covers(double k_min, double k_max) const {
    auto const* const table = std::get_if<PowerTable>(&shape_);
    return table != nullptr ? table->covers(k_min, k_max) : k_min >= 0 && k_min <= k_max;
  }

  /// \throws PreconditionError unless covers(k_min, k_max), naming both ranges
  void expects_coverage(double k_min, double k_max) const {
    if (auto const* const table = std::get_if<PowerTable>(&shape_))
      table->expects_coverage(k_min, k_max);
    else
      expects(covers(k_min, k_max),
              "wave numbers must be at least 0, and k_min at most k_max, not " + in_words(k_min) +
                  " and " + in_words(k_max));
  }

 private:
  using Shape = std::variant<EisensteinHu<T>, NoWiggle<T>, Bbks<T>, PowerTable>;

  TransferFunction transfer_function() const {
    if (std::holds_alternative<Bbks<T>>(shape_)) return TransferFunction::bbks;
    return std::holds_alternative<NoWiggle<T>>(shape_) ? TransferFunction::no_wiggle
                                                       : TransferFunction::eisenstein_hu;
  }

  static Shape shape_of(Parameters<T> const& p, TransferFunction transfer) {
    if (transfer == TransferFunction::no_wiggle) return NoWiggle<T>(p);
    if (transfer == TransferFunction::bbks) return Bbks<T>(p);
    return EisensteinHu<T>(p);
  }

  void normalise_to_sigma8() {
    T const sigma8 = parameters().sigma8;
    amplitude_ = sigma8 * sigma8 / variance(T(8));
  }

  T variance(T const& r) const {
    double const radius = detail::plain(r);
    expects(radius > 0 && std::isfinite(radius), "the radius, in Mpc/h, must be above 0 and finite",
            radius);
    auto [from, to] = detail::variance_range(radius);
    if (auto const* const table = std::get_if<PowerTable>(&shape_)) {
      table->expects_coverage(0.02 / radius, std::max(30 / radius, 1.0));
      from = std::max(from, table->k_min());
      to = std::min(to, table->k_max());
    }
    auto const integrand = [this, &r](T const& k) {
      return T(k * k * (*this)(k)*detail::w_tophat_squared(T(k * r)));
    };
    T sum(0);
    auto const ends = detail::variance_panels(radius, from, to);
    for (std::size_t i = 1; i < ends.size(); ++i)
      sum += detail::gauss_legendre(integrand, T(ends[i - 1]), T(ends[i]));
    return sum / (2 * std::numbers::pi * std::numbers::pi);
  }

  Growth<T> growth_;
  Shape shape_;
  T d1_today_;
  T n_s_;
  T amplitude_ = T(1);
};

}  // namespace coir::cosmology
