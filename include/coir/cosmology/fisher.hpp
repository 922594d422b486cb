#pragma once

#include <coir/core/dual.hpp>
#include <coir/core/errors.hpp>
#include <coir/cosmology/angular_power.hpp>
#include <coir/cosmology/detail/cholesky.hpp>
#include <coir/cosmology/likelihood.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace coir::cosmology {

/// The Fisher matrix of N parameters.
template <int N>
struct FisherMatrix {
  std::array<std::array<double, N>, N> values{};

  std::array<double, N> const& operator[](std::size_t i) const { return values[i]; }
  std::array<double, N>& operator[](std::size_t i) { return values[i]; }

  /// Its inverse: the covariance of the parameters.
  /// \throws PreconditionError unless the matrix is positive definite. If not, a combination of
  ///   parameters isn't constrained. A prior of width s adds 1 / s^2 to the diagonal
  std::array<std::array<double, N>, N> covariance() const {
    // The parameters' units may differ by many powers of ten.
    constexpr auto size = static_cast<std::size_t>(N);
    std::array<double, size> scale{};
    for (std::size_t i = 0; i < size; ++i) scale[i] = std::sqrt(values[i][i]);
    std::vector<double> scaled;
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) scaled.push_back(values[i][j] / (scale[i] * scale[j]));
    detail::Cholesky<double> const factor(size, scaled);
    auto const expects_constrained = [](bool holds) {
      expects(holds,
              "the Fisher matrix must be positive definite: a combination of parameters isn't "
              "constrained. Add priors, 1 / width^2, to its diagonal, or leave a parameter out");
    };
    expects_constrained(factor.positive());
    auto const inverse = factor.inverse();
    std::array<std::array<double, size>, size> result{};
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) {
        for (std::size_t k = 0; k < size; ++k)
          result[i][j] += inverse[k * size + i] * inverse[k * size + j];
        // The ratio of the variance to the variance with all others fixed. A ratio of 1e13 says
        // that the matrix is singular but for rounding.
        if (i == j) expects_constrained(result[i][i] < 1e13);
        result[i][j] /= scale[i] * scale[j];
      }
    return result;
  }

  /// The standard deviation of each parameter, the others being free.
  /// \throws PreconditionError as covariance()
  std::array<double, N> errors() const {
    auto const all = covariance();
    std::array<double, N> result{};
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = std::sqrt(all[i][i]);
    return result;
  }
};

/// The Fisher matrix of all spectra of some tracers, from their derivatives, with a covariance of
/// Gaussian fields that is held fixed (see GaussianLikelihood):
///
///   F_ij = sum_l nu/2 tr(C^-1 dC/di C^-1 dC/dj)
///
/// \param spectra  duals with a direction for each parameter; without noise, or with it
/// \param total    C: spectra with noise; their derivatives, if there are any, aren't looked at
/// \param nu       see modes
/// \throws PreconditionError as GaussianLikelihood
/// \see Tegmark, Taylor, Heavens, Astrophys. J. 480, 22 (1997)
template <int N, class U>
FisherMatrix<N> fisher_matrix(AngularSpectra<Dual<double, N>> const& spectra,
                              AngularSpectra<U> const& total, std::vector<double> const& nu) {
  detail::expects_same_shape(spectra, total);
  detail::expects_modes(spectra, nu);
  constexpr auto parameters = static_cast<std::size_t>(N);
  std::size_t const n = spectra.tracers(), size = n * (n + 1) / 2;
  FisherMatrix<N> result;
  std::vector<double> slopes(parameters * size);
  for (std::size_t at = 0; at < nu.size(); ++at) {
    std::vector<double> c;
    for (auto const& x : detail::matrix_at(total, at)) c.push_back(detail::plain(x));
    detail::Cholesky<double> const factor(n, std::move(c));
    if (!factor.positive()) (void)detail::factor_at(total, at);  // throws
    // L^-1 dC L^-T for all parameters at once
    std::vector<Dual<double, N>> whitened = detail::matrix_at(spectra, at);
    factor.whiten(whitened);
    std::size_t place = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j, ++place) {
        double const weight = std::sqrt(nu[at] * (i == j ? 0.5 : 1.0));
        for (std::size_t d = 0; d < parameters; ++d)
          slopes[place * parameters + d] = weight * whitened[i * n + j].derivative[d];
      }
    for (std::size_t k = 0; k < size; ++k)
      for (std::size_t i = 0; i < parameters; ++i) {
        double const factor_i = slopes[k * parameters + i];
        for (std::size_t j = 0; j < parameters; ++j)
          result[i][j] += factor_i * slopes[k * parameters + j];
      }
  }
  return result;
}

/// The Fisher matrix as minus the Hessian of ln L, a number with second derivatives.
///
///     using D = Dual<Dual<double, 2>, 2>;
///     auto const f = fisher_matrix(likelihood(spectra));  // spectra of D
///
/// If the data are the model's spectra and the covariance is fixed, the result equals that of the
/// function above, which costs much less.
template <int N>
FisherMatrix<N> fisher_matrix(Dual<Dual<double, N>, N> const& log_likelihood) {
  FisherMatrix<N> result;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      result.values[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] =
          -log_likelihood.derivative[i].derivative[j];
  return result;
}

}  // namespace coir::cosmology
