#pragma once

#include "schedule.hpp"
#include "settings.hpp"

#include <coir/cosmology/power.hpp>

#include <cstdint>
#include <optional>

namespace coir::apps::nbody {

/// Expansion, growth and the linear power spectrum.
struct Universe {
  cosmology::LinearPower<double> power;
  std::optional<std::uint64_t> table_checksum{};  ///< of the bytes of a power table
};

/// \throws PreconditionError naming the parameter that is out of its range
/// \throws InputError if a power table can't be read, or doesn't cover the modes of the lattice
Universe universe_of(Settings const& settings, Schedule const& schedule);

}  // namespace coir::apps::nbody
