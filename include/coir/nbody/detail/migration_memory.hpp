#pragma once

/// \file
/// Memory of migration between ranks.

#include <coir/core/pool.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace coir::nbody::detail {

/// Memory that stays from one use to the next. A device's driver takes long to allocate some, and
/// other ranks have to open new memory before they write to it.
template <class Space>
class KeptMemory {
 public:
  /// At least `bytes` bytes. New memory has at least `usual` bytes, and a quarter more than are
  /// needed. If memory grows, what it held is lost.
  void* reserve(std::int64_t bytes, std::int64_t usual = 0) {
    if (bytes > bytes_ || !memory_) {
      release();
      bytes = std::max(bytes + bytes / 4, usual);
      memory_ = MemoryPool<Space>::allocate(bytes);
      bytes_ = bytes;
    }
    return memory_.get();
  }
  void release() {
    memory_.reset();
    bytes_ = 0;
  }

 private:
  std::shared_ptr<void> memory_;
  std::int64_t bytes_ = 0;
};

/// Numbers of particles or of their places, in memory that is kept.
struct NumberList {
  std::uint32_t* data = nullptr;
  std::int64_t count = 0;
};

/// What leavers_of() works in.
template <class Space>
struct LeaverMemory {
  KeptMemory<Space> list = {}, counts = {}, marked = {};
  std::int64_t usual = 0;  ///< the number of particles that there is memory for at least
  NumberList list_of(std::int64_t count) {
    constexpr std::int64_t size = sizeof(std::uint32_t);
    return {static_cast<std::uint32_t*>(list.reserve(count * size, usual * size)), count};
  }
};

}  // namespace coir::nbody::detail
