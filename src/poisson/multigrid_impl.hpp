#pragma once

/// The solver behind coir::poisson::Multigrid: the levels, and the order of the passes over them.

#include "float_corrections.hpp"
#include "grid_level.hpp"
#include "level_shapes.hpp"
#include "multigrid_device.hpp"
#include "multigrid_host.hpp"

#include <coir/core/buffers.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/profiling.hpp>
#include <coir/poisson/multigrid.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace coir::poisson {

namespace detail {

template <class Exec, class T, int Rank>
class SharedMultigrid;

/// Whether the residual, or the number of cycles, ends a solve. The monitor is asked, too.
///
/// \param previous    the norm of the residual before the cycle
/// \param stagnating  the share of the residual above which a cycle that leaves it shows that
///   rounding keeps the residual from the tolerance
/// \param told        cycles that the monitor knows of
inline bool must_stop(MultigridOptions const& options, Result& result, double previous,
                      double stagnating, std::int64_t& told) {
  auto const stop = [&](StoppedBy reason) {
    result.stopped_by = reason;
    return true;
  };
  result.converged = result.residual_norm == 0 || result.relative_residual <= options.tolerance;
  if (!std::isfinite(result.residual_norm)) return stop(StoppedBy::not_finite);
  if (result.converged) return stop(StoppedBy::tolerance);
  if (options.tolerance > 0 && result.residual_norm > stagnating * previous)
    return stop(StoppedBy::stagnation);
  if (options.monitor && result.iterations > told) {
    told = result.iterations;
    if (!options.monitor({result.iterations, options.max_cycles, result.relative_residual}))
      return stop(StoppedBy::interrupted);
  }
  if (result.iterations == options.max_cycles) return stop(StoppedBy::sweeps);
  return false;
}

inline void set_convergence_factor(Result& result, double first) {
  if (result.iterations > 0 && first > 0)
    result.convergence_factor =
        std::pow(result.residual_norm / first, 1.0 / static_cast<double>(result.iterations));
}

/// Cycles until there is a reason to stop.
///
/// \param source   the norm that relative residuals divide by
/// \param smooth   smooths the finest grid and returns the squared norm of the residual
/// \param correct  corrects the finest grid by the coarse ones and does what smooth() does; its
///   argument says whether it is the first time
/// \param ends     must_stop() of the result, given the norm of the residual before the cycle
template <class Smooth, class Correct, class Ends>
Result make_cycles(double source, Smooth const& smooth, Correct const& correct, Ends const& ends) {
  Result result;
  double first = 0, previous = std::numeric_limits<double>::infinity();
  double squared = smooth();
  for (;; ++result.iterations) {
    result.residual_norm = std::sqrt(squared);
    result.relative_residual = result.residual_norm / source;
    if (result.iterations == 0) first = result.residual_norm;
    if (ends(result, previous)) break;
    previous = result.residual_norm;
    squared = correct(result.iterations == 0);
  }
  set_convergence_factor(result, first);
  return result;
}

template <CompiledSpace Exec, class T, int Rank>
class MultigridSolver {
 public:
  using Grid = Level<T, Rank>;

  MultigridSolver(Exec const& exec, std::array<int, Rank> const& extents, MultigridOptions options)
      : MultigridSolver(exec, level_shapes<Rank>(extents), std::move(options),
                        may_correct_in_float) {}

