#pragma once

/// Frees memory before Kokkos ends, even if its owner lives longer.

#include <functional>

namespace coir::distributed::detail {

/// Calls a function when Kokkos ends, unless this object is destroyed before. All objects share one
/// hook of Kokkos. Made and destroyed by one thread, as groups are.
class BeforeKokkosEnds {
 public:
  explicit BeforeKokkosEnds(std::function<void()> give_up);
  ~BeforeKokkosEnds();
  BeforeKokkosEnds(BeforeKokkosEnds const&) = delete;
  BeforeKokkosEnds& operator=(BeforeKokkosEnds const&) = delete;

  /// Hooks that Kokkos was given so far.
  static int hooks();

 private:
  std::function<void()> give_up_;
};

}  // namespace coir::distributed::detail
