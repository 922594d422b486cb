#pragma once

#include "settings.hpp"

#include <support/command_line.hpp>

namespace coir::apps::field {

/// Adds all options; parsing fills `settings`.
void add_options(CommandLine& line, FieldSettings& settings);

/// \throws PreconditionError for options that contradict each other, and files that would be
///   overwritten
void expects_consistent(CommandLine const& line, FieldSettings const& settings);

}  // namespace coir::apps::field
