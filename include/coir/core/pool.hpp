#pragma once

/// \file
/// A pool that keeps the memory of destroyed arrays for new ones. New memory from the system costs
/// page faults on a host, and a call of the driver on a device.

#include <coir/core/concepts.hpp>
#include <coir/core/instance.hpp>
#include <coir/core/memory.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace coir {

/// Statistics of a pool. All sizes in bytes.
struct PoolStatistics {
  std::int64_t in_use = 0;       ///< held by arrays
  std::int64_t cached = 0;       ///< kept for new arrays
  std::int64_t peak = 0;         ///< the most that `in_use` has been
  std::int64_t allocations = 0;  ///< how often an array asked for memory
  std::int64_t reuses = 0;       ///< how often it was given memory that was kept
};

namespace detail {

/// The functions that allocate and free blocks of one memory space.
struct BlockSource {
  void* (*allocate)(std::int64_t bytes);  ///< nullptr or an exception if there is no memory
  void (*free)(void* block);
  std::int64_t (*free_bytes)();
  void (*wait)();  ///< waits for kernels that may still use a block
};

/// A pool of blocks from any source.
class BlockPool {
 public:
  explicit BlockPool(BlockSource source) : source_(source) {}

  std::shared_ptr<void> allocate(std::int64_t bytes);
  PoolStatistics statistics();
  void release();
  void set_limit(std::int64_t bytes);
  /// Calls `free` whenever what is kept is freed.
  void also_free(std::function<void()> free);

 private:
  void give_back(void* block, std::int64_t size);
  void* fresh(std::int64_t size);
  void free_kept();
  void hook();

  BlockSource source_;
  std::mutex mutex_;
  std::map<std::int64_t, std::vector<void*>> kept_;
  std::vector<std::function<void()>> others_;
  PoolStatistics statistics_;
  std::int64_t limit_ = std::numeric_limits<std::int64_t>::max();
  bool hooked_ = false;
  bool finalized_ = false;  // whether Kokkos has ended
};

void* allocate_on_host(std::int64_t bytes);

}  // namespace detail

/// The pool of one memory space. Its functions may be called from any host thread.
///
/// Sizes of blocks are rounded up to an eighth of a power of two, so that at most an eighth is
/// lost. A block is handed on as soon as its array is destroyed, while kernels may still use it.
/// That is safe among kernels of the default instance, which run one after the other. Fence before
/// you destroy an array that several instances use. A Queue does so for arrays made inside it.
template <class Space>
class MemoryPool {
 public:
  /// Memory of `bytes` bytes, aligned to 64, not initialised. Its owner returns it to the pool.
  ///
  /// \throws ResourceError if there is not enough, or the limit would be exceeded
  static std::shared_ptr<void> allocate(std::int64_t bytes) {
    using Exec = typename Space::execution_space;
    auto const* const state = detail::instance_state<Exec>;
    if (state && state->recorded && state->recorded->blocks)
      return state->recorded->blocks->take(bytes,
                                           [](std::int64_t size) { return pool().allocate(size); });
    auto block = pool().allocate(bytes);
    if (state && state->blocks) {
      state->blocks->push_back(block);  // kept: the queue's statements may not have run yet
      Exec{}.fence();                   // kernels of the default instance may still use it
    }
    return block;
  }

  /// The pool's statistics since the program began.
  static PoolStatistics statistics() { return pool().statistics(); }

  /// Frees the memory that is kept for new arrays.
  static void release() { pool().release(); }

  /// Limits the bytes that arrays and kept memory hold together from now on. What kept_view() keeps
  /// doesn't count.
  ///
  /// \throws PreconditionError if `bytes` is negative
  static void set_limit(std::int64_t bytes = std::numeric_limits<std::int64_t>::max()) {
    pool().set_limit(bytes);
  }

  /// Calls `free` whenever the pool frees what it keeps, and before Kokkos ends. It must not call
  /// the pool.
  static void also_free(std::function<void()> free) { pool().also_free(std::move(free)); }

 private:
  static detail::BlockPool& pool() {
    // Never destroyed: arrays may outlive every other static object.
    static auto* const the_pool = [] {
      detail::free_kept<Space> = release;
      return new detail::BlockPool(
          {[](std::int64_t bytes) {
             if constexpr (std::is_same_v<Space, Kokkos::HostSpace>)
               return detail::allocate_on_host(bytes);
             else
               return Kokkos::kokkos_malloc<Space>(
                   "coir::core::pool",
                   static_cast<std::size_t>(bytes_in_large_pages<Space>(bytes)));
           },
           [](void* block) { Kokkos::kokkos_free<Space>(block); }, free_bytes<Space>,
           [] { typename Space::execution_space{}.fence(); }});
    }();
    return *the_pool;
  }
};

}  // namespace coir
