#pragma once

/// \file
/// The growth of small fluctuations of matter, to first and second order.

#include <coir/core/errors.hpp>
#include <coir/cosmology/background.hpp>
#include <coir/cosmology/detail/growth_steps.hpp>
#include <coir/cosmology/parameters.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace coir::cosmology {

/// The growth functions at one a, and their derivatives with respect to ln a.
template <class T = double>
struct GrowthValues {
  T d1;
  T d1_prime;
  T d1_second;
  T d2;
  T d2_prime;
  T d2_second;
};

/// The growth functions D1 and D2 over a range of scale factors. With ' = d/d ln a,
///
///   D1'' + (2 + E'/E) D1' - 3/2 omega_m(a) D1 = 0
///   D2'' + (2 + E'/E) D2' - 3/2 omega_m(a) D2 = 3/2 omega_m(a) D1^2
///
/// They are not normalised to today: where matter dominates D1 -> a and D2 -> 3/7 a^2. A linear
/// density is D1 delta. Lagrangian displacements are D1 s1 + D2 s2, and both D are above 0.
///
/// The equations are solved for D1/a and D2/a^2, which are constant with matter alone, by the
/// classical Runge-Kutta method with steps of 1/128 in ln a, and interpolated by cubics. Errors:
///
///   double           1e-9 D1 of D1, D1', D1'';  6e-9 D2 of D2, D2', D2''
///   w0 + wa > -0.3   1e-8 of each, unless dark energy outweighs matter at the start
///   float            2e-5 D1;  1e-4 D2
///
/// If a is a dual number, derivatives with respect to a are slopes of the cubics, to 1e-7.
///
/// The start is at a = 1e-6, or at 1e-9 for w0 + wa > -0.3. Dark energy then has the constant
/// w = w0 + wa. The growing solution for it and matter is
///
///   D1 = a F(1/n, 1/2 + 3/(2n); 1 + 5/(2n); -u),  F by Gauss' hypergeometric series,
///   n = -3 w,  u = omega_de exp(-3 wa) / omega_m a^n,
///
/// times the first order of curvature, 1 - 4/7 omega_k / omega_m a; D2 is in proportion to D1^2.
/// With radiation the start is at a thousandth of a_eq = omega_r / omega_m, or earlier, with the
/// solution for matter and radiation that doesn't cluster: D1 = a + 2/3 a_eq, and the D2 that is 0
/// at a = 0. Derivatives with respect to omega_r need omega_r > 0.
///
/// \see Bernardeau et al., Phys. Rep. 367, 1 (2002), sections 2.4 and 2.7; Silveira & Waga, Phys.
///   Rev. D 50, 4890 (1994), for dark energy; Meszaros, Astron. Astrophys. 37, 225 (1974), for
///   radiation
template <class T = double>
class Growth {
 public:
  /// Solves the equations.
  ///
  /// \param a_min, a_max  the range in which they can be evaluated, 0 < a_min < a_max
  /// \throws PreconditionError as expects_background; if the range is empty; without radiation, if
  ///   w0 + wa is above about -0.002, so that matter never dominates; in float, if omega_r is below
  ///   about 1e-8, so that E^2 overflows at the start
  explicit Growth(Parameters<T> const& parameters, double a_min = 1e-3, double a_max = 1)
      : parameters_(parameters), a_min_(a_min), a_max_(a_max) {
    expects(a_min > 0 && a_min < a_max && std::isfinite(a_max),
            "a_min and a_max must be numbers with 0 < a_min < a_max, not " + in_words(a_min) +
                " and " + in_words(a_max));
    expects_background(parameters, a_max);
    tabulate();
  }

  Parameters<T> const& parameters() const { return parameters_; }
  double a_min() const { return a_min_; }
  double a_max() const { return a_max_; }

  /// All growth functions at a.
  /// \throws PreconditionError unless a lies in [a_min, a_max]
  GrowthValues<T> at(T const& a) const {
    Interpolated const g = interpolate(a);
    T const a2 = a * a;
    GrowthValues<T> v;
    v.d1 = a * g.g1;
    v.d1_prime = a * (g.g1 + g.g1_prime);
    v.d2 = a2 * g.g2;
    v.d2_prime = a2 * (2 * g.g2 + g.g2_prime);
    auto const c = detail::GrowthEquations<T>(parameters_).coefficients(a);
    v.d1_second = c.matter * v.d1 - (2 + c.slope) * v.d1_prime;
    v.d2_second = c.matter * (v.d2 + v.d1 * v.d1) - (2 + c.slope) * v.d2_prime;
    return v;
  }

