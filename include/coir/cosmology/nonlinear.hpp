#pragma once

#include <coir/core/errors.hpp>
#include <coir/cosmology/background.hpp>
#include <coir/cosmology/detail/hermite.hpp>
#include <coir/cosmology/detail/smooth.hpp>
#include <coir/cosmology/detail/tabulated_power.hpp>
#include <coir/cosmology/power.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

namespace coir::cosmology {

template <class T>
class NonlinearPowerAt;

namespace detail {

/// Wave numbers and radii on one lattice over their logarithms, for sigma^2 by the trapezoidal rule
/// over ln k, in steps so short that it isn't misled by acoustic oscillations. exp(-k^2 R^2)
/// depends on the sum of indices. It is 3e-19 at kR = 6.5, where ln(kR) is 15 steps of R.
struct HalofitLattice {
  static constexpr double step = 1.0 / 8;    // of ln R
  static constexpr int largest_radius = 28;  // in steps: 33 Mpc/h
  static constexpr int finer = 8, cut = 15 * finer;
  static constexpr double fine_step = step / finer;  // of ln k

  int from, to;      ///< of k, in fine steps
  int first_radius;  ///< in steps

  /// \param begin, end  of ln k
  HalofitLattice(double begin, double end)
      : from(static_cast<int>(std::ceil(std::max(-8.0, begin) / fine_step))),
        to(static_cast<int>(std::floor(std::min(7.375, end) / fine_step))),
        first_radius(-((to - cut) / finer)) {}

  KOKKOS_FUNCTION int waves() const { return to - from + 1; }
  KOKKOS_FUNCTION int radii() const { return largest_radius - first_radius + 1; }

  /// exp(-k^2 R^2) and its derivatives by ln R
  struct Weight {
    double value, first, second, third, fourth;
  };

  std::vector<Weight> weights() const {
    std::vector<Weight> result;
    for (int m = from + finer * first_radius; m <= cut; ++m) {
      double const u = std::exp(2 * fine_step * m), g = std::exp(-u);
      result.push_back({g, -2 * u * g, 4 * u * (u - 1) * g, 8 * u * (u * (3 - u) - 1) * g,
                        16 * u * (u * (u * (u - 6) + 7) - 1) * g});
    }
    return result;
  }

  /// What a wave number adds to sigma^2, without its weight: Delta^2 times the step.
  /// \param i          its place, from 0
  /// \param ln_linear  ln P as a function of ln k
  template <class T>
  KOKKOS_FUNCTION T wave(int i, LogSpline<T> const& ln_linear) const {
    double const ln_k = fine_step * (from + i);
    return smooth_exp(T(ln_linear(T(ln_k)) + 3 * ln_k)) *
           (fine_step / (2 * std::numbers::pi * std::numbers::pi));
  }
};

/// ln sigma^2 today and its derivatives by ln R
template <class T>
struct HalofitVariance {
  T value, first, second, third, fourth;

