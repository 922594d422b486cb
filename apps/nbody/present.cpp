#include "present.hpp"

#include "setting_list.hpp"

#include <coir/core/kokkos.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/resident.hpp>
#include <coir/core/version.hpp>

#include <support/text.hpp>
#include <support/units.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace coir::apps::nbody {

namespace {

double particle_steps(Run const& run, Figures const& figures) {
  return static_cast<double>(run.count()) * figures.steps;
}

double Phases::* const all_phases[] = {&Phases::start,   &Phases::paint,   &Phases::fft,
                                       &Phases::readout, &Phases::push,    &Phases::sort,
                                       &Phases::migrate, &Phases::spectra, &Phases::pictures,
                                       &Phases::io,      &Phases::exchange};

Report phases_in_report(Phases const& p, bool over_ranks) {
  Report report = {{"start", p.start},     {"paint", p.paint},       {"fft", p.fft},
                   {"readout", p.readout}, {"push", p.push},         {"sort", p.sort},
                   {"spectra", p.spectra}, {"pictures", p.pictures}, {"io", p.io}};
  if (over_ranks) {
    report["migrate"] = p.migrate;
    report["exchange"] = p.exchange;
  }
  return report;
}

std::string memory_line(Run const& run, MemoryPlan const& memory) {
  std::string const free = readable_bytes(free_bytes<Kokkos::HostSpace>()) + " are free";
  std::int64_t const host = memory.before + memory.host;
  if (run.ranks.size() > 1) {
    std::string text = "memory: " + readable_bytes(run.ranks.max(host)) +
                       " at most on the host of a rank, " + readable_bytes(run.ranks.sum(host)) +
                       " on all; here " + free;
    if (memory.device)
      text += "; on a device " + readable_bytes(run.ranks.max(*memory.device)) + " at most, " +
              readable_bytes(free_bytes<Kokkos::DefaultExecutionSpace::memory_space>()) +
              " are free here";
    return text + "; " + percent(run.simulation.headroom) +
           " more particles than an even share fit";
  }
  std::string const of_host = readable_bytes(host) + " at most, " + free;
  if (!memory.device) return "memory: " + of_host;
  return "memory: " + readable_bytes(*memory.device) + " at most, " +
         readable_bytes(free_bytes<Kokkos::DefaultExecutionSpace::memory_space>()) +
         " are free; on the host " + of_host;
}

}  // namespace

Spread spread_of(distributed::Group const& ranks, Figures const& figures) {
  auto const& [paint, fft, readout, push, sort, migrate] = figures.phases;
  auto const& [spectra, pictures, io] = figures.outputs;
  Phases const here{
      figures.start_seconds,   paint, fft, readout, push, sort, migrate, spectra, pictures, io,
      figures.exchange_seconds};
  Spread spread;
  auto const all = ranks.gather(here);
  for (auto const phase : all_phases)
    for (Phases const& rank : all) {
      spread.mean.*phase += rank.*phase / static_cast<double>(all.size());
      spread.most.*phase = std::max(spread.most.*phase, rank.*phase);
    }
  spread.messages = ranks.sum(ranks.traffic().messages);
  spread.bytes = ranks.sum(ranks.traffic().bytes);
  spread.peak = ranks.max(static_cast<std::int64_t>(peak_resident_bytes()));
  spread.predicted = most_of(ranks, figures.predicted);
  return spread;
}

std::string plan_of(Run const& run, MemoryPlan const& memory, Hardware const& hardware,
                    std::string const& transport) {
  auto const& s = run.settings;
  auto const& a = run.schedule.scale_factors;
  auto const first = static_cast<std::size_t>(run.first_step());
  std::string text = std::to_string(s.particles) + "^3 particles in " + exact_text(s.box) +
                     " Mpc/h, forces on " + std::to_string(run.mesh_side()) + "^3 cells, " +
                     counted(run.schedule.steps() - run.first_step(), "steps") + " of " +
                     std::string(name_of(s.stepper)) + " from a = " + exact_text(a[first]) +
                     " to " + exact_text(a.back()) + ", " + single_or_double(s.precision) +
                     " precision\n";
  if (int const asked = steps_asked_for(s); run.schedule.steps() > asked)
    text += std::to_string(asked) + " steps were asked for, and outputs cut " +
            std::to_string(run.schedule.steps() - asked) + " of them in two\n";
  text += "computed on " +
          (run.ranks.size() > 1 ? std::to_string(run.ranks.size()) + " ranks, the first one on "
                                : std::string()) +
          hardware.text() +
          (run.ranks.size() > 1 ? ", which exchange by " + transport : std::string()) + "\n";
  return text + memory_line(run, memory) + "\n";
}

std::string summary_of(Run const& run, Figures const& figures, Spread const& spread) {
  Phases const& p = spread.mean;
  std::string text = counted(figures.steps, "steps") + " in " + with_unit(figures.seconds, "s");
  if (figures.steps > 0 && figures.seconds > 0) {
    double const per_step = figures.seconds / particle_steps(run, figures);
    auto const part = [&](double seconds) { return percent(seconds / figures.seconds); };
    text += ", " + with_unit(1 / per_step, "particle-step/s") + ": paint " + part(p.paint) +
            ", transforms " + part(p.fft) + ", readout " + part(p.readout) + ", drifts " +
            part(p.push) + ", sorting " + part(p.sort);
    if (run.ranks.size() > 1) text += ", migration " + part(p.migrate);
  }
  if (run.ranks.size() > 1)
    text += "\nexchanges took " + with_unit(p.exchange, "s") + " of a rank, " +
            with_unit(spread.most.exchange, "s") + " at most, for " +
            counted(spread.messages, "messages") + " of " +
            readable_bytes(spread.messages > 0 ? spread.bytes / spread.messages : 0) +
            " on average";
  text += "\nthe start took " + with_unit(p.start, "s") + ", spectra " + with_unit(p.spectra, "s") +
          ", pictures " + with_unit(p.pictures, "s") + ", files " + with_unit(p.io, "s") + "\n";
  if (run.last_step() < run.schedule.steps())
    text += "stopped after " + std::to_string(run.last_step()) + " of " +
            counted(run.schedule.steps(), "steps") + ": --restart " + run.settings.output.string() +
            " goes on\n";
  return text + "written to " + run.settings.output.string() + "\n";
}

Report report_of(Run const& run, Figures const& figures, Spread const& spread) {
  bool const over_ranks = run.ranks.size() > 1;
  Report report;
  report["application"] = "coir-nbody";
  report["version"] = version;
  report["kokkos_version"] = kokkos_version();
  report_hardware(report, figures.hardware);
  report["precision"] = single_or_double(run.settings.precision);
  report["particles"] = run.count();
  report["mesh"] = run.mesh_side();
  report["stepper"] = name_of(run.settings.stepper);
  report["steps"] = figures.steps;
  report["a"] = figures.a;
  report["seconds"] = figures.seconds;
  report["phases"] = phases_in_report(spread.most, over_ranks);
  report["nanoseconds_per_particle_step"] = nullptr;
  if (figures.steps > 0)
    report["nanoseconds_per_particle_step"] = 1e9 * figures.seconds / particle_steps(run, figures);
  report_memory(report, spread.predicted);
  if (!over_ranks) return report;
  report["bytes_peak"] = spread.peak;
  report["ranks"] = {{"count", run.ranks.size()},
                     {"transport", figures.transport},
                     {"mean_phases", phases_in_report(spread.mean, over_ranks)},
                     {"messages", spread.messages},
                     {"bytes", spread.bytes},
                     {"headroom", run.simulation.headroom}};
  return report;
}

}  // namespace coir::apps::nbody
