#pragma once

/// Groups of Jacobi sweeps of boxes on hosts, in one pass over memory each.

#include <coir/core/tasks.hpp>
#include <coir/poisson/detail/side_by_side.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace coir::poisson::detail {

/// How far a thread is with its band of planes: groups of sweeps whose part is done.
struct BandProgress {
  Progress inner;
  Progress edge;
};

/// Makes `sweeps` sweeps of a box of `planes` planes of `rows` rows, in groups of `depth`.
///
/// A thread has a band of planes, and marches along them with some rows at a time. Each sweep of a
/// group follows the one before at a distance of a plane and a row, while the cache holds them.
/// Towards another band each sweep ends a plane before the one before it does. What is left around
/// the end of a band its thread sweeps when the thread of the next band is done with the rest of
/// its own.
///
/// \param bands        1, or at most planes / (2 depth), and at most the threads
/// \param rows_a_time  at least 1
/// \param sweep_row    called with the numbers of a sweep, from 0, and of a plane and a row, from 1
/// \see Wonnacott, IPDPS 2000, on time skewing
template <class Exec, class SweepRow>
void jacobi_skewed(Exec const& exec, std::int64_t planes, std::int64_t rows, std::int64_t bands,
                   std::int64_t rows_a_time, std::int64_t sweeps, std::int64_t depth,
                   SweepRow const& sweep_row) {
  std::vector<BandProgress> progress(static_cast<std::size_t>(bands));
  auto const last = static_cast<int>(bands) - 1;
  run_side_by_side("coir::poisson::jacobi_skewed/bands", exec, last + 1, [&](int band) {
    std::int64_t const begin = 1 + planes * band / bands, end = 1 + planes * (band + 1) / bands;
    // Sweeps `done` to done + count - 1 of the band, but of what other bands' cells enter.
    auto const march = [&](std::int64_t done, std::int64_t count, std::int64_t first,
                           std::int64_t after) {
      std::int64_t const rows_end = after > rows ? rows + count : after;
      for (std::int64_t i = begin; i < (band < last ? end : end + count - 1); ++i) {
        std::int64_t const newest = std::max<std::int64_t>(0, i - end + 1),
                           oldest = std::min(count - 1, (i - begin) / (band > 0 ? 2 : 1));
        for (std::int64_t j = first; j < rows_end; ++j)
          for (std::int64_t s = newest; s <= oldest; ++s)
            if (j > s && j - s <= rows) sweep_row(done + s, i - s, j - s);
      }
    };
    std::int64_t group = 1;
    for (std::int64_t done = 0; done < sweeps; done += depth, ++group) {
      std::int64_t const count = std::min(depth, sweeps - done);
      if (band > 0) wait_for(progress[band - 1].edge, group - 1);
      for (std::int64_t first = 1; first <= rows; first += rows_a_time)
        march(done, count, first, std::min(first + rows_a_time, rows + 1));
      progress[band].inner.done.store(group, std::memory_order_release);
      if (band == last) continue;
      wait_for(progress[band + 1].inner, group);
      for (std::int64_t s = 1; s < count; ++s)
        for (std::int64_t i = end - s; i < end + s; ++i)
          for (std::int64_t j = 1; j <= rows; ++j) sweep_row(done + s, i, j);
      progress[band].edge.done.store(group, std::memory_order_release);
    }
  });
}

}  // namespace coir::poisson::detail
