#pragma once

#include <coir/core/pool.hpp>

#include <cstdint>

namespace coir::testing {

/// While it lives, new arrays have so many bytes together.
template <class Space>
class MemoryLimit {
 public:
  explicit MemoryLimit(std::int64_t bytes) {
    MemoryPool<Space>::release();
    MemoryPool<Space>::set_limit(MemoryPool<Space>::statistics().in_use + bytes);
  }
  ~MemoryLimit() { MemoryPool<Space>::set_limit(); }
  MemoryLimit(MemoryLimit const&) = delete;
  MemoryLimit& operator=(MemoryLimit const&) = delete;
};

}  // namespace coir::testing
