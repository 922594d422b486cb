#include "universe.hpp"
#include "setting_list.hpp"

#include <coir/core/errors.hpp>
#include <coir/cosmology/growth.hpp>
#include <coir/cosmology/power_table.hpp>
#include <coir/io/checksum.hpp>
#include <coir/io/file.hpp>
#include <coir/nbody/linear_growth.hpp>

#include <support/units.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numbers>
#include <string>

namespace coir::apps::nbody {

namespace {

/// The scale factor that a power table is of.
double a_of_table(Settings const& settings) { return 1 / (1 + settings.table_redshift); }

/// A table that is too short is the file's fault, not the caller's.
Universe universe_of_table(Settings const& settings, cosmology::Growth<double> const& growth) {
  auto const text = io::read_file(settings.power_table);
  io::Checksum checksum;
  checksum.add(text);
  auto const table = cosmology::decode_power_table(
      {reinterpret_cast<char const*>(text.data()), text.size()}, settings.power_table.string());
  double const unit = 2 * std::numbers::pi / settings.box;
  double const half = std::max<double>(1, static_cast<double>(settings.particles / 2));
  try {
    table.expects_coverage(unit, unit * std::sqrt(3.0) * half);
    auto const amplitude = settings.renormalise ? cosmology::TableAmplitude::sigma8
                                                : cosmology::TableAmplitude::as_given;
    return {{growth, table, amplitude, a_of_table(settings)}, checksum.value()};
  } catch (PreconditionError const& error) {
    throw InputError(std::string(error.what()) + ", or use another box or number of particles");
  }
}

}  // namespace

Universe universe_of(Settings const& settings, Schedule const& schedule) try {
  double const first = schedule.scale_factors.front(), last = schedule.scale_factors.back();
  cosmology::Growth<double> const growth(settings.cosmology,
                                         std::min({1e-3, first / 2, a_of_table(settings) / 2}),
                                         std::max(1.0, last));
  if (settings.power_table.empty())
    return {cosmology::LinearPower<double>(growth, settings.transfer)};
  // The table doesn't need it, but snapshots do.
  expects(settings.cosmology.h > 0 && settings.cosmology.h < 10,
          "set h, H0 over 100 km/s/Mpc, to a number in (0, 10), such as 0.7", settings.cosmology.h);
  return universe_of_table(settings, growth);
} catch (PreconditionError const& error) {
  throw PreconditionError(with_option_names(error.what()));
}

std::string warning_of_table(Settings const& settings, cosmology::PowerTable const& table) {
  // Where acoustic oscillations are, and the lattice has modes.
  double const unit = 2 * std::numbers::pi / settings.box;
  double const from = std::max(0.02, unit),
               to = std::min(0.4, unit * static_cast<double>(settings.particles / 2));
  double const most = cosmology::PowerTable::widest_step_for_oscillations;
  double const widest = from < to ? table.widest_step(from, to) : 0;
  if (widest <= most) return "";
  return settings.power_table.string() + ": its rows are up to " + in_words(widest) +
         " apart in ln k from " + in_words(from) + " to " + in_words(to) +
         " h/Mpc, which loses acoustic oscillations: have the Boltzmann code write rows at most " +
         in_words(most) + " apart";
}

std::string warning_of_beat(std::int64_t particles, std::int64_t cells) {
  for (std::int64_t multiple = 1; multiple <= 4; ++multiple) {
    std::int64_t const lattice = multiple * particles;
    std::int64_t const apart = std::abs(lattice - (lattice + cells / 2) / cells * cells);
    // In waves below a tenth of the particles' Nyquist frequency.
    if (apart > 0 && 20 * apart <= particles)
      return std::to_string(cells) + " cells for " + std::to_string(particles) +
             " particles along a side are nearly but not quite in a simple ratio: the "
             "lattice beats against the mesh in waves of " +
             std::to_string(particles / apart) +
             " particles, which are false while displacements are small. Take a --mesh-ratio of 1, "
             "1.5 or 2";
  }
  return "";
}

std::string warning_of_growth(coir::nbody::SimulationOptions const& options) {
  double const lost = coir::nbody::growth_lost(options);
  if (std::abs(lost) <= 0.02) return "";
  return "the mesh smooths forces, and waves of 20 particles grow by " + percent(std::abs(lost)) +
         (lost > 0 ? " less" : " more") + " than linear theory says: a larger --mesh-ratio or " +
         (softening_of(options) == mesh::Softening::none ? "--kernel gadget" : "--softening none") +
         " comes closer";
}

}  // namespace coir::apps::nbody
