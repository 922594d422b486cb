#pragma once

#include <coir/core/math.hpp>
#include <coir/cosmology/background.hpp>
#include <coir/cosmology/parameters.hpp>

#include <cmath>
#include <limits>

namespace coir::cosmology::detail {

/// G1 = D1/a and G2 = D2/a^2 with their first and second derivatives by ln a.
template <class T>
struct GrowthNode {
  T g1, g1_prime, g1_second;
  T g2, g2_prime, g2_second;
};

/// Where the steps of the equations of growth are: number i, from 0 to `steps`, is at ln a = start
/// + i step. Those from `before` on are kept.
struct GrowthSteps {
  double start, step;
  int steps, before;

  KOKKOS_FUNCTION double first() const { return start + before * step; }
  KOKKOS_FUNCTION int kept() const { return steps + 1 - before; }
};

/// The equations of growth, see Growth, and the steps that solve them.
template <class T>
class GrowthEquations {
 public:
  using Node = GrowthNode<T>;

  KOKKOS_FUNCTION explicit GrowthEquations(Parameters<T> const& p) : parameters_(p) {}

  struct Coefficients {
    T slope;   ///< E'/E
    T matter;  ///< 3/2 omega_m(a)
    T excess;  ///< 3 + slope - matter without cancellation; 0 with matter alone
  };

  KOKKOS_FUNCTION Coefficients coefficients(T const& a) const {
    auto const d = densities(parameters_, a);
    T const e2 = d.sum();
    return {
        T((-3 * d.matter - 2 * d.curvature - 4 * d.radiation +
           d.dark_energy_slope * d.dark_energy) /
          (2 * e2)),
        T(3 * d.matter / (2 * e2)),
        T((2 * d.curvature + d.radiation + d.dark_energy * (3 + d.dark_energy_slope / 2)) / e2)};
  }

  /// Steps that begin early enough for solutions by series, and reach from a_min to a_max.
  KOKKOS_FUNCTION GrowthSteps steps(double a_min, double a_max) const {
    constexpr double steps_per_unit = 128;  // of ln a
    double const omega_r = plain(parameters_.omega_r);
    double const a_eq = omega_r / plain(parameters_.omega_m);
    using math::fmax, math::fmin;
    double const start = omega_r > 0      ? fmin(fmin(1e-6, a_min), 1e-3 * a_eq)
                         : starts_early() ? fmin(a_min, fmax(1e-12, fmin(1e-9, 1e-6 * a_min)))
                                          : fmin(1e-6, a_min);
    GrowthSteps result{};
    result.start = std::log(start);
    double const range = std::log(a_max) - result.start;
    result.steps = static_cast<int>(std::ceil(range * steps_per_unit));
    result.step = range / result.steps;
    double const before = (std::log(a_min) - result.start) / result.step - 1e-6;
    result.before = static_cast<int>(fmax(0.0, before));
    return result;
  }

  KOKKOS_FUNCTION Node first(GrowthSteps const& steps) const {
    double const a = std::exp(steps.start);
    Node node = plain(parameters_.omega_r) > 0 ? start_in_radiation(a) : start_in_matter(a);
    set_second(coefficients(T(a)), node);
    return node;
  }

  /// Node i from node i - 1.
  KOKKOS_FUNCTION Node next(GrowthSteps const& steps, int i, Node const& last) const {
    double const x = steps.start + i * steps.step;
    return stepped(last, coefficients(T(std::exp(x - steps.step / 2))),
                   coefficients(T(std::exp(x))), steps.step);
  }

 private:
  KOKKOS_FUNCTION static void set_second(Coefficients const& c, Node& n) {
    n.g1_second = -(4 + c.slope) * n.g1_prime - c.excess * n.g1;
    n.g2_second =
        c.matter * n.g1 * n.g1 - (6 + c.slope) * n.g2_prime - (5 + c.slope + c.excess) * n.g2;
  }

  /// `from` moved by h along the derivatives that `slope` has.
  KOKKOS_FUNCTION static Node moved(Node const& from, Node const& slope, double h) {
    Node n = from;
    n.g1 += h * slope.g1_prime;
    n.g1_prime += h * slope.g1_second;
    n.g2 += h * slope.g2_prime;
    n.g2_prime += h * slope.g2_second;
    return n;
  }

  /// One step of Runge and Kutta's method, given the coefficients half way and at its end.
  KOKKOS_FUNCTION static Node stepped(Node const& k1, Coefficients const& middle,
                                      Coefficients const& end, double h) {
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
  KOKKOS_FUNCTION static T hypergeometric(T const& p, T const& q, T const& s, T const& z) {
    constexpr int most = 1'000'000;
    T term(1), sum(1);
    for (int i = 0; i < most; ++i) {
      T const k(i);
      term *= (p + k) * (q + k) / ((s + k) * (k + 1)) * z;
      sum += term;
      double const size = math::abs(plain(term)), of = math::abs(plain(sum));
      // Terms rise before they fall. In the end the ratio of two terms is below z.
      if (!(size * math::fmax(1.0, 1 / (1 - plain(z))) > 1e-17 * of)) return sum;
    }
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return T(double(infinity));
  }

  struct Beside {
    T g1, g1_prime;
  };

  /// D1/a and its derivative for matter and u = omega_x a^n / omega_m of a component with omega_x
  /// a^(n-3).
  KOKKOS_FUNCTION static Beside growth_beside(T const& n, T const& u) {
    using std::exp, std::log;
    T const p = 1 / n, q = T(0.5 + 1.5 / n), s = T(1 + 2.5 / n);
    if (plain(u) < 0) {
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
  KOKKOS_FUNCTION bool starts_early() const {
    return plain(parameters_.w0) + plain(parameters_.wa) > -0.3 &&
           plain(parameters_.omega_de()) != 0;
  }

  /// g1 is NaN or 0 if dark energy is as important as matter from the beginning.
  KOKKOS_FUNCTION Node start_in_matter(double a) const {
    using std::exp, std::pow;
    auto const& p = parameters_;
    T const n = -3 * (p.w0 + p.wa);
    auto const [g1, g1_prime] =
        growth_beside(n, T(p.omega_de() / p.omega_m * exp(-3 * p.wa) * pow(T(a), n)));
    if (!(plain(g1) > 1e-30)) return {T(0), T(0), T(0), T(0), T(0), T(0)};
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
  KOKKOS_FUNCTION Node start_in_radiation(double a) const {
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

  Parameters<T> parameters_;
};

/// Cubic, from values and slopes at both ends of a step.
template <class T>
KOKKOS_FUNCTION T hermite(T const& s, T const& f0, T const& slope0, T const& f1, T const& slope1) {
  T const rise = f1 - f0;
  T const c2 = 3 * rise - 2 * slope0 - slope1;
  T const c3 = slope0 + slope1 - 2 * rise;
  return f0 + s * (slope0 + s * (c2 + s * c3));
}

}  // namespace coir::cosmology::detail
