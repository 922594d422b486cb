#pragma once

#include <coir/core/dual.hpp>
#include <coir/core/errors.hpp>
#include <coir/cosmology/detail/plain.hpp>
#include <coir/cosmology/detail/smooth.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace coir::cosmology {

namespace detail {

/// The formula of Smail et al.
template <class T>
struct SmailShape {
  T alpha, beta, z0;

  KOKKOS_FUNCTION T operator()(T const& z, T const& ln_norm) const {
    if (!(z > 0)) return T(0);
    T const ln_z = smooth_log(z);
    return smooth_exp(T(alpha * ln_z - smooth_exp(T(beta * (ln_z - smooth_log(z0)))) - ln_norm));
  }
};

template <class T>
struct GaussianShape {
  T mean, sigma;

  KOKKOS_FUNCTION T operator()(T const& z, T const& ln_norm) const {
    if (!(z >= 0)) return T(0);
    T const x = (z - mean) * smooth_inverse(sigma);
    return smooth_exp(T(-0.5 * x * x - ln_norm));
  }
};

/// A table in memory of others, which has `rows` rows: see RedshiftDistribution::table.
struct TableShape {
  double const *z, *n, *slope;
  int rows;

  template <class T>
  KOKKOS_FUNCTION T operator()(T const& x, T const& ln_norm) const {
    double const at = plain(x);
    if (!(at >= z[0]) || at >= z[rows - 1]) return T(0);
    int i = 0, last = rows - 2;
    while (i < last) {
      int const middle = (i + last + 1) / 2;
      if (at < z[middle])
        last = middle - 1;
      else
        i = middle;
    }
    double const h = z[i + 1] - z[i], rise = n[i + 1] - n[i];
    double const from = h * slope[i], to = h * slope[i + 1];
    T const s = (x - z[i]) / h;
    return (n[i] + s * (from + s * ((3 * rise - 2 * from - to) + s * (from + to - 2 * rise)))) *
           smooth_exp(T(-ln_norm));
  }
};

struct DistributionParts;

}  // namespace detail

/// The distribution n(z) of galaxies in redshift: int n dz = 1 over all z >= 0.
///
///     auto const bin = RedshiftDistribution<>::gaussian(0.5, 0.05).shifted(0.01);
///
/// A shift moves n to n(z - shift) and doesn't normalise it again: what moves below z = 0 is lost.
template <class T = double>
class RedshiftDistribution {
 public:
  /// n ~ z^alpha exp(-(z / z0)^beta)
  /// \throws PreconditionError unless all three are above 0 and finite
  /// \see Smail, Ellis, Fitchett, Mon. Not. R. Astron. Soc. 270, 245 (1994)
  static RedshiftDistribution smail(T const& alpha, T const& beta, T const& z0) {
    using std::lgamma, std::log;
    expects_positive(alpha, "alpha");
    expects_positive(beta, "beta");
    expects_positive(z0, "z0");
    RedshiftDistribution result;
    result.shape_ = Smail{{alpha, beta, z0}};
    T const order = (alpha + 1) / beta;
    result.ln_norm_ = lgamma(order) + (alpha + 1) * log(z0) - log(beta);
    double const a = detail::plain(alpha), b = detail::plain(beta), scale = detail::plain(z0);
    auto const moment = [&](double power) {
      return std::exp(std::lgamma((a + 1 + power) / b) - std::lgamma((a + 1) / b));
    };
    result.mean_ = scale * moment(1);
    result.deviation_ = scale * std::sqrt(std::max(0.0, moment(2) - moment(1) * moment(1)));
    // u = (z / z0)^beta; n falls as u^(alpha / beta) exp(-u) beyond its peak.
    double u = a / b + 1;
    while (u - a / b - a / b * std::log(u * b / a) < ln_negligible) u *= 1.05;
    result.z_end_ = scale * std::pow(u, 1 / b);
    return result;
  }

