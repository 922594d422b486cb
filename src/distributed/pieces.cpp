#include "pieces.hpp"

#include <coir/core/errors.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace coir::distributed::detail {

namespace {

void expects_valid(int peer, int size, std::int64_t bytes, std::int64_t runs) {
  expects(peer >= 0 && peer < size,
          "pieces go to and come from ranks 0 to " + std::to_string(size - 1) + " of this group",
          peer);
  expects(bytes >= 0, "a piece must have at least 0 bytes", bytes);
  expects(runs >= 0, "a piece must have at least 0 runs", runs);
}

/// Appends a piece, or each of its runs cut into parts.
template <class Piece>
void add_parts(std::vector<Piece>& parts, Piece const& piece, std::int64_t longest) {
  if (longest == 0) return parts.push_back(piece);
  Piece part = piece;
  part.runs = 1;
  for (std::int64_t run = 0; run < piece.runs; ++run)
    for (std::int64_t done = 0; done < piece.bytes; done += longest) {
      void const* const first = static_cast<char const*>(piece.data) + run * piece.pitch + done;
      part.data = const_cast<decltype(part.data)>(first);
      part.bytes = std::min(longest, piece.bytes - done);
      parts.push_back(part);
    }
}

/// The pieces that aren't empty, in the order of their keys.
///
/// \param peer  the member with the other rank
/// \throws PreconditionError if a rank isn't one of `size`, or has two pieces with one key
template <class Piece>
std::vector<Piece> in_order_of_keys(std::span<Piece const> pieces, int Piece::* peer, int size) {
  std::vector<Piece> ordered;
  for (Piece const& piece : pieces) {
    expects_valid(piece.*peer, size, piece.bytes, piece.runs);
    if (piece.bytes > 0 && piece.runs > 0) ordered.push_back(piece);
  }
  // Ranks with one key stay in the caller's order.
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](Piece const& a, Piece const& b) { return a.key < b.key; });
  std::vector<std::pair<std::int64_t, int>> names;
  for (Piece const& piece : ordered) names.emplace_back(piece.key, piece.*peer);
  std::sort(names.begin(), names.end());
  auto const twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    throw PreconditionError(
        "two pieces to or from rank " + std::to_string(twice->second) + " have the key " +
        std::to_string(twice->first) +
        ": give each piece between two ranks a key of its own, the same where it is sent and where "
        "it is received");
  return ordered;
}

}  // namespace

Pieces pieces_of(int rank, int size, std::int64_t longest, std::span<Send const> sends,
                 std::span<Receive const> receives) {
  Pieces result;
  std::vector<Send> to_self;
  for (Send const& send : in_order_of_keys(sends, &Send::to, size)) {
    if (send.to == rank)
      to_self.push_back(send);
    else
      add_parts(result.sends, send, longest);
  }
  for (Receive const& receive : in_order_of_keys(receives, &Receive::from, size)) {
    if (receive.from != rank) {
      add_parts(result.receives, receive, longest);
      continue;
    }
    std::size_t const n = result.own.size();
    expects(n < to_self.size() && to_self[n].bytes == receive.bytes &&
                to_self[n].runs == receive.runs && to_self[n].key == receive.key,
            "what a rank receives from itself must be what it sends to itself, key by key");
    result.own.push_back({to_self[n].data, receive.data, receive.bytes, receive.runs,
                          to_self[n].pitch, receive.pitch});
  }
  expects(result.own.size() == to_self.size(),
          "what a rank sends to itself must be received by it, key by key");
  return result;
}

}  // namespace coir::distributed::detail
