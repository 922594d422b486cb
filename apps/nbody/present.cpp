#include "present.hpp"

#include "setting_list.hpp"

#include <coir/core/kokkos.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/version.hpp>

#include <support/text.hpp>
#include <support/units.hpp>

namespace coir::apps::nbody {

namespace {

double particle_steps(Run const& run, Figures const& figures) {
  return static_cast<double>(run.count()) * figures.steps;
}

std::string precision_of(Settings const& settings) {
  return settings.precision == Precision::float32 ? "single" : "double";
}

}  // namespace

std::string plan_of(Run const& run, MemoryPlan const& memory, Hardware const& hardware) {
  auto const& s = run.settings;
  auto const& a = run.schedule.scale_factors;
  auto const first = static_cast<std::size_t>(run.first_step());
  std::string text = std::to_string(s.particles) + "^3 particles in " + exact_text(s.box) +
                     " Mpc/h, forces on " + std::to_string(run.mesh_side()) + "^3 cells, " +
                     counted(run.schedule.steps() - run.first_step(), "steps") + " of " +
                     std::string(name_of(s.stepper)) + " from a = " + exact_text(a[first]) +
                     " to " + exact_text(a.back()) + ", " + precision_of(s) + " precision\n";
  std::string const of_host = readable_bytes(memory.before + memory.host) + " at most, " +
                              readable_bytes(free_bytes<Kokkos::HostSpace>()) + " are free";
  text += "computed on " + hardware.text() + "\n";
  if (!memory.device)
    text += "memory: " + of_host;
  else
    text += "memory: " + readable_bytes(*memory.device) + " at most, " +
            readable_bytes(free_bytes<Kokkos::DefaultExecutionSpace::memory_space>()) +
            " are free; on the host " + of_host;
  return text + "\n";
}

std::string summary_of(Run const& run, Figures const& figures) {
  std::string text = counted(figures.steps, "steps") + " in " + with_unit(figures.seconds, "s");
  if (figures.steps > 0 && figures.seconds > 0) {
    double const per_step = figures.seconds / particle_steps(run, figures);
    auto const& p = figures.phases;
    text += ", " + with_unit(1 / per_step, "particle-step/s") + ": paint " +
            percent(p.paint / figures.seconds) + ", transforms " +
            percent(p.fft / figures.seconds) + ", readout " + percent(p.readout / figures.seconds) +
            ", drifts " + percent(p.push / figures.seconds) + ", sorting " +
            percent(p.sort / figures.seconds);
  }
  text += "\nthe start took " + with_unit(figures.start_seconds, "s") + ", spectra " +
          with_unit(figures.outputs.spectra, "s") + ", pictures " +
          with_unit(figures.outputs.pictures, "s") + ", files " +
          with_unit(figures.outputs.io, "s") + "\n";
  if (run.last_step() < run.schedule.steps())
    text += "stopped after " + std::to_string(run.last_step()) + " of " +
            counted(run.schedule.steps(), "steps") + ": --restart " + run.settings.output.string() +
            " goes on\n";
  return text + "written to " + run.settings.output.string() + "\n";
}

Report report_of(Run const& run, Figures const& figures) {
  Report report;
  report["application"] = "coir-nbody";
  report["version"] = version;
  report["kokkos_version"] = kokkos_version();
  report_hardware(report, figures.hardware);
  report["precision"] = precision_of(run.settings);
  report["particles"] = run.count();
  report["mesh"] = run.mesh_side();
  report["stepper"] = name_of(run.settings.stepper);
  report["steps"] = figures.steps;
  report["a"] = figures.a;
  report["seconds"] = figures.seconds;
  report["phases"] = {{"start", figures.start_seconds},
                      {"paint", figures.phases.paint},
                      {"fft", figures.phases.fft},
                      {"readout", figures.phases.readout},
                      {"push", figures.phases.push},
                      {"sort", figures.phases.sort},
                      {"spectra", figures.outputs.spectra},
                      {"pictures", figures.outputs.pictures},
                      {"io", figures.outputs.io}};
  report["nanoseconds_per_particle_step"] = nullptr;
  if (figures.steps > 0)
    report["nanoseconds_per_particle_step"] = 1e9 * figures.seconds / particle_steps(run, figures);
  report_memory(report, figures.predicted);
  return report;
}

}  // namespace coir::apps::nbody
