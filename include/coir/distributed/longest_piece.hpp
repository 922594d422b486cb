#pragma once

/// \file
/// The length of the messages in which pieces of memory are sent.

#include <cstdint>

namespace coir::distributed {

/// Bytes of the longest message, by default 2^30, because MPI counts bytes by an int. Longer pieces
/// are cut into several messages.
std::int64_t longest_piece();

/// Sets longest_piece(), so that tests can cut short pieces. All ranks set the same length, while
/// none of them exchanges anything.
///
/// \param bytes  from 1 to 2^31 - 1
void set_longest_piece(std::int64_t bytes);

}  // namespace coir::distributed