  /// n ~ exp(-(z - mean)^2 / (2 sigma^2)) at z >= 0
  /// \throws PreconditionError unless both are finite, mean >= 0 and sigma > 0
  static RedshiftDistribution gaussian(T const& mean, T const& sigma) {
    using std::erfc, std::log;
    expects(mean >= 0 && std::isfinite(detail::plain(mean)),
            "the mean of n(z) must be at least 0 and finite", detail::plain(mean));
    expects_positive(sigma, "sigma");
    RedshiftDistribution result;
    result.shape_ = Gaussian{{mean, sigma}};
    result.ln_norm_ =
        log(sigma * std::sqrt(std::numbers::pi / 2) * erfc(-mean / (std::numbers::sqrt2 * sigma)));
    result.mean_ = detail::plain(mean);
    result.deviation_ = detail::plain(sigma);
    result.z_end_ = result.mean_ + std::sqrt(2 * ln_negligible) * result.deviation_;
    return result;
  }

  /// n between the rows of a table by cubics that don't overshoot it, and 0 beyond its ends.
  ///
  /// \param z     at least 3 numbers >= 0, ascending
  /// \param n     as many numbers >= 0, in any unit. The last one is 0. The first one is 0, too,
  ///   unless its z is 0. So n is continuous
  /// \param name  the table's name in messages: its file, or its bin
  /// \throws PreconditionError naming the first row that breaks a requirement, or if n is 0 in all
  /// \see Fritsch, Butland, SIAM J. Sci. Stat. Comput. 5, 300 (1984)
  static RedshiftDistribution table(std::span<double const> z, std::span<double const> n,
                                    std::string_view name = "the table of n(z)") {
    check(z, n, std::string(name));
    RedshiftDistribution result;
    Table table{{z.begin(), z.end()}, {n.begin(), n.end()}, {}};
    table.set_slopes();
    double sum = 0, first = 0, second = 0, square = 0;
    for (std::size_t i = 0; i + 1 < z.size(); ++i) {
      double const h = z[i + 1] - z[i], middle = (z[i] + z[i + 1]) / 2;
      double const part =
          h / 2 * (n[i] + n[i + 1]) + h * h / 12 * (table.slope[i] - table.slope[i + 1]);
      sum += part;
      first += part * middle;
      second += part * middle * middle;
      square += table.square_of_row(i);
    }
    expects(sum > 0, std::string(name) + ": n must be above 0 in one row at least");
    result.ln_norm_ = T(std::log(sum));
    result.mean_ = first / sum;
    result.deviation_ = std::sqrt(std::max(second / sum - result.mean_ * result.mean_, 1e-12));
    result.square_ = square / (sum * sum);
    result.z_end_ = z.back();
    result.shape_ = std::move(table);
    return result;
  }

  /// n(z - shift), on top of what it has been shifted by.
  /// \throws PreconditionError unless the shift is finite
  RedshiftDistribution shifted(T const& shift) const {
    expects(std::isfinite(detail::plain(shift)), "the shift of n(z) must be finite",
            detail::plain(shift));
    RedshiftDistribution result = *this;
    result.shift_ += shift;
    return result;
  }

  /// The same before it was shifted.
  RedshiftDistribution unshifted() const {
    RedshiftDistribution result = *this;
    result.shift_ = T(0);
    return result;
  }

  /// n at z.
  T operator()(double z) const {
    T const x = z - shift_;
    if (z < 0) return T(0);
    return std::visit([&](auto const& shape) { return T(shape(x, ln_norm_)); }, shape_);
  }

  /// The redshift above which n is 0, or below 1e-10 of its peak.
  double z_end() const { return z_end_ + detail::plain(shift_); }
  /// The mean. For gaussian() it is that without the cut at z = 0.
  double mean() const { return mean_ + detail::plain(shift_); }
  /// The standard deviation, roughly for a table. For gaussian() it is that without the cut.
  double deviation() const { return deviation_; }
  /// int n^2 dz of a table, and 0 for others.
  double square() const { return square_; }

