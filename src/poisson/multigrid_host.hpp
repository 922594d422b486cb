#pragma once

/// The parts of a multigrid cycle on hosts, each one pass over the memory of a level.

#include "host_slabs.hpp"
#include "multigrid_cells.hpp"

#include <coir/core/loops.hpp>
#include <coir/poisson/detail/crew.hpp>
#include <coir/poisson/detail/slab_pipeline.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace coir::poisson::detail {

template <class Exec, class T, int Rank>
class HostPasses {
 public:
  using Grid = Level<T, Rank>;

  /// \param finest  bounds the size of every level
  HostPasses(Exec const& exec, Grid const& finest)
      : exec_(exec), crew_(exec), slabs_(most_bands(exec), finest) {}

  void begin() const { exec_.fence(); }

  /// Calls cycle(), whose passes share one kernel.
  template <class Cycle>
  void together(Grid const& finest, Cycle const& cycle) {
    crew_.stay_for("coir::poisson::multigrid_host/cycle", bands(finest, 1), cycle);
  }

  /// Smooths, from u = 0 if `from_zero`.
  void smooth(Grid const& level, Smoothing<T> const& how, bool from_zero) {
    int const at_once = std::clamp(how.sweeps, 1, sweeps_at_once(level));
    int const passes = how.sweeps / at_once, rest = how.sweeps % at_once;
    auto const sweep = [&](int sweeps, int times, bool zero) {
      run(
          "coir::poisson::multigrid_host/smooth", level, 2 * sweeps,
          [&](PipelineStep const& at) {
            slabs_.smooth(level, how, zero && at.pass == 0, at.stage, at.slab, at.rows, at.watched,
                          Ahead{});
          },
          times);
    };
    if (passes > 0) sweep(at_once, passes, from_zero);
    if (rest > 0) sweep(rest, 1, from_zero && passes == 0);
  }

  /// Smooths `fine`, then restricts its residual to `coarse`.
  ///
  /// \return the squared norm of the residual, if `measure`
  double descend(Grid const& fine, Grid const& coarse, Smoothing<T> const& how, bool from_zero,
                 bool measure) {
    // The restriction reads two slabs on either side, so that one stage before it is idle.
    int const last = 2 * how.sweeps + 1;
    run("coir::poisson::multigrid_host/descend", fine, last + 1, [&](PipelineStep const& at) {
      if (at.stage + 1 < last)
        slabs_.smooth(fine, how, from_zero, at.stage, at.slab, at.rows, at.watched, Ahead{});
      else if (at.stage == last && at.slab % 2 == 0 && at.slab / 2 <= coarse.n[0])
        slabs_.restrict_residual(at.band, fine, coarse, at.slab / 2, at.rows, measure);
    });
    return measure ? slabs_.total(coarse.n[0]) : 0;
  }

  /// Restricts the source, which is the residual of u = 0.
  void restrict_source(Grid const& fine, Grid const& coarse) {
    run("coir::poisson::multigrid_host/restrict_source", coarse, 1,
        [&](PipelineStep const& at) { slabs_.restrict_source(at.band, fine, coarse, at.slab); });
  }

  /// Adds the interpolated coarse u to the fine one, or sets it, then smooths.
  void ascend(Grid const& coarse, Grid const& fine, Smoothing<T> const& how, bool set) {
    run("coir::poisson::multigrid_host/ascend", fine, 1 + 2 * how.sweeps,
        [&](PipelineStep const& at) {
          if (at.stage > 0)
            slabs_.smooth(fine, how, false, at.stage - 1, at.slab, at.rows, at.watched,
                          ahead(fine, at.stage, 2 * how.sweeps));
          else
            slabs_.interpolate(at.band, coarse, fine, at.slab, at.rows, set);
        });
  }