  /// D1, its derivatives with respect to ln a, and the growth rate f1 = D1' / D1 = d ln D1 / d ln
  /// a.
  T d1(T const& a) const { return a * interpolate(a).g1; }
  T d1_prime(T const& a) const { return at(a).d1_prime; }
  T d1_second(T const& a) const { return at(a).d1_second; }
  T f1(T const& a) const {
    Interpolated const g = interpolate(a);
    return 1 + g.g1_prime / g.g1;
  }

  /// D2 and its derivatives.
  T d2(T const& a) const { return a * a * interpolate(a).g2; }
  T d2_prime(T const& a) const { return at(a).d2_prime; }
  T d2_second(T const& a) const { return at(a).d2_second; }
  T f2(T const& a) const {
    Interpolated const g = interpolate(a);
    return 2 + g.g2_prime / g.g2;
  }

  /// The growth of first-order momenta p = a^2 dx/dt: a^2 E D1'.
  T momentum(T const& a) const { return a * a * expansion_rate(parameters_, a) * d1_prime(a); }

 private:
  using Node = detail::GrowthNode<T>;
  struct Interpolated {
    T g1, g1_prime, g2, g2_prime;
  };

  void tabulate() {
    detail::GrowthEquations<T> const equations(parameters_);
    steps_ = equations.steps(a_min_, a_max_);
    nodes_.reserve(static_cast<std::size_t>(steps_.kept()));
    Node node = equations.first(steps_);
    expects(detail::plain(node.g1) > 1e-30 && std::isfinite(detail::plain(node.g1)),
            "w0 + wa must be further below 0, or omega_r above it: dark energy is as important as "
            "matter from the "
            "beginning, and growth can't be normalised to matter's",
            detail::plain(parameters_.w0) + detail::plain(parameters_.wa));
    if (steps_.before == 0) nodes_.push_back(node);
    for (int i = 1; i <= steps_.steps; ++i) {
      node = equations.next(steps_, i, node);
      if (i >= steps_.before) nodes_.push_back(node);
    }
    expects(std::isfinite(detail::plain(node.g2)),
            "the growth functions overflow for omega_r this close to 0: set it to 0, or use double",
            detail::plain(parameters_.omega_r));
  }

  Interpolated interpolate(T const& a) const {
    using std::log;
    double const at = detail::plain(a);
    // Adding up steps may change the last bits of a.
    constexpr double slack = 1e-6;
    if (!(at >= a_min_ * (1 - slack) && at <= a_max_ * (1 + slack)))
      expects(false, "a = " + in_words(at) + " is outside of the growth functions' range [" +
                         in_words(a_min_) + ", " + in_words(a_max_) +
                         "]: construct Growth with a_min and a_max around it");
    T const position = (log(a) - steps_.first()) / steps_.step;
    auto const last = static_cast<double>(nodes_.size() - 2);
    auto const i = static_cast<std::size_t>(std::clamp(detail::plain(position), 0.0, last));
    T const s = position - static_cast<double>(i);
    Node const& left = nodes_[i];
    Node const& right = nodes_[i + 1];
    auto const h = static_cast<T>(steps_.step);
    return {detail::hermite(s, left.g1, T(h * left.g1_prime), right.g1, T(h * right.g1_prime)),
            detail::hermite(s, left.g1_prime, T(h * left.g1_second), right.g1_prime,
                            T(h * right.g1_second)),
            detail::hermite(s, left.g2, T(h * left.g2_prime), right.g2, T(h * right.g2_prime)),
            detail::hermite(s, left.g2_prime, T(h * left.g2_second), right.g2_prime,
                            T(h * right.g2_second))};
  }

  Parameters<T> parameters_;
  double a_min_;
  double a_max_;
  detail::GrowthSteps steps_{};
  std::vector<Node> nodes_;
};

}  // namespace coir::cosmology
