#pragma once

/// \file
/// What was opened between ranks, which takes long.

#include <cstdint>

namespace coir::distributed {

/// Connections that this process has opened to groups of ranks: a communicator of MPI for each
/// group of several ranks, and one of NCCL or of peer memory for each group that has exchanged by
/// these. Opening one takes long: make groups once, and copy them.
std::int64_t connections_opened();

/// Allocations of other ranks that this process has opened to write to them by peer memory, at a
/// millisecond or more each. Receive into memory that lives longer than an exchange.
std::int64_t memory_opened();

}  // namespace coir::distributed