  /// \param in_float  whether large boxes are solved by corrections in float
  MultigridSolver(Exec const& exec, std::vector<LevelShape> shapes, MultigridOptions options,
                  bool in_float)
      : exec_(exec),
        options_(std::move(options)),
        shapes_(std::move(shapes)),
        passes_(exec, grid_of(shapes_[0])) {
    if constexpr (may_correct_in_float)
      if (in_float && cells(shapes_[0]) >= cells_worth_float) {
        make_corrections();
        levels_.push_back(grid_of(shapes_[0]));
        return;
      }
    fields_ = fields_of(shapes_, options_);
    set_to_zero(exec_, fields_.unknowns);  // their rings stay so
    if (fields_.seconds.size() > 0) set_to_zero(exec_, fields_.seconds);
    for (auto const& shape : shapes_) levels_.push_back(grid_of(shape));
    set_pointers();
    auto const smoother = options_.smoother;
    for (bool finest : {true, false}) {
      T const omega =
          options_.omega == 0 ? default_omega(smoother, finest) : static_cast<T>(options_.omega);
      before_[!finest] = {smoother == Smoother::red_black, omega, options_.pre_sweeps};
      after_[!finest] = {smoother == Smoother::red_black, omega, options_.post_sweeps};
    }
    coarsest_ = coarsest_smoothing<T, Rank>(shapes_.back());
    if constexpr (!runs_on_host<Exec>) copy_levels_to_device();
  }

  /// Checks the options first.
  static std::unique_ptr<MultigridSolver> made(Exec const& exec,
                                               std::array<int, Rank> const& extents,
                                               MultigridOptions const& options) {
    check(extents, options);
    return std::make_unique<MultigridSolver>(exec, extents, options);
  }

  static void check(std::array<int, Rank> const& extents, MultigridOptions const& options) {
    for (int extent : extents) {
      expects(extent >= 1, "the grid must have at least 1 cell along every axis", extent);
      expects(extent <= 2'000'000'000, "the grid must have at most 2e9 cells along an axis",
              extent);
    }
    expects(options.max_cycles >= 1, "max_cycles must be at least 1", options.max_cycles);
    expects(options.tolerance >= 0 && options.tolerance < 1, "tolerance must lie in [0, 1)",
            options.tolerance);
    expects(options.pre_sweeps >= 1, "pre_sweeps must be at least 1", options.pre_sweeps);
    expects(options.post_sweeps >= 0, "post_sweeps must be at least 0", options.post_sweeps);
    expects(options.omega >= 0 && options.omega < 2, "omega must lie in (0, 2), or be 0",
            options.omega);
  }

  /// Whether the coarse grids belong to this finest grid.
  bool suits(Grid const& finest) const { return std::ranges::equal(finest.n, shapes_[0].n); }

  /// A solver with the same options for a finest grid of another shape.
  std::unique_ptr<MultigridSolver> made_for(Grid const& finest) const {
    std::array<int, Rank> extents;
    for (int d = 0; d < Rank; ++d) extents[d] = finest.n[Rank == 2 ? 2 * d : d];
    return std::make_unique<MultigridSolver>(exec_, extents, options_);
  }

  Result solve(Grid const& finest) {
    ProfilingRegion const region("coir::poisson::multigrid");
    passes_.begin();
    if constexpr (may_correct_in_float)
      if (in_float_) return solve_by_corrections(finest);
    return solve(finest, std::sqrt(passes_.squared_source(finest)), false);
  }

 private:
  /// \param source     the norm of the residual for u = 0 inside
  /// \param from_zero  u is 0 inside, whatever its memory holds
  Result solve(Grid const& finest, double source, bool from_zero) {
    told_ = 0;
    if (source == 0) return solved_by_zero(finest);
    T* const scratch = levels_[0].scratch;
    levels_[0] = finest;
    levels_[0].scratch = scratch;
    set_second_of_finest();

    Result const result = make_cycles(
        source, [&] { return smooth_finest(from_zero); },
        [&](bool is_first) { return correct_finest(options_.full_multigrid && is_first); },
        [&](Result& now, double previous) { return must_stop(now, previous); });
    if (levels_[0].u != finest.u) {
      copy_finest(levels_[0].u, finest.u);
      exec_.fence();
    }
    return result;
  }

  Result solved_by_zero(Grid const& finest) {
    passes_.clear(finest);
    Result result;
    result.converged = true;
    result.stopped_by = StoppedBy::tolerance;
    return result;
  }

  template <CompiledSpace, class, int>
  friend class MultigridSolver;
  friend class SharedMultigrid<Exec, T, Rank>;

