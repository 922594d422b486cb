#pragma once

/// \file
/// The cache of transforms, which keeps them for later plans of the same request.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace coir::fft::detail {

/// Adds a function that clear_plan_cache() and the end of Kokkos call.
void on_clear(void (*clear)());

/// The cached transforms of one type.
///
/// \tparam Asked  what transforms are made for, ordered by <
template <class Transform, class Asked>
class PlanCache {
 public:
  /// \param where  what instances share plans by: the number of threads, or the stream
  /// \param make   called without arguments if nothing is found; returns a shared_ptr of Transform
  template <class Make>
  static std::shared_ptr<Transform> get(std::uintptr_t where, Asked const& request,
                                        Make const& make) {
    PlanCache& cache = only();
    std::lock_guard const lock(cache.mutex_);
    auto const key = std::pair(where, request);
    if (auto const found = cache.kept_.find(key); found != cache.kept_.end()) return found->second;
    return cache.kept_[key] = make();
  }

 private:
  static PlanCache& only() {
    // Never destroyed: at the program's end Kokkos and the device's driver have ended already.
    static PlanCache* const cache = [] {
      on_clear([] {
        std::lock_guard const lock(only().mutex_);
        only().kept_.clear();
      });
      return new PlanCache;
    }();
    return *cache;
  }

  std::mutex mutex_;
  std::map<std::pair<std::uintptr_t, Asked>, std::shared_ptr<Transform>> kept_;
};

}  // namespace coir::fft::detail
