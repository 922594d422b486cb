#pragma once

/// \file
/// The solver behind coir::poisson::Multigrid: the levels, and the order of the passes over them.

#include <coir/core/memory.hpp>
#include <coir/core/profiling.hpp>
#include <coir/poisson/detail/multigrid_device.hpp>
#include <coir/poisson/detail/multigrid_host.hpp>
#include <coir/poisson/detail/red_black_solver.hpp>
#include <coir/poisson/multigrid.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace coir::poisson {

namespace detail {

/// The grids under a finest grid, as cells along each of three axes; gap as in grid_level.hpp.
struct LevelShape {
  int n[3];
  double gap[3];
};

template <int Rank>
std::vector<LevelShape> level_shapes(std::array<int, Rank> const& extents) {
  std::vector<LevelShape> shapes;
  double length[3] = {0, 0, 0};  // from boundary to boundary; halves exactly
  for (int d = 0; d < Rank; ++d) length[Rank == 2 ? 2 * d : d] = double(extents[d]) + 1;
  while (true) {
    LevelShape shape{{1, 1, 1}, {1, 1, 1}};
    bool exists = true;
    for (int axis = 0; axis < 3; ++axis) {
      if (length[axis] == 0) continue;
      shape.n[axis] = static_cast<int>(std::floor(length[axis] - 0.5));
      shape.gap[axis] = length[axis] - shape.n[axis];
      exists = exists && shape.n[axis] >= 1;
      length[axis] /= 2;
    }
    if (!exists) return shapes;
    shapes.push_back(shape);
  }
}

/// How far the coarsest grid is relaxed: enough to reduce its error a hundredfold, with omega - 1 a
/// sweep at the best omega. Its smallest axis has at most two cells, so that this doesn't take many.
template <class T, int Rank>
Smoothing<T> coarsest_smoothing(LevelShape const& shape) {
  double extents[Rank];
  bool single = true;
  for (int d = 0; d < Rank; ++d) {
    int const axis = Rank == 2 ? 2 * d : d;
    extents[d] = shape.n[axis] + shape.gap[axis] - 1;
    single = single && shape.n[axis] == 1;
  }
  if (single) return {true, T(1), 1};
  double const omega = best_omega(jacobi_radius(extents, Rank));
  int const sweeps = 2 + static_cast<int>(std::ceil(std::log(0.01) / std::log(omega - 1)));
  return {true, static_cast<T>(omega), sweeps};
}

}  // namespace detail

template <ExecutionSpace Exec, class T, int Rank>
class Multigrid<Exec, T, Rank>::Implementation {
 public:
  using Grid = detail::Level<T, Rank>;

