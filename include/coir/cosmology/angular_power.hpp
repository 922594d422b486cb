#pragma once

#include <coir/core/errors.hpp>
#include <coir/cosmology/background.hpp>
#include <coir/cosmology/detail/contract.hpp>
#include <coir/cosmology/detail/directions.hpp>
#include <coir/cosmology/detail/panels.hpp>
#include <coir/cosmology/detail/plain.hpp>
#include <coir/cosmology/detail/smooth.hpp>
#include <coir/cosmology/distance_table.hpp>
#include <coir/cosmology/nonlinear.hpp>
#include <coir/cosmology/power.hpp>
#include <coir/cosmology/tracers.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace coir::cosmology {

/// The angular power spectra C_l of all pairs of tracers at some l, in steradian.
template <class T = double>
class AngularSpectra {
 public:
  /// All 0.
  AngularSpectra(std::size_t tracers, std::vector<double> l)
      : tracers_(tracers), l_(std::move(l)), values_(l_.size() * pairs(), T(0)) {}

  std::size_t tracers() const { return tracers_; }
  /// n (n + 1) / 2 for n tracers
  std::size_t pairs() const { return tracers_ * (tracers_ + 1) / 2; }
  std::vector<double> const& l() const { return l_; }

  /// The place of the pair (i, j), in either order, among all pairs. Pairs are ordered as (0, 0),
  /// (0, 1), ..., (0, n - 1), (1, 1), ..., (n - 1, n - 1).
  std::size_t pair(std::size_t i, std::size_t j) const {
    auto const [low, high] = std::minmax(i, j);
    return low * tracers_ - low * (low + 1) / 2 + high;
  }

  /// C_l of the tracers i and j at the l of the number `at`.
  T const& operator()(std::size_t at, std::size_t i, std::size_t j) const {
    return values_[at * pairs() + pair(i, j)];
  }
  T& operator()(std::size_t at, std::size_t i, std::size_t j) {
    return values_[at * pairs() + pair(i, j)];
  }

  /// All numbers, pairs of one l beside each other.
  std::vector<T> const& values() const { return values_; }
  std::vector<T>& values() { return values_; }

 private:
  std::size_t tracers_;
  std::vector<double> l_;
  std::vector<T> values_;
};

/// Which P(k, a) spectra are made of.
enum class MatterPower {
  linear,
  halofit,  ///< NonlinearPower
};

struct AngularPowerOptions {
  MatterPower matter = MatterPower::halofit;
  TransferFunction transfer = TransferFunction::eisenstein_hu;
  /// The linear P(k) today in place of a transfer function. `transfer`, sigma8 and A_s aren't
  /// looked at then, and there are no derivatives with respect to the cosmology. Beyond the table's
  /// ends P(k) is continued by power laws. Halofit needs rows from 0.005 to 5 h/Mpc.
  std::optional<PowerTable> table;
  /// Panels of ten nodes along the line of sight. 0 takes panels_for() the tracers.
  int panels = 0;
};

namespace detail {

/// Whether sums over the nodes find int n dz and int n^2 dz of a table to 2e-6. Formulas are
/// smooth, and their panels are chosen by their widths.
template <class T>
bool resolve(Panels const& panels, RedshiftDistribution<T> const& n) {
  if (n.square() == 0) return true;
  double sum = 0, square = 0;
  for (std::size_t q = 0; q < panels.size(); ++q) {
    double const x = panels.x()[q], value = plain(n(std::expm1(x)));
    double const part = panels.weights()[q] * std::exp(x) * value;
    sum += part;
    square += part * value;
  }
  return std::abs(sum - 1) < 2e-6 && std::abs(square / n.square() - 1) < 2e-6;
}

}  // namespace detail

