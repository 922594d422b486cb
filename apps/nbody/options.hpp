#pragma once

#include "setting_list.hpp"
#include "settings.hpp"

#include <coir/distributed/group.hpp>

#include <support/command_line.hpp>

#include <string>

namespace coir::apps::nbody {

/// Adds the option of a setting; parsing fills `settings`.
void add_setting(CommandLine& line, Setting const& setting, Settings& settings);

/// Adds all options; parsing fills `settings`.
void add_options(CommandLine& line, Settings& settings);

/// The option by which the user set what `name` names, on the command line or in a file:
/// "--no-pictures" for "pictures", "--redshifts" for "outputs"; empty if none.
std::string given_as(CommandLine const& line, std::string const& name);

/// Whether the user gave an option, on the command line or in a file: "omega-m".
bool is_given(CommandLine const& line, std::string const& name);

/// Lets redshifts take the place of outputs, unless the command line has outputs where a file has
/// redshifts.
///
/// \throws PreconditionError if the command line has both
void take_redshifts(int argc, char const* const* argv, Settings& settings);

/// \throws PreconditionError for options that contradict each other
void expects_consistent(CommandLine const& line, Settings const& settings);

/// \throws PreconditionError for options that --measure has no use for
void expects_measuring_alone(CommandLine const& line);

/// \throws PreconditionError unless bins of spectra make sense in the box
void expects_bins(Settings const& settings);

/// \throws PreconditionError unless the slab that is shown fits in the box
void expects_slab_in_box(Settings const& settings);

/// For options that can't be seen from what the command line was read as: lists given twice, and an
/// option beside its --no-.
///
/// \throws PreconditionError
void expects_given_once(int argc, char const* const* argv);

/// Collective.
///
/// \throws PreconditionError naming an option that a rank was started with and the first one wasn't
void expects_same_options(distributed::Group const& ranks, Settings const& settings);

/// The remedy for displacements that are too large: it names the option that the amplitude comes
/// from.
std::string remedy_for_amplitude(Settings const& settings);

}  // namespace coir::apps::nbody
