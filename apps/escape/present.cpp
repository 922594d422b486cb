#include "present.hpp"

#include <coir/core/kokkos.hpp>
#include <coir/core/resident.hpp>
#include <coir/core/version.hpp>

#include <support/units.hpp>

#include <cstdio>

namespace coir::apps::escape {

namespace {

double pixels_of(EscapeSettings const& settings) {
  return double(settings.rows) * settings.columns;
}

double per_second(double amount, EscapeFigures const& figures) {
  return figures.seconds > 0 ? amount / figures.seconds : 0;
}

}  // namespace

Report escape_report(EscapeFigures const& figures, EscapeSettings const& settings) {
  Report report;
  report["application"] = "coir-escape";
  report["version"] = version;
  report["kokkos_version"] = kokkos_version();
  report_hardware(report, figures.hardware);
  report["scheme"] = escape_scheme_name(settings.scheme);
  report["set"] = escape_set_name(settings.set);
  report["precision"] = float_or_double(settings.precision);
  report["rows"] = settings.rows;
  report["columns"] = settings.columns;
  report["iterations"] = settings.iterations;
  report["seconds"] = figures.seconds;
  report["pixels_per_second"] = per_second(pixels_of(settings), figures);
  report["iterations_per_second"] = per_second(double(figures.steps), figures);
  report["inside_fraction"] = double(figures.inside) / pixels_of(settings);
  report["bytes_peak"] = peak_resident_bytes();
  return report;
}

std::string summary_of(EscapeFigures const& figures, EscapeSettings const& settings) {
  char inside[80];
  std::snprintf(inside, sizeof inside, "%.2f %% of the pixels stay within %d steps\n",
                100 * double(figures.inside) / pixels_of(settings), settings.iterations);
  return std::string(escape_scheme_name(settings.scheme)) + ": " +
         std::to_string(settings.columns) + " x " + std::to_string(settings.rows) + " pixels in " +
         with_unit(figures.seconds, "s") + ", " +
         with_unit(per_second(pixels_of(settings), figures), "pixel/s") + ", " +
         with_unit(per_second(double(figures.steps), figures), "step/s") + "\ncomputed on " +
         figures.hardware.text() + "\n" + inside;
}

}  // namespace coir::apps::escape