/// The number of panels that angular_power takes by itself: so many that each n(z) has a standard
/// deviation of 0.3 of a panel or more, but at least 12 and at most 64. Tables with edges or noise
/// ask for more, up to 300.
template <class T>
int panels_for(std::vector<Tracer<T>> const& tracers) {
  double end = 0, narrowest = 1;
  for (auto const& tracer : tracers) end = std::max(end, std::log1p(distribution(tracer).z_end()));
  for (auto const& tracer : tracers) {
    auto const& n = distribution(tracer);
    // Panels are equal in the root of ln(1 + z) / end.
    double const z = std::max(n.mean(), n.deviation());
    narrowest = std::min(narrowest, n.deviation() / (1 + z) / (2 * std::sqrt(std::log1p(z) * end)));
  }
  int panels = static_cast<int>(std::clamp(std::ceil(0.3 / narrowest), 12.0, 64.0));
  // Without its shift, by which a table may lose what lies below z = 0: no panels would find that.
  for (auto const& tracer : tracers) {
    auto const n = distribution(tracer).unshifted();
    double const farthest = std::max(end, std::log1p(n.z_end()));
    while (panels < 300 && !detail::resolve(detail::Panels(farthest, panels), n))
      panels = std::min(300, panels + panels / 4);
  }
  return panels;
}

namespace detail {

/// What the cosmology says at a node of the line of sight.
template <class T>
struct Sight {
  T rate;          ///< E
  T transverse;    ///< f_K, Mpc/h
  T slope;         ///< d f_K / d chi
  T faded_growth;  ///< D1(1) / D1(a)
};

/// d f_K / d chi: cosh or cos of chi / R.
template <class T>
KOKKOS_FUNCTION T transverse_slope(Parameters<T> const& p, T const& chi) {
  using std::cos, std::cosh, std::sqrt;
  T const scaled = chi / double(hubble_distance);
  T const u = p.omega_k * scaled * scaled;
  // The first term left out is u^5 / 10!.
  if (plain(u) < 0.01 && plain(u) > -0.01)
    return 1 + u / 2 * (1 + u / 12 * (1 + u / 30 * (1 + u / 56)));
  return u > 0 ? T(cosh(sqrt(u))) : T(cos(sqrt(-u)));
}

/// \param faded  D1(1) / D1(a)
template <class T>
KOKKOS_FUNCTION Sight<T> sight_at(Parameters<T> const& p, T const& a, T const& chi,
                                  T const& faded) {
  return {expansion_rate(p, a), transverse_of(p, chi), transverse_slope(p, chi), faded};
}

/// dchi / f_K^2 of a node with the weight of an integral over ln a.
template <class T>
KOKKOS_FUNCTION T weight_at(Sight<T> const& at, T const& a, double weight) {
  return (weight * hubble_distance) *
         smooth_inverse(T(a * at.rate * at.transverse * at.transverse));
}

/// W of counts, but for their bias.
template <class T>
KOKKOS_FUNCTION T counts_at(T const& n, Sight<T> const& at, BiasEvolution evolution) {
  T const w = n * at.rate * (1 / hubble_distance);
  return evolution == BiasEvolution::inverse_growth ? T(w * at.faded_growth) : w;
}

/// The factors of a bin of shapes that are those of all nodes.
template <class T>
struct ShapesFactors {
  T lensing, alignment, eta;
  double pivot;

  KOKKOS_FUNCTION ShapesFactors(T const& omega_m, T const& m, T const& aligned, T const& power,
                                double at)
      : eta(power), pivot(at) {
    // C1 = 5e-14 h^-2 Mpc^3 / M_sun by convention, and the critical density, 2.7754e11 h^2 M_sun /
    // Mpc^3.
    constexpr double c1_rho = 5e-14 * 2.7754e11;
    lensing = (1.5 / (hubble_distance * hubble_distance)) * omega_m * (1 + m);
    alignment = (-c1_rho / hubble_distance) * aligned * omega_m * (1 + m);
  }

  /// With f_K(chi' - chi) = f_K(chi') c(chi) - f_K(chi) c(chi'), c = d f_K / d chi, the efficiency
  /// g = int dz' n f_K(chi' - chi) / f_K(chi') comes from two integrals from chi on.
  ///
  /// \param x        ln (1 + z)
  /// \param n        by x
  /// \param sources  the integral of n from x on
  /// \param inverse  that of far(n)
  KOKKOS_FUNCTION T operator()(double x, T const& n, Sight<T> const& at, T const& sources,
                               T const& inverse) const {
    T w = std::exp(x) * lensing * at.transverse * (at.slope * sources - at.transverse * inverse);
    if (!all_zero(alignment))
      w += alignment * n * std::exp(-x) * at.rate * at.faded_growth *
           smooth_exp(T(eta * (x - std::log1p(pivot))));
    return w;
  }

