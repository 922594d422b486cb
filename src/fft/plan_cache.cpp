#include "plan_cache.hpp"

#include <coir/core/kokkos.hpp>

#include <mutex>
#include <vector>

namespace coir::fft {

namespace {

std::mutex mutex;

std::vector<void (*)()>& caches() {
  static auto* const all = new std::vector<void (*)()>;
  return *all;
}

}  // namespace

namespace detail {

void on_clear(void (*clear)()) {
  std::lock_guard const lock(mutex);
  if (caches().empty()) Kokkos::push_finalize_hook(clear_plan_cache);
  caches().push_back(clear);
}

}  // namespace detail

void clear_plan_cache() {
  std::lock_guard const lock(mutex);
  for (auto* const clear : caches()) clear();
}

}  // namespace coir::fft
