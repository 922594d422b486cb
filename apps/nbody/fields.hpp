#pragma once

/// \file
/// Everything that describes a run, by name: on the command line, in config.toml and in checkpoints alike.

#include "settings.hpp"

#include <functional>
#include <string>
#include <vector>

namespace coir::apps::nbody {

/// How a field is written in TOML.
enum class FieldKind { number, word, flag, list };

/// One setting.
struct Field {
  std::string name;  ///< "omega-m", for --omega-m
  FieldKind kind;
  std::string group{};    ///< in --help; fields() sets it
  std::string type_name;  ///< in --help
  std::string help;
  bool physics;  ///< a run can't go on with another value

  /// Reads its text, for lists one element after the other, separated by commas.
  /// \throws PreconditionError naming the option, the value and the limit
  std::function<void(Settings&, std::string const&)> set;
  /// Its text, which set() reads back to the same bits; empty if it isn't set.
  std::function<std::string(Settings const&)> text;
};

/// All fields, in the order of --help.
std::vector<Field> const& fields();

/// Every field that is set as lines of TOML, which --config reads.
std::string config_text(Settings const& settings);

/// Every field, set or not, as lines "name = text".
std::string all_texts(Settings const& settings);

/// The shortest decimal that is this number.
std::string exact_text(double number);

}  // namespace coir::apps::nbody
