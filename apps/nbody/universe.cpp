#include "universe.hpp"

#include <coir/core/errors.hpp>
#include <coir/cosmology/growth.hpp>
#include <coir/cosmology/power_table.hpp>
#include <coir/io/checksum.hpp>
#include <coir/io/file.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

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

Universe universe_of(Settings const& settings, Schedule const& schedule) {
  double const first = schedule.scale_factors.front(), last = schedule.scale_factors.back();
  cosmology::Growth<double> const growth(settings.cosmology,
                                         std::min({1e-3, first / 2, a_of_table(settings) / 2}),
                                         std::max(1.0, last));
  if (settings.power_table.empty())
    return {cosmology::LinearPower<double>(growth, settings.transfer)};
  return universe_of_table(settings, growth);
}

}  // namespace coir::apps::nbody
