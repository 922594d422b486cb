#pragma once

/// The parts of a multigrid cycle on devices: a kernel for each part on large grids, and one kernel
/// for all small grids together.

#include "interpolate_columns.hpp"
#include "multigrid_cells.hpp"
#include "red_black_columns.hpp"
#include "restrict_columns.hpp"

#include <coir/core/loops.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace coir::poisson::detail {

/// A whole cycle over the small grids by one team, with barriers in place of launches: on such
/// grids launches take longer than the work.
template <class T, int Rank>
struct TeamCycle {
  Level<T, Rank> const* levels;  // on the device
  int first, last;
  Smoothing<T> before, after, coarsest;
  bool full;

  template <class Member, class Body>
  KOKKOS_FUNCTION void cells(Member const& team, int slabs, int rows, int columns,
                             Body const& body) const {
    int const count = slabs * rows * columns;
    for (int cell = team.team_rank(); cell < count; cell += team.team_size())
      body(1 + cell / columns / rows, 1 + cell / columns % rows, 1 + cell % columns);
    team.team_barrier();
  }

  template <class Member>
  KOKKOS_FUNCTION void smooth(Member const& team, int l, Smoothing<T> const& how,
                              bool from_zero) const {
    Level<T, Rank> const level = levels[l];
    int const slabs = level.n[0], rows = level.n[1], columns = level.n[2];
    for (int half = 0; half < 2 * how.sweeps; ++half) {
      if (half == 0 && from_zero) {
        cells(team, slabs, rows, columns, RelaxZero<T, Rank>{level, how.omega, !how.red_black});
        if (!how.red_black) ++half;
      } else if (how.red_black) {
        cells(team, slabs, rows, (columns + 1) / 2,
              RelaxColour<T, Rank>{level, how.omega, half % 2});
      } else if (half % 2 == 0) {
        cells(team, slabs, rows, columns, JacobiStep<T, Rank>{level, how.omega});
      } else {
        cells(team, slabs, rows, columns, TakeScratch<T, Rank>{level});
      }
    }
  }

  template <class Member>
  KOKKOS_FUNCTION void restrict_to(Member const& team, int l, bool of_source) const {
    Level<T, Rank> const coarse = levels[l];
    cells(team, coarse.n[0], coarse.n[1], coarse.n[2],
          Restrict<T, Rank>{levels[l - 1], coarse, of_source});
  }

  template <class Member>
  KOKKOS_FUNCTION void interpolate_to(Member const& team, int l, bool set) const {
    Level<T, Rank> const fine = levels[l];
    cells(team, fine.n[0], fine.n[1], fine.n[2], Interpolate<T, Rank>{levels[l + 1], fine, set});
    smooth(team, l, after, false);
  }

  template <class Member>
  KOKKOS_FUNCTION void v_cycle(Member const& team, int finest, bool from_zero) const {
    for (int l = finest; l < last; ++l) {
      smooth(team, l, before, from_zero || l > finest);
      restrict_to(team, l + 1, false);
    }
    smooth(team, last, coarsest, from_zero || last > finest);
    for (int l = last - 1; l >= finest; --l) interpolate_to(team, l, false);
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& team) const {
    if (!full) {
      v_cycle(team, first, true);
      return;
    }
    for (int l = first + 1; l <= last; ++l) restrict_to(team, l, true);
    smooth(team, last, coarsest, true);
    for (int l = last - 1; l >= first; --l) {
      interpolate_to(team, l, true);
      v_cycle(team, l, false);
    }
  }
};

template <class Exec, class T, int Rank>
class DevicePasses {
 public:
  using Grid = Level<T, Rank>;

  DevicePasses(Exec const& exec, Grid const&) : exec_(exec) {}

  void begin() const {}

  template <class Cycle>
  void together(Grid const&, Cycle const& cycle) const {
    cycle();
  }

  /// Smooths. Sweeps in one pass end in the level's second field; then the fields change places.
  void smooth(Grid& level, Smoothing<T> const& how, bool from_zero) const {
    if constexpr (Rank == 3) {
      if (level.second != nullptr && how.red_black && has_near_cells(level)) {
        for (int sweep = 0; sweep < how.sweeps; ++sweep) {
          if (from_zero && sweep == 0)
            red_black_columns<true>(exec_, level, how.omega, level.second);
          else
            red_black_columns<false>(exec_, level, how.omega, level.second);
          std::swap(level.u, level.second);
        }
        return;
      }
    }
    for (int half = 0; half < 2 * how.sweeps; ++half) {
      if (half == 0 && from_zero) {
        launch("relax_zero", level, RelaxZero<T, Rank>{level, how.omega, !how.red_black});
        if (!how.red_black) ++half;
      } else if (how.red_black) {
        Grid colour = level;
        colour.n[2] = (level.n[2] + 1) / 2;
        launch("relax", colour, RelaxColour<T, Rank>{level, how.omega, half % 2});
      } else if (half % 2 == 0) {
        launch("jacobi", level, JacobiStep<T, Rank>{level, how.omega});
      } else {
        launch("take", level, TakeScratch<T, Rank>{level});
      }
    }
  }

  double descend(Grid& fine, Grid const& coarse, Smoothing<T> const& how, bool from_zero,
                 bool measure) const {
    smooth(fine, how, from_zero);
    if constexpr (Rank == 3)
      if (fills_columns(fine.n)) return restrict_columns(exec_, fine, coarse, measure);
    launch("restrict", coarse, Restrict<T, Rank>{fine, coarse, false});
    return measure ? squared_residual(fine) : 0;
  }

  void restrict_source(Grid const& fine, Grid const& coarse) const {
    launch("restrict_source", coarse, Restrict<T, Rank>{fine, coarse, true});
  }

  void ascend(Grid const& coarse, Grid& fine, Smoothing<T> const& how, bool set) const {
    if constexpr (Rank == 3)
      if (fills_columns(fine.n)) {
        interpolate_columns(exec_, coarse, fine, set);
        smooth(fine, how, false);
        return;
      }
    launch("interpolate", fine, Interpolate<T, Rank>{coarse, fine, set});
    smooth(fine, how, false);
  }

  double squared_residual(Grid const& level) const {
    return sum("residual", level, SquaredDefect<T, Rank>{level});
  }

  double squared_source(Grid const& level) const {
    return sum("source", level, SquaredSourceWithRing<T, Rank>{level});
  }

  void clear(Grid const& level) const { launch("clear", level, Clear<T, Rank>{level}); }

  /// A cycle over levels first to last from u = 0, in one launch.
  void small_levels(TeamCycle<T, Rank> const& cycle) const {
    using Policy = Kokkos::TeamPolicy<Exec>;
    int const largest = Policy(exec_, 1, 1).team_size_max(cycle, Kokkos::ParallelForTag());
    Kokkos::parallel_for("coir::poisson::multigrid_device/small_levels",
                         Policy(exec_, 1, std::min(largest, 1024)), cycle);
  }

 private:
  template <class Body>
  void launch(char const* step, Grid const& level, Body const& body) const {
    for_each(label(step), exec_, box_of(level), OnCells<Body>{body});
  }

  template <class Body>
  double sum(char const* step, Grid const& level, Body const& body) const {
    double total = 0;
    reduce(label(step), exec_, box_of(level), OnCells<Body>{body}, Kokkos::Sum<double>(total));
    return total;
  }

  static std::string label(char const* step) {
    return std::string("coir::poisson::multigrid_device/") + step;
  }

  Exec exec_;
};

}  // namespace coir::poisson::detail
