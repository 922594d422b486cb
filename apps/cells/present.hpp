#pragma once

#include "survey.hpp"

#include <support/report.hpp>

#include <string>

namespace coir::apps::cells {

/// A number in four digits, for people.
std::string short_text(double x);

/// Columns: l, and C_l of each pair without noise.
std::string spectra_text(Forecast const& forecast);
/// A row for each l and pair: the derivatives by each parameter.
std::string derivatives_text(Forecast const& forecast);
/// The Fisher matrix with priors, a row for each parameter.
std::string fisher_text(Forecast const& forecast);
/// A table of parameters and their errors, for people.
std::string summary_of(Forecast const& forecast);
Report cells_report(Forecast const& forecast);

}  // namespace coir::apps::cells