  /// Those at the radius of a place, from 0.
  KOKKOS_FUNCTION static HalofitVariance at(HalofitLattice const& lattice, int radius,
                                            T const* waves, HalofitLattice::Weight const* weights) {
    constexpr int finer = HalofitLattice::finer;
    int const r = lattice.first_radius + radius, end = HalofitLattice::cut - finer * r;
    int const last = lattice.to < end ? lattice.to : end;
    T s0(0), s1(0), s2(0), s3(0), s4(0);
    for (int i = lattice.from; i <= last; ++i) {
      T const& d = waves[i - lattice.from];
      HalofitLattice::Weight const& w = weights[i - lattice.from + finer * radius];
      s0 += w.value * d;
      s1 += w.first * d;
      s2 += w.second * d;
      s3 += w.third * d;
      s4 += w.fourth * d;
    }
    T const inverse = smooth_inverse(s0);
    s1 *= inverse;
    s2 *= inverse;
    s3 *= inverse;
    s4 *= inverse;
    T const square = s1 * s1;
    return {smooth_log(s0), s1, T(s2 - square), T(s3 - 3 * s1 * s2 + 2 * s1 * square),
            T(s4 - 4 * s1 * s3 - 3 * s2 * s2 + 12 * s2 * square - 6 * square * square)};
  }
};

template <class T>
struct HalofitTable;

}  // namespace detail

/// The non-linear power spectrum at one scale factor: see NonlinearPower, which makes it.
template <class T>
class NonlinearPowerAt {
 public:
  /// Where sigma(1 / k) is 1, in h/Mpc; 0 if that is nowhere in the table.
  T k_nl() const { return weight_ > 0 ? T(detail::smooth_exp(ln_k_nl_)) : T(0); }
  /// -3 - d ln sigma^2 / d ln R at R = 1 / k_nl
  T const& n_eff() const { return n_eff_; }
  /// -d^2 ln sigma^2 / d ln R^2 at R = 1 / k_nl
  T const& curvature() const { return curvature_; }
  /// How much of P is halofit's, from 0 to 1; the rest is linear.
  T const& weight() const { return weight_; }

  /// P from the wave number and the linear spectrum today.
  /// \param ln_k       ln of k in h/Mpc
  /// \param ln_linear  ln of the linear P(k) today, in (Mpc/h)^3
  KOKKOS_FUNCTION T operator()(T const& ln_k, T const& ln_linear) const {
    using detail::smooth_exp, detail::smooth_inverse, detail::smooth_log;
    T const linear = smooth_exp(T(ln_linear + ln_growth_));
    if (!(weight_ > 0)) return linear;
    T const ln_y = ln_k - ln_k_nl_, y = smooth_exp(ln_y), y2 = y * y;
    // P = volume / y^3 Delta^2
    T const cube = y2 * y, delta = linear * cube * inverse_volume_;
    T const damped = smooth_exp(T(beta_ * smooth_log(T(1 + delta)) - y * (0.25 + 0.125 * y)));
    T const two_halo = linear * damped * smooth_inverse(T(1 + alpha_ * delta));
    T const below = 1 + smooth_exp(T(ln_b_ + f2_ * ln_y)) + smooth_exp(T(power_ * (ln_c_ + ln_y)));
    T const one_halo = smooth_exp(T(ln_a_ + 3 * f1_ * ln_y)) *
                       smooth_inverse(T(below * (y2 + nu_) * y * inverse_volume_));
    T const whole = two_halo + one_halo;
    return weight_ < 1 ? T(linear + weight_ * (whole - linear)) : whole;
  }

 private:
  template <class>
  friend struct detail::HalofitTable;
  T ln_growth_ = T(0);  ///< ln [D1(a) / D1(1)]^2
  T weight_ = T(0);
  T ln_k_nl_ = T(0), n_eff_ = T(0), curvature_ = T(0);
  T inverse_volume_ = T(0);  ///< k_nl^3 / (2 pi^2)
  T ln_a_ = T(0), ln_b_ = T(0), ln_c_ = T(0), alpha_ = T(0), beta_ = T(0), nu_ = T(0);
  T power_ = T(0), f1_ = T(0), f2_ = T(0);
};

namespace detail {

/// What halofit needs of a linear spectrum, in memory of others.
template <class T>
struct HalofitTable {
  using Variance = HalofitVariance<T>;

  Parameters<T> const& parameters;
  HalofitLattice lattice;
  Variance const* variance;

  /// The spectrum at the scale factor a.
  /// \param growth  D1(a) / D1(1)
  KOKKOS_FUNCTION NonlinearPowerAt<T> at(T const& a, T const& growth) const {
    NonlinearPowerAt<T> result;
    result.ln_growth_ = 2 * smooth_log(growth);
    T const excess = 2 * (smooth_exp(T(variance[0].value + result.ln_growth_)) - 1);
    if (excess > 0) {
      result.weight_ =
          excess < 1 ? T(excess * excess * excess * (10 - excess * (15 - 6 * excess))) : T(1);
      set_scale(result);
      set_coefficients(a, result);
    }
    return result;
  }

