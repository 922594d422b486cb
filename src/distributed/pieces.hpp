#pragma once

/// Lists of pieces prepared for sending. Empty pieces are left out, the others are sorted by their
/// keys, and pieces to the rank itself are kept apart. Pieces between two ranks then match by their
/// order. Unless a transport sends runs and long pieces as they are, each run is a piece by itself,
/// and long ones are cut.

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
  std::int64_t runs = 1, pitch_from = 0, pitch_to = 0;
};

struct Pieces {
  std::vector<Send> sends;
  std::vector<Receive> receives;
  std::vector<OwnPiece> own;
};

/// \param longest  bytes of the longest piece; 0 leaves pieces and their runs as they are
/// \throws PreconditionError if a rank isn't one of `size`, a piece has a negative number of bytes
///   or of runs, two pieces to or from a rank have one key, or pieces to the rank itself don't
///   match
Pieces pieces_of(int rank, int size, std::int64_t longest, std::span<Send const> sends,
                 std::span<Receive const> receives);

}  // namespace coir::distributed::detail
