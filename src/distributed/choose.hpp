#pragma once

#include "group_state.hpp"

#include <functional>
#include <optional>
#include <set>
#include <string>

namespace coir::distributed::detail {

/// The transport that COIR_TRANSPORT asks for; none if it isn't set.
///
/// \throws EnvironmentError unless it is mpi, staged, nccl or peer
std::optional<Transport> wanted_transport();

/// A group of a state that it doesn't own, for calls of collective functions.
Group borrowed(GroupState const& state);

/// The transport for memory of hosts, the same on every rank. Collective.
///
/// \throws EnvironmentError on every rank if COIR_TRANSPORT asks for NCCL or peer memory and one
///   computes on cores alone
Choice choose_on_host(GroupState const& state);

/// Where a rank runs.
struct Place {
  std::string device;   ///< identifies it among those of all machines
  std::string machine;  ///< identifies it, as long as it runs
  /// Empty if the library can be used. Called only where it may be, as opening it takes long.
  std::function<std::string()> why_no_nccl;
};

/// This machine, as long as it runs.
std::string machine_identity();

/// The transport for memory of devices, the same on every rank. Collective.
///
/// \param failed  transports that were tried
/// \throws EnvironmentError on every rank if one of them doesn't have the transport that
///   COIR_TRANSPORT asks for
Choice choose_on_device(GroupState const& state, Place const& place,
                        std::set<Transport> const& failed = {});

}  // namespace coir::distributed::detail
