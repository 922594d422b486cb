#pragma once

/// Exchanges in which each rank writes to the memory of the others' devices, on one machine. Ranks
/// tell each other by MPI where pieces are to go. Streams wait for each other by signals in
/// devices' memory.

#include "engine.hpp"
#include "pieces.hpp"

#include <coir/core/concepts.hpp>
#include <coir/distributed/group.hpp>

#include <chrono>
#include <memory>

namespace coir::distributed::detail {

/// Connects the ranks of a group, and tries out signals between all of them. Collective.
///
/// \param wait  after this time signals count as lost
/// \throws EnvironmentError on every rank if one can't reach another one's memory
std::shared_ptr<void> connect_by_peer(Group const& group,
                                      std::chrono::milliseconds wait = std::chrono::seconds(5));

/// Begins an exchange on the connection's own streams, after the instance's work so far. The host
/// waits until the ranks that are sent to have begun it. Several may be under way.
///
/// \param pieces  whole, in runs
/// \throws PreconditionError if a piece has another size where it is received
/// \throws EnvironmentError if the device refuses
///
/// Pieces that land in memory that the driver doesn't share take a detour, which takes long.
std::unique_ptr<UnderWay> begin_by_peer(std::shared_ptr<void> const& connection,
                                        Engine const& engine,
                                        Kokkos::DefaultExecutionSpace const& exec,
                                        Pieces const& pieces);

}  // namespace coir::distributed::detail
