#pragma once

/// \file
/// Errors of one rank become errors of all.

#include <coir/distributed/group.hpp>

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

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
    std::optional<decltype(action())> result;
    try {
      result.emplace(std::forward<Action>(action)());
    } catch (...) {
      error = std::current_exception();
    }
    agree(group, error);
    return std::move(*result);
  }
}

}  // namespace coir::distributed
