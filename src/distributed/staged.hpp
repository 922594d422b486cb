#pragma once

/// An exchange by way of page-locked memory of the host. Each pair of ranks has a stream of parts
/// in each direction. Two parts of a stream are under way: one is copied while the other travels.
/// Streams don't wait for each other, so that ranks can't deadlock.

#include "group_state.hpp"
#include "pieces.hpp"

#include <coir/core/concepts.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/pinned.hpp>
#include <coir/distributed/longest_piece.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace coir::distributed::detail {

/// Bytes of a part. Both ends of a stream must agree: the size depends on the number of ranks
/// alone.
inline std::int64_t staged_part(int ranks) {
  constexpr std::int64_t all = std::int64_t(64) << 20, most = std::int64_t(16) << 20,
                         least = std::int64_t(1) << 20;
  return std::min(longest_piece(), std::clamp(all / std::max(1, ranks - 1), least, most));
}

/// Page-locked memory of a group.
inline std::shared_ptr<void> staging_of(std::shared_ptr<GroupState> const& group,
                                        std::int64_t bytes) {
  if (group->staging_bytes < bytes) {
    if (!group->frees_staging)
      group->frees_staging =
          std::make_unique<BeforeKokkosEnds>([state = group.get()] { state->staging = nullptr; });
    group->staging = nullptr;
    group->staging_bytes = 0;
    group->staging = allocate_pinned(bytes);
    group->staging_bytes = bytes;
  }
  return group->staging;
}

template <CompiledSpace Exec>
class StagedExchange : public UnderWay {
  using Memory = typename Exec::memory_space;

 public:
  /// \param pieces  cut to at most staged_part() bytes
  StagedExchange(Exec const& exec, std::shared_ptr<GroupState> const& group, Pieces const& pieces)
      : exec_(exec), requests_(group->engine->requests()) {
    std::int64_t part = 64;
    for (Send const& send : pieces.sends) part = std::max(part, send.bytes);
    for (Receive const& receive : pieces.receives) part = std::max(part, receive.bytes);
    part = (part + 63) / 64 * 64;
    for (Send const& send : pieces.sends)
      outgoing_[send.to].parts.push_back({const_cast<void*>(send.data), send.bytes});
    for (Receive const& receive : pieces.receives)
      incoming_[receive.from].parts.push_back({receive.data, receive.bytes});
    std::int64_t slots = 0;
    auto const count = [&](std::map<int, Stream>& streams) {
      for (auto& [peer, stream] : streams) {
        stream.peer = peer;
        stream.first_slot = slots;
        slots += depth;
      }
    };
    count(outgoing_);
    count(incoming_);
    buffer_ = staging_of(group, slots * part);
    part_ = part;
    slots_.resize(static_cast<std::size_t>(slots));
    for (auto& [peer, stream] : incoming_)
      for (std::int64_t n = 0; n < depth; ++n) receive_next(stream, stream.first_slot + n);
    for (auto& [peer, stream] : outgoing_)
      for (std::int64_t n = 0; n < depth; ++n) send_next(stream, stream.first_slot + n);
  }

  void finish() override {
    for (std::int64_t slot; (slot = requests_->wait_for_any()) >= 0;) {
      Slot const done = slots_[static_cast<std::size_t>(slot)];
      Stream& stream = *done.stream;
      if (done.incoming) {
        copy_bytes<Memory, PinnedSpace>(exec_, done.part.data, place_of(slot), done.part.bytes);
        exec_.fence();  // the slot is written next
        receive_next(stream, slot);
      } else {
        send_next(stream, slot);
      }
    }
    exec_.fence();  // the buffer is freed next
  }

 private:
  static constexpr std::int64_t depth = 2;  // parts under way in a stream

  struct Part {
    void* data;
    std::int64_t bytes;
  };
  struct Stream {
    int peer = 0;
    std::int64_t first_slot = 0;
    std::int64_t begun = 0;
    std::vector<Part> parts{};
  };
  struct Slot {
    Stream* stream;
    bool incoming;
    Part part;
  };

  char* place_of(std::int64_t slot) const {
    return static_cast<char*>(buffer_.get()) + slot * part_;
  }

  /// Puts the next part of a stream into a slot.
  ///
  /// \return  whether there was one
  bool fill(std::int64_t slot, Stream& stream, bool incoming) {
    if (stream.begun == static_cast<std::int64_t>(stream.parts.size())) return false;
    slots_[static_cast<std::size_t>(slot)] = {
        &stream, incoming, stream.parts[static_cast<std::size_t>(stream.begun++)]};
    return true;
  }
  void send_next(Stream& stream, std::int64_t slot) {
    if (!fill(slot, stream, false)) return;
    Part const part = slots_[static_cast<std::size_t>(slot)].part;
    copy_bytes<PinnedSpace, Memory>(exec_, place_of(slot), part.data, part.bytes);
    exec_.fence();
    requests_->send(Send{stream.peer, place_of(slot), part.bytes}, slot);
  }
  void receive_next(Stream& stream, std::int64_t slot) {
    if (!fill(slot, stream, true)) return;
    Part const part = slots_[static_cast<std::size_t>(slot)].part;
    requests_->receive(Receive{stream.peer, place_of(slot), part.bytes}, slot);
  }

  Exec exec_;
  std::unique_ptr<Requests> requests_;
  std::map<int, Stream> outgoing_, incoming_;
  std::shared_ptr<void> buffer_;
  std::int64_t part_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace coir::distributed::detail