  KOKKOS_FUNCTION static T far(T const& n, Sight<T> const& at) {
    return all_zero(n) ? T(0) : T(n * at.slope * smooth_inverse(at.transverse));
  }
};

/// W of a tracer at the nodes, without factors that depend on l.
template <class T>
std::vector<T> kernel(NumberCounts<T> const& counts, Parameters<T> const&, Panels const& panels,
                      std::vector<Sight<T>> const& sight) {
  std::vector<T> w(panels.size(), T(0));
  for (std::size_t q = 0; q < w.size(); ++q) {
    T const n = counts.n(std::expm1(panels.x()[q]));
    if (!all_zero(n)) w[q] = counts.bias * counts_at(n, sight[q], counts.evolution);
  }
  return w;
}

template <class T>
std::vector<T> kernel(WeakLensing<T> const& shapes, Parameters<T> const& p, Panels const& panels,
                      std::vector<Sight<T>> const& sight) {
  std::size_t const size = panels.size();
  ShapesFactors<T> const factors(p.omega_m, shapes.m, shapes.alignment, shapes.eta, shapes.pivot);
  std::vector<T> n(size), far(size), w(size);
  for (std::size_t q = 0; q < size; ++q) {
    double const x = panels.x()[q];
    n[q] = shapes.n(std::expm1(x)) * std::exp(x);  // by ln (1 + z)
    far[q] = factors.far(n[q], sight[q]);
  }
  std::vector<T> const sources = panels.beyond(n), inverse = panels.beyond(far);
  for (std::size_t q = 0; q < size; ++q)
    w[q] = factors(panels.x()[q], n[q], sight[q], sources[q], inverse[q]);
  return w;
}

/// What the cosmology says along the line of sight: at each node the numbers that kernels need, and
/// P / f_K^2 dchi with its derivatives at each l, by (node, l, part).
template <class C>
struct MatterAlongSight {
  using U = typename Directions<C>::Inner;

  std::vector<Sight<C>> sight;
  std::size_t parts;  ///< the value, and derivatives
  BlockedMatrix<U> power;
};

template <class C>
MatterAlongSight<C> matter_along_sight(Parameters<C> const& p, std::size_t derivatives,
                                       Panels const& panels, std::vector<double> const& l,
                                       AngularPowerOptions const& options) {
  double const a_min = std::exp(-panels.x().back()) * 0.999;
  DistanceTable<C> const distances(p, a_min);
  Growth<C> growth(p, a_min, 1);
  LinearPower<C> linear = options.table ? LinearPower<C>(std::move(growth), *options.table)
                                        : LinearPower<C>(std::move(growth), options.transfer);
  std::optional<NonlinearPower<C>> nonlinear;
  std::optional<TabulatedPower<C>> table;
  if (options.matter == MatterPower::halofit)
    nonlinear.emplace(linear);
  else
    table.emplace(linear);
  C const growth_today = linear.growth().d1(C(1));

  std::size_t const parts = 1 + derivatives;
  MatterAlongSight<C> result{{}, parts, {panels.size(), l.size() * parts}};
  for (std::size_t q = 0; q < panels.size(); ++q) {
    C const a(std::exp(-panels.x()[q]));
    C const faded = growth_today / linear.growth().d1(a);
    auto const at = sight_at(p, a, distances.chi(a), faded);
    expects(at.transverse > 0,
            "omega_k is so far below 0 that space closes before the farthest tracers",
            plain(p.omega_k));
    result.sight.push_back(at);
    C const weight = weight_at(at, a, panels.weights()[q]);
    C const ln_distance = smooth_log(at.transverse);
    std::optional<NonlinearPowerAt<C>> slice;
    if (nonlinear) slice.emplace(nonlinear->at(a));
    C const linear_weight = weight * smooth_inverse(C(faded * faded));
    std::size_t column = 0;
    for (double const multipole : l) {
      C const ln_k = std::log(multipole + 0.5) - ln_distance;
      C const power = slice ? C(weight * (*slice)(ln_k, nonlinear->ln_linear(ln_k)))
                            : C(linear_weight * smooth_exp((*table)(ln_k)));
      if constexpr (Directions<C>::wide > 0) {
        result.power(q, column++) = power.value;
        for (std::size_t d = 0; d < derivatives; ++d)
          result.power(q, column++) = power.derivative[d];
      } else {
        result.power(q, column++) = power;
      }
    }
  }
  return result;
}

/// A kernel as numbers without derivatives beside those along the directions that it depends on.
template <class T>
struct Kernel {
  using U = typename Directions<T>::Inner;