  using Passes = std::conditional_t<runs_on_host<Exec>, HostPasses<Exec, T, Rank>,
                                    DevicePasses<Exec, T, Rank>>;
  using Memory = Kokkos::View<T*, typename Exec::memory_space>;

  // The finest grid that a device gives to one team, in cells.
  static constexpr std::int64_t small_cells = 4096;
  double stagnating_ = 0.9;  // see must_stop()

  // On hosts large boxes of doubles are solved by corrections in float.
  static constexpr bool may_correct_in_float =
      runs_on_host<Exec> && Rank == 3 && std::is_same_v<T, double>;
  static constexpr std::int64_t cells_worth_float = 1 << 18;
  // A correction in float can't reduce a smooth residual on some hundred cells along each axis much
  // further, because its values round.
  static constexpr double reach_of_float = 1e-4;

  // The best values that were measured, with one sweep before and one after, on grids of 16 to 4096
  // cells along an axis. Red-black relaxation converges faster with some over-relaxation, and needs
  // more of it in 3-D (Yavneh, SIAM J. Sci. Comput. 17 (1996) 180). Coarse grids need still more,
  // because the single cycle that solves them leaves their corrections too small.
  static T default_omega(Smoother smoother, bool finest) {
    if (smoother == Smoother::jacobi) return Rank == 2 ? T(4) / T(5) : T(6) / T(7);
    if (finest) return Rank == 2 ? T(1.1) : T(1.18);
    return Rank == 2 ? T(1.2) : T(1.26);
  }

  Smoothing<T> const& before(int l) const { return before_[l > 0]; }
  Smoothing<T> const& after(int l) const { return after_[l > 0]; }

  static std::int64_t cells(LevelShape const& shape) {
    return std::int64_t(shape.n[0]) * shape.n[1] * shape.n[2];
  }
  static std::int64_t unknowns(LevelShape const& shape) {
    return std::int64_t(shape.n[0] + 2) * (shape.n[2] + 2) * (Rank == 3 ? shape.n[1] + 2 : 1);
  }

  static Grid grid_of(LevelShape const& shape) {
    Grid grid;
    for (int axis = 0; axis < 3; ++axis) {
      grid.n[axis] = shape.n[axis];
      grid.width[axis] = static_cast<T>((1 + shape.gap[axis]) / 2);
      grid.ghost[axis] = static_cast<T>(1 - 1 / shape.gap[axis]);
    }
    grid.u_row = Rank == 3 ? shape.n[2] + 2 : 0;
    grid.u_slab = Rank == 3 ? grid.u_row * (shape.n[1] + 2) : shape.n[2] + 2;
    grid.b_row = Rank == 3 ? shape.n[2] : 0;
    grid.b_slab = std::ptrdiff_t(shape.n[1]) * shape.n[2];
    return grid;
  }

  struct Fields {
    Memory unknowns, sources, scratch;  // of all levels, one behind the other
    Memory seconds;                     // of the levels that have a second field
  };

  static Fields fields_of(std::vector<LevelShape> const& shapes, MultigridOptions const& options) {
    std::int64_t unknown = 0, source = 0, scratch = 0;
    for (std::size_t l = 0; l < shapes.size(); ++l) {
      if (l > 0) unknown += unknowns(shapes[l]);
      if (l > 0) source += cells(shapes[l]);
      if (options.smoother == Smoother::jacobi) scratch += cells(shapes[l]);
    }
    std::string size;
    for (int d = 0; d < Rank; ++d)
      size += (d == 0 ? "" : " x ") + std::to_string(shapes[0].n[Rank == 2 ? 2 * d : d]);
    Fields fields;
    Buffers all;
    all.add(fields.unknowns, "coir::poisson::multigrid/unknowns", unknown);
    all.add(fields.sources, "coir::poisson::multigrid/sources", source);
    all.add(fields.scratch, "coir::poisson::multigrid/scratch", scratch);
    all.make<typename Exec::memory_space>("multigrid on " + size + " cells");
    make_seconds(fields, shapes, options);
    return fields;
  }

