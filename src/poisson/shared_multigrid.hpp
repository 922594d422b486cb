#pragma once

/// Multigrid on grids whose rows ranks share: each rank makes the passes of one rank over its rows
/// with halos, on the finest grids. Grids below are the first rank's.

#include "multigrid_impl.hpp"
#include "rows_of_rank.hpp"

#include <coir/core/buffers.hpp>
#include <coir/distributed/cartesian.hpp>
#include <coir/distributed/view_exchange.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace coir::poisson::detail {

/// A solver for ranks that have neighbours.
template <class Exec, class T, int Rank>
class SharedMultigrid {
  using Solver = MultigridSolver<Exec, T, Rank>;
  using Grid = Level<T, Rank>;
  using Rows = RowsOfRank<Exec, T, Rank>;
  using Borders = std::vector<std::int64_t>;  // rank r has rows [r] to [r + 1] - 1 of a grid

 public:
  /// The number of grids that ranks share: each rank has more rows of them than a halo has, and
  /// they have so many cells that to share them pays.
  static int shared_grids(std::vector<LevelShape> const& shapes, Borders borders,
                          MultigridOptions const& options) {
    constexpr std::int64_t least_cells = 8192;
    int count = 0;
    for (; count + 1 < static_cast<int>(shapes.size()); ++count) {
      auto const& n = shapes[static_cast<std::size_t>(count)].n;
      if (std::int64_t(n[0]) * n[1] * n[2] < least_cells) break;
      for (std::size_t r = 0; r + 1 < borders.size(); ++r)
        if (borders[r + 1] - borders[r] < halo_width(options)) return count;
      borders = below(borders, shapes[static_cast<std::size_t>(count) + 1]);
    }
    return count;
  }

  /// \param shapes  of all grids, from the finest one on
  /// \param shared  how many of them ranks share: shared_grids(), at least 1
  SharedMultigrid(Exec const& exec, distributed::Cartesian<1> const& ranks,
                  std::vector<LevelShape> const& shapes, Borders borders, int shared,
                  Strided<T const, Rank> const& b, Strided<T, Rank> const& u,
                  MultigridOptions const& options)
      : exec_(exec),
        group_(ranks.group()),
        options_(options),
        exchange_(exec, ranks.group(), "poisson/multigrid") {
    auto const rank = static_cast<std::size_t>(group_.rank());
    int const width = halo_width(options);
    for (int l = 0; l <= shared; ++l) {
      auto const& shape = shapes[static_cast<std::size_t>(l)];
      if (l > 0) borders = below(borders, shape);
      OnRank level;
      level.borders = borders;
      std::int64_t const first = borders[rank];
      if (l == 0) {
        level.rows = std::make_unique<Rows>(exec, ranks, b, u, width);
      } else {
        std::array<std::int64_t, Rank> extents = b.extents;
        extents[0] = borders[rank + 1] - first;
        for (int d = 1; d < Rank; ++d)
          extents[static_cast<std::size_t>(d)] = shape.n[Rank == 2 ? 2 : d];
        level.rows = std::make_unique<Rows>(exec, ranks, extents, width);
      }
      // The first row has an even number, so that it has the first colour, and the rows of the grid
      // below lie as on one rank.
      std::int64_t const skipped = group_.is_first() ? 0 : (first % 2 + 2) % 2;
      level.first = first - level.rows->before() + 1 + skipped;
      level.grid = window(*level.rows, skipped, Solver::grid_of(shape), is_last());
      levels_.push_back(std::move(level));
    }
    distributed::together(group_, [&] {
      passes_ = std::make_unique<typename Solver::Passes>(exec, levels_[0].grid);
      if (options.smoother == Smoother::jacobi) make_scratch();
      if (group_.is_first())
        rest_ = std::make_unique<Solver>(
            exec, std::vector<LevelShape>(shapes.begin() + shared - 1, shapes.end()), options,
            /*in_float=*/false);
    });
    for (int l = 0; l < shared; ++l) below_.push_back(part_below(l));
  }

