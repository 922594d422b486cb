#pragma once

/// \file
/// Which transport a group takes.

#include "group_state.hpp"

#include <optional>
#include <string>

namespace coir::distributed::detail {

/// What COIR_TRANSPORT asks for; none if it isn't set.
///
/// \throws EnvironmentError unless it is mpi, staged or nccl
std::optional<Transport> wanted_transport();

/// For memory of hosts.
Choice choose_on_host(GroupState const& state);

/// For memory of devices; collective, and the same on every rank.
///
/// \param device    what tells this rank's device from any other in the world
/// \param why_not   why NCCL can't be used here; empty if it can
/// \throws EnvironmentError on every rank if COIR_TRANSPORT asks for what one of them doesn't have
Choice choose_on_device(GroupState const& state, std::string const& device,
                        std::string const& why_not);

}  // namespace coir::distributed::detail
