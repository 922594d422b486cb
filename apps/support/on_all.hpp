#pragma once

/// Steps of an application on several ranks: if one rank fails or is interrupted, all of them end
/// in the same way.

#include <coir/distributed/together.hpp>

#include <utility>

namespace coir::apps {

/// From now on a signal that reached any rank counts for all of them. Collective.
///
/// \return  whether there was one
bool share_interrupt(distributed::Group const& group);

namespace detail {
/// Throws the exception that is being handled, which all ranks have: as a Failure that says the
/// same if any was interrupted.
[[noreturn]] void rethrow_on_all(distributed::Group const& group);
}  // namespace detail

/// distributed::together(), which throws on all ranks what `action` throws on any, for actions that
/// an interrupt may end by a Failure on some ranks only: then all throw it.
template <class Action>
auto on_all(distributed::Group const& group, Action&& action) {
  try {
    return distributed::together(group, std::forward<Action>(action));
  } catch (...) {
    detail::rethrow_on_all(group);
  }
}

/// A step of the first rank alone, such as to write a file that there is once. If it fails all
/// ranks end.
template <class Action>
void on_first(distributed::Group const& group, Action&& action) {
  on_all(group, [&] {
    if (group.is_first()) std::forward<Action>(action)();
  });
}

}  // namespace coir::apps
