#include "survey.hpp"

#include <coir/core/dual.hpp>
#include <coir/core/errors.hpp>
#include <coir/cosmology/fisher.hpp>

#include <support/text.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace coir::apps::cells {

namespace {

using namespace cosmology;
using D = VariedSurvey::D;

/// The universe's parameters: their names, and where they are.
template <class T>
constexpr std::pair<char const*, T Parameters<T>::*> of_universe[] = {
    {"omega_m", &Parameters<T>::omega_m},
    {"omega_b", &Parameters<T>::omega_b},
    {"h", &Parameters<T>::h},
    {"n_s", &Parameters<T>::n_s},
    {"sigma8", &Parameters<T>::sigma8},
    {"omega_k", &Parameters<T>::omega_k},
    {"w0", &Parameters<T>::w0},
    {"wa", &Parameters<T>::wa}};

/// Numbers of the survey, as variables where they are to vary.
class Variables {
 public:
  Variables(CellsSettings const& settings, Forecast& forecast)
      : forecast_(forecast), free_(settings.free.begin(), settings.free.end()) {
    auto const names = parameter_names(settings);
    expects(free_.size() == settings.free.size(), "--free must name each parameter once");
    for (auto const& name : free_)
      expects(std::count(names.begin(), names.end(), name) > 0,
              "--free takes parameters of the survey, " + joined(names, ", "), name);
    if (free_.empty())
      for (auto const& name : names)
        if (name != "omega_k" && name != "wa") free_.insert(name);
    expects(free_.size() <= most_parameters,
            "at most " + std::to_string(most_parameters) +
                " parameters may vary: name fewer with --free",
            free_.size());
    for (auto const& [name, width] : settings.priors)
      expects(free_.count(name) > 0, "--prior is for parameters that vary: name it with --free",
              name);
  }

  D operator()(std::string const& name, double value) {
    if (free_.count(name) == 0) return D(value);
    auto const found = std::find(forecast_.parameters.begin(), forecast_.parameters.end(), name);
    auto const place = static_cast<int>(found - forecast_.parameters.begin());
    if (found == forecast_.parameters.end()) {
      forecast_.parameters.push_back(name);
      forecast_.fiducial.push_back(value);
    }
    return D::variable(value, place);
  }

 private:
  Forecast& forecast_;
  std::set<std::string> free_;
};

std::string numbered(std::string const& name, std::size_t i) {
  return name + std::to_string(i + 1);
}

Parameters<D> universe_of(Parameters<> const& p, Variables& variable) {
  auto result = parameters_as<D>(p);
  for (auto const& [name, member] : of_universe<D>)
    result.*member = variable(name, (result.*member).value);
  return result;
}

std::vector<Tracer<D>> tracers_of(CellsSettings const& settings, Variables& variable) {
  using N = RedshiftDistribution<D>;
  std::vector<Tracer<D>> tracers;
  auto const& counts = settings.counts;
  auto const distribution = [](BinsSettings const& bins, std::size_t i) {
    return bins.file.empty() ? N::gaussian(D(bins.z[i]), D(bins.width[i]))
                             : bins.table.distributions[i].as<D>();
  };
  for (std::size_t i = 0; i < counts.bins.count(); ++i)
    tracers.push_back(NumberCounts<D>{.n = distribution(counts.bins, i),
                                      .bias = variable(numbered("bias", i), counts.bias[i]),
                                      .density = counts.density[i]});
  auto const& shapes = settings.shapes;
  if (shapes.bins.count() == 0) return tracers;
  D const alignment = variable("alignment", shapes.alignment), eta = variable("eta", shapes.eta);
  for (std::size_t i = 0; i < shapes.bins.count(); ++i) {
    D const m = variable(numbered("m", i), shapes.m[i]);
    D const shift = variable(numbered("shift", i), shapes.shift[i]);
    tracers.push_back(WeakLensing<D>{.n = distribution(shapes.bins, i).shifted(shift),
                                     .m = m,
                                     .alignment = alignment,
                                     .eta = eta,
                                     .sigma_e = shapes.sigma_e,
                                     .density = shapes.density[i]});
  }
  return tracers;
}

/// The middles and widths of bins that are equal in ln l.
std::pair<std::vector<double>, std::vector<double>> bins_of(CellsSettings const& settings) {
  std::vector<double> l, width;
  double const ratio = std::pow(settings.l_max / settings.l_min, 1.0 / settings.bins);
  for (int i = 0; i < settings.bins; ++i) {
    double const low = settings.l_min * std::pow(ratio, i);
    l.push_back(low * std::sqrt(ratio));
    width.push_back(low * (ratio - 1));
  }
  return {l, width};
}

/// The number of a parameter, which the settings have.
double& parameter(CellsSettings& settings, std::string const& name) {
  for (auto const& [of, member] : of_universe<double>)
    if (name == of) return settings.universe.*member;
  if (name == "eta") return settings.shapes.eta;
  if (name == "alignment") return settings.shapes.alignment;
  auto const digit = name.find_first_of("0123456789");
  auto const bin = static_cast<std::size_t>(std::stoi(name.substr(digit))) - 1;
  std::string const kind = name.substr(0, digit);
  auto& list = kind == "bias" ? settings.counts.bias
               : kind == "m"  ? settings.shapes.m
                              : settings.shapes.shift;
  return list[bin];
}

/// One number for all bins, or one for each.
void fill_up(std::vector<double>& list, std::size_t bins, std::string const& option, double least) {
  if (list.size() == 1) list.assign(bins, list[0]);
  expects(list.size() == bins,
          "give " + option + " one number, or one for each of the " +
              counted(std::int64_t(bins), "bins"),
          list.size());
  for (double const x : list)
    expects(x >= least, option + " must be at least " + in_words(least), x);
}

/// \param kind  what the options of these bins begin with
void fill_up(BinsSettings& bins, std::string const& kind) {
  if (!bins.file.empty()) {
    bins.table = read_redshift_table(bins.file);
  } else if (std::size_t const count = bins.count(); count > 0) {
    fill_up(bins.z, count, kind + "-z", 0);
    fill_up(bins.width, count, kind + "-width", 1e-3);
  }
}

}  // namespace

