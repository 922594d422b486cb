#pragma once

/// \file
/// The number of connections between ranks.

#include <cstdint>

namespace coir::distributed {

/// Connections that this process has opened to groups of ranks: a communicator of MPI for each
/// group of several ranks, and one of NCCL or of peer memory for each group that has exchanged by
/// these. Opening one takes long: make groups once, and copy them.
std::int64_t connections_opened();

}  // namespace coir::distributed
