#pragma once

/// \file
/// The growth of small fluctuations of matter, to first and second order.

#include <coir/core/errors.hpp>
#include <coir/cosmology/background.hpp>
#include <coir/cosmology/parameters.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
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
    Coefficients const c = coefficients(a);
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
  static constexpr double steps_per_unit = 128;  // of ln a

  /// G1 = D1/a and G2 = D2/a^2 with their first and second derivatives.
  struct Node {
    T g1, g1_prime, g1_second;
    T g2, g2_prime, g2_second;
  };
  struct Interpolated {
    T g1, g1_prime, g2, g2_prime;
  };
  struct Coefficients {
    T slope;   ///< E'/E
    T matter;  ///< 3/2 omega_m(a)
    T excess;  ///< 3 + slope - matter without cancellation; 0 with matter alone
  };

  Coefficients coefficients(T const& a) const {
    auto const d = detail::densities(parameters_, a);
    T const e2 = d.sum();
    return {
        T((-3 * d.matter - 2 * d.curvature - 4 * d.radiation +
           d.dark_energy_slope * d.dark_energy) /
          (2 * e2)),
        T(3 * d.matter / (2 * e2)),
        T((2 * d.curvature + d.radiation + d.dark_energy * (3 + d.dark_energy_slope / 2)) / e2)};
  }

  static void set_second(Coefficients const& c, Node& n) {
    n.g1_second = -(4 + c.slope) * n.g1_prime - c.excess * n.g1;
    n.g2_second =
        c.matter * n.g1 * n.g1 - (6 + c.slope) * n.g2_prime - (5 + c.slope + c.excess) * n.g2;
  }

  /// `from` moved by h along the derivatives that `slope` has.
  static Node moved(Node const& from, Node const& slope, double h) {
    Node n = from;
    n.g1 += h * slope.g1_prime;
    n.g1_prime += h * slope.g1_second;
    n.g2 += h * slope.g2_prime;
    n.g2_prime += h * slope.g2_second;
    return n;
  }

  /// One step of Runge and Kutta's method, given the coefficients half way and at its end.
  static Node stepped(Node const& k1, Coefficients const& middle, Coefficients const& end,
                      double h) {
    Node k2 = moved(k1, k1, h / 2);
    set_second(middle, k2);
    Node k3 = moved(k1, k2, h / 2);
    set_second(middle, k3);
    Node k4 = moved(k1, k3, h);
    set_second(end, k4);
    Node n = moved(k1, k1, h / 6);
    n = moved(n, k2, h / 3);
    n = moved(n, k3, h / 3);
    n = moved(n, k4, h / 6);
    set_second(end, n);
    return n;
  }

  /// The hypergeometric series sum_i (p)_i (q)_i / ((s)_i i!) z^i for p, q, s > 0 and 0 <= z < 1.
  /// For small z of either sign it is right to first order.
  static T hypergeometric(T const& p, T const& q, T const& s, T const& z) {
    constexpr int most = 1'000'000;
    T term(1), sum(1);
    for (int i = 0; i < most; ++i) {
      T const k(i);
      term *= (p + k) * (q + k) / ((s + k) * (k + 1)) * z;
      sum += term;
      double const size = std::abs(detail::plain(term)), of = std::abs(detail::plain(sum));
      // Terms rise before they fall. In the end the ratio of two terms is below z.
      if (!(size * std::max(1.0, 1 / (1 - detail::plain(z))) > 1e-17 * of)) return sum;
    }
    return T(std::numeric_limits<double>::infinity());
  }

  /// D1/a and its derivative for matter and u = omega_x a^n / omega_m of a component with omega_x
  /// a^(n-3).
  static std::array<T, 2> growth_beside(T const& n, T const& u) {
    using std::exp, std::log;
    T const p = 1 / n, q = T(0.5 + 1.5 / n), s = T(1 + 2.5 / n);
    if (detail::plain(u) < 0) {
      T const z = -u;
      return {hypergeometric(p, q, s, z),
              T(-n * u * (p * q / s) * hypergeometric(T(p + 1), T(q + 1), T(s + 1), z))};
    }
    // By Pfaff's transformation all terms are above 0.
    T const z = u / (1 + u), power = exp(-p * log(1 + u)), rest = s - q;
    return {T(power * hypergeometric(p, rest, s, z)),
            T(-n * z * (p * q / s) * power * hypergeometric(T(p + 1), rest, T(s + 1), z))};
  }

  /// Whether dark energy falls so slowly against matter that the start must be early.
  bool starts_early() const {
    return detail::plain(parameters_.w0) + detail::plain(parameters_.wa) > -0.3 &&
           detail::plain(parameters_.omega_de()) != 0;
  }

  Node start_in_matter(double a) const {
    using std::exp, std::pow;
    auto const& p = parameters_;
    T const n = -3 * (p.w0 + p.wa);
    auto const [g1, g1_prime] =
        growth_beside(n, T(p.omega_de() / p.omega_m * exp(-3 * p.wa) * pow(T(a), n)));
    expects(detail::plain(g1) > 1e-30 && std::isfinite(detail::plain(g1)),
            "w0 + wa must be further below 0, or omega_r above it: dark energy is as important as "
            "matter from the "
            "beginning, and growth can't be normalised to matter's",
            detail::plain(p.w0) + detail::plain(p.wa));
    T const curvature = T(-4.0 / 7 * a * p.omega_k / p.omega_m);
    Node node{T(g1 * (1 + curvature)),
              T(g1_prime * (1 + curvature) + g1 * curvature),
              T(0),
              T(0),
              T(0),
              T(0)};
    Coefficients const c = coefficients(T(a));
    set_second(c, node);
    // D2 / D1^2 hardly depends on the components beside matter. An error falls as 1 / a.
    T const rate = node.g1_prime / node.g1;
    T const rate_prime = node.g1_second / node.g1 - rate * rate;
    node.g2 =
        c.matter * node.g1 * node.g1 /
        (4 * rate * rate + 2 * rate_prime + 2 * rate * (6 + c.slope) + 5 + c.slope + c.excess);
    node.g2_prime = 2 * rate * node.g2;
    return node;
  }

  /// D1 = a_eq (y + 2/3), D2 = a_eq^2 (2/3 y + 1/2 y^2 - 1/36 y^3 + ...) with y = a / a_eq.
  Node start_in_radiation(double a) const {
    T const y = a * parameters_.omega_m / parameters_.omega_r;
    T const g1_below_1 = 2 / (3 * y);
    T const g2_below_1 = 2 / (3 * y);
    return {T(1 + g1_below_1),
            T(-g1_below_1),
            T(0),
            T(g2_below_1 + 0.5 - y / 36),
            T(-g2_below_1 - y / 36),
            T(0)};
  }

  void tabulate() {
    double const omega_r = detail::plain(parameters_.omega_r);
    double const a_eq = omega_r / detail::plain(parameters_.omega_m);
    bool const radiation = omega_r > 0;
    double const start = radiation ? std::min({1e-6, a_min_, 1e-3 * a_eq})
                         : starts_early()
                             ? std::min(a_min_, std::max(1e-12, std::min(1e-9, 1e-6 * a_min_)))
                             : std::min(1e-6, a_min_);
    Node node = radiation ? start_in_radiation(start) : start_in_matter(start);
    set_second(coefficients(T(start)), node);

    double const x_start = std::log(start), x_end = std::log(a_max_), x_min = std::log(a_min_);
    auto const steps = static_cast<std::size_t>(std::ceil((x_end - x_start) * steps_per_unit));
    step_ = (x_end - x_start) / static_cast<double>(steps);
    auto const before = static_cast<std::size_t>(std::max(0.0, (x_min - x_start) / step_ - 1e-6));
    first_ = x_start + static_cast<double>(before) * step_;
    nodes_.reserve(steps + 1 - before);
    if (before == 0) nodes_.push_back(node);
    for (std::size_t i = 1; i <= steps; ++i) {
      double const x = x_start + static_cast<double>(i) * step_;
      node = stepped(node, coefficients(T(std::exp(x - step_ / 2))), coefficients(T(std::exp(x))),
                     step_);
      if (i >= before) nodes_.push_back(node);
    }
    expects(std::isfinite(detail::plain(node.g2)),
            "the growth functions overflow for omega_r this close to 0: set it to 0, or use double",
            omega_r);
  }

  /// Cubic, from values and slopes at both ends of a step.
  static T hermite(T const& s, T const& f0, T const& slope0, T const& f1, T const& slope1) {
    T const rise = f1 - f0;
    T const c2 = 3 * rise - 2 * slope0 - slope1;
    T const c3 = slope0 + slope1 - 2 * rise;
    return f0 + s * (slope0 + s * (c2 + s * c3));
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
    T const position = (log(a) - first_) / step_;
    auto const last = static_cast<double>(nodes_.size() - 2);
    auto const i = static_cast<std::size_t>(std::clamp(detail::plain(position), 0.0, last));
    T const s = position - static_cast<double>(i);
    Node const& left = nodes_[i];
    Node const& right = nodes_[i + 1];
    auto const h = static_cast<T>(step_);
    return {
        hermite(s, left.g1, T(h * left.g1_prime), right.g1, T(h * right.g1_prime)),
        hermite(s, left.g1_prime, T(h * left.g1_second), right.g1_prime, T(h * right.g1_second)),
        hermite(s, left.g2, T(h * left.g2_prime), right.g2, T(h * right.g2_prime)),
        hermite(s, left.g2_prime, T(h * left.g2_second), right.g2_prime, T(h * right.g2_second))};
  }

  Parameters<T> parameters_;
  double a_min_;
  double a_max_;
  double first_ = 0;  ///< ln a of the first node
  double step_ = 0;   ///< between nodes, in ln a
  std::vector<Node> nodes_;
};

}  // namespace coir::cosmology
