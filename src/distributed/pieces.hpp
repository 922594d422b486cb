#pragma once

/// Lists of pieces prepared for sending. Empty pieces are left out, the others are sorted by their
/// keys, long ones are cut, and pieces to the rank itself are kept apart. Pieces between two ranks
/// then match by their order.

#include <coir/distributed/group.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace coir::distributed::detail {

/// A piece that doesn't leave the rank.
struct OwnPiece {
  void const* from;
  void* to;
  std::int64_t bytes;
};

struct Pieces {
  std::vector<Send> sends;
  std::vector<Receive> receives;
  std::vector<OwnPiece> own;
};

/// \param longest  bytes of the longest piece
/// \throws PreconditionError if a rank isn't one of `size`, a piece has a negative number of bytes,
///   two pieces to or from a rank have one key, or pieces to the rank itself don't match
Pieces pieces_of(int rank, int size, std::int64_t longest, std::span<Send const> sends,
                 std::span<Receive const> receives);

}  // namespace coir::distributed::detail
