#pragma once

/// How much memory Views hold, as Kokkos reports it to profiling tools.

#include <coir/core/kokkos.hpp>
#include <coir/core/pool.hpp>

#include <impl/Kokkos_Profiling.hpp>

#include <algorithm>
#include <cstdint>

namespace coir::testing {

/// Counts the bytes of Views while it lives. One at a time.
class HeldMemory {
 public:
  HeldMemory() {
    // Memory that is kept from before would be taken again uncounted, and given back counted.
    free_what_is_kept();
    now_ = peak_ = 0;
    Kokkos::Tools::Experimental::set_allocate_data_callback(
        [](Kokkos_Profiling_SpaceHandle, char const*, void const*, std::uint64_t const bytes) {
          now_ += static_cast<std::int64_t>(bytes);
          peak_ = std::max(peak_, now_);
        });
    Kokkos::Tools::Experimental::set_deallocate_data_callback(
        [](Kokkos_Profiling_SpaceHandle, char const*, void const*, std::uint64_t const bytes) {
          now_ -= static_cast<std::int64_t>(bytes);
        });
  }
  ~HeldMemory() {
    Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
    Kokkos::Tools::Experimental::set_deallocate_data_callback(nullptr);
  }
  HeldMemory(HeldMemory const&) = delete;
  HeldMemory& operator=(HeldMemory const&) = delete;

  /// Besides what is kept for later.
  std::int64_t now() const {
    free_what_is_kept();
    return now_;
  }
  std::int64_t peak() const { return peak_; }
  void forget_peak() {
    free_what_is_kept();
    peak_ = now_;
  }

 private:
  static void free_what_is_kept() {
    MemoryPool<Kokkos::DefaultExecutionSpace::memory_space>::release();
  }

  static inline std::int64_t now_ = 0, peak_ = 0;
};

}  // namespace coir::testing
