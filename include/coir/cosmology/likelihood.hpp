#pragma once

#include <coir/core/errors.hpp>
#include <coir/cosmology/angular_power.hpp>
#include <coir/cosmology/detail/cholesky.hpp>
#include <coir/cosmology/detail/plain.hpp>

#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace coir::cosmology {

/// The independent modes that an average over bins of l has: nu = (2 l + 1) delta_l f_sky.
///
/// \param delta_l  the widths of the bins, above 0
/// \param f_sky    the share of the sky that is seen, in (0, 1]
/// \throws PreconditionError if a width or f_sky is out of its range, or their number differs
inline std::vector<double> modes(std::span<double const> l, std::span<double const> delta_l,
                                 double f_sky) {
  expects(f_sky > 0 && f_sky <= 1, "f_sky, the share of the sky, must lie in (0, 1]", f_sky);
  expects(l.size() == delta_l.size(),
          "there must be a width of a bin for each l, " + in_words(l.size()), delta_l.size());
  std::vector<double> result;
  for (std::size_t i = 0; i < l.size(); ++i) {
    expects(delta_l[i] > 0 && std::isfinite(delta_l[i]), "widths of bins of l must be above 0",
            delta_l[i]);
    result.push_back((2 * l[i] + 1) * delta_l[i] * f_sky);
  }
  return result;
}

namespace detail {

/// The symmetric matrix of the spectra at one l.
template <class T>
std::vector<T> matrix_at(AngularSpectra<T> const& spectra, std::size_t at) {
  std::size_t const n = spectra.tracers();
  std::vector<T> result;
  result.reserve(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) result.push_back(spectra(at, i, j));
  return result;
}

/// A tracer without a positive spectrum, or else the two with the largest correlation, in words.
template <class T>
std::string why_not_positive(AngularSpectra<T> const& total, std::size_t at) {
  double largest = -1;
  std::string result;
  for (std::size_t i = 0; i < total.tracers(); ++i)
    if (double const own = plain(total(at, i, i)); !(own > 0))
      return ", where tracer " + std::to_string(i) + " has " + in_words(own) + ": give it noise";
  for (std::size_t i = 0; i < total.tracers(); ++i)
    for (std::size_t j = i + 1; j < total.tracers(); ++j) {
      double const own = std::sqrt(std::abs(plain(total(at, i, i)) * plain(total(at, j, j)))),
                   r = std::abs(plain(total(at, i, j))) / own;
      if (!(r > largest)) continue;
      largest = r;
      result = ", where tracers " + std::to_string(i) + " and " + std::to_string(j) +
               " have the largest correlation, " + in_words(r) +
               ": give tracers noise, or leave one of two alike out";
    }
  return result;
}

template <class T>
Cholesky<T> factor_at(AngularSpectra<T> const& total, std::size_t at) {
  auto const matrix = matrix_at(total, at);
  for (T const& x : matrix)
    if (!std::isfinite(plain(x)))
      expects(false, "spectra must be finite, and aren't at l = " + in_words(total.l()[at]) +
                         ": bring the parameters closer to usual ones");
  Cholesky<T> result(total.tracers(), matrix);
  if (!result.positive())
    expects(false,
            "spectra with noise must be a positive definite matrix of tracers at each l, and "
            "aren't at l = " +
                in_words(total.l()[at]) + why_not_positive(total, at));
  return result;
}

template <class A, class B>
void expects_same_shape(AngularSpectra<A> const& a, AngularSpectra<B> const& b) {
  expects(a.tracers() == b.tracers() && a.l() == b.l(),
          "spectra that are compared must have the same tracers and the same l");
}

template <class T>
void expects_modes(AngularSpectra<T> const& spectra, std::vector<double> const& nu) {
  expects(nu.size() == spectra.l().size(),
          "there must be a number of modes for each l, " + in_words(spectra.l().size()), nu.size());
  for (double const n : nu)
    expects(n > 0 && std::isfinite(n), "numbers of modes must be above 0 and finite", n);
}

/// ln det of the covariance of the n (n + 1) / 2 spectra at one l, from that of C.
template <class T>
T log_determinant(std::size_t tracers, T const& of_c, double nu) {
  auto const n = static_cast<double>(tracers);
  return n * std::numbers::ln2 + (n + 1) * of_c - n * (n + 1) / 2 * std::log(nu);
}

}  // namespace detail

/// The likelihood of all spectra of some tracers whose covariance is that of Gaussian fields,
///
///   Cov(C_ij, C_mn) = (C_im C_jn + C_in C_jm) / nu
///
/// at each l, with C including noise. Cov is never made as a matrix. R is the matrix of residuals:
///
///   chi^2 = sum_l nu/2 tr(C^-1 R C^-1 R),
///   ln det Cov = sum_l [n ln 2 + (n + 1) ln det C - n (n + 1)/2 ln nu],
///   ln L = -1/2 (chi^2 + ln det Cov), without the constant -N/2 ln(2 pi)
///
/// Here C is fixed. gaussian_log_likelihood has one that follows the model.
class GaussianLikelihood {
 public:
  /// \param data   spectra as measured, with noise or without; models have the same
  /// \param total  C: spectra with noise
  /// \param nu     see modes
  /// \throws PreconditionError if shapes differ, nu isn't above 0, or C isn't positive definite at
  ///   some l, which the message names
  GaussianLikelihood(AngularSpectra<double> data, AngularSpectra<double> const& total,
                     std::vector<double> nu)
      : data_(std::move(data)), nu_(std::move(nu)) {
    detail::expects_same_shape(data_, total);
    detail::expects_modes(data_, nu_);
    for (std::size_t at = 0; at < nu_.size(); ++at) {
      factors_.push_back(detail::factor_at(total, at));
      log_determinant_ +=
          detail::log_determinant(total.tracers(), factors_.back().log_determinant(), nu_[at]);
    }
  }

