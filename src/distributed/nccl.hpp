#pragma once

/// NCCL, or RCCL with the same interface, opened at run time, so that programs start without it.

#include "engine.hpp"
#include "pieces.hpp"

#include <coir/core/concepts.hpp>
#include <coir/distributed/group.hpp>

#include <memory>
#include <string>

namespace coir::distributed::detail {

/// The reason why the library can't be used, in a few words; empty if it can. The first call opens
/// it.
std::string why_no_nccl();

/// Connects the ranks of a group, one device each, by the library. Collective.
///
/// \throws EnvironmentError on every rank if the library fails on one
std::shared_ptr<void> connect_by_nccl(Group const& group);

/// Begins an exchange on the connection's own stream, after the instance's work so far.
std::unique_ptr<UnderWay> begin_by_nccl(std::shared_ptr<void> const& connection,
                                        Kokkos::DefaultExecutionSpace const& exec,
                                        Pieces const& pieces);

}  // namespace coir::distributed::detail
