#pragma once

/// \file
/// Several sweeps over a grid in one pass over memory, on hosts.

#include <coir/core/tasks.hpp>
#include <coir/poisson/detail/side_by_side.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace coir::poisson::detail {

/// The number of bands of slabs to share among threads. No band is narrower than the pipeline is
/// deep, or so small that starting a thread for it doesn't pay. Whether several threads start at
/// all depends on the work of all stages, each of which is worth half a cell.
///
/// \param threads  the most that may run side by side
template <class Exec>
int pipeline_bands(Exec const& exec, int slabs, std::int64_t cells, int stages, int threads) {
  std::int64_t const work = cells * stages / 2, most = cells / 2 / cells_worth_a_thread,
                     bands = std::min(
                         {most, std::int64_t(slabs / (2 * stages + 1)), std::int64_t(threads)});
  return static_cast<int>(threads_worth_starting(exec, work, bands));
}
template <class Exec>
int pipeline_bands(Exec const& exec, int slabs, std::int64_t cells, int stages) {
  return pipeline_bands(exec, slabs, cells, stages, threads_side_by_side(exec));
}

/// Rows begin to end - 1 of a slab, counted from 1.
struct RowRange {
  int begin;
  int end;
};

/// One step of a pipeline.
struct PipelineStep {
  int pass;
  int band;
  int stage;
  int slab;
  bool watched;   ///< another band may read the slab meanwhile, for the same stage of its own slab
                  ///< beside it
  RowRange rows;  ///< of the slab
};

/// Calls step(PipelineStep) for every stage 0 <= s < stages and every row of the slabs 1 to
/// `slabs`, in each of several passes. The result is that of one stage after the other, but slabs
/// go through several stages while they are in cache.
///
/// Stage s of a row may write its own row only. From the neighbouring rows and slabs it may read
/// what stage s doesn't write, as stage s - 1 left it. Slabs of many rows are cut into tiles. Each
/// stage is one row behind the stage before, and the stages of a tile come before the next tile.
/// Bands run at the same time. Each first does the part that depends on no other band: stage s
/// starts s slabs inside the band. The wedges at the seams follow. So the order of updates of a
/// cell and its neighbours, and every bit of the result, is the same for any number of bands.
///
/// All passes are one kernel, in which a band waits for the two beside it alone. To begin and end a
/// kernel all threads wait for each other.
///
/// \param where   an execution space of a host, or threads that stay together
/// \param rows    of a slab
/// \param tile    rows of a tile
/// \param bands   at most slabs / (2 stages), and at most the threads that run side by side there
/// \param passes  how often all stages are made, one pass after the other
template <class Where, class Step>
void pipeline(std::string_view label, Where& where, int slabs, int rows, int tile, int stages,
              int bands, Step const& step, int passes = 1) {
  auto const begin_of = [=](int band) {
    return 1 + static_cast<int>(static_cast<std::int64_t>(slabs) * band / bands);
  };
  auto const tile_begin = [=](std::int64_t number, int s) {
    std::int64_t const row = 1 + number * tile - s;
    return static_cast<int>(std::clamp<std::int64_t>(row, 1, rows + 1));
  };
  // The last stage of the last tile must reach the last row.
  std::int64_t const tiles = tile >= rows ? 1 : (std::int64_t(rows) + stages - 1 + tile - 1) / tile;
  auto const inside = [&](int pass, int band) {
    int const begin = begin_of(band), end = begin_of(band + 1);
    for (std::int64_t number = 0; number < tiles; ++number)
      for (int front = begin; front < end + stages - 1; ++front)
        for (int s = 0; s < stages; ++s) {
          int const slab = front - s;
          int const first = band > 0 ? begin + s : begin;
          int const last = band + 1 < bands ? end - s : end;
          if (slab < first || slab >= last) continue;
          bool const at_seam = (band > 0 && slab == begin) || (band + 1 < bands && slab + 1 == end);
          RowRange const part = tiles == 1
                                    ? RowRange{1, rows + 1}
                                    : RowRange{tile_begin(number, s), tile_begin(number + 1, s)};
          if (part.begin < part.end)
            step(PipelineStep{pass, band, s, slab, s == 0 && at_seam, part});
        }
  };
  // Between a band and the one before.
  auto const seam = [&](int pass, int band) {
    int const begin = begin_of(band);
    for (int s = 1; s < stages; ++s)
      for (int slab = begin - s; slab < begin + s; ++slab)
        step(PipelineStep{pass, band, s, slab, false, {1, rows + 1}});
  };

  // A seam needs the two bands beside it alone, and so does the next pass.
  struct Done {
    Progress inside, seam;  // in how many passes
  };
  std::vector<Done> done(static_cast<std::size_t>(bands));
  run_side_by_side(label, where, bands, [&](int band) {
    Done* const own = &done[static_cast<std::size_t>(band)];
    for (int pass = 0; pass < passes; ++pass) {
      if (band + 1 < bands) wait_for(own[1].seam, pass);
      inside(pass, band);
      own->inside.done.store(pass + 1, std::memory_order_release);
      if (band == 0) continue;
      wait_for(own[-1].inside, pass + 1);
      seam(pass, band);
      own->seam.done.store(pass + 1, std::memory_order_release);
    }
  });
}

}  // namespace coir::poisson::detail