  explicit Kernel(std::vector<T> const& w) {
    if constexpr (Directions<T>::wide > 0) {
      for (T const& at : w) value.push_back(at.value);
      for (int d = 0; d < Directions<T>::wide; ++d) {
        std::vector<U> slope;
        bool varies = false;
        for (T const& at : w) {
          slope.push_back(at.derivative[d]);
          varies = varies || !all_zero(at.derivative[d]);
        }
        if (!varies) continue;
        directions.push_back(d);
        slopes.push_back(std::move(slope));
      }
    } else {
      value = w;
    }
  }

  std::vector<U> value;
  std::vector<int> directions;
  std::vector<std::vector<U>> slopes;
};

/// C_l = sum over nodes of W_i W_j P, by products of matrices along the nodes. Rows are products
/// W_i W_j, and columns are P at each l with its derivatives. Derivatives of W_i W_j are further
/// rows, for the directions that W_i or W_j depends on.
template <class T>
class Contraction {
  using C = typename Directions<T>::Narrow;
  using U = typename Directions<T>::Inner;
  static constexpr bool dual = Directions<T>::wide > 0;

 public:
  Contraction(std::vector<Kernel<T>> const& kernels, AngularSpectra<T>& spectra)
      : kernels_(kernels), spectra_(spectra), depth_(kernels.front().value.size()) {}

  /// Sets the values, and adds the derivatives along directions of P to the spectra's.
  void add_power(MatterAlongSight<C> const& matter, std::vector<int> const& directions) {
    std::vector<U> rows;
    for (std::size_t i = 0; i < kernels_.size(); ++i)
      for (std::size_t j = i; j < kernels_.size(); ++j)
        for (std::size_t q = 0; q < depth_; ++q)
          rows.push_back(kernels_[i].value[q] * kernels_[j].value[q]);
    BlockedMatrix<U> const sums = product(rows, matter.power);
    std::size_t const pairs = spectra_.pairs();
    for (std::size_t pair = 0; pair < pairs; ++pair)
      for (std::size_t at = 0; at < spectra_.l().size(); ++at) {
        T& c = spectra_.values()[at * pairs + pair];
        std::size_t const column = at * matter.parts;
        if constexpr (dual) {
          c.value = sums(pair, column);
          for (std::size_t d = 0; d < directions.size(); ++d)
            c.derivative[directions[d]] += sums(pair, column + 1 + d);
        } else {
          c = sums(pair, column);
        }
      }
  }

  /// Adds the derivatives that come from those of the kernels.
  void add_kernels([[maybe_unused]] MatterAlongSight<C> const& matter) {
    if constexpr (dual) {
      std::size_t const l = spectra_.l().size();
      BlockedMatrix<U> values(depth_, l);
      for (std::size_t q = 0; q < depth_; ++q)
        for (std::size_t at = 0; at < l; ++at) values(q, at) = matter.power(q, at * matter.parts);
      for (std::size_t i = 0; i < kernels_.size(); ++i) add_kernels_of(i, values);
    }
  }

 private:
  /// Adds those of the pairs (i, j) with j >= i.
  void add_kernels_of(std::size_t i, BlockedMatrix<U> const& power) {
    std::vector<U> rows;
    std::vector<std::pair<std::size_t, int>> slope_of;
    for (std::size_t j = i; j < kernels_.size(); ++j)
      for (int const d : either(kernels_[i], kernels_[j])) {
        slope_of.emplace_back(spectra_.pair(i, j), d);
        rows.resize(rows.size() + depth_, U(0));
        U* const row = rows.data() + rows.size() - depth_;
        add_slope(kernels_[i], d, kernels_[j], row);
        add_slope(kernels_[j], d, kernels_[i], row);
      }
    if (rows.empty()) return;
    BlockedMatrix<U> const sums = product(rows, power);
    for (std::size_t row = 0; row < slope_of.size(); ++row) {
      auto const [pair, d] = slope_of[row];
      for (std::size_t at = 0; at < spectra_.l().size(); ++at)
        spectra_.values()[at * spectra_.pairs() + pair].derivative[d] += sums(row, at);
    }
  }