  Implementation(Exec const& exec, std::array<int, Rank> const& extents, MultigridOptions options)
      : exec_(exec),
        options_(std::move(options)),
        shapes_(detail::level_shapes<Rank>(extents)),
        passes_(exec, grid_of(shapes_[0])) {
    allocate();
    for (auto const& shape : shapes_) levels_.push_back(grid_of(shape));
    set_pointers();
    bool const red_black = options_.smoother == Smoother::red_black;
    for (bool finest : {true, false}) {
      T const omega = options_.omega == 0 ? default_omega(options_.smoother, finest)
                                          : static_cast<T>(options_.omega);
      before_[!finest] = {red_black, omega, options_.pre_sweeps};
      after_[!finest] = {red_black, omega, options_.post_sweeps};
    }
    coarsest_ = detail::coarsest_smoothing<T, Rank>(shapes_.back());
    if constexpr (!runs_on_host<Exec>) copy_levels_to_device();
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

  static std::int64_t bytes(Exec const& exec, std::array<int, Rank> const& extents,
                            MultigridOptions const& options) {
    auto const shapes = detail::level_shapes<Rank>(extents);
    std::int64_t numbers = 0;
    for (std::size_t l = 0; l < shapes.size(); ++l) {
      if (l > 0) numbers += unknowns(shapes[l]) + cells(shapes[l]);
      if (options.smoother == Smoother::jacobi) numbers += cells(shapes[l]);
    }
    return numbers * std::int64_t(sizeof(T)) + Passes::bytes(exec, shapes[0].n);
  }

  /// Whether the coarse grids are those of a finest grid.
  bool suits(Grid const& finest) const { return std::ranges::equal(finest.n, shapes_[0].n); }

  /// A solver with the same options for a finest grid of another shape.
  std::unique_ptr<Implementation> made_for(Grid const& finest) const {
    std::array<int, Rank> extents;
    for (int d = 0; d < Rank; ++d) extents[d] = finest.n[Rank == 2 ? 2 * d : d];
    return std::make_unique<Implementation>(exec_, extents, options_);
  }

  Result solve(Grid const& finest) {
    ProfilingRegion const region("coir::poisson::multigrid");
    T* const scratch = levels_[0].scratch;
    levels_[0] = finest;
    levels_[0].scratch = scratch;
    passes_.begin();

    double const source = std::sqrt(passes_.squared_source(levels_[0]));
    Result result;
    if (source == 0) {
      passes_.clear(levels_[0]);
      result.converged = true;
      result.stopped_by = StoppedBy::tolerance;
      return result;
    }
    double first = 0, previous = std::numeric_limits<double>::infinity();
    double squared = smooth_finest();
    for (;; ++result.iterations) {
      result.residual_norm = std::sqrt(squared);
      result.relative_residual = result.residual_norm / source;
      if (result.iterations == 0) first = result.residual_norm;
      if (must_stop(result, previous)) break;
      previous = result.residual_norm;
      squared = correct_finest(options_.full_multigrid && result.iterations == 0);
    }
    if (result.iterations > 0 && first > 0)
      result.convergence_factor =
          std::pow(result.residual_norm / first, 1.0 / static_cast<double>(result.iterations));
    return result;
  }

 private:
  using Passes = std::conditional_t<runs_on_host<Exec>, detail::HostPasses<Exec, T, Rank>,
                                    detail::DevicePasses<Exec, T, Rank>>;
  using Memory = Kokkos::View<T*, typename Exec::memory_space>;

  // The finest grid that a device gives to one team, in cells.
  static constexpr std::int64_t small_cells = 4096;
  // A cycle that leaves more than this share of the residual works against rounding.
  static constexpr double stagnating = 0.9;

  // Measured best for one sweep before and one after, on grids of 16 to 4096 cells along an axis. That
  // red-black relaxation gains by some over-relaxation, more in 3-D, is known: Yavneh, SIAM J. Sci. Comput.
  // 17 (1996) 180. Coarse grids are solved by one cycle only, which leaves corrections too small, and want
  // more of it: together 0.03 a cycle in 2-D and 0.06 in 3-D, where one omega for all gives 0.04 and 0.08.
  static T default_omega(Smoother smoother, bool finest) {
    if (smoother == Smoother::jacobi) return Rank == 2 ? T(4) / T(5) : T(6) / T(7);
    if (finest) return Rank == 2 ? T(1.1) : T(1.18);
    return Rank == 2 ? T(1.2) : T(1.26);
  }

  detail::Smoothing<T> const& before(int l) const { return before_[l > 0]; }
  detail::Smoothing<T> const& after(int l) const { return after_[l > 0]; }

  static std::int64_t cells(detail::LevelShape const& shape) {
    return std::int64_t(shape.n[0]) * shape.n[1] * shape.n[2];
  }
  static std::int64_t unknowns(detail::LevelShape const& shape) {
    return std::int64_t(shape.n[0] + 2) * (shape.n[2] + 2) * (Rank == 3 ? shape.n[1] + 2 : 1);
  }

  static Grid grid_of(detail::LevelShape const& shape) {
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

  void allocate() {
    std::int64_t unknown = 0, source = 0, scratch = 0;
    for (std::size_t l = 0; l < shapes_.size(); ++l) {
      if (l > 0) unknown += unknowns(shapes_[l]);
      if (l > 0) source += cells(shapes_[l]);
      if (options_.smoother == Smoother::jacobi) scratch += cells(shapes_[l]);
    }
    unknowns_ = numbers("coir::poisson::multigrid/unknowns", unknown);
    sources_ = numbers("coir::poisson::multigrid/sources", source);
    scratch_ = numbers("coir::poisson::multigrid/scratch", scratch);
    // The unknowns start as zero, and their rings stay so.
    Kokkos::deep_copy(exec_, unknowns_, T(0));
  }

  static Memory numbers(std::string const& label, std::int64_t count) {
    Memory const memory(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), count);
    if constexpr (runs_on_host<Exec>)
      ask_for_large_pages(memory.data(), count * std::int64_t(sizeof(T)));
    return memory;
  }

  void set_pointers() {
    T* unknown = unknowns_.data();
    T* source = sources_.data();
    T* scratch = scratch_.data();
    for (std::size_t l = 0; l < shapes_.size(); ++l) {
      if (options_.smoother == Smoother::jacobi) {
        levels_[l].scratch = scratch;
        scratch += cells(shapes_[l]);
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
    Kokkos::deep_copy(device_levels_, levels_h);
    while (first_small_ <= last() && levels_[first_small_].cells() > small_cells) ++first_small_;
  }

  int last() const { return static_cast<int>(levels_.size()) - 1; }

  // Smooths the finest grid, and unless it is the only one restricts its residual; returns that
  // residual's squared norm.
  double smooth_finest() {
    if (last() > 0) return passes_.descend(levels_[0], levels_[1], before(0), false, true);
    passes_.smooth(levels_[0], coarsest_, false);
    return passes_.squared_residual(levels_[0]);
  }

  // Corrects the finest grid by what the others have found, and goes on as smooth_finest.
  double correct_finest(bool by_full_multigrid) {
    if (last() == 0) return smooth_finest();
    by_full_multigrid ? full_multigrid(1) : v_cycle(1);
    return ascend_and_descend(0, false, true);
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

  // From u = 0.
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
      passes_.small_levels(detail::TeamCycle<T, Rank>{device_levels_.data(), l, last(), before(l),
                                                      after(l), coarsest_, full});
      return true;
    }
    return false;
  }

  bool must_stop(Result& result, double previous) const {
    auto const stop = [&](StoppedBy reason) {
      result.stopped_by = reason;
      return true;
    };
    result.converged = result.residual_norm == 0 || result.relative_residual <= options_.tolerance;
    if (!std::isfinite(result.residual_norm)) return stop(StoppedBy::not_finite);
    if (result.converged) return stop(StoppedBy::tolerance);
    if (options_.tolerance > 0 && result.residual_norm > stagnating * previous)
      return stop(StoppedBy::stagnation);
    if (options_.monitor && result.iterations > 0 &&
        !options_.monitor({result.iterations, options_.max_cycles, result.relative_residual}))
      return stop(StoppedBy::interrupted);
    if (result.iterations == options_.max_cycles) return stop(StoppedBy::sweeps);
    return false;
  }

  Exec exec_;
  MultigridOptions options_;
  std::vector<detail::LevelShape> shapes_;
  Passes passes_;
  std::vector<Grid> levels_;
  Memory unknowns_, sources_, scratch_;
  Kokkos::View<Grid*, typename Exec::memory_space> device_levels_;
  int first_small_ = 1;
  detail::Smoothing<T> before_[2], after_[2];  // of the finest grid, and of the coarse ones
  detail::Smoothing<T> coarsest_;
};

template <ExecutionSpace Exec, class T, int Rank>
Multigrid<Exec, T, Rank>::Multigrid(Exec const& exec, std::array<int, Rank> const& extents,
                                    MultigridOptions options)
    : exec_(exec), extents_(extents) {
  Implementation::check(extents, options);
  std::string size;
  for (int extent : extents) size += (size.empty() ? "" : " x ") + std::to_string(extent);
  expects_memory<typename Exec::memory_space>(bytes(exec, extents, options),
                                              "multigrid on " + size + " cells");
  implementation_ = std::make_unique<Implementation>(exec, extents, std::move(options));
}

template <ExecutionSpace Exec, class T, int Rank>
Multigrid<Exec, T, Rank>::~Multigrid() = default;

template <ExecutionSpace Exec, class T, int Rank>
Multigrid<Exec, T, Rank>::Multigrid(Multigrid&&) noexcept = default;

template <ExecutionSpace Exec, class T, int Rank>
Multigrid<Exec, T, Rank>& Multigrid<Exec, T, Rank>::operator=(Multigrid&&) noexcept = default;

template <ExecutionSpace Exec, class T, int Rank>
std::int64_t Multigrid<Exec, T, Rank>::bytes(Exec const& exec, std::array<int, Rank> const& extents,
                                             MultigridOptions const& options) {
  Implementation::check(extents, options);
  return Implementation::bytes(exec, extents, options);
}

template <ExecutionSpace Exec, class T, int Rank>
Result Multigrid<Exec, T, Rank>::solve_levels(detail::Level<T, Rank> const& finest) {
  if (!implementation_->suits(finest)) implementation_ = implementation_->made_for(finest);
  return implementation_->solve(finest);
}

// Compiled once, in the library.
extern template class Multigrid<Kokkos::DefaultHostExecutionSpace, float, 2>;
extern template class Multigrid<Kokkos::DefaultHostExecutionSpace, float, 3>;
extern template class Multigrid<Kokkos::DefaultHostExecutionSpace, double, 2>;
extern template class Multigrid<Kokkos::DefaultHostExecutionSpace, double, 3>;
extern template class Multigrid<Kokkos::DefaultExecutionSpace, float, 2>;
extern template class Multigrid<Kokkos::DefaultExecutionSpace, float, 3>;
extern template class Multigrid<Kokkos::DefaultExecutionSpace, double, 2>;
extern template class Multigrid<Kokkos::DefaultExecutionSpace, double, 3>;

}  // namespace coir::poisson
