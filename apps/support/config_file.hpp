#pragma once

#include <CLI/CLI.hpp>

namespace coir::apps {

/// Adds --config FILE, which reads options from a file of TOML: keys are the options' names without dashes, and what is
/// on the command line as well counts from there.
///
/// Parsing throws InputError naming the file if it can't be read, or has a key that is unknown or given twice.
CLI::Option* add_config_file(CLI::App& app);

}  // namespace coir::apps
