#include "present.hpp"

#include <coir/core/version.hpp>

#include <support/table.hpp>
#include <support/text.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace coir::apps::cells {

namespace {

template <class F>
void for_each_pair(Forecast const& forecast, F const& f) {
  for (std::size_t i = 0; i < forecast.tracers.size(); ++i)
    for (std::size_t j = i; j < forecast.tracers.size(); ++j) f(i, j);
}

}  // namespace

std::string short_text(double x) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.4g", x);
  return text.data();
}

std::string spectra_text(Forecast const& forecast) {
  std::string text = "# C_l in steradian, without noise\n# l";
  for_each_pair(forecast, [&](std::size_t i, std::size_t j) {
    text += " " + forecast.tracers[i] + "," + forecast.tracers[j];
  });
  text += "\n";
  for (std::size_t at = 0; at < forecast.l.size(); ++at) {
    text += exact_text(forecast.l[at]);
    for_each_pair(forecast, [&](std::size_t i, std::size_t j) {
      text += " " + exact_text(forecast.spectra(at, i, j));
    });
    text += "\n";
  }
  return text;
}

std::string derivatives_text(Forecast const& forecast) {
  std::string text =
      "# dC_l / d parameter\n# l tracer tracer " + joined(forecast.parameters, " ") + "\n";
  for (std::size_t at = 0; at < forecast.l.size(); ++at)
    for_each_pair(forecast, [&](std::size_t i, std::size_t j) {
      text += exact_text(forecast.l[at]) + " " + forecast.tracers[i] + " " + forecast.tracers[j];
      for (auto const& slope : forecast.derivatives) text += " " + exact_text(slope(at, i, j));
      text += "\n";
    });
  return text;
}

std::string fisher_text(Forecast const& forecast) {
  std::string text = "# Fisher matrix, with priors\n# " + joined(forecast.parameters, " ") + "\n";
  for (auto const& row : forecast.fisher) {
    std::vector<std::string> numbers;
    for (double const x : row) numbers.push_back(exact_text(x));
    text += joined(numbers, " ") + "\n";
  }
  return text;
}

std::string summary_of(Forecast const& forecast) {
  Table table({"parameter", "value", "error", "others fixed"});
  for (std::size_t i = 0; i < forecast.parameters.size(); ++i)
    table.add_row({forecast.parameters[i], short_text(forecast.fiducial[i]),
                   short_text(std::sqrt(forecast.covariance[i][i])),
                   short_text(1 / std::sqrt(forecast.fisher[i][i]))});
  std::size_t const pairs = forecast.spectra.pairs();
  return std::to_string(pairs) + (pairs == 1 ? " spectrum at " : " spectra at ") +
         std::to_string(forecast.l.size()) + " l with derivatives by " +
         counted(static_cast<std::int64_t>(forecast.parameters.size()), "parameters") + ": " +
         short_text(1e3 * forecast.seconds) + " ms\n" +
         (forecast.chi_squared
              ? "chi^2 of these spectra is " + short_text(*forecast.chi_squared) + " for " +
                    counted(static_cast<std::int64_t>(forecast.data.values().size()),
                            "measured numbers") +
                    "\n"
              : "") +
         "\n" + table.text();
}

Report cells_report(Forecast const& forecast) {
  Report report;
  report["application"] = "coir-cells";
  report["version"] = version;
  report["tracers"] = forecast.tracers;
  report["l"] = forecast.l;
  report["seconds"] = forecast.seconds;
  if (forecast.chi_squared) report["chi_squared"] = *forecast.chi_squared;
  report["parameters"] = forecast.parameters;
  report["values"] = forecast.fiducial;
  report["covariance"] = forecast.covariance;
  return report;
}

}  // namespace coir::apps::cells
