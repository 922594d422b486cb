#pragma once

/// \file
/// Several sweeps over a grid in one pass over memory, on hosts.

#include <coir/core/loops.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace coir::poisson::detail {

/// How many bands of slabs to share among threads: none narrower than the pipeline is deep, and none
/// so small that starting a thread costs more than it saves.
template <class Exec>
int pipeline_bands(Exec const& exec, int slabs, std::int64_t cells, int stages) {
  constexpr std::int64_t fewest_cells = 8192;
  std::int64_t const bands =
      std::min<std::int64_t>({exec.concurrency(), slabs / (2 * stages + 1), cells / fewest_cells});
  return static_cast<int>(std::max<std::int64_t>(bands, 1));
}

/// Calls stage(band, s, slab) for every stage 0 <= s < stages and slab 1 <= slab <= slabs, as if all
/// of a stage were finished before the next begins, but slab by slab while the data is in cache.
///
/// Stage s of a slab may read the neighbouring slabs as stage s - 1 left them, and may write its own
/// slab only. Bands run at the same time: each does first what depends on no other band, stage s
/// starting s slabs inside it; the wedges left at the seams follow. So the order of all updates of a
/// cell and its neighbours, and every bit of the result, is the same for any number of bands.
///
/// \param bands  at most slabs / (2 stages)
template <class Exec, class Stage>
void pipeline(std::string const& label, Exec const& exec, int slabs, int stages, int bands,
              Stage const& stage) {
  static_assert(runs_on_host<Exec>);
  auto const begin_of = [=](int band) {
    return 1 + static_cast<int>(static_cast<std::int64_t>(slabs) * band / bands);
  };
  auto const inside = [&](int band, int) {
    int const begin = begin_of(band), end = begin_of(band + 1);
    for (int front = begin; front < end + stages - 1; ++front)
      for (int s = 0; s < stages; ++s) {
        int const slab = front - s;
        int const first = band > 0 ? begin + s : begin;
        int const last = band + 1 < bands ? end - s : end;
        if (slab >= first && slab < last) stage(band, s, slab);
      }
  };
  auto const seam = [&](int band, int) {
    int const begin = begin_of(band);
    for (int s = 1; s < stages; ++s)
      for (int slab = begin - s; slab < begin + s; ++slab) stage(band, s, slab);
  };

  if (bands == 1) {  // a launch would cost more than a small grid's whole pass
    inside(0, 0);
    return;
  }
  for_each(label, exec, box({0, 0}, {bands, 1}), inside);
  for_each(label, exec, box({1, 0}, {bands, 1}), seam);
}

}  // namespace coir::poisson::detail
