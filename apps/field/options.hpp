#pragma once

#include "settings.hpp"

#include <CLI/CLI.hpp>

namespace coir::apps::field {

/// Adds all options; parsing fills `settings`.
void add_options(CLI::App& app, Settings& settings);

/// \throws PreconditionError for options that contradict each other, and files that would be overwritten
void expects_consistent(CLI::App const& app, Settings const& settings);

}  // namespace coir::apps::field
