#include "present.hpp"

#include <coir/core/kokkos.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/version.hpp>

#include <support/text.hpp>
#include <support/units.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

namespace coir::apps::field {

namespace {

std::string formatted(char const* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// coir-nbody as it can be typed: with its folder, beside this program where both are installed or
/// in its own in a build tree.
std::string command_of_nbody() {
  namespace fs = std::filesystem;
  std::error_code none;
  fs::path const here = fs::read_symlink("/proc/self/exe", none).parent_path();
  for (auto const& path : {here / "coir-nbody", here.parent_path() / "nbody" / "coir-nbody"})
    if (fs::exists(path, none)) return path.string();
  return "coir-nbody";
}

Report slopes_in_report(cosmology::Parameters<double> const& slopes) {
  return {{"omega_m", slopes.omega_m}, {"omega_b", slopes.omega_b}, {"h", slopes.h},
          {"n_s", slopes.n_s},         {"sigma8", slopes.sigma8},   {"A_s", slopes.A_s},
          {"omega_k", slopes.omega_k}, {"omega_r", slopes.omega_r}, {"w0", slopes.w0},
          {"wa", slopes.wa},           {"t_cmb", slopes.t_cmb}};
}

Report history_in_report(std::vector<Epoch> const& history) {
  Report list = Report::array();
  for (auto const& [state, prior] : history)
    list.push_back({{"evaluations", state.evaluations},
                    {"loss", state.value},
                    {"prior", prior},
                    {"misfit", state.value - prior},
                    {"gradient_norm", state.gradient_norm},
                    {"step_norm", state.step_norm}});
  return list;
}

std::string likeness_words(double correlation) {
  return std::isnan(correlation)
             ? "the target is even: nothing correlates with it, and the universe's density differs "
               "by "
             : "the universe's density and the target have a correlation of " +
                   formatted("%.4f", correlation) + " (1: alike but for a factor), and differ by ";
}

std::string check_words(FieldFigures const& figures) {
  if (!figures.check) return "";
  return "along random noise the gradient is " + formatted("%.9g", figures.check->gradient) +
         ", and a difference of two misfits " + formatted("%.9g", figures.check->difference) + "\n";
}

std::string why_it_stopped(FieldFigures const& figures) {
  switch (figures.stopped_by) {
    case LbfgsEnd::iterations: return "stopped by --iterations";
    case LbfgsEnd::tolerance: return "stopped by --tolerance";
    case LbfgsEnd::no_slope: return "the gradient is zero";
    default: return "no step lowers the loss, by rounding";
  }
}

}  // namespace

std::string plan_of(FieldRun const& run, MemoryPlan const& memory, Hardware const& hardware) {
  auto const& s = run.settings;
  auto const& universe = s.universe;
  std::string text = std::to_string(universe.particles) + "^3 particles in " +
                     exact_text(universe.box) + " Mpc/h, " + counted(universe.steps, "steps") +
                     " of " + std::string(name_of(universe.stepper)) +
                     " from a = " + exact_text(universe.a_start) + " to " +
                     exact_text(universe.a_end) + ", towards " + run.target.content + "\n";
  std::string const free = readable_bytes(free_bytes<Kokkos::HostSpace>()) + " are free";
  std::string const of_host = readable_bytes(memory.before + memory.host) + " at most, " + free;
  text += "computed on " + hardware.text() + "\n";
  if (!memory.device) return text + "memory: " + of_host + "\n";
  return text + "memory: " + readable_bytes(*memory.device) + " at most, " +
         readable_bytes(free_bytes<Kokkos::DefaultExecutionSpace::memory_space>()) +
         " are free; on the host " + of_host + "\n";
}

std::string summary_of(FieldRun const& run, FieldFigures const& figures) {
  auto const& s = run.settings;
  std::string const written = "written to " + s.output.string() + "\n";
  if (!s.gradient_of.empty())
    return "misfit " + formatted("%.6g", figures.misfit) + ", its gradient in " +
           with_unit(figures.seconds, "s") + "\n" + check_words(figures) + written;
  auto const& last = figures.history.back().state;
  return counted(last.iterations, "iterations") + " and " + counted(last.evaluations, "gradients") +
         " in " + with_unit(figures.seconds, "s") + ", " + why_it_stopped(figures) + "\n" +
         likeness_words(figures.correlation) + formatted("%.3g", figures.difference) +
         " times the target's error (--sigma)\nthe start's random numbers have an rms of " +
         formatted("%.3g", figures.noise_rms) +
         " (1: as likely as any other); the loss fell from " +
         formatted("%.6g", figures.history.front().state.value) + " to " +
         formatted("%.6g", last.value) + "\n" + written + "grow it again: " + command_of_nbody() +
         " --config " + FileNames(s).universe().string() + "\n";
}

Report field_report(FieldRun const& run, FieldFigures const& figures) {
  auto const& s = run.settings;
  Report report;
  report["application"] = "coir-field";
  report["version"] = version;
  report["kokkos_version"] = kokkos_version();
  report_hardware(report, figures.hardware);
  report["ranks"] = run.ranks.size();
  report["precision"] = single_or_double(s.universe.precision);
  report["particles"] = run.sites();
  report["target"] = run.target.content;
  report["target_side"] = run.target.side();
  report["sigma"] = s.sigma;
  report["smooth"] = run.smooth();
  report["seconds"] = figures.seconds;
  if (!s.gradient_of.empty()) {
    report["misfit"] = figures.misfit;
    report["slopes"] = slopes_in_report(figures.slopes);
    if (figures.check)
      report["check"] = {{"gradient", figures.check->gradient},
                         {"difference", figures.check->difference}};
  } else {
    report["iterations"] = figures.history.back().state.iterations;
    report["stopped_by"] = name_of(figures.stopped_by);
    report["correlation"] = figures.correlation;
    report["difference_over_sigma"] = figures.difference;
    report["noise_rms"] = figures.noise_rms;
    report["history"] = history_in_report(figures.history);
  }
  report_memory(report, figures.predicted);
  return report;
}

}  // namespace coir::apps::field