  static std::vector<int> either(Kernel<T> const& a, Kernel<T> const& b) {
    std::vector<int> result;
    std::set_union(a.directions.begin(), a.directions.end(), b.directions.begin(),
                   b.directions.end(), std::back_inserter(result));
    return result;
  }

  /// row += (da / d direction) b
  static void add_slope(Kernel<T> const& a, int direction, Kernel<T> const& b, U* row) {
    auto const found = std::find(a.directions.begin(), a.directions.end(), direction);
    if (found == a.directions.end()) return;
    auto const& slope = a.slopes[static_cast<std::size_t>(found - a.directions.begin())];
    for (std::size_t q = 0; q < slope.size(); ++q) row[q] += slope[q] * b.value[q];
  }

  std::vector<Kernel<T>> const& kernels_;
  AngularSpectra<T>& spectra_;
  std::size_t depth_;
};

/// sqrt((l+2)! / (l-2)!) / (l + 1/2)^2 for shapes, 1 for counts.
inline double spin_factor(double l, bool shapes) {
  return shapes ? std::sqrt((l + 2) * (l + 1) * l * (l - 1)) / ((l + 0.5) * (l + 0.5)) : 1;
}

/// \param number  the tracer's, from 0
template <class T>
void expects_tracer(Tracer<T> const& tracer, std::size_t number) {
  auto const expects_of = [number](bool holds, char const* name, char const* rule, double value) {
    auto const requirement = [=] {
      return std::string(name) + " of tracer " + std::to_string(number) + " must be " + rule;
    };
    expects(holds, requirement, value);
  };
  auto const expects_finite = [&](T const& x, char const* name) {
    expects_of(std::isfinite(plain(x)), name, "finite", plain(x));
  };
  if (auto const* const counts = std::get_if<NumberCounts<T>>(&tracer)) {
    expects_finite(counts->bias, "the bias");
    return;
  }
  auto const& shapes = std::get<WeakLensing<T>>(tracer);
  expects_finite(shapes.m, "m");
  expects_finite(shapes.alignment, "alignment");
  expects_finite(shapes.eta, "eta");
  expects_of(shapes.pivot > -1 && std::isfinite(shapes.pivot), "pivot", "above -1 and finite",
             shapes.pivot);
}

template <class T>
void expects_spectra(std::vector<Tracer<T>> const& tracers, std::vector<double> const& l,
                     AngularPowerOptions const& options) {
  expects(!tracers.empty(), "spectra need one tracer at least");
  for (std::size_t i = 0; i < tracers.size(); ++i) expects_tracer(tracers[i], i);
  expects(!l.empty(), "spectra need one l at least");
  for (double const multipole : l)
    expects(multipole >= 2 && std::isfinite(multipole), "l must be at least 2 and finite",
            multipole);
  expects(options.panels >= 0 && options.panels <= 1000,
          "panels must be from 1 to 1000, or 0 for as many as the n(z) ask for", options.panels);
}

}  // namespace detail

