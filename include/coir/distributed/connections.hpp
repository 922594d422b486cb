#pragma once

/// \file
/// How many connections between ranks there were.

#include <cstdint>

namespace coir::distributed {

/// Connections that this process has opened to groups of ranks since its start: MPI's communicators, one for each group of
/// several ranks, and NCCL's, one for each group that has exchanged by it. Opening one by NCCL takes half a second: make groups
/// once, and copy them.
std::int64_t connections_opened();

}  // namespace coir::distributed
