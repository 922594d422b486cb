#pragma once

/// \file
/// Visits the indices for which a condition is true, and numbers them.

#include <coir/core/kokkos.hpp>

#include <cstdint>

namespace coir::detail {

template <class Holds, class Visit>
struct VisitHeld {
  Holds holds;
  Visit visit;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& before, bool final) const {
    if (!holds(i)) return;
    if (final) visit(before, i);
    ++before;
  }
};

/// Calls visit(n, i) for each i in [0, size) with holds(i), where n is the number of such indices
/// before i. Doesn't wait on devices.
///
/// \param exec  where to run
template <class Exec, class Holds, class Visit>
void for_each_held(Exec const& exec, std::int64_t size, Holds const& holds, Visit const& visit) {
  Kokkos::parallel_scan("coir::array::for_each_held/compress",
                        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, size),
                        VisitHeld<Holds, Visit>{holds, visit});
}

}  // namespace coir::detail