 private:
  /// Finds k_nl and the derivatives there.
  KOKKOS_FUNCTION void set_scale(NonlinearPowerAt<T>& result) const {
    T const target = -result.ln_growth_;  // of ln sigma^2 today, which falls with the radius
    constexpr double step = HalofitLattice::step;
    int i = 0, end = lattice.radii() - 2;
    while (i < end) {  // the last node but one whose value isn't below the target
      int const middle = (i + end + 1) / 2;
      if (plain(target) > plain(variance[middle].value))
        end = middle - 1;
      else
        i = middle;
    }
    Variance const &left = variance[i], &right = variance[i + 1];
    auto const value = [&](T const& s) {
      return quintic(s, HalofitLattice::step, left.value, left.first, left.second, right.value,
                     right.first, right.second);
    };
    auto const slope = [&](T const& s) {
      return quintic(s, HalofitLattice::step, left.first, left.second, left.third, right.first,
                     right.second, right.third);
    };
    double place = 0.5;
    for (int n = 0; n < 4; ++n)
      place -= plain(value(T(place)) - target) / (step * plain(slope(T(place))));
    // Each further step finds one further order of derivatives.
    T s(place);
    for (int n = 0; n < 2; ++n) s -= (value(s) - target) * smooth_inverse(T(step * slope(s)));
    result.ln_k_nl_ = -step * (lattice.first_radius + i + s);
    result.inverse_volume_ =
        smooth_exp(T(3 * result.ln_k_nl_)) * (0.5 / (std::numbers::pi * std::numbers::pi));
    result.n_eff_ = -3 - slope(s);
    result.curvature_ = -quintic(s, step, left.second, left.third, left.fourth, right.second,
                                 right.third, right.fourth);
  }

