#pragma once

/// What chains are worth: moments, quantiles, convergence, effective sample sizes.

#include <coir/inference/chains.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace coir::inference {

/// R-hat, the ratio of the deviation of all draws to the deviation within half chains. It is the
/// larger one of two: that of the draws' ranks, and that of the ranks of the draws' distances from
/// the median. Above 1.01 chains haven't converged.
///
/// \param draws   of one parameter, chain after chain; 4 a chain or more, else NaN
/// \param chains  how many
/// \see Vehtari, Gelman, Simpson, Carpenter & Buerkner, Bayesian Analysis 16, 667 (2021)
double r_hat(std::span<double const> draws, std::int64_t chains);

/// The number of independent draws that would give the mean of the draws' ranks as exactly, by
/// Geyer's initial monotone sequence of autocorrelations over half chains. Same source.
double ess_bulk(std::span<double const> draws, std::int64_t chains);

/// The number of independent draws that would give the 5 % or the 95 % quantile as exactly: the
/// smaller one of both numbers. Same source.
double ess_tail(std::span<double const> draws, std::int64_t chains);

/// The quantile q of some numbers, linear between neighbours as NumPy's.
/// \throws PreconditionError unless q lies in [0, 1]
double quantile_of(std::span<double const> draws, double q);

/// One parameter of a Summary.
struct ParameterSummary {
  double mean, deviation, low, median, high;  ///< low and high are the 5 % and 95 % quantiles
  double ess_bulk, ess_tail, r_hat;
};

/// What chains are worth.
struct Summary {
  std::vector<ParameterSummary> parameters;
  /// For each chain the mean square of the energy's change from draw to draw over the energy's
  /// variance (E-BFMI). Below 0.3 momenta explore the energies too slowly. Microcanonical samplers
  /// have no such momenta, and the figure is NaN for them.
  /// \see Betancourt, arXiv:1604.00695
  std::vector<double> energy;
  std::int64_t divergences = 0;
  double acceptance = 0, steps = 0;  ///< means over draws
  bool biased = false;               ///< the sampler has no Metropolis test
};

/// \throws PreconditionError if chains have fewer than 4 draws
Summary summarise(Chains const& chains);

/// A summary as lines of a table, and what is wrong with the chains.
///
/// \param names  of the parameters; others are called by their number
std::string to_text(Summary const& summary, std::vector<std::string> const& names = {});

}  // namespace coir::inference
