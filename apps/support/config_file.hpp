#pragma once

#include <string>
#include <vector>

namespace coir::apps {

class CommandLine;

/// Adds --config FILE, which reads options from a file of TOML: keys are the options' names without
/// dashes, and what is on the command line as well counts from there.
///
/// \param inputs  options that name files to read: a path that isn't absolute begins at the
///   configuration's folder, so that both may be moved together
///
/// Parsing throws InputError naming the file and the line if it can't be read, isn't what
/// read_toml() reads, or has a key that is unknown or given twice; naming the file and the key if
/// an option doesn't take its value.
void add_config_file(CommandLine& line, std::vector<std::string> inputs = {});

/// A line "key = value" of TOML.
struct TomlEntry {
  std::string key;
  std::vector<std::string> values;  ///< of strings without their quotes
  int line = 0;                     ///< where it begins, counted from 1
};

/// Reads what options need of TOML: comments, and keys with numbers, true, false, strings of one
/// line, with escapes between double quotes and without between single ones, and lists of these. In
/// time proportional to the text's length.
///
/// \param name  of the text, for messages
/// \throws InputError naming the line, and what is wrong with it
std::vector<TomlEntry> read_toml(std::string const& text, std::string const& name);

/// A string as TOML holds it, in double quotes; whatever the text is, read_toml() gives it back.
std::string toml_string(std::string const& text);

}  // namespace coir::apps