  KOKKOS_FUNCTION void set_coefficients(T const& a, NonlinearPowerAt<T>& result) const {
    using std::abs;
    auto const& p = parameters;
    T const& n = result.n_eff_;
    T const& c = result.curvature_;
    T const dark = omega_de_at(p, a) * (1 + p.w0 + (1 - a) * p.wa);
    constexpr double ln10 = std::numbers::ln10;
    result.ln_a_ = ln10 * (1.5222 + n * (2.8553 + n * (2.3706 + n * (0.9903 + n * 0.2250))) -
                           0.6038 * c + 0.1749 * dark);
    result.ln_b_ = ln10 * (-0.5642 + n * (0.5864 + n * 0.5716) - 1.5474 * c + 0.2279 * dark);
    result.ln_c_ = ln10 * (0.3698 + n * (2.0404 + n * 0.8161) + 0.5869 * c);
    result.power_ = 3 - (0.1971 - 0.0843 * n + 0.8460 * c);
    result.alpha_ = abs(T(6.0835 + n * (1.3373 - n * 0.1959) - 5.5274 * c));
    result.beta_ = 2.0379 + n * (-0.7354 + n * (0.3157 + n * (1.2490 + n * 0.3980))) - 0.1682 * c;
    result.nu_ = smooth_exp(T(ln10 * (5.2105 + 3.6902 * n)));
    T const ln_matter = smooth_log(omega_m_at(p, a));
    result.f1_ = smooth_exp(T(-0.0307 * ln_matter));
    result.f2_ = smooth_exp(T(-0.0585 * ln_matter));
    result.ln_c_ += 0.0743 * ln_matter;  // f3
  }
};

}  // namespace detail

/// The non-linear power spectrum of matter by halofit, in the version of Takahashi et al.:
///
///   P = 2 pi^2 / k^3 (Delta_Q^2 + Delta_H^2),  y = k / k_nl,  f = y/4 + y^2/8,
///   Delta_Q^2 = Delta_L^2 (1 + Delta_L^2)^beta / (1 + alpha Delta_L^2) exp(-f),
///   Delta_H^2 = a y^(3 f1) / [1 + b y^f2 + (c f3 y)^(3 - gamma)] / (1 + nu / y^2)
///
/// The coefficients depend on n_eff and C, the first two derivatives of ln sigma^2 over ln R where
///
///   sigma^2(R) = int dln k Delta_L^2 exp(-k^2 R^2)
///
/// is 1, which is at R = 1/k_nl; on omega_m(a); and on omega_de(a) (1 + w). The authors state
/// errors of 5 % for k <= 1 h/Mpc and z <= 10, and of 10 % for k <= 10 and z <= 3. The fit is one
/// of flat universes with a constant w. Here w is w(a) = w0 + (1 - a) wa. Codes that look for a
/// constant w of the same distances, such as CCL, differ where wa isn't 0.
///
/// sigma^2 and its derivatives are tabulated once, for today, over radii from 0.004 to 33 Mpc/h. At
/// other times sigma^2 is in proportion to D1^2, so that k_nl follows by looking it up. Where
/// sigma^2 is below 1 at the smallest radius, P is linear. While sigma^2 there rises from 1 to 1.5,
/// P goes over to halofit smoothly.
///
/// \see Takahashi et al., Astrophys. J. 761, 152 (2012), appendix; Smith et al.,
///   Mon. Not. R. Astron. Soc. 341, 1311 (2003)
template <class T = double>
class NonlinearPower {
 public:
  /// \throws PreconditionError if the linear spectrum is a table that doesn't cover 0.005 to 5
  /// h/Mpc,
  ///   or if sigma is above 1 even at the largest radius
  explicit NonlinearPower(LinearPower<T> linear)
      : linear_(std::move(linear)),
        table_(linear_),
        d1_today_(linear_.growth().d1(T(1))),
        lattice_(table_.begin(), table_.end()) {
    linear_.expects_coverage(0.005, 5);
    tabulate();
    double const largest = detail::plain(variance_.back().value);
    expects(largest < 0, "sigma at 33 Mpc/h must be below 1: lower sigma8 or A_s",
            std::exp(largest / 2));
  }

  LinearPower<T> const& linear() const { return linear_; }

  /// P at k in h/Mpc and scale factor a, in (Mpc/h)^3. Where P is wanted at many k, take at(a)
  /// once.
  /// \throws PreconditionError unless k > 0 and a lies in the range of linear().growth()
  T operator()(T const& k, T const& a) const {
    expects(k > 0, "the wave number k, in h/Mpc, must be above 0", detail::plain(k));
    T const ln_k = detail::smooth_log(k);
    return at(a)(ln_k, ln_linear(ln_k));
  }

  /// ln of the linear P today at ln k, by a spline, to 5e-7.
  T ln_linear(T const& ln_k) const { return table_(ln_k); }

  /// The spectrum at the scale factor a.
  NonlinearPowerAt<T> at(T const& a) const {
    return detail::HalofitTable<T>{linear_.parameters(), lattice_, variance_.data()}.at(
        a, T(linear_.growth().d1(a) / d1_today_));
  }

 private:
  void tabulate() {
    std::vector<T> waves;
    for (int i = 0; i < lattice_.waves(); ++i) waves.push_back(lattice_.wave(i, table_.spline()));
    auto const weights = lattice_.weights();
    for (int r = 0; r < lattice_.radii(); ++r)
      variance_.push_back(
          detail::HalofitVariance<T>::at(lattice_, r, waves.data(), weights.data()));
  }

  LinearPower<T> linear_;
  detail::TabulatedPower<T> table_;
  T d1_today_;
  detail::HalofitLattice lattice_;
  std::vector<detail::HalofitVariance<T>> variance_;
};

}  // namespace coir::cosmology
