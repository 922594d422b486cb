#pragma once

/// \file
/// Pairs of Jacobi sweeps of boxes on hosts, in one pass over memory.

#include <coir/core/tasks.hpp>
#include <coir/poisson/detail/side_by_side.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace coir::poisson::detail {

/// How far a thread is with its band of planes: pairs of sweeps whose part is done.
struct PairProgress {
  Progress there;
  Progress back;
};

/// Makes pairs of sweeps of a box of `planes` planes of `rows` rows: `there` from one field to
/// another, and `back`.
///
/// A thread has a band of planes, and marches along them with some rows at a time. As soon as the
/// first sweep has made a row and its neighbours, the second one follows, while the cache holds
/// them. The planes at a band's ends wait for the bands beside it, and are swept back last.
///
/// \param sweep_row    called with `there` or `back`, and the numbers of a plane and a row, from 1
/// \param bands        at most planes / 2 if there are several, and at most the threads
/// \param rows_a_time  at least 1
template <class Exec, class Sweep, class SweepRow>
void jacobi_pairs(Exec const& exec, Sweep const& there, Sweep const& back, std::int64_t planes,
                  std::int64_t rows, std::int64_t bands, std::int64_t rows_a_time,
                  std::int64_t pairs, SweepRow const& sweep_row) {
  std::vector<PairProgress> progress(static_cast<std::size_t>(bands));
  auto const last = static_cast<int>(bands) - 1;
  run_side_by_side("coir::poisson::jacobi_pairs/bands", exec, last + 1, [&](int band) {
    std::int64_t const begin = 1 + planes * band / bands, end = 1 + planes * (band + 1) / bands;
    auto const wait_for_neighbours = [&](Progress PairProgress::* part, std::int64_t pair) {
      if (band > 0) wait_for(progress[band - 1].*part, pair);
      if (band < last) wait_for(progress[band + 1].*part, pair);
    };
    auto const sweep_plane_back = [&](std::int64_t i) {
      for (std::int64_t j = 1; j <= rows; ++j) sweep_row(back, i, j);
    };
    for (std::int64_t pair = 1; pair <= pairs; ++pair) {
      wait_for_neighbours(&PairProgress::back, pair - 1);
      for (std::int64_t first = 1; first <= rows; first += rows_a_time) {
        std::int64_t const after = std::min(first + rows_a_time, rows + 1);
        for (std::int64_t i = begin; i < end; ++i) {
          bool const back_too = i > begin + (band > 0 ? 1 : 0);  // the plane before
          for (std::int64_t j = first; j < after; ++j) {
            sweep_row(there, i, j);
            if (back_too && j > 1) sweep_row(back, i - 1, j - 1);
          }
          if (back_too && after > rows) sweep_row(back, i - 1, rows);
        }
      }
      progress[band].there.done.store(pair, std::memory_order_release);
      wait_for_neighbours(&PairProgress::there, pair);
      sweep_plane_back(end - 1);
      if (band > 0) sweep_plane_back(begin);
      progress[band].back.done.store(pair, std::memory_order_release);
    }
  });
}

}  // namespace coir::poisson::detail