  Result solve() {
    Rows& finest = *levels_[0].rows;
    passes_->begin();
    auto const over_ranks = [&](double own) { return group_.sum(own * own); };
    double const source = std::sqrt(over_ranks(
        source_norm<Exec, T, Rank>(exec_, finest.own_source(), finest.own(finest.unknown()))));
    if (source == 0) {
      passes_->clear(levels_[0].grid);
      finest.fill(finest.unknown());
      finest.finish(finest.unknown());
      return {.converged = true, .stopped_by = StoppedBy::tolerance};
    }
    auto const smooth = [&] {
      finest.fill(finest.unknown());
      descend(0, false);
      return over_ranks(
          residual_norm<Exec, T, Rank>(exec_, finest.own_source(), finest.own(finest.unknown())));
    };
    std::int64_t told = 0;
    Result const result = make_cycles(
        source, smooth,
        [&](bool is_first) {
          cycle(1, options_.full_multigrid && is_first);
          ascend(0);
          return smooth();
        },
        [&](Result& now, double previous) {
          return must_stop(options_, now, previous, 0.9, told);
        });
    finest.fill(finest.unknown());
    finest.finish(finest.unknown());
    exec_.fence();
    return result;
  }

 private:
  struct OnRank {
    Borders borders;
    std::unique_ptr<Rows> rows;
    std::int64_t first = 0;  // row of the window that `grid` is, without its ring
    Grid grid;
  };

  // A sweep reaches two rows, restriction two more, and interpolation spoils the last two.
  static int halo_width(MultigridOptions const& options) {
    return 2 * std::max(options.pre_sweeps, options.post_sweeps) + 5;
  }

  // Who has a cell of a fine grid has the coarse cell in its place.
  static Borders below(Borders borders, LevelShape const& coarse) {
    for (auto& border : borders) border = std::min<std::int64_t>(border / 2, coarse.n[0]);
    return borders;
  }

  bool is_last() const { return group_.rank() + 1 == group_.size(); }

  // The rows of a rank with their halos as a grid. Where the window ends within the grid, its last
  // row is like any other.
  static Grid window(Rows const& rows, std::int64_t skipped, Grid const& whole, bool ends_there) {
    auto const rest = [&](auto const& field) {
      return rows_of(field, skipped, static_cast<std::int64_t>(field.extent(0)) - skipped);
    };
    Grid grid = finest_level<T, Rank>(rest(rows.source()), rest(rows.unknown()));
    for (int axis = 0; axis < 3; ++axis)
      if (axis > 0 || ends_there) {
        grid.width[axis] = whole.width[axis];
        grid.ghost[axis] = whole.ghost[axis];
      }
    grid.restricted = const_cast<T*>(grid.b);  // of coarse grids, which this object owns
    return grid;
  }

  // The rows of the window of grid l + 1 that lie below those of the window of grid l.
  Grid part_below(int l) const {
    OnRank const &fine = levels_[static_cast<std::size_t>(l)],
                 &coarse = levels_[static_cast<std::size_t>(l) + 1];
    std::int64_t const skipped = fine.first / 2 - coarse.first;
    Grid part = coarse.grid;
    part.n[0] = is_last() ? coarse.grid.n[0] - static_cast<int>(skipped) : fine.grid.n[0] / 2;
    part.u += skipped * part.u_slab;
    part.b += skipped * part.b_slab;
    part.restricted += skipped * part.b_slab;
    return part;
  }

  void make_scratch() {
    std::int64_t cells = 0;
    for (auto const& level : levels_) cells += level.grid.cells();
    Buffers all;
    all.add(scratch_, "coir::poisson::shared_multigrid/scratch", cells);
    all.template make<typename Exec::memory_space>("multigrid's smoother");
    T* free = scratch_.data();
    for (auto& level : levels_) {
      level.grid.scratch = free;
      free += level.grid.cells();
    }
  }

  Smoothing<T> smoothing(int l, int sweeps) const {
    T const omega = options_.omega == 0 ? Solver::default_omega(options_.smoother, l == 0)
                                        : static_cast<T>(options_.omega);
    return {options_.smoother == Smoother::red_black, omega, sweeps};
  }

