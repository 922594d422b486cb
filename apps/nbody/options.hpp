#pragma once

#include "setting_list.hpp"
#include "settings.hpp"

#include <coir/distributed/group.hpp>

#include <CLI/CLI.hpp>

#include <string>

namespace coir::apps::nbody {

/// Adds the option of a setting; parsing fills `settings`.
void add_setting(CLI::App& app, Setting const& setting, Settings& settings);

/// Adds all options; parsing fills `settings`.
void add_options(CLI::App& app, Settings& settings);

/// Whether the user gave an option, on the command line or in a file: "omega-m".
bool is_given(CLI::App const& app, std::string const& name);

/// \throws PreconditionError for options that contradict each other
void expects_consistent(CLI::App const& app, Settings const& settings);

/// \throws PreconditionError unless the slab that is shown fits in the box
void expects_slab_in_box(Settings const& settings);

/// For options that can't be seen from what CLI11 has made of them: lists given twice, and an option beside its --no-.
///
/// \throws PreconditionError
void expects_given_once(int argc, char const* const* argv);

/// Collective.
///
/// \throws PreconditionError naming an option that a rank was started with and the first one wasn't
void expects_same_options(distributed::Group const& ranks, Settings const& settings);

/// What to do about displacements that are too large, naming the option that the amplitude comes from.
std::string remedy_for_amplitude(Settings const& settings);

}  // namespace coir::apps::nbody
