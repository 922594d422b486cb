#pragma once

/// \file
/// How long the messages are that pieces of memory are sent in.

#include <cstdint>

namespace coir::distributed {

/// Bytes of the longest message; pieces that are longer are cut into several. 2^30 unless it was set: MPI counts bytes by an int.
std::int64_t longest_piece();

/// Sets it, for tests of what is cut: pieces of 2^30 bytes take a test long. All ranks set the same length, while none of
/// them exchanges anything.
///
/// \param bytes  from 1 to 2^31 - 1
void set_longest_piece(std::int64_t bytes);

}  // namespace coir::distributed
