#pragma once

#include "schedule.hpp"
#include "settings.hpp"

#include <coir/cosmology/power.hpp>
#include <coir/nbody/simulation_options.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace coir::apps::nbody {

/// Expansion, growth and the linear power spectrum.
struct Universe {
  cosmology::LinearPower<double> power;
  std::optional<std::uint64_t> table_checksum{};  ///< of the bytes of a power table
};

/// \throws PreconditionError naming the option of the parameter that is out of its range
/// \throws InputError if a power table can't be read, or doesn't cover the modes of the lattice
Universe universe_of(Settings const& settings, Schedule const& schedule);

/// That a table's rows are too far apart for acoustic oscillations; empty if they aren't.
std::string warning_of_table(Settings const& settings, cosmology::PowerTable const& table);

/// That a lattice of so many particles along a side beats against a mesh of so many cells in long
/// waves; empty if it doesn't.
std::string warning_of_beat(std::int64_t particles, std::int64_t cells);

/// That the mesh smooths forces by more than 2 % of the growth of waves of 20 particles; empty if
/// it doesn't.
std::string warning_of_growth(coir::nbody::SimulationOptions const& options);

}  // namespace coir::apps::nbody
