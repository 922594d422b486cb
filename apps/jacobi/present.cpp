#include "present.hpp"

#include <coir/core/kokkos.hpp>
#include <coir/core/resident.hpp>
#include <coir/core/version.hpp>

#include <support/report.hpp>
#include <support/table.hpp>
#include <support/text.hpp>
#include <support/units.hpp>

#include <cstdint>
#include <cstdio>
#include <limits>

namespace coir::apps::jacobi {

namespace {

std::string formatted(char const* format, double value) {
  if (value != value) return "-";
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string error_cell(JacobiOutcome const& outcome, double Error::* part, char const* format) {
  return outcome.error ? formatted(format, (*outcome.error).*part) : "-";
}

std::string note_on_colours(JacobiFacts const& facts) {
  return facts.had_colours ? "the picture's colours were turned into grey\n" : "";
}

std::string on_ranks(JacobiFacts const& facts) {
  return facts.ranks > 1 ? ", on each of " + std::to_string(facts.ranks) + " ranks" : "";
}

/// From which prime factor on transforms are told to be slow.
constexpr std::int64_t large_prime_factor = 101;

std::string note_on_transforms(JacobiOutcome const& outcome) {
  if (outcome.largest_prime_factor.value_or(0) < large_prime_factor) return "";
  return "the transforms' length has the prime factor " +
         std::to_string(*outcome.largest_prime_factor) +
         ": with a few more or fewer rows or columns direct may be several times as fast\n";
}

}  // namespace

double cells_per_second(JacobiOutcome const& outcome, JacobiFacts const& facts) {
  double const cells = double(facts.rows) * facts.columns;
  return outcome.seconds > 0 ? cells * double(outcome.result.iterations) / outcome.seconds : 0;
}

double bandwidth_share(JacobiOutcome const& outcome, JacobiFacts const& facts) {
  if (!makes_sweeps(outcome.scheme) || !facts.triad_bandwidth)
    return std::numeric_limits<double>::quiet_NaN();
  double const bytes_per_cell = 3 * (facts.precision == Precision::float32 ? 4 : 8);
  return cells_per_second(outcome, facts) * bytes_per_cell / *facts.triad_bandwidth;
}

Report jacobi_report(JacobiOutcome const& outcome, JacobiFacts const& facts) {
  Report report;
  report["application"] = "coir-jacobi";
  report["version"] = version;
  report["kokkos_version"] = kokkos_version();
  report_hardware(report, facts.hardware);
  report["ranks"] = facts.ranks;
  report["scheme"] = jacobi_scheme_name(outcome.scheme);
  report["precision"] = float_or_double(facts.precision);
  report["rows"] = facts.rows;
  report["columns"] = facts.columns;
  report["input_had_colours"] = facts.had_colours;
  report["sweeps"] = outcome.result.iterations;
  report["seconds"] = outcome.seconds;
  report["cells_per_second"] = cells_per_second(outcome, facts);
  report["bandwidth_share"] = bandwidth_share(outcome, facts);
  report["triad_bytes_per_second"] = or_null(facts.triad_bandwidth);
  report["bandwidth_not_measured"] = nullptr;
  if (!facts.triad_bandwidth) report["bandwidth_not_measured"] = facts.without_bandwidth;
  report["relative_residual"] = outcome.result.relative_residual;
  report["converged"] = outcome.result.converged;
  report["stopped_by"] = name_of(outcome.result.stopped_by);
  report["largest_prime_factor"] = or_null(outcome.largest_prime_factor);
  report["max_abs_error"] = nullptr;
  report["psnr_db"] = nullptr;
  if (outcome.error) {
    report["max_abs_error"] = outcome.error->largest;
    report["psnr_db"] = outcome.error->psnr;
  }
  report["bytes_peak"] = peak_resident_bytes();
  return report;
}

std::string summary_of(JacobiOutcome const& outcome, JacobiFacts const& facts) {
  std::string text = jacobi_scheme_name(outcome.scheme) + ": " +
                     counted(outcome.result.iterations, iterations_of(outcome.scheme)) + " in " +
                     with_unit(outcome.seconds, "s") + ", " +
                     with_unit(cells_per_second(outcome, facts), "cell/s");
  double const share = bandwidth_share(outcome, facts);
  if (share == share) text += " (" + percent(share) + " of the triad bandwidth)";
  if (!facts.triad_bandwidth && makes_sweeps(outcome.scheme))
    text += " (bandwidth not measured: " + facts.without_bandwidth + ")";
  text += "\ncomputed on " + facts.hardware.text() + on_ranks(facts) + "\nrelative residual " +
          formatted("%.2e", outcome.result.relative_residual) + ", stopped by " +
          std::string(name_of(outcome.result.stopped_by));
  if (outcome.error)
    text += "\nlargest error " + error_cell(outcome, &Error::largest, "%.3g") +
            " grey levels, peak signal-to-noise ratio " +
            error_cell(outcome, &Error::psnr, "%.1f") + " dB";
  return text + "\n" + note_on_transforms(outcome) + note_on_colours(facts);
}

std::string table_of(std::vector<JacobiOutcome> const& outcomes, JacobiFacts const& facts) {
  std::vector<std::string> headings = {"scheme",   "sweeps",    "seconds",   "Gcell/s",
                                       "residual", "max error", "PSNR (dB)", "speed-up"};
  if (facts.triad_bandwidth) headings.insert(headings.begin() + 4, "of triad");
  Table table(headings);
  for (auto const& outcome : outcomes) {
    std::vector<std::string> cells = {
        jacobi_scheme_name(outcome.scheme),
        std::to_string(outcome.result.iterations),
        formatted("%.4f", outcome.seconds),
        formatted("%.2f", 1e-9 * cells_per_second(outcome, facts)),
        formatted("%.1e", outcome.result.relative_residual),
        error_cell(outcome, &Error::largest, "%.3g"),
        error_cell(outcome, &Error::psnr, "%.1f"),
        formatted("%.1fx", outcomes.front().seconds / outcome.seconds)};
    double const share = bandwidth_share(outcome, facts);
    if (facts.triad_bandwidth)
      cells.insert(cells.begin() + 4, share == share ? percent(share) : "-");
    table.add_row(cells);
  }
  std::string const triad =
      facts.triad_bandwidth
          ? "of triad: bytes that plain sweeps would move at this speed, over the " +
                with_unit(*facts.triad_bandwidth, "B/s") +
                " measured here;\nabove 100 % the sweeps ran in cache. "
          : "The share of the triad's bandwidth isn't shown: " + facts.without_bandwidth + ".\n";
  return table.text() + "\ncomputed on " + facts.hardware.text() + "\n" + triad +
         "Multigrid counts cycles, cg iterations and direct solves, red-black ends when rounding "
         "does.\n"
         "speed-up: over plain Jacobi, for the error that each reached.\n" +
         note_on_transforms(outcomes.back()) + note_on_colours(facts);
}

}  // namespace coir::apps::jacobi
