#pragma once

#include "group_state.hpp"

#include <optional>
#include <string>

namespace coir::distributed::detail {

/// The transport that COIR_TRANSPORT asks for; none if it isn't set.
///
/// \throws EnvironmentError unless it is mpi, staged or nccl
std::optional<Transport> wanted_transport();

/// A group of a state that it doesn't own, for calls of collective functions.
Group borrowed(GroupState const& state);

/// The transport for memory of hosts, the same on every rank. Collective.
///
/// \throws EnvironmentError on every rank if COIR_TRANSPORT asks for NCCL and one computes on cores
///   alone
Choice choose_on_host(GroupState const& state);

/// The transport for memory of devices, the same on every rank. Collective.
///
/// \param device    identifies this rank's device among those of all machines
/// \param why_not   the reason why NCCL can't be used here; empty if it can
/// \throws EnvironmentError on every rank if one of them doesn't have the transport that
///   COIR_TRANSPORT asks for
Choice choose_on_device(GroupState const& state, std::string const& device,
                        std::string const& why_not);

}  // namespace coir::distributed::detail