  // Whether a level is swept from one field to another.
  static bool has_second(LevelShape const& shape, MultigridOptions const& options) {
    return Rank == 3 && !runs_on_host<Exec> && options.smoother == Smoother::red_black &&
           fills_columns(shape.n);
  }

  // Second fields make sweeps of large boxes faster. Without memory for all of them there is none.
  static void make_seconds(Fields& fields, std::vector<LevelShape> const& shapes,
                           MultigridOptions const& options) {
    std::int64_t count = 0;
    for (auto const& shape : shapes)
      if (has_second(shape, options)) count += unknowns(shape);
    if (count == 0 ||
        count * std::int64_t(sizeof(T)) > free_bytes<typename Exec::memory_space>() / 2)
      return;
    Buffers all;
    all.add(fields.seconds, "coir::poisson::multigrid/seconds", count);
    all.make<typename Exec::memory_space>("multigrid's second fields");
  }

  // The second field of the finest grid needs the ring of the first.
  void set_second_of_finest() {
    if (fields_.seconds.size() == 0) return;
    levels_[0].second = fields_.seconds.data();
    copy_finest(levels_[0].u, levels_[0].second);
  }

  void copy_finest(T const* from, T* to) const {
    using Space = typename Exec::memory_space;
    copy_bytes<Space, Space>(exec_, to, from, unknowns(shapes_[0]) * sizeof(T));
  }

  void set_pointers() {
    T* unknown = fields_.unknowns.data();
    T* source = fields_.sources.data();
    T* scratch = fields_.scratch.data();
    T* second = fields_.seconds.data();
    for (std::size_t l = 0; l < shapes_.size(); ++l) {
      if (options_.smoother == Smoother::jacobi) {
        levels_[l].scratch = scratch;
        scratch += cells(shapes_[l]);
      }
      if (second != nullptr && has_second(shapes_[l], options_)) {
        levels_[l].second = second;
        second += unknowns(shapes_[l]);
      }
      if (l == 0) continue;
      levels_[l].u = unknown;
      levels_[l].b = levels_[l].restricted = source;
      unknown += unknowns(shapes_[l]);
      source += cells(shapes_[l]);
    }
  }

  void copy_levels_to_device() {
    device_levels_ = Kokkos::View<Grid*, typename Exec::memory_space>(
        Kokkos::view_alloc("coir::poisson::multigrid/levels", Kokkos::WithoutInitializing),
        levels_.size());
    auto const levels_h = Kokkos::create_mirror_view(device_levels_);
    for (std::size_t l = 0; l < levels_.size(); ++l) levels_h(l) = levels_[l];
    copy_contiguous(device_levels_, levels_h);
    while (first_small_ <= last() && levels_[first_small_].cells() > small_cells) ++first_small_;
  }

  int last() const { return static_cast<int>(levels_.size()) - 1; }

  void make_corrections() {
    std::array<int, Rank> extents;
    std::copy_n(shapes_[0].n, Rank, extents.begin());  // of boxes
    MultigridOptions inner = options_;
    if (options_.monitor)
      inner.monitor = [this](poisson::Progress const& inside) {
        return tell(cycles_before_ + inside.iterations,
                    residual_before_ * inside.relative_residual);
      };
    corrections_ = std::make_unique<FloatCorrections<Exec>>(exec_, grid_of(shapes_[0]));
    in_float_ = MultigridSolver<Exec, float, Rank>::made(exec_, extents, inner);
    in_float_->stagnating_ = 0.3;
  }

