#include "start_from_snapshot.hpp"

#include "options.hpp"

#include <support/text.hpp>

#include <algorithm>

namespace coir::apps::nbody {

namespace {

/// Sets what wasn't given; what was must be the snapshot's, but for rounding.
template <class Number>
void take(CommandLine const& line, std::string const& name, Number& setting, Number of_snapshot,
          Settings const& settings) {
  double const mine = static_cast<double>(setting), its = static_cast<double>(of_snapshot);
  if (!is_given(line, name)) {
    setting = of_snapshot;
    return;
  }
  expects(std::abs(mine - its) <= 1e-5 * std::max(std::abs(mine), std::abs(its)),
          "--" + name + " must be the " + exact_text(its) + " of the snapshot " +
              settings.start.string() + ", or be left out",
          exact_text(mine));
}

}  // namespace

void take_settings_of_start(CommandLine const& line, Settings& settings) {
  Snapshot const snapshot = find_snapshot(settings.start);
  std::int64_t const side = std::llround(std::cbrt(static_cast<double>(snapshot.particles)));
  if (side * side * side != snapshot.particles)
    throw InputError(settings.start.string() + " has " + std::to_string(snapshot.particles) +
                     " particles of type 1, which is no cube: a run starts from N^3 particles");
  take(line, "particles", settings.particles, side, settings);
  take(line, "box", settings.box, snapshot.box, settings);
  if (settings.scale_factors.empty())
    take(line, "a-start", settings.a_start, snapshot.a, settings);
  else
    expects(std::abs(settings.scale_factors.front() - snapshot.a) <= 1e-5 * snapshot.a,
            "--scale-factors must begin with the " + exact_text(snapshot.a) + " of the snapshot " +
                settings.start.string(),
            exact_text(settings.scale_factors.front()));
  if (snapshot.omega_m > 0)
    take(line, "omega-m", settings.cosmology.omega_m, snapshot.omega_m, settings);
  if (snapshot.hubble > 0) take(line, "h", settings.cosmology.h, snapshot.hubble, settings);
}

}  // namespace coir::apps::nbody