  /// Ascends and then descends in one pass over the fine grid.
  double ascend_and_descend(Grid const& coarse, Grid const& fine, Smoothing<T> const& after,
                            Smoothing<T> const& before, bool set, bool measure) {
    int const smoothed = 1 + 2 * after.sweeps, last = smoothed + 2 * before.sweeps + 1;
    run("coir::poisson::multigrid_host/ascend_and_descend", fine, last + 1,
        [&](PipelineStep const& at) {
          if (at.stage == 0)
            slabs_.interpolate(at.band, coarse, fine, at.slab, at.rows, set);
          else if (at.stage < smoothed)
            slabs_.smooth(fine, after, false, at.stage - 1, at.slab, at.rows, false,
                          ahead(fine, at.stage, last - 2));
          else if (at.stage + 1 < last)
            slabs_.smooth(fine, before, false, at.stage - smoothed, at.slab, at.rows, false,
                          ahead(fine, at.stage, last - 2));
          else if (at.stage == last && at.slab % 2 == 0 && at.slab / 2 <= coarse.n[0])
            slabs_.restrict_residual(at.band, fine, coarse, at.slab / 2, at.rows, measure);
        });
    return measure ? slabs_.total(coarse.n[0]) : 0;
  }

  /// Squared norm of the residual.
  double squared_residual(Grid const& level) {
    run("coir::poisson::multigrid_host/residual", level, 1,
        [&](PipelineStep const& at) { slabs_.measure_residual(at.band, level, at.slab); });
    return slabs_.total(level.n[0]);
  }

  /// Squared norm of the residual for u = 0 inside with the caller's boundary values.
  double squared_source(Grid const& level) {
    run("coir::poisson::multigrid_host/source", level, 1,
        [&](PipelineStep const& at) { slabs_.measure_source(at.band, level, at.slab); });
    return slabs_.total(level.n[0]);
  }

  void clear(Grid const& level) const {
    for_each("coir::poisson::multigrid_host/clear", exec_, box_of(level),
             OnCells<Clear<T, Rank>>{Clear<T, Rank>{level}});
  }

 private:
  static constexpr std::int64_t own_cache = 512 * 1024;  // bytes of a core's cache
  static constexpr int least_rows = 16;                  // of a tile

  // pipeline_bands() never returns more.
  static int most_bands(Exec const& exec) { return static_cast<int>(exec.concurrency()); }

  template <class Step>
  void run(char const* label, Grid const& level, int stages, Step const& step, int passes = 1) {
    pipeline(label, crew_, level.n[0], level.n[1], tile_rows(level, stages), stages,
             bands(level, stages), step, passes);
  }

  int bands(Grid const& level, int stages) const {
    return pipeline_bands(exec_, level.n[0], level.cells(), stages, crew_.threads());
  }

  // Numbers of a row's unknown and source, in bytes.
  static std::int64_t row_bytes(Grid const& level) {
    return 2 * std::int64_t(level.n[2]) * static_cast<std::int64_t>(sizeof(T));
  }

  // The rows of a tile of a slab: as many as keep the slabs in use in a core's own cache.
  static int tile_rows(Grid const& level, int stages) {
    if (Rank == 2 || stages == 1) return level.n[1];
    return static_cast<int>(std::clamp<std::int64_t>(own_cache / ((stages + 2) * row_bytes(level)),
                                                     least_rows, level.n[1] + least_rows));
  }

  // The sweeps in one pass: as many as keep their slabs in a core's own cache, and the edges of
  // bands a quarter of the work at most.
  int sweeps_at_once(Grid const& level) const {
    std::int64_t const rows = Rank == 2 ? 1 : std::min(least_rows, level.n[1]);
    std::int64_t const slab = rows * row_bytes(level) + 2 * sizeof(T);
    std::int64_t const in_cache = own_cache / slab - 2;
    std::int64_t const between_seams = level.n[0] / (4 * std::int64_t(exec_.concurrency()));
    return static_cast<int>(std::max<std::int64_t>(1, std::min(in_cache, between_seams) / 2));
  }

  // The memory that a stage of an ascent prefetches, if a core's own cache has room for it beside
  // the slabs in use. Stage 0 interpolates, and `relaxing` stages of relaxation follow.
  static Ahead ahead(Grid const& fine, int stage, int relaxing) {
    int const shift = std::bit_width(static_cast<unsigned>(relaxing)) - 1;
    std::int64_t const slab = std::min(tile_rows(fine, relaxing + 3), fine.n[1]) * row_bytes(fine);
    if (stage > 1 << shift || (relaxing + 4) * slab > own_cache) return {};
    return {stage + 1, stage - 1, shift};
  }

  Exec exec_;
  Crew<Exec> crew_;
  HostSlabs<T, Rank> slabs_;
};

}  // namespace coir::poisson::detail