std::vector<std::string> parameter_names(CellsSettings const& settings) {
  std::vector<std::string> names;
  for (auto const& [name, member] : of_universe<double>) names.emplace_back(name);
  std::size_t const counts = settings.counts.bins.count(), shapes = settings.shapes.bins.count();
  for (std::size_t i = 0; i < counts; ++i) names.push_back(numbered("bias", i));
  if (shapes > 0) {
    names.push_back("alignment");
    names.push_back("eta");
  }
  for (std::size_t i = 0; i < shapes; ++i) {
    names.push_back(numbered("m", i));
    names.push_back(numbered("shift", i));
  }
  return names;
}

CellsSettings with_whole_lists(CellsSettings settings) {
  auto& counts = settings.counts;
  auto& shapes = settings.shapes;
  fill_up(counts.bins, "--counts");
  fill_up(shapes.bins, "--shapes");
  expects(
      counts.bins.count() + shapes.bins.count() > 0,
      "there must be a bin of counts or of shapes: give --counts-z, --counts-table, --shapes-z or "
      "--shapes-table");
  constexpr double any = -1e300;
  if (std::size_t const bins = counts.bins.count(); bins > 0) {
    fill_up(counts.bias, bins, "--counts-bias", any);
    fill_up(counts.density, bins, "--counts-density", 1e-9);
  }
  if (std::size_t const bins = shapes.bins.count(); bins > 0) {
    fill_up(shapes.m, bins, "--shapes-m", -1);
    fill_up(shapes.shift, bins, "--shapes-shift", any);
    fill_up(shapes.density, bins, "--shapes-density", 1e-9);
  }
  return settings;
}

