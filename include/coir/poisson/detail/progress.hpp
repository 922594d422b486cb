#pragma once

/// \file
/// How threads that sweep neighbouring bands of a grid wait for each other, in plain C++.

#include <atomic>
#include <cstdint>
#include <thread>

namespace coir::poisson::detail {

/// What a thread has finished, in a pair of cache lines of its own.
struct alignas(128) Progress {
  std::atomic<std::int64_t> done{0};
};

/// Waits until `done` is at least `value`.
///
/// First the thread asks again and again, for longer than a neighbour that runs takes on a small
/// grid. Then it lets others run between its questions, because the neighbour may need its core.
inline void wait_for(std::atomic<std::int64_t> const& done, std::int64_t value) {
  constexpr int short_wait = 400;
  for (int turn = 0; done.load(std::memory_order_acquire) < value; ++turn) {
    if (turn >= short_wait) {
      std::this_thread::yield();
      continue;
    }
#if defined(__x86_64__) && !defined(__CUDA_ARCH__)
    asm volatile("pause");
#endif
  }
}
inline void wait_for(Progress const& progress, std::int64_t value) {
  wait_for(progress.done, value);
}

}  // namespace coir::poisson::detail