  Result solve_by_corrections(Grid const& finest) {
    auto const mean_of = [&](double norm) { return norm / std::sqrt(double(finest.cells())); };
    // Divided by a power of two near its root mean square, a residual fits into float.
    auto const divisor_of = [&](double norm) {
      double const mean = mean_of(norm);
      return std::isnormal(mean) ? std::exp2(std::ilogb(mean)) : 1.0;
    };
    told_ = 0;
    double divisor = 1;
    auto norms = corrections_->begin(finest, divisor);
    double const source = std::sqrt(norms.source);
    if (source == 0) return solved_by_zero(finest);
    double norm = std::sqrt(norms.residual);
    if (mean_of(norm) < 1e-9 || mean_of(norm) > 1e9) {
      divisor = divisor_of(norm);
      corrections_->begin(finest, divisor);
    }
    Result result;
    double const first = norm;
    double previous = std::numeric_limits<double>::infinity();
    MultigridOptions& inner = in_float_->options_;
    Result inside;
    while (true) {
      result.residual_norm = norm;
      result.relative_residual = norm / source;
      if (must_stop(result, previous)) break;
      if (inside.stopped_by == StoppedBy::interrupted) {
        result.stopped_by = StoppedBy::interrupted;
        break;
      }
      previous = norm;
      inner.max_cycles = options_.max_cycles - static_cast<int>(result.iterations);
      inner.tolerance =
          std::max(reach_of_float, 0.7 * options_.tolerance / result.relative_residual);
      cycles_before_ = result.iterations;
      residual_before_ = result.relative_residual;
      inside = in_float_->solve(corrections_->level(), norm / divisor, true);
      result.iterations += std::max<std::int64_t>(inside.iterations, 1);
      // The last residual needn't be stored. Rounding decides whether it is the last one.
      bool const is_last =
          inside.relative_residual * result.relative_residual <= options_.tolerance;
      double const next = divisor_of(norm * inside.relative_residual);
      norm = std::sqrt(corrections_->refine(finest, divisor, is_last ? 0 : next));
      divisor = next;
      if (is_last && norm > options_.tolerance * source) corrections_->begin(finest, divisor);
    }
    set_convergence_factor(result, first);
    return result;
  }

  // Smooths the finest grid, and restricts its residual if there are coarser grids. Returns the
  // squared norm of the residual.
  double smooth_finest(bool from_zero = false) {
    if (last() > 0) return passes_.descend(levels_[0], levels_[1], before(0), from_zero, true);
    passes_.smooth(levels_[0], coarsest_, from_zero);
    return passes_.squared_residual(levels_[0]);
  }

  // Solves for the correction on the coarse grids, adds it to the finest one, and does what
  // smooth_finest() does.
  double correct_finest(bool by_full_multigrid) {
    if (last() == 0) return smooth_finest();
    double squared = 0;
    passes_.together(levels_[0], [&] {
      by_full_multigrid ? full_multigrid(1) : v_cycle(1);
      squared = ascend_and_descend(0, false, true);
    });
    return squared;
  }

  // The end of one cycle on a level and the beginning of the next.
  double ascend_and_descend(int l, bool set, bool measure) {
    auto const& coarse = levels_[l + 1];
    if constexpr (runs_on_host<Exec>) {
      return passes_.ascend_and_descend(coarse, levels_[l], after(l), before(l), set, measure);
    } else {
      passes_.ascend(coarse, levels_[l], after(l), set);
      return passes_.descend(levels_[l], coarse, before(l), false, measure);
    }
  }

  // One cycle on level l, starting from u = 0.
  void v_cycle(int l) {
    if (in_one_launch(l, false)) return;
    if (l == last()) {
      passes_.smooth(levels_[l], coarsest_, true);
      return;
    }
    passes_.descend(levels_[l], levels_[l + 1], before(l), true, false);
    v_cycle(l + 1);
    passes_.ascend(levels_[l + 1], levels_[l], after(l), false);
  }

  void full_multigrid(int l) {
    if (in_one_launch(l, true)) return;
    if (l == last()) {
      passes_.smooth(levels_[l], coarsest_, true);
      return;
    }
    passes_.restrict_source(levels_[l], levels_[l + 1]);
    full_multigrid(l + 1);
    ascend_and_descend(l, true, false);
    v_cycle(l + 1);
    passes_.ascend(levels_[l + 1], levels_[l], after(l), false);
  }

