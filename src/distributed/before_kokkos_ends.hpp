#pragma once

/// \file
/// What must be given up before Kokkos ends, though its owner may live longer.

#include <functional>

namespace coir::distributed::detail {

/// Calls a function when Kokkos ends, unless this object has gone before. However many objects there were, Kokkos keeps one hook
/// for all of them. Made and destroyed by one thread, as groups are.
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
