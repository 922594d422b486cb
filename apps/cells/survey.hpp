#pragma once

#include "settings.hpp"

#include <coir/core/dual.hpp>
#include <coir/cosmology/likelihood.hpp>
#include <coir/cosmology/likelihood_batch.hpp>
#include <coir/cosmology/tracers.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace coir::apps::cells {

/// Spectra of a survey, their derivatives, and what they say about its parameters.
struct Forecast {
  std::vector<std::string> tracers{};     ///< counts1, ..., shapes1, ...
  std::vector<std::string> parameters{};  ///< those that vary
  std::vector<double> fiducial{};         ///< their values
  std::vector<double> nu{};               ///< the modes of each bin of l
  std::vector<double> l{};
  cosmology::AngularSpectra<> spectra{0, {}};               ///< without noise
  cosmology::AngularSpectra<> total{0, {}};                 ///< with it
  cosmology::AngularSpectra<> data{0, {}};                  ///< as measured, without noise
  std::optional<double> chi_squared{};                      ///< of the spectra, if data were given
  std::vector<cosmology::AngularSpectra<>> derivatives{};   ///< by each parameter
  std::vector<std::vector<double>> fisher{}, covariance{};  ///< with priors; of the parameters
  double seconds = 0;  ///< from the parameters to the covariance
};

/// The most parameters that may vary at once.
inline constexpr int most_parameters = 32;

/// The names of all parameters of the survey, in the order of their derivatives.
std::vector<std::string> parameter_names(CellsSettings const& settings);

/// Reads the files of n(z), and fills lists that have one number for all bins.
///
/// \throws PreconditionError naming the option whose list has neither one number nor one for each
///   bin, or a number that is out of its range
/// \throws InputError naming a file of n(z), its line, and what is wrong with it
CellsSettings with_whole_lists(CellsSettings settings);

/// \throws PreconditionError naming a parameter that is unknown, or twice in the list, or has a
///   prior without varying. It is thrown, too, if there are more than most_parameters, or if the
///   parameters can't be told apart
/// \throws InputError naming the file of data, its line, and what is wrong with it
Forecast forecast(CellsSettings const& settings);

/// All that the posterior and its sampler depend on but the number of draws, a line for each.
std::string survey_text(CellsSettings const& settings, Forecast const& forecast);

/// The universe and the tracers as functions of the parameters that vary.
struct VariedSurvey {
  using D = Dual<double, most_parameters>;
  cosmology::Parameters<D> universe;
  std::vector<cosmology::Tracer<D>> tracers;
};

/// The posterior of the parameters that vary, given the forecast's data. The covariance is that of
/// the forecast's spectra. Priors are those of the settings, and flat for other parameters.
class Posterior {
 public:
  Posterior(CellsSettings const& settings, Forecast const& forecast);

  std::size_t size() const { return names_.size(); }
  /// ln of the density and its gradient; -infinity where there is no such universe.
  double operator()(std::vector<double> const& x, std::vector<double>& slope) const;

  /// 1 / width^2 of the prior of each parameter, 0 where it has none.
  std::vector<double> precisions() const;
  /// ln L without priors, for many chains at once.
  template <class Exec>
  cosmology::LikelihoodBatch<Exec> batch(Exec const& exec) const {
    auto const survey = at(fiducial_);
    return {exec,        survey.universe, survey.tracers,
            likelihood_, settings_.power, static_cast<int>(size())};
  }

 private:
  VariedSurvey at(std::vector<double> const& x) const;

  CellsSettings settings_;
  std::vector<std::string> names_;
  std::vector<double> fiducial_;
  cosmology::GaussianLikelihood likelihood_;
};

}  // namespace coir::apps::cells
