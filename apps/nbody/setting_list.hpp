#pragma once

/// Everything that describes a run, by name: on the command line, in config.toml and in checkpoints
/// alike.

#include "settings.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace coir::apps::nbody {

/// How a setting is written in TOML.
enum class SettingKind { number, word, flag, list, path };

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

/// A message of coir::cosmology about parameters with the names of their options: "set --omega-m"
/// for "set omega_m".
std::string with_option_names(std::string const& message);

/// Every setting that is set as lines of TOML, which --config reads.
///
/// \param folder  of the file that they go to, from which paths are named; empty: paths are
///   absolute
std::string config_text(Settings const& settings, std::filesystem::path const& folder = {});

/// Every setting, set or not, as lines "name = text".
///
/// \param folder  as above
std::string all_texts(Settings const& settings, std::filesystem::path const& folder = {});

/// A path as a file in `folder` names it, so that both may be moved together: from there, or
/// absolute if they have no folder but the root in common.
std::filesystem::path path_from(std::filesystem::path const& folder,
                                std::filesystem::path const& path);

}  // namespace coir::apps::nbody
