#pragma once

/// Jacobi sweeps, each a pass over memory; of boxes on hosts several sweeps a pass.

#include "jacobi_columns.hpp"
#include "jacobi_skewed.hpp"
#include "rows_of.hpp"
#include "second_field.hpp"
#include "stencil.hpp"

#include <coir/core/memory.hpp>
#include <coir/core/replay.hpp>
#include <coir/poisson/detail/callers_grid.hpp>
#include <coir/poisson/detail/side_by_side.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace coir::poisson::detail {

/// Sets `out` to the Jacobi update of `in`.
template <class T, class In, class Out, class B>
struct JacobiSweep {
  static constexpr int cells_per_thread = In::rank == 2 ? 8 : 2;  // by measurement on an H200
  In in;
  B b;
  Out out;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j) const { out(i, j) = update(i, j); }

  /// Sweeps a row on hosts. The loop has pointers to five rows in place of Views, so that it starts
  /// faster.
  void stretch(int i, int begin, int end) const
    requires(In::rank == 2)
  {
    ThreeRows const rows{{&in(i - 1, 0), &in(i, 0), &in(i + 1, 0)}};
    T const* const source = &b(i - 1, 0);
    T* const updated = &out(i, 0);
    COIR_INDEPENDENT_ITERATIONS
    for (int j = begin; j < end; ++j)
      updated[j] = (neighbour_sum(rows, 1, j) - source[j - 1]) * T(0.25);
  }

  /// The same for boxes.
  void stretch(Index3 i, Index3 j, Index3 begin, Index3 end) const
    requires(In::rank == 3)
  {
    T const* const row = &in(i, j, 0);
    T const* const slabs[] = {&in(i - 1, j, 0), &in(i + 1, j, 0)};
    T const* const rows[] = {&in(i, j - 1, 0), &in(i, j + 1, 0)};
    T const* const source = &b(i - 1, j - 1, 0);
    T* const updated = &out(i, j, 0);
    auto const sweep = [=](Index3 from, Index3 to) {
      COIR_INDEPENDENT_ITERATIONS
      for (Index3 k = from; k < to; ++k)
        updated[k] = ((((((slabs[0][k] + slabs[1][k]) + rows[0][k]) + rows[1][k]) + row[k - 1]) +
                       row[k + 1]) -
                      source[k - 1]) *
                     (T(1) / T(6));
    };
    // Vectors don't overlap but the last ones, which compute some cells once more: one by one the
    // cells that are left over would take a fifth of the time of 255 cells.
    constexpr Index3 whole = 64 / sizeof(T);
    Index3 const left_over = (end - begin) % whole;
    if (end - begin < whole) return sweep(begin, end);
    sweep(begin, end - left_over);
    if (left_over > 0) sweep(end - whole, end);
  }

  /// Sweeps `Count` cells of a column. All are computed before the first is stored, so that
  /// compilers load once the neighbours that two cells have in common.
  template <int Count>
  KOKKOS_FORCEINLINE_FUNCTION void column(int i, int j) const {
    T updated[Count];
    COIR_UNROLL
    for (int c = 0; c < Count; ++c) updated[c] = update(i + c, j);
    COIR_UNROLL
    for (int c = 0; c < Count; ++c) out(i + c, j) = updated[c];
  }

  KOKKOS_FORCEINLINE_FUNCTION void operator()(Index3 i, Index3 j, Index3 k) const {
    out(i, j, k) = (neighbour_sum(in, i, j, k) - b(i - 1, j - 1, k - 1)) * (T(1) / T(6));
  }

 private:
  /// A row of a field with its neighbours, as a View of three rows.
  struct ThreeRows {
    using non_const_value_type = T;
    T const* row[3];
    KOKKOS_FORCEINLINE_FUNCTION T operator()(int i, int j) const { return row[i][j]; }
  };

  KOKKOS_FORCEINLINE_FUNCTION T update(int i, int j) const {
    return (neighbour_sum(in, i, j) - b(i - 1, j - 1)) * T(0.25);
  }
};

template <class Exec, class T, int Rank>
void jacobi_sweep(Exec const& exec, RowMajorView<Exec, T const, Rank> const& b,
                  RowMajorView<Exec, T, Rank> const& in, RowMajorView<Exec, T, Rank> const& out) {
  if constexpr (Rank == 3 && !runs_on_host<Exec>) {
    auto const level = finest_level<T, Rank>(b, in);
    if (fills_columns(level.n) && has_near_cells(level)) {
      jacobi_columns(exec, level, out.data());
      return;
    }
  }
  using In = RowMajorView<Exec, T const, Rank>;
  for_each("coir::poisson::jacobi_plain/sweep", exec, interior(b),
           JacobiSweep<T, In, RowMajorView<Exec, T, Rank>, In>{In(in), b, out});
}

/// Plain sweeps between the caller's field and a second one.
template <class Exec, class T, int Rank>
class PlainJacobi {
 public:
  PlainJacobi(Exec const& exec, RowMajorView<Exec, T const, Rank> const& b,
              RowMajorView<Exec, T, Rank> const& u, bool shared = false)
      : exec_(exec), b_(b), fields_(exec, u, "Jacobi's method", shared) {}

  void advance(std::int64_t sweeps) {
    if constexpr (!runs_on_host<Exec>)
      sweeps = replay(sweeps);
    else if constexpr (Rank == 2)
      sweeps = sweep_bands(sweeps);
    else
      sweeps = sweep_skewed(sweeps);
    for (; sweeps > 0; --sweeps) {
      jacobi_sweep<Exec, T, Rank>(exec_, b_, fields_.current(), fields_.other());
      fields_.swap();
    }
  }

