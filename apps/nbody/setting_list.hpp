#pragma once

/// \file
/// Everything that describes a run, by name: on the command line, in config.toml and in checkpoints alike.

#include "settings.hpp"

#include <functional>
#include <string>
#include <vector>

namespace coir::apps::nbody {

/// How a setting is written in TOML.
enum class SettingKind { number, word, flag, list };

/// One setting.
struct Setting {
  std::string name;  ///< "omega-m", for --omega-m
  SettingKind kind;
  std::string group{};    ///< in --help; setting_list() sets it
  std::string type_name;  ///< in --help
  std::string help;
  bool physics;  ///< a run can't go on with another value

  /// Reads its text, for lists one element after the other, separated by commas.
  /// \throws PreconditionError naming the option, the value and the limit
  std::function<void(Settings&, std::string const&)> set;
  /// Its text, which set() reads back to the same bits; empty if it isn't set.
  std::function<std::string(Settings const&)> text;
};

/// All settings, in the order of --help.
std::vector<Setting> const& setting_list();

/// Every setting that is set as lines of TOML, which --config reads.
std::string config_text(Settings const& settings);

/// Every setting, set or not, as lines "name = text".
std::string all_texts(Settings const& settings);

}  // namespace coir::apps::nbody