Forecast forecast(CellsSettings const& settings) {
  auto const begin = std::chrono::steady_clock::now();
  auto const [l, width] = bins_of(settings);
  auto const nu = modes(l, width, settings.f_sky);

  std::size_t const counts = settings.counts.bins.count(), shapes = settings.shapes.bins.count(),
                    bins = counts + shapes;
  Forecast result{.nu = nu, .l = l, .spectra = {bins, l}, .total = {bins, l}};
  for (std::size_t i = 0; i < counts; ++i) result.tracers.push_back(numbered("counts", i));
  for (std::size_t i = 0; i < shapes; ++i) result.tracers.push_back(numbered("shapes", i));
  Variables variable(settings, result);
  auto const p = universe_of(settings.universe, variable);
  auto const tracers = tracers_of(settings, variable);
  auto const spectra = angular_power(p, tracers, l, settings.power);
  auto const total = with_noise(spectra, tracers);

  std::size_t const count = result.parameters.size();
  result.derivatives.assign(count, AngularSpectra<>(bins, l));
  for (std::size_t k = 0; k < spectra.values().size(); ++k) {
    D const& c = spectra.values()[k];
    result.spectra.values()[k] = c.value;
    result.total.values()[k] = total.values()[k].value;
    for (std::size_t d = 0; d < count; ++d) result.derivatives[d].values()[k] = c.derivative[d];
  }

  auto fisher = fisher_matrix(spectra, result.total, nu);
  for (auto const& [name, prior] : settings.priors) {
    auto const found = std::find(result.parameters.begin(), result.parameters.end(), name);
    auto const d = static_cast<std::size_t>(found - result.parameters.begin());
    fisher[d][d] += 1 / (prior * prior);
  }
  for (std::size_t d = count; d < most_parameters; ++d) fisher[d][d] = 1;  // directions without use
  auto const covariance = fisher.covariance();
  for (std::size_t d = 0; d < count; ++d) {
    result.fisher.emplace_back(fisher[d].begin(), fisher[d].begin() + std::ptrdiff_t(count));
    result.covariance.emplace_back(covariance[d].begin(),
                                   covariance[d].begin() + std::ptrdiff_t(count));
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.data = result.spectra;
  if (!settings.data.empty()) {
    result.data.values() = read_spectra(settings.data, l, result.spectra.pairs());
    result.chi_squared =
        GaussianLikelihood(result.data, result.total, nu).chi_squared(result.spectra);
    if (!std::isfinite(*result.chi_squared))
      throw InputError(settings.data.string() +
                       ": the spectra are so large that chi^2 isn't finite: give C_l in steradian");
  }
  return result;
}

std::string survey_text(CellsSettings const& settings, Forecast const& forecast) {
  std::ostringstream text;
  text.precision(17);
  auto const add = [&](std::string const& name, auto const& numbers) {
    text << name;
    for (auto const& x : numbers) text << " " << x;
    text << "\n";
  };
  auto const& counts = settings.counts;
  auto const& shapes = settings.shapes;
  std::vector<double> universe;
  for (auto const& [name, member] : of_universe<double>)
    universe.push_back(settings.universe.*member);
  add("universe", universe);
  add("matter", std::vector{settings.power.matter == MatterPower::halofit ? "halofit" : "linear"});
  auto const add_bins = [&](std::string const& kind, BinsSettings const& bins_of_kind) {
    add(kind + "-z", bins_of_kind.file.empty() ? bins_of_kind.z : bins_of_kind.table.z);
    if (bins_of_kind.file.empty()) add(kind + "-width", bins_of_kind.width);
    for (auto const& n : bins_of_kind.table.n) add(kind + "-n", n);
  };
  add_bins("counts", counts.bins);
  add("counts-bias", counts.bias);
  add("counts-density", counts.density);
  add_bins("shapes", shapes.bins);
  add("shapes-m", shapes.m);
  add("shapes-shift", shapes.shift);
  add("shapes-density", shapes.density);
  add("sigma-e, alignment, eta", std::vector{shapes.sigma_e, shapes.alignment, shapes.eta});
  add("l-min, l-max, f-sky", std::vector{settings.l_min, settings.l_max, settings.f_sky});
  add("bins", std::vector{settings.bins});
  if (!settings.data.empty()) add("data", forecast.data.values());
  add("free", forecast.parameters);
  for (auto const& [name, width] : settings.priors) add("prior " + name, std::vector{width});
  add("sampler", std::vector{settings.sampler == Sampler::nuts ? "nuts" : "chees"});
  add("chains, warmup, seed", std::vector{settings.chains, settings.warmup, settings.seed});
  return text.str();
}

Posterior::Posterior(CellsSettings const& settings, Forecast const& forecast)
    : settings_(settings),
      names_(forecast.parameters),
      fiducial_(forecast.fiducial),
      likelihood_(forecast.data, forecast.total, forecast.nu) {
  settings_.free = names_;
  // Everywhere as many as here: more or fewer would be a step in the density.
  settings_.power.panels = panels_for(at(fiducial_).tracers);
}

VariedSurvey Posterior::at(std::vector<double> const& x) const {
  CellsSettings settings = settings_;
  for (std::size_t i = 0; i < size(); ++i) parameter(settings, names_[i]) = x[i];
  Forecast order;  // the order of parameters is that of names_
  Variables variable(settings, order);
  auto const universe = universe_of(settings.universe, variable);
  return {universe, tracers_of(settings, variable)};
}

std::vector<double> Posterior::precisions() const {
  std::vector<double> result(size(), 0.0);
  for (std::size_t i = 0; i < size(); ++i)
    if (auto const prior = settings_.priors.find(names_[i]); prior != settings_.priors.end())
      result[i] = 1 / (prior->second * prior->second);
  return result;
}

double Posterior::operator()(std::vector<double> const& x, std::vector<double>& slope) const {
  D value;
  try {
    auto const [universe, tracers] = at(x);
    value = likelihood_(angular_power(universe, tracers, likelihood_.data().l(), settings_.power));
  } catch (PreconditionError const&) {
    return -std::numeric_limits<double>::infinity();
  }
  for (std::size_t i = 0; i < size(); ++i) slope[i] = value.derivative[i];
  double result = value.value;
  auto const precision = precisions();
  for (std::size_t i = 0; i < size(); ++i) {
    double const off = x[i] - fiducial_[i];
    result -= 0.5 * off * off * precision[i];
    slope[i] -= off * precision[i];
  }
  return result;
}

}  // namespace coir::apps::cells