  /// The same distribution in numbers of another type.
  template <class U>
  RedshiftDistribution<U> as() const {
    RedshiftDistribution<U> result;
    std::visit([&](auto const& shape) { result.shape_ = shape.template as<U>(); }, shape_);
    result.ln_norm_ = U(ln_norm_);
    result.shift_ = U(shift_);
    result.mean_ = mean_;
    result.deviation_ = deviation_;
    result.square_ = square_;
    result.z_end_ = z_end_;
    return result;
  }

 private:
  RedshiftDistribution() = default;

  static constexpr double ln_negligible = 23.03;  // ln 1e10

  template <class>
  friend class RedshiftDistribution;
  friend struct detail::DistributionParts;

  struct Smail : detail::SmailShape<T> {
    template <class U>
    auto as() const {
      return typename RedshiftDistribution<U>::Smail{{U(this->alpha), U(this->beta), U(this->z0)}};
    }
  };

  struct Gaussian : detail::GaussianShape<T> {
    template <class U>
    auto as() const {
      return typename RedshiftDistribution<U>::Gaussian{{U(this->mean), U(this->sigma)}};
    }
  };

  struct Table {
    std::vector<double> z, n, slope;

    /// The harmonic means of neighbouring slopes, weighted by lengths; 0 at peaks.
    void set_slopes() {
      std::size_t const count = z.size();
      slope.assign(count, 0.0);
      auto const rise = [&](std::size_t i) { return (n[i + 1] - n[i]) / (z[i + 1] - z[i]); };
      for (std::size_t i = 1; i + 1 < count; ++i) {
        double const left = rise(i - 1), right = rise(i);
        double const before = z[i] - z[i - 1], after = z[i + 1] - z[i];
        if (left * right > 0)
          slope[i] =
              3 * (before + after) / ((before + 2 * after) / left + (2 * before + after) / right);
      }
    }

    /// int n^2 dz from row i to the next.
    double square_of_row(std::size_t i) const {
      double const h = z[i + 1] - z[i], a = n[i], b = n[i + 1], from = h * slope[i],
                   to = h * slope[i + 1];
      return h / 420 *
             (156 * (a * a + b * b) + 108 * a * b + 4 * (from * from + to * to) - 6 * from * to +
              44 * (a * from - b * to) + 26 * (b * from - a * to));
    }

    detail::TableShape plain() const {
      return {z.data(), n.data(), slope.data(), static_cast<int>(z.size())};
    }
    T operator()(T const& x, T const& ln_norm) const { return plain()(x, ln_norm); }
    template <class U>
    auto as() const {
      return typename RedshiftDistribution<U>::Table{z, n, slope};
    }
  };

  static void expects_positive(T const& x, char const* name) {
    expects(x > 0 && std::isfinite(detail::plain(x)),
            std::string(name) + " of n(z) must be above 0 and finite", detail::plain(x));
  }

  static void check(std::span<double const> z, std::span<double const> n, std::string const& name) {
    expects(z.size() >= 3 && z.size() == n.size(),
            name + ": z and n(z) must have the same number of rows, 3 or more, not " +
                in_words(z.size()) + " and " + in_words(n.size()));
    for (std::size_t i = 0; i < z.size(); ++i) {
      std::string const row = name + ": row " + in_words(i) + ": ";
      expects(z[i] >= 0 && std::isfinite(z[i]), row + "z must be at least 0 and finite", z[i]);
      expects(i == 0 || z[i] > z[i - 1], row + "z must be above that of the row before", z[i]);
      expects(n[i] >= 0 && std::isfinite(n[i]), row + "n must be at least 0 and finite", n[i]);
    }
    expects(n.back() == 0 && (n.front() == 0 || z.front() == 0),
            name +
                ": n must be 0 in the first row, unless z is 0 there, and in the last row, so that "
                "it has no steps: add rows with n = 0");
  }

  std::variant<Smail, Gaussian, Table> shape_;
  T ln_norm_ = T(0), shift_ = T(0);
  double mean_ = 0, deviation_ = 0, square_ = 0, z_end_ = 0;
};

}  // namespace coir::cosmology