  void descend(int l, bool from_zero) {
    auto const at = static_cast<std::size_t>(l);
    passes_->descend(levels_[at].grid, below_[at], smoothing(l, options_.pre_sweeps), from_zero,
                     false);
  }

  void ascend(int l) {
    auto const at = static_cast<std::size_t>(l);
    levels_[at].rows->fill(levels_[at].rows->unknown());
    if (at + 2 < levels_.size()) levels_[at + 1].rows->fill(levels_[at + 1].rows->unknown());
    passes_->ascend(below_[at], levels_[at].grid, smoothing(l, options_.post_sweeps), false);
  }

  // One cycle on grid l from zero.
  void cycle(int l, bool by_full_multigrid) {
    auto const at = static_cast<std::size_t>(l);
    if (at + 1 == levels_.size()) {
      solve_rest(by_full_multigrid);
      return;
    }
    levels_[at].rows->fill_source();
    descend(l, true);
    cycle(l + 1, by_full_multigrid);
    ascend(l);
  }

  static Strided<T, Rank> rows_at(T* data, std::int64_t rows, std::int64_t slab, std::int64_t row,
                                  Grid const& like, int ring) {
    if constexpr (Rank == 2)
      return {data, {rows, like.n[2] + ring}, {slab, 1}};
    else
      return {data, {rows, like.n[1] + ring, like.n[2] + ring}, {slab, row, 1}};
  }

  // The first rank gets the source of the last grid here, solves, and gives each rank its rows with
  // halos.
  void solve_rest(bool by_full_multigrid) {
    OnRank const& own = levels_.back();
    auto const rank = static_cast<std::size_t>(group_.rank());
    exchange_.send(0, strided(own.rows->own_source()));
    if (rest_) {
      Grid const& all = rest_->levels_[1];
      for (std::size_t r = 0; r + 1 < own.borders.size(); ++r)
        exchange_.receive(static_cast<int>(r), rows_at(all.restricted + own.borders[r] * all.b_slab,
                                                       own.borders[r + 1] - own.borders[r],
                                                       all.b_slab, all.b_row, all, 0));
    }
    exchange_.run();
    if (rest_) by_full_multigrid ? rest_->full_multigrid(1) : rest_->v_cycle(1);

    // Rows of the whole grid with its ring, which has number -1 and n.
    std::int64_t const last = own.borders.back(), width = halo_width(options_);
    auto const wanted = [&](std::size_t r) {
      std::int64_t const first = std::max<std::int64_t>(own.borders[r] - width, -1),
                         end = std::min<std::int64_t>(own.borders[r + 1] + width, last + 1);
      return std::pair(first, end - first);
    };
    auto const field = strided(own.rows->unknown());
    auto const [first, count] = wanted(rank);
    std::int64_t const at = first - (own.borders[rank] - own.rows->before());
    exchange_.receive(0, rows_at(field.data + at * field.strides[0], count, field.strides[0],
                                 field.strides[Rank - 2], own.grid, 2));
    if (rest_) {
      Grid const& all = rest_->levels_[1];
      for (std::size_t r = 0; r + 1 < own.borders.size(); ++r) {
        auto const [begin, rows] = wanted(r);
        exchange_.send(static_cast<int>(r), rows_at(all.u + (begin + 1) * all.u_slab, rows,
                                                    all.u_slab, all.u_row, all, 2));
      }
    }
    exchange_.run();
  }

  Exec exec_;
  distributed::Group group_;
  MultigridOptions options_;
  distributed::ViewExchange<Exec> exchange_;
  std::vector<OnRank> levels_;  // those that ranks share, and the first rank's finest one
  std::vector<Grid> below_;     // part_below(l)
  Kokkos::View<T*, typename Exec::memory_space> scratch_;
  std::unique_ptr<typename Solver::Passes> passes_;
  std::unique_ptr<Solver> rest_;
};

}  // namespace coir::poisson::detail