  bool in_one_launch(int l, bool full) {
    if constexpr (!runs_on_host<Exec>) {
      if (l != first_small_) return false;
      passes_.small_levels(TeamCycle<T, Rank>{device_levels_.data(), l, last(), before(l), after(l),
                                              coarsest_, full});
      return true;
    }
    return false;
  }

  bool tell(std::int64_t cycles, double relative_residual) {
    told_ = cycles;
    return options_.monitor({cycles, options_.max_cycles, relative_residual});
  }

  bool must_stop(Result& result, double previous) {
    return detail::must_stop(options_, result, previous, stagnating_, told_);
  }

  Exec exec_;
  MultigridOptions options_;
  std::vector<LevelShape> shapes_;
  Fields fields_;
  Passes passes_;
  std::vector<Grid> levels_;
  Kokkos::View<Grid*, typename Exec::memory_space> device_levels_;
  int first_small_ = 1;
  Smoothing<T> before_[2], after_[2];  // of the finest grid, and of the coarse ones
  Smoothing<T> coarsest_;
  std::int64_t told_ = 0;  // the cycles of which the monitor knows

  // For corrections in float: the solver of L e = r, its fields, and what was reached before it.
  std::unique_ptr<MultigridSolver<Exec, float, Rank>> in_float_;
  std::unique_ptr<FloatCorrections<Exec>> corrections_;
  std::int64_t cycles_before_ = 0;
  double residual_before_ = 1;
};

template <CompiledSpace Exec, class T, int Rank>
Result multigrid(Exec const& exec, RowMajorView<Exec, T const, Rank> const& b,
                 RowMajorView<Exec, T, Rank> const& u, MultigridOptions const& options) {
  if (b.size() == 0) return {.converged = true, .stopped_by = StoppedBy::tolerance};
  std::array<int, Rank> extents;
  for (int d = 0; d < Rank; ++d) extents[d] = static_cast<int>(b.extent(d));
  return MultigridSolver<Exec, T, Rank>::made(exec, extents, options)
      ->solve(finest_level<T, Rank>(b, u));
}

}  // namespace detail

template <CompiledSpace Exec, class T, int Rank>
Multigrid<Exec, T, Rank>::Multigrid(Exec const& exec, std::array<int, Rank> const& extents,
                                    MultigridOptions options)
    : exec_(exec),
      extents_(extents),
      solver_(detail::MultigridSolver<Exec, T, Rank>::made(exec, extents, options)) {}

template <CompiledSpace Exec, class T, int Rank>
Multigrid<Exec, T, Rank>::~Multigrid() = default;

template <CompiledSpace Exec, class T, int Rank>
Multigrid<Exec, T, Rank>::Multigrid(Multigrid&&) noexcept = default;

template <CompiledSpace Exec, class T, int Rank>
Multigrid<Exec, T, Rank>& Multigrid<Exec, T, Rank>::operator=(Multigrid&&) noexcept = default;

template <CompiledSpace Exec, class T, int Rank>
Result Multigrid<Exec, T, Rank>::solve_fields(detail::RowMajorView<Exec, T const, Rank> const& b,
                                              detail::RowMajorView<Exec, T, Rank> const& u) {
  auto const finest = detail::finest_level<T, Rank>(b, u);
  if (!solver_->suits(finest)) solver_ = solver_->made_for(finest);
  return solver_->solve(finest);
}

}  // namespace coir::poisson

#define COIR_MULTIGRID(Exec, T, Rank)                                \
  template class Multigrid<Exec, T, Rank>;                           \
  template Result detail::multigrid<Exec, T, Rank>(                  \
      Exec const&, detail::RowMajorView<Exec, T const, Rank> const&, \
      detail::RowMajorView<Exec, T, Rank> const&, MultigridOptions const&);
#define COIR_INSTANTIATE_MULTIGRID(Exec) \
  namespace coir::poisson {              \
  COIR_MULTIGRID(Exec, float, 2)         \
  COIR_MULTIGRID(Exec, float, 3)         \
  COIR_MULTIGRID(Exec, double, 2)        \
  COIR_MULTIGRID(Exec, double, 3)        \
  }
