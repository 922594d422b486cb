#pragma once

/// Compares the pieces that ranks send with those that the others expect, for COIR_CHECK_EXCHANGES.

#include <coir/distributed/group.hpp>

#include <span>
#include <string_view>

namespace coir::distributed::detail {

/// Whether the first rank's environment asks for checks, by COIR_CHECK_EXCHANGES=1. Collective.
///
/// \throws EnvironmentError on every rank if it is neither 0 nor 1
bool wants_checks(Group const& group);

/// Compares the pieces of an exchange before anything is sent. Collective.
///
/// \throws PreconditionError on every rank if some don't match, naming the first on the lowest rank
///   that finds any
void expects_matching(Group const& group, std::string_view purpose, std::span<Send const> sends,
                      std::span<Receive const> receives);

}  // namespace coir::distributed::detail
