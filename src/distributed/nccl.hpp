#pragma once

/// \file
/// NCCL, or RCCL with the same interface, opened at run time: programs start where it isn't installed.

#include "engine.hpp"
#include "pieces.hpp"

#include <coir/core/concepts.hpp>
#include <coir/distributed/group.hpp>

#include <memory>
#include <string>

namespace coir::distributed::detail {

/// Why the library can't be used, in a few words; empty if it can. The first call opens it.
std::string why_no_nccl();

/// Ranks that are connected by the library, one device each. Made collectively.
///
/// \throws EnvironmentError if the library fails
std::shared_ptr<void> connect_by_nccl(Engine const& engine);

/// Begins an exchange on the connection's own stream, after the instance's work so far.
std::unique_ptr<UnderWay> begin_by_nccl(std::shared_ptr<void> const& connection,
                                        Kokkos::DefaultExecutionSpace const& exec,
                                        Pieces const& pieces);

}  // namespace coir::distributed::detail
