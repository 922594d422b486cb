#pragma once

/// \file
/// Several sweeps over a grid in one pass over memory, on hosts.

#include <coir/core/tasks.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace coir::poisson::detail {

/// The number of bands of slabs to share among threads. No band is narrower than the pipeline is
/// deep, or so small that starting a thread for it doesn't pay.
template <class Exec>
int pipeline_bands(Exec const& exec, int slabs, std::int64_t cells, int stages) {
  return static_cast<int>(threads_worth_starting(exec, cells / 2, slabs / (2 * stages + 1)));
}

/// One step of a pipeline.
struct PipelineStep {
  int band;
  int stage;
  int slab;
  bool watched;  ///< another band may read the slab meanwhile, for the same stage of its own slab
                 ///< beside it
};

/// Calls step(PipelineStep) for every stage 0 <= s < stages and slab 1 <= slab <= slabs. The result
/// is that of one stage after the other, but slabs go through several stages while they are in
/// cache.
///
/// Stage s of a slab may write its own slab only. From the neighbouring slabs it may read what
/// stage s doesn't write, as stage s - 1 left it. Bands run at the same time. Each first does the
/// part that depends on no other band: stage s starts s slabs inside the band. The wedges at the
/// seams follow. So the order of updates of a cell and its neighbours, and every bit of the result,
/// is the same for any number of bands.
///
/// \param bands  at most slabs / (2 stages)
template <class Exec, class Step>
void pipeline(std::string_view label, Exec const& exec, int slabs, int stages, int bands,
              Step const& step) {
  static_assert(runs_on_host<Exec>);
  auto const begin_of = [=](int band) {
    return 1 + static_cast<int>(static_cast<std::int64_t>(slabs) * band / bands);
  };
  auto const inside = [&](std::int64_t task) {
    int const band = static_cast<int>(task);
    int const begin = begin_of(band), end = begin_of(band + 1);
    for (int front = begin; front < end + stages - 1; ++front)
      for (int s = 0; s < stages; ++s) {
        int const slab = front - s;
        int const first = band > 0 ? begin + s : begin;
        int const last = band + 1 < bands ? end - s : end;
        bool const at_seam = (band > 0 && slab == begin) || (band + 1 < bands && slab + 1 == end);
        if (slab >= first && slab < last) step(PipelineStep{band, s, slab, s == 0 && at_seam});
      }
  };
  auto const seam = [&](std::int64_t task) {
    int const band = static_cast<int>(task) + 1;
    int const begin = begin_of(band);
    for (int s = 1; s < stages; ++s)
      for (int slab = begin - s; slab < begin + s; ++slab) step(PipelineStep{band, s, slab, false});
  };

  for_each_task(label, exec, bands, inside);
  for_each_task(label, exec, bands - 1, seam);
}

}  // namespace coir::poisson::detail
