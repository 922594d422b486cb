#pragma once

/// Messages about wrong command lines, one line each.

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace coir::apps {

/// The subcommand that is being given, or the application itself if it has none or it wasn't named.
///
/// \param arguments  as main() has them
CLI::App const* part_in_use(CLI::App const* app, std::vector<std::string> const& arguments);

/// The line that a failed parse deserves: which option, what is wrong, what to do.
std::string explain(CLI::App const& app, CLI::ParseError const& error);

/// The option that a mistyped one may have meant, both with their dashes; empty if none is near.
///
/// \param in_files  only those that configurations may hold
std::string nearest_option(CLI::App const& app, std::string const& name, bool in_files = false);

/// Options given more often than once or beside their opposite, and flags with a value that is
/// neither true nor false: CLI11 passes over some of them. Empty if there are none.
std::string misused_option(CLI::App const& app, std::vector<std::string> const& arguments);

/// A line without its middle if it is as long as only a name of a file or a value can make it.
std::string shortened(std::string const& line);

}  // namespace coir::apps
