#include "pieces.hpp"

#include <coir/core/errors.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace coir::distributed::detail {

namespace {

void expects_valid(int peer, int size, std::int64_t bytes) {
  expects(peer >= 0 && peer < size,
          "pieces go to and come from ranks 0 to " + std::to_string(size - 1) + " of this group",
          peer);
  expects(bytes >= 0, "a piece must have at least 0 bytes", bytes);
}

/// Calls part(offset, bytes) for a piece cut into parts.
template <class Part>
void cut(std::int64_t bytes, std::int64_t longest, Part const& part) {
  for (std::int64_t done = 0; done < bytes; done += longest)
    part(done, std::min(longest, bytes - done));
}

/// The pieces that aren't empty, in the order of their keys.
///
/// \param peer  the member with the other rank
/// \throws PreconditionError if a rank isn't one of `size`, or has two pieces with one key
template <class Piece>
std::vector<Piece> in_order_of_keys(std::span<Piece const> pieces, int Piece::* peer, int size) {
  std::vector<Piece> ordered;
  for (Piece const& piece : pieces) {
    expects_valid(piece.*peer, size, piece.bytes);
    if (piece.bytes > 0) ordered.push_back(piece);
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
    if (send.to == rank) {
      to_self.push_back(send);
      continue;
    }
    auto const* const data = static_cast<char const*>(send.data);
    cut(send.bytes, longest, [&](std::int64_t offset, std::int64_t bytes) {
      result.sends.push_back({send.to, data + offset, bytes, send.key});
    });
  }
  for (Receive const& receive : in_order_of_keys(receives, &Receive::from, size)) {
    if (receive.from == rank) {
      std::size_t const n = result.own.size();
      expects(
          n < to_self.size() && to_self[n].bytes == receive.bytes && to_self[n].key == receive.key,
          "what a rank receives from itself must be what it sends to itself, key by key");
      result.own.push_back({to_self[n].data, receive.data, receive.bytes});
      continue;
    }
    auto* const data = static_cast<char*>(receive.data);
    cut(receive.bytes, longest, [&](std::int64_t offset, std::int64_t bytes) {
      result.receives.push_back({receive.from, data + offset, bytes, receive.key});
    });
  }
  expects(result.own.size() == to_self.size(),
          "what a rank sends to itself must be received by it, key by key");
  return result;
}

}  // namespace coir::distributed::detail
