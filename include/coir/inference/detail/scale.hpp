#pragma once

/// The metric of a sampler, and how warm-up fits it.

#include <coir/inference/detail/vectors.hpp>
#include <coir/inference/options.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace coir::inference::detail {

/// The factor L of L L^T = (inverse mass matrix). Samplers work with momenta of unit mass:
///
///   d theta / dt = L momentum,   d momentum / dt = L^T slope
template <ExecutionSpace Exec>
class Scale {
 public:
  Scale(Mass kind, std::int64_t n) : kind_(kind) {
    if (kind == Mass::diagonal) {
      diagonal_ = vector_of<Exec>(n);
      set_elements(diagonal_, std::vector<double>(diagonal_.size(), 1.0).data());
    } else if (kind == Mass::dense) {
      factor_ = Matrix<Exec>("coir::inference::scale/factor", static_cast<std::size_t>(n),
                             static_cast<std::size_t>(n));
      std::vector<double> unit(factor_.size());
      for (std::size_t i = 0; i < unit.size(); i += static_cast<std::size_t>(n) + 1) unit[i] = 1;
      set_elements(factor_, unit.data());
    }
  }

  /// theta += h L momentum
  void drift(Exec const& exec, double h, Vector<Exec> const& momentum,
             Vector<Exec> const& theta) const {
    std::int64_t const n = length(theta);
    double const *const u = momentum.data(), *const s = diagonal_.data(), *const l = factor_.data();
    double* const x = theta.data();
    bool const unit = kind_ == Mass::unit;
    if (kind_ == Mass::dense)
      for_elements(
          "coir::inference::scale/drift_dense", exec, n, KOKKOS_LAMBDA(std::int64_t i) {
            double sum = 0;
            for (std::int64_t j = 0; j <= i; ++j) sum += l[i * n + j] * u[j];
            x[i] += h * sum;
          });
    else
      for_elements(
          "coir::inference::scale/drift", exec, n,
          KOKKOS_LAMBDA(std::int64_t i) { x[i] += h * (unit ? 1 : s[i]) * u[i]; });
  }

  /// momentum = h L^T slope, added to what it was unless `add` is false
  void kick(Exec const& exec, double h, Vector<Exec> const& slope, Vector<Exec> const& momentum,
            bool add = true) const {
    std::int64_t const n = length(momentum);
    double const *const g = slope.data(), *const s = diagonal_.data(), *const l = factor_.data();
    double* const u = momentum.data();
    bool const unit = kind_ == Mass::unit;
    if (kind_ == Mass::dense)
      for_elements(
          "coir::inference::scale/kick_dense", exec, n, KOKKOS_LAMBDA(std::int64_t i) {
            double sum = 0;
            for (std::int64_t j = i; j < n; ++j) sum += l[j * n + i] * g[j];
            u[i] = (add ? u[i] : 0) + h * sum;
          });
    else
      for_elements(
          "coir::inference::scale/kick", exec, n, KOKKOS_LAMBDA(std::int64_t i) {
            u[i] = (add ? u[i] : 0) + h * (unit ? 1 : s[i]) * g[i];
          });
  }

  /// Takes L from variances or a covariance. They are averaged with 1e-3 times unit ones, which
  /// have the weight of five draws. If the covariance isn't positive definite, L stays as it is.
  /// \see Stan Reference Manual, 15.2
  void fit(std::int64_t draws, std::vector<double> covariance) {
    double const weight = double(draws) / (double(draws) + 5), floor = 1e-3 * (1 - weight);
    if (kind_ == Mass::diagonal) {
      for (double& x : covariance) x = std::sqrt(weight * x + floor);
      return set_elements(diagonal_, covariance.data());
    }
    std::size_t const n = factor_.extent(0);
    std::vector<double> l(n * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = weight * covariance[i * n + j] + (i == j ? floor : 0);
        for (std::size_t k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
        if (i == j && !(sum > 0)) return;
        l[i * n + j] = i == j ? std::sqrt(sum) : sum / l[j * n + j];
      }
    set_elements(factor_, l.data());
  }

  template <class Archive>
  void visit(Archive& archive) {
    archive(diagonal_);
    archive(factor_);
  }

 private:
  Mass kind_;
  Vector<Exec> diagonal_;
  Matrix<Exec> factor_;
};

/// Variances or covariances of draws, by Welford's recurrences, from which a Scale is fitted.
template <ExecutionSpace Exec>
class Estimate {
 public:
  Estimate(Mass kind, std::int64_t n) : kind_(kind) {
    if (kind == Mass::unit) return;
    mean_ = vector_of<Exec>(n);
    before_ = vector_of<Exec>(n);
    if (kind == Mass::diagonal)
      squares_ = vector_of<Exec>(n);
    else
      products_ = Matrix<Exec>("coir::inference::scale/products", static_cast<std::size_t>(n),
                               static_cast<std::size_t>(n));
  }

  void add(Exec const& exec, Vector<Exec> const& theta) {
    if (kind_ == Mass::unit) return;
    ++draws_;
    std::int64_t const n = length(theta);
    double const part = 1 / double(draws_);
    double const* const x = theta.data();
    double *const mean = mean_.data(), *const before = before_.data();
    double *const squares = squares_.data(), *const products = products_.data();
    bool const dense = kind_ == Mass::dense;
    for_elements(
        "coir::inference::scale/mean", exec, n, KOKKOS_LAMBDA(std::int64_t i) {
          before[i] = x[i] - mean[i];
          mean[i] += part * before[i];
          if (!dense) squares[i] += before[i] * (x[i] - mean[i]);
        });
    if (dense)
      for_each(
          "coir::inference::scale/products", exec, box<2, std::int64_t>({n, n}),
          KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) {
            products[i * n + j] += before[i] * (x[j] - mean[j]);
          });
  }

  /// Fits a scale to the draws, and forgets them.
  void hand_over(Exec const& exec, Scale<Exec>& scale) {
    if (kind_ == Mass::unit || draws_ < 2) return;
    exec.fence();
    auto covariance = kind_ == Mass::diagonal ? elements_of(squares_) : elements_of(products_);
    for (double& x : covariance) x /= double(draws_ - 1);
    scale.fit(draws_, covariance);
    std::fill(covariance.begin(), covariance.end(), 0.0);
    set_elements(mean_, covariance.data());
    if (kind_ == Mass::diagonal)
      set_elements(squares_, covariance.data());
    else
      set_elements(products_, covariance.data());
    draws_ = 0;
  }

  template <class Archive>
  void visit(Archive& archive) {
    archive(draws_);
    archive(mean_);
    archive(squares_);
    archive(products_);
  }

 private:
  Mass kind_;
  std::int64_t draws_ = 0;
  Vector<Exec> mean_, before_, squares_;
  Matrix<Exec> products_;
};

}  // namespace coir::inference::detail