/// The angular power spectra of all pairs of tracers by Limber's approximation,
///
///   C_l = int dchi W_i W_j / f_K^2 P(k = (l + 1/2) / f_K, a)
///
/// with kernels by chi, z and a being functions of chi along the past light cone,
///
///   counts      W = b n(z) E / (c/H0)
///   shear       W = 3/2 omega_m (H0/c)^2 (1 + z) f_K int_z dz' n(z') f_K(chi' - chi) / f_K(chi')
///   alignment   W = -A(z) C1 rho_crit omega_m D1(1) / D1(a) n(z) E / (c/H0), C1 rho_crit = 0.01388
///
/// A tracer of shapes has the sum of the last two, times 1 + m and, for its spin,
/// sqrt((l+2)!/(l-2)!) / (l + 1/2)^2. Noise isn't part of C_l.
///
/// For l from 10 to 3000, Gaussian or Smail n(z) no narrower than 0.03 (1 + z), and tables with
/// rows 0.01 apart, the sums are within 1e-5 sqrt(C_ii C_jj) of the integrals. The error of
/// Limber's approximation itself is larger where l is small and n(z) narrow.
///
/// If T is a dual number, the derivatives with respect to all parameters come in the same pass.
/// Derivatives along directions in which the cosmology doesn't vary, such as biases, cost little.
///
/// \param l  at least 2; whole numbers or not
/// \throws PreconditionError naming the parameter, the tracer, the l or the option that is at fault
/// \see LoVerde, Afshordi, Phys. Rev. D 78, 123506 (2008); for the spin Kilbinger et al.,
///   Mon. Not. R. Astron. Soc. 472, 2126 (2017)
template <class T>
AngularSpectra<T> angular_power(Parameters<T> const& p, std::vector<Tracer<T>> const& tracers,
                                std::vector<double> const& l,
                                AngularPowerOptions const& options = {}) {
  using namespace detail;
  expects_spectra(tracers, l, options);
  double end = 0;
  for (auto const& tracer : tracers) {
    double const z_end = distribution(tracer).z_end();
    expects(z_end > 0, "n(z) is shifted below z = 0 as a whole: its end must be above 0", z_end);
    end = std::max(end, std::log1p(z_end));
  }
  Panels const panels(end, options.panels > 0 ? options.panels : panels_for(tracers));

  auto const lists = varied_directions(p);
  expects(
      !options.table || lists.front().empty(),
      "a table of P(k) has no derivatives with respect to the cosmology: take a transfer function, "
      "or parameters without derivatives");
  std::vector<MatterAlongSight<typename Directions<T>::Narrow>> matter;
  std::vector<Sight<T>> sight(panels.size(), Sight<T>{T(0), T(0), T(0), T(0)});
  for (auto const& directions : lists) {
    matter.push_back(
        matter_along_sight(narrowed(p, directions), directions.size(), panels, l, options));
    for (std::size_t q = 0; q < sight.size(); ++q) {
      auto const& at = matter.back().sight[q];
      widen(at.rate, directions, sight[q].rate);
      widen(at.transverse, directions, sight[q].transverse);
      widen(at.slope, directions, sight[q].slope);
      widen(at.faded_growth, directions, sight[q].faded_growth);
    }
  }

  std::vector<Kernel<T>> kernels;
  for (auto const& tracer : tracers)
    kernels.emplace_back(
        std::visit([&](auto const& t) { return kernel(t, p, panels, sight); }, tracer));
  AngularSpectra<T> spectra(tracers.size(), l);
  Contraction<T> contraction(kernels, spectra);
  for (std::size_t pass = 0; pass < lists.size(); ++pass)
    contraction.add_power(matter[pass], lists[pass]);
  contraction.add_kernels(matter.front());

  for (std::size_t at = 0; at < l.size(); ++at)
    for (std::size_t i = 0; i < tracers.size(); ++i)
      for (std::size_t j = i; j < tracers.size(); ++j) {
        auto const shapes = [&](std::size_t t) {
          return std::holds_alternative<WeakLensing<T>>(tracers[t]);
        };
        if (shapes(i) || shapes(j))
          spectra(at, i, j) *= spin_factor(l[at], shapes(i)) * spin_factor(l[at], shapes(j));
      }
  return spectra;
}

/// Adds each tracer's noise to its own spectrum.
/// \throws PreconditionError as noise() does, or unless there are as many tracers as spectra have
template <class T>
AngularSpectra<T> with_noise(AngularSpectra<T> spectra, std::vector<Tracer<T>> const& tracers) {
  expects(tracers.size() == spectra.tracers(),
          "with_noise takes the tracers of the spectra, " + in_words(spectra.tracers()),
          tracers.size());
  for (std::size_t i = 0; i < tracers.size(); ++i) {
    double const added = noise(tracers[i]);
    for (std::size_t at = 0; at < spectra.l().size(); ++at) spectra(at, i, i) += added;
  }
  return spectra;
}

}  // namespace coir::cosmology