  /// Makes a sweep while halos are filled: of rows that read none, and after wait() of the others.
  ///
  /// \param before, behind  rows of the field that halos have at either end
  template <class Wait>
  void advance_around(std::int64_t before, std::int64_t behind, Wait const& wait) {
    std::int64_t const end = b_.extent(0), first = std::min(before, end),
                       last = std::max(first, end - behind);
    auto const sweep = [&](std::int64_t from, std::int64_t to) {
      if (from == to) return;
      jacobi_sweep<Exec, T, Rank>(exec_, rows_of(b_, from, to - from),
                                  rows_of(fields_.current(), from, to - from + 2),
                                  rows_of(fields_.other(), from, to - from + 2));
    };
    sweep(first, last);
    wait();
    sweep(0, first);
    sweep(last, end);
    fields_.swap();
  }

  RowMajorView<Exec, T, Rank> current() const { return fields_.current(); }
  void finish() { fields_.finish(); }

 private:
  using In = RowMajorView<Exec, T const, Rank>;
  using Sweep = JacobiSweep<T, In, RowMajorView<Exec, T, Rank>, In>;

  /// Makes the sweeps in one kernel, if each thread has a band of rows. Threads wait for their
  /// neighbours alone, which takes less time than a kernel for each sweep. Returns the sweeps left
  /// over: none or all.
  std::int64_t sweep_bands(std::int64_t sweeps) {
    constexpr std::int64_t least_rows = 8;  // so that bands are about equal
    std::int64_t const rows = b_.extent(0), threads = threads_worth_starting(
                                                exec_, b_.size(), threads_side_by_side(exec_));
    if (sweeps < 2 || threads == 1 || rows < least_rows * threads) return sweeps;
    Sweep const there{In(fields_.current()), b_, fields_.other()},
        back{In(fields_.other()), b_, fields_.current()};
    int const end = static_cast<int>(b_.extent(1)) + 1, last = static_cast<int>(threads) - 1;
    std::vector<Progress> finished(static_cast<std::size_t>(threads));
    run_side_by_side("coir::poisson::jacobi_plain/bands", exec_, last + 1, [&](int band) {
      auto const begin_of = [=](int n) { return 1 + static_cast<int>(rows * n / (last + 1)); };
      for (std::int64_t done = 0; done < sweeps; ++done) {
        for (int const beside : {band - 1, band + 1})
          if (beside >= 0 && beside <= last) wait_for(finished[beside], done);
        Sweep const& sweep = done % 2 == 0 ? there : back;
        for (int i = begin_of(band); i < begin_of(band + 1); ++i) sweep.stretch(i, 1, end);
        finished[band].done.store(done + 1, std::memory_order_release);
      }
    });
    if (sweeps % 2 == 1) fields_.swap();
    return 0;
  }

  /// Makes the sweeps in groups, if each thread has a band of planes, and returns those left over:
  /// none or all.
  std::int64_t sweep_skewed(std::int64_t sweeps) {
    constexpr std::int64_t least_planes = 4;  // so that bands are about equal
    std::int64_t const planes = b_.extent(0), threads = threads_worth_starting(
                                                  exec_, b_.size(), threads_side_by_side(exec_));
    if (sweeps < 2 || b_.size() == 0 || (threads > 1 && planes < least_planes * threads))
      return sweeps;
    Sweep const ways[] = {{In(fields_.current()), b_, fields_.other()},
                          {In(fields_.other()), b_, fields_.current()}};
    Index3 const rows = b_.extent(1), end = b_.extent(2) + 1;
    // Most of a band is swept within the cache, not at its end.
    std::int64_t const depth = std::clamp<std::int64_t>(planes / (8 * threads), 2, 8);
    // The rows that a thread works on, in some planes of each field and of the source, fit into its
    // share of a cache.
    constexpr std::int64_t bytes_of_cache = 2 << 20, least_rows = 8;
    std::int64_t const planes_in_use = 3 * depth + 4,
                       bytes_of_row = planes_in_use * static_cast<std::int64_t>(sizeof(T)) * end;
    std::int64_t const rows_a_time = std::max(bytes_of_cache / bytes_of_row, least_rows);
    jacobi_skewed(
        exec_, planes, rows, threads, rows_a_time, sweeps, depth,
        [&](std::int64_t sweep, Index3 i, Index3 j) { ways[sweep % 2].stretch(i, j, 1, end); });
    if (sweeps % 2 == 1) fields_.swap();
    return 0;
  }

  /// Submits as many whole recordings as fit and returns the sweeps left over.
  std::int64_t replay(std::int64_t sweeps) {
    // Even, so that a recording ends in the field that it began in. To record takes longer than to
    // launch, which large grids hide.
    int const recorded = b_.size() < 1'000'000 ? 512 : 64;
    if (sweeps < recorded) return sweeps;
    auto& replay = replays_[fields_.parity()];
    if (!replay) {
      replay = std::make_unique<Replay<Exec>>(exec_, [recorded, b = b_, from = fields_.current(),
                                                      to = fields_.other()](Exec const& exec) {
        for (int pair = 0; pair < recorded / 2; ++pair) {
          jacobi_sweep<Exec, T, Rank>(exec, b, from, to);
          jacobi_sweep<Exec, T, Rank>(exec, b, to, from);
        }
      });
    }
    exec_.fence();  // a recording does not wait for what exec_ was given since it was made
    for (; sweeps >= recorded; sweeps -= recorded) replay->submit();
    replay->wait();
    return sweeps;
  }

  Exec exec_;
  RowMajorView<Exec, T const, Rank> b_;
  TwoFields<Exec, T, Rank> fields_;
  std::unique_ptr<Replay<Exec>> replays_[2];
};

}  // namespace coir::poisson::detail