  /// \throws PreconditionError unless the model has the data's tracers and l
  template <class T>
  T chi_squared(AngularSpectra<T> const& model) const {
    detail::expects_same_shape(data_, model);
    T result(0);
    for (std::size_t at = 0; at < nu_.size(); ++at) {
      std::vector<T> r = detail::matrix_at(model, at);
      auto const data = detail::matrix_at(data_, at);
      for (std::size_t i = 0; i < r.size(); ++i) r[i] -= data[i];
      factors_[at].whiten(r);
      T sum(0);
      for (T const& x : r) sum += x * x;
      result += nu_[at] / 2 * sum;
    }
    return result;
  }

  double log_determinant() const { return log_determinant_; }
  AngularSpectra<double> const& data() const { return data_; }
  std::vector<double> const& nu() const { return nu_; }
  /// The inverse of the Cholesky factor of C at the l of the number `at`, in C order.
  std::vector<double> whitening(std::size_t at) const { return factors_[at].inverse(); }

  /// ln L of a model.
  template <class T>
  T operator()(AngularSpectra<T> const& model) const {
    return -0.5 * (chi_squared(model) + log_determinant_);
  }

 private:
  AngularSpectra<double> data_;
  std::vector<double> nu_;
  std::vector<detail::Cholesky<double>> factors_;
  double log_determinant_ = 0;
};

/// ln L as in GaussianLikelihood, with the covariance of the model. So ln det Cov has a slope, too.
///
/// \param data   spectra as measured, with noise
/// \param total  the model's spectra with noise, which are C, too
/// \throws PreconditionError as GaussianLikelihood
template <class T>
T gaussian_log_likelihood(AngularSpectra<double> const& data, AngularSpectra<T> const& total,
                          std::vector<double> const& nu) {
  detail::expects_same_shape(data, total);
  detail::expects_modes(data, nu);
  T result(0);
  for (std::size_t at = 0; at < nu.size(); ++at) {
    auto const factor = detail::factor_at(total, at);
    std::vector<T> r = detail::matrix_at(total, at);
    auto const measured = detail::matrix_at(data, at);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] -= measured[i];
    factor.whiten(r);
    T sum(0);
    for (T const& x : r) sum += x * x;
    result -= 0.5 * (nu[at] / 2 * sum +
                     detail::log_determinant(data.tracers(), factor.log_determinant(), nu[at]));
  }
  return result;
}

/// The covariance of GaussianLikelihood as a dense matrix in C order, of all numbers of
/// AngularSpectra::values. Numbers at different l don't correlate.
/// \throws PreconditionError if there isn't a number of modes above 0 for each l
inline std::vector<double> gaussian_covariance(AngularSpectra<double> const& total,
                                               std::vector<double> const& nu) {
  detail::expects_modes(total, nu);
  std::size_t const n = total.tracers(), pairs = total.pairs(), size = total.values().size();
  std::vector<double> result(size * size, 0.0);
  for (std::size_t at = 0; at < nu.size(); ++at)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i; j < n; ++j)
        for (std::size_t m = 0; m < n; ++m)
          for (std::size_t k = m; k < n; ++k)
            result[(at * pairs + total.pair(i, j)) * size + at * pairs + total.pair(m, k)] =
                (total(at, i, m) * total(at, j, k) + total(at, i, k) * total(at, j, m)) / nu[at];
  return result;
}

/// The likelihood of any data with a given covariance, dense and fixed, which needn't factorise.
///
///   chi^2 = r^T Cov^-1 r,  ln L = -1/2 (chi^2 + ln det Cov)
class DenseLikelihood {
 public:
  /// \param covariance  symmetric, data.size() squared numbers in C order. Only its lower triangle
  ///   is read
  /// \throws PreconditionError if the covariance has another size, or isn't positive definite
  DenseLikelihood(std::vector<double> data, std::vector<double> covariance)
      : data_(std::move(data)), factor_(checked(data_.size(), std::move(covariance))) {}

  /// \throws PreconditionError unless the model has as many numbers as the data
  template <class T>
  T chi_squared(std::vector<T> const& model) const {
    expects(model.size() == data_.size(),
            "the model must have as many numbers as the data, " + in_words(data_.size()),
            model.size());
    std::vector<T> r = model;
    for (std::size_t i = 0; i < r.size(); ++i) r[i] -= data_[i];
    factor_.solve_lower(r.data());
    T sum(0);
    for (T const& x : r) sum += x * x;
    return sum;
  }

  double log_determinant() const { return factor_.log_determinant(); }

  template <class T>
  T operator()(std::vector<T> const& model) const {
    return -0.5 * (chi_squared(model) + log_determinant());
  }

 private:
  static detail::Cholesky<double> checked(std::size_t n, std::vector<double> covariance) {
    expects(n > 0 && covariance.size() == n * n,
            "the covariance of " + in_words(n) + " numbers must have their number squared",
            covariance.size());
    detail::Cholesky<double> result(n, std::move(covariance));
    expects(result.positive(), "the covariance must be positive definite");
    return result;
  }

  std::vector<double> data_;
  detail::Cholesky<double> factor_;
};

}  // namespace coir::cosmology
