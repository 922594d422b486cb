#pragma once

/// \file
/// Errors of one rank become errors of all, and so do settings that differ.

#include <coir/distributed/group.hpp>

#include <charconv>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace coir::distributed {

/// Throws on every rank what the lowest rank that gives an exception gives: of the same class where it is one of coir's,
/// or else std::runtime_error, with its text. Returns if none gives any. Collective.
void agree(Group const& group, std::exception_ptr const& error);

/// Runs on each rank what may fail on some: checks, allocations, files. It must not be collective itself. If any rank throws,
/// all throw the same. Collective; with one rank it is a plain call.
///
/// \return  what it returns
template <class Action>
auto together(Group const& group, Action&& action) {
  if (group.size() == 1) return std::forward<Action>(action)();
  std::exception_ptr error;
  if constexpr (std::is_void_v<decltype(action())>) {
    try {
      std::forward<Action>(action)();
    } catch (...) {
      error = std::current_exception();
    }
    agree(group, error);
  } else {
    std::optional<std::decay_t<decltype(action())>> result;
    try {
      result.emplace(std::forward<Action>(action)());
    } catch (...) {
      error = std::current_exception();
    }
    agree(group, error);
    return std::move(*result);
  }
}

/// What a person calls a setting, and its value: numbers in as many digits as tell them apart.
struct Setting {
  std::string name, value;

  template <class Value>
  Setting(std::string_view what, Value const& is) : name(what) {
    if constexpr (std::is_same_v<Value, bool>) {
      value = is ? "on" : "off";
    } else if constexpr (std::is_arithmetic_v<Value>) {
      char text[32];
      value.assign(text, std::to_chars(text, text + sizeof text, is).ptr);
    } else {
      value = std::string(is);
    }
  }
};

/// Ranks that were given different settings would wait for messages that never come. Collective; with one rank it does nothing.
///
/// \param settings  named alike up to the first whose value differs: a number of things comes before the things
/// \throws PreconditionError on every rank unless all have the same values, naming the first that differs and what it is where
void expects_alike(Group const& group, std::vector<Setting> const& settings);

}  // namespace coir::distributed
