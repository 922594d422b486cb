#pragma once

/// \file
/// Visits the indices for which a condition is true, and numbers them.

#include <coir/core/kokkos.hpp>
#include <coir/core/tasks.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace coir::detail {

/// For devices.
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
  constexpr char const* label = "coir::array::for_each_held/compress";
  if constexpr (runs_on_host<Exec>) {
    // Each thread counts what its part has, and then visits it. Block by block, without a branch
    // for each index.
    std::int64_t const parts = threads_worth_starting(exec, size);
    std::vector<std::int64_t> before(static_cast<std::size_t>(parts) + 1, 0);
    for_each_task(label, exec, parts > 1 ? parts : 0, [=, counts = &before[1]](std::int64_t part) {
      std::int64_t count = 0;
      for (std::int64_t i = size * part / parts; i < size * (part + 1) / parts; ++i)
        count += holds(i) ? 1 : 0;
      counts[part] = count;
    });
    for (std::size_t part = 1; part < before.size(); ++part) before[part] += before[part - 1];
    for_each_task(label, exec, parts, [=, starts = before.data()](std::int64_t part) {
      constexpr std::int64_t block = 1024;
      std::int64_t held[block];
      std::int64_t const end = size * (part + 1) / parts;
      std::int64_t number = starts[part];
      for (std::int64_t first = size * part / parts; first < end; first += block) {
        std::int64_t count = 0;
        for (std::int64_t i = first; i < std::min(end, first + block); ++i) {
          held[count] = i;
          count += holds(i) ? 1 : 0;
        }
        for (std::int64_t n = 0; n < count; ++n) visit(number + n, held[n]);
        number += count;
      }
    });
  } else {
    Kokkos::parallel_scan(label,
                          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, size),
                          VisitHeld<Holds, Visit>{holds, visit});
  }
}

}  // namespace coir::detail
