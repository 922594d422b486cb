#pragma once

/// \file
/// Makes all ranks throw the error of one rank, and checks that all ranks have the same settings.

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

/// If any rank passes an exception, every rank throws that of the lowest such rank: with its class
/// if it is one of coir's, otherwise as std::runtime_error with its text. Collective.
void agree(Group const& group, std::exception_ptr const& error);

/// Runs on each rank an action that may fail on some ranks: checks, allocations, files. If it
/// throws on any rank, all ranks throw: see agree(). The action itself must not be collective.
/// Collective; with one rank it is a plain call.
///
/// \return  the action's result
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

/// A setting's name, in words for a message, and its value as text, with all digits of a number.
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

/// Checks that all ranks have the same settings: with different ones they could wait forever for
/// messages. Collective; with one rank it does nothing.
///
/// \param settings  with the same names on all ranks up to the first value that differs: put a
///   count before the things counted
/// \throws PreconditionError on every rank unless all values agree, naming the first that differs
///   and its values
void expects_alike(Group const& group, std::vector<Setting> const& settings);

}  // namespace coir::distributed
