#include <coir/core/pool.hpp>

#include <coir/core/errors.hpp>

#include <algorithm>
#include <bit>
#include <exception>
#include <utility>

namespace coir::detail {
namespace {

// Blocks below this size are allocated without asking for free memory, which would take longer than
// the allocation.
constexpr std::int64_t worth_asking = std::int64_t(1) << 26;

/// Rounded up to an eighth of a power of two, so that arrays of nearly one size share blocks.
std::int64_t rounded(std::int64_t bytes) {
  if (bytes <= 512) return (std::max<std::int64_t>(bytes, 1) + 63) / 64 * 64;
  auto const power = std::bit_floor(static_cast<std::uint64_t>(bytes));
  auto const step = static_cast<std::int64_t>(power / 8);
  return (bytes + step - 1) / step * step;
}

}  // namespace

void* allocate_on_host(std::int64_t bytes) {
  void* const block =
      Kokkos::kokkos_malloc<Kokkos::HostSpace>("coir::core::pool", static_cast<std::size_t>(bytes));
  ask_for_large_pages(block, bytes);
  return block;
}

/// Frees what is kept before Kokkos ends.
void BlockPool::hook() {
  if (std::exchange(hooked_, true)) return;
  Kokkos::push_finalize_hook([this] {
    release();
    finalized_ = true;
  });
}

std::shared_ptr<void> BlockPool::allocate(std::int64_t bytes) {
  expects_kokkos();
  // Rounding must not overflow; nothing of this size exists anyway.
  std::int64_t const size = rounded(std::min(bytes, std::numeric_limits<std::int64_t>::max() / 2));
  std::lock_guard const lock(mutex_);
  hook();
  ++statistics_.allocations;
  void* block = nullptr;
  if (auto const kept = kept_.find(size); kept != kept_.end() && !kept->second.empty()) {
    block = kept->second.back();
    kept->second.pop_back();
    statistics_.cached -= size;
    ++statistics_.reuses;
  } else {
    block = fresh(size);
  }
  statistics_.in_use += size;
  statistics_.peak = std::max(statistics_.peak, statistics_.in_use);
  return {block, [this, size](void* old) { give_back(old, size); }};
}

void BlockPool::also_free(std::function<void()> free) {
  expects_kokkos();
  std::lock_guard const lock(mutex_);
  hook();
  others_.push_back(std::move(free));
}

void BlockPool::give_back(void* block, std::int64_t size) {
  std::lock_guard const lock(mutex_);
  statistics_.in_use -= size;
  statistics_.cached += size;
  kept_[size].push_back(block);
  if (statistics_.in_use + statistics_.cached > limit_) free_kept();
}

PoolStatistics BlockPool::statistics() {
  std::lock_guard const lock(mutex_);
  return statistics_;
}

void BlockPool::release() {
  std::lock_guard const lock(mutex_);
  free_kept();
}

void BlockPool::set_limit(std::int64_t bytes) {
  expects(bytes >= 0, "a pool's limit must be 0 bytes or more", bytes);
  std::lock_guard const lock(mutex_);
  limit_ = bytes;
  if (statistics_.in_use + statistics_.cached > limit_) free_kept();
}

void* BlockPool::fresh(std::int64_t size) {
  if (size > limit_ - statistics_.in_use - statistics_.cached) free_kept();
  if (size > limit_ - statistics_.in_use)
    throw ResourceError("an array needs " + readable_bytes(size) + ", and the pool's limit of " +
                        readable_bytes(limit_) + " leaves " +
                        readable_bytes(std::max<std::int64_t>(limit_ - statistics_.in_use, 0)) +
                        ": raise the limit or keep fewer arrays");
  if (size >= worth_asking && size > source_.free_bytes()) {
    free_kept();
    expects_memory(size, source_.free_bytes(), "an array");
  }
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      if (void* const block = source_.allocate(size)) return block;
    } catch (std::exception const&) {  // Kokkos' own, of different types
    }
    free_kept();
  }
  throw ResourceError("there is no memory for an array of " + readable_bytes(size) +
                      ": use a smaller shape or keep fewer arrays");
}

void BlockPool::free_kept() {
  // Without Kokkos nothing can be freed any more: the memory of arrays that outlive it stays until
  // the process ends.
  if (finalized_) return;
  for (auto const& free : others_) free();
  if (kept_.empty()) return;
  source_.wait();
  for (auto const& [size, blocks] : kept_)
    for (void* const block : blocks) source_.free(block);
  kept_.clear();
  statistics_.cached = 0;
}

}  // namespace coir::detail
