#include "pieces.hpp"

#include <coir/core/errors.hpp>

#include <algorithm>
#include <string>

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

}  // namespace

Pieces pieces_of(int rank, int size, std::int64_t longest, std::span<Send const> sends,
                 std::span<Receive const> receives) {
  Pieces result;
  std::vector<Send> to_self;
  for (Send const& send : sends) {
    expects_valid(send.to, size, send.bytes);
    if (send.to == rank) {
      if (send.bytes > 0) to_self.push_back(send);
      continue;
    }
    auto const* const data = static_cast<char const*>(send.data);
    cut(send.bytes, longest, [&](std::int64_t offset, std::int64_t bytes) {
      result.sends.push_back({send.to, data + offset, bytes});
    });
  }
  for (Receive const& receive : receives) {
    expects_valid(receive.from, size, receive.bytes);
    if (receive.from == rank) {
      if (receive.bytes == 0) continue;
      std::size_t const n = result.own.size();
      expects(n < to_self.size() && to_self[n].bytes == receive.bytes,
              "what a rank receives from itself must be what it sends to itself, piece by piece");
      result.own.push_back({to_self[n].data, receive.data, receive.bytes});
      continue;
    }
    auto* const data = static_cast<char*>(receive.data);
    cut(receive.bytes, longest, [&](std::int64_t offset, std::int64_t bytes) {
      result.receives.push_back({receive.from, data + offset, bytes});
    });
  }
  expects(result.own.size() == to_self.size(),
          "what a rank sends to itself must be received by it, piece by piece");
  return result;
}

}  // namespace coir::distributed::detail
