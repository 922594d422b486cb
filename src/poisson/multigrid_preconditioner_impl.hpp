#pragma once

/// The levels of the symmetric cycle, and the order of the passes over them.

#include "grid_level.hpp"
#include "level_shapes.hpp"
#include "multigrid_device.hpp"
#include "multigrid_host.hpp"

#include <coir/core/buffers.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/profiling.hpp>
#include <coir/poisson/multigrid_preconditioner.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace coir::poisson {

namespace detail {

/// Sweeps of red-black relaxation backwards on hosts: the black cells first.
template <class Exec, class T>
class HostSweepsBack {
 public:
  HostSweepsBack(Exec const& exec, Level<T, 2> const& finest)
      : exec_(exec), slabs_(static_cast<int>(exec.concurrency()), finest) {}

  void smooth(Level<T, 2> const& level, Smoothing<T> const& how) {
    run("coir::poisson::multigrid_preconditioner/smooth", level, 2 * how.sweeps,
        [&](PipelineStep const& at) {
          slabs_.smooth(level, how, false, at.stage + 1, at.slab, at.rows, at.watched, Ahead{});
        });
  }

  /// Adds the interpolated coarse u to the fine one, then smooths.
  void ascend(Level<T, 2> const& coarse, Level<T, 2> const& fine, Smoothing<T> const& how) {
    run("coir::poisson::multigrid_preconditioner/ascend", fine, 1 + 2 * how.sweeps,
        [&](PipelineStep const& at) {
          if (at.stage == 0)
            slabs_.interpolate(at.band, coarse, fine, at.slab, at.rows, false);
          else  // stages 1, 2, ...: those of smooth() above are black at odd numbers
            slabs_.smooth(fine, how, false, at.stage, at.slab, at.rows, at.watched, Ahead{});
        });
  }

 private:
  template <class Step>
  void run(char const* label, Level<T, 2> const& level, int stages, Step const& step) const {
    pipeline(label, exec_, level.n[0], 1, 1, stages,
             pipeline_bands(exec_, level.n[0], level.cells(), stages), step);
  }

  Exec exec_;
  HostSlabs<T, 2> slabs_;
};

/// Sweeps of red-black relaxation backwards on devices, with a launch for each colour.
template <class Exec, class T>
class DeviceSweepsBack {
 public:
  DeviceSweepsBack(Exec const& exec, Level<T, 2> const&) : exec_(exec) {}

  void smooth(Level<T, 2> const& level, Smoothing<T> const& how) const {
    Level<T, 2> of_one_colour = level;
    of_one_colour.n[2] = (level.n[2] + 1) / 2;
    for (int half = 2 * how.sweeps - 1; half >= 0; --half)
      for_each("coir::poisson::multigrid_preconditioner/relax", exec_, box_of(of_one_colour),
               OnCells<RelaxColour<T, 2>>{{level, how.omega, half % 2}});
  }

  void ascend(Level<T, 2> const& coarse, Level<T, 2> const& fine, Smoothing<T> const& how) const {
    for_each("coir::poisson::multigrid_preconditioner/interpolate", exec_, box_of(fine),
             OnCells<Interpolate<T, 2>>{{coarse, fine, false}});
    smooth(fine, how);
  }

 private:
  Exec exec_;
};

}  // namespace detail

template <CompiledSpace Exec, class T>
class MultigridPreconditioner<Exec, T>::Implementation {
 public:
  using Grid = detail::Level<T, 2>;

  Implementation(Exec const& exec, std::array<int, 2> const& extents)
      : shapes_(detail::level_shapes<2>(extents)),
        fields_(fields_of(shapes_)),
        forwards_(exec, extents_of(shapes_[0])),
        backwards_(exec, extents_of(shapes_[0])),
        coarsest_(detail::coarsest_smoothing<T, 2>(shapes_.back())) {
    levels_.push_back(extents_of(shapes_[0]));
    for (std::size_t l = 1; l < shapes_.size(); ++l) {
      auto const &unknown = fields_.unknowns[l - 1], &source = fields_.sources[l - 1];
      set_to_zero(exec, unknown);  // its ring stays so
      Grid level = detail::finest_level<T, 2>(source, unknown);
      level.restricted = source.data();
      for (int axis = 0; axis < 3; ++axis) {
        level.width[axis] = static_cast<T>((1 + shapes_[l].gap[axis]) / 2);
        level.ghost[axis] = static_cast<T>(1 - 1 / shapes_[l].gap[axis]);
      }
      levels_.push_back(level);
    }
  }

  static void check(std::array<int, 2> const& extents) {
    for (int const extent : extents) {
      expects(extent >= 1, "the grid must have at least 1 cell along every axis", extent);
      expects(extent <= 2'000'000'000, "the grid must have at most 2e9 cells along an axis",
              extent);
    }
  }

  /// Whether the coarse grids belong to r. They don't if r is transposed.
  bool suits(detail::RowMajorView<Exec, T const, 2> const& r) const {
    return static_cast<int>(r.extent(0)) == shapes_[0].n[0] &&
           static_cast<int>(r.extent(1)) == shapes_[0].n[2];
  }

  void apply(detail::RowMajorView<Exec, T const, 2> const& r,
             detail::RowMajorView<Exec, T, 2> const& z) {
    ProfilingRegion const region("coir::poisson::multigrid_preconditioner");
    levels_[0] = detail::finest_level<T, 2>(r, z);
    forwards_.begin();
    cycle(0);
  }

 private:
  using Forwards = std::conditional_t<runs_on_host<Exec>, detail::HostPasses<Exec, T, 2>,
                                      detail::DevicePasses<Exec, T, 2>>;
  using Backwards = std::conditional_t<runs_on_host<Exec>, detail::HostSweepsBack<Exec, T>,
                                       detail::DeviceSweepsBack<Exec, T>>;
  using Memory = Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space>;

  struct Fields {
    std::vector<Memory> unknowns, sources;  // of the coarse grids
  };
  static Fields fields_of(std::vector<detail::LevelShape> const& shapes) {
    std::string const label = "coir::poisson::multigrid_preconditioner";
    Fields fields{std::vector<Memory>(shapes.size() - 1), std::vector<Memory>(shapes.size() - 1)};
    Buffers all;
    for (std::size_t l = 1; l < shapes.size(); ++l) {
      int const m = shapes[l].n[0], n = shapes[l].n[2];
      all.add(fields.unknowns[l - 1], label + "/unknown", m + 2, n + 2);
      all.add(fields.sources[l - 1], label + "/source", m, n);
    }
    all.make<typename Exec::memory_space>("preconditioning by multigrid on " +
                                          std::to_string(shapes[0].n[0]) + " x " +
                                          std::to_string(shapes[0].n[2]) + " cells");
    return fields;
  }

  // One sweep, with the over-relaxation of Multigrid's cycles.
  static detail::Smoothing<T> sweep(std::size_t l) { return {true, l == 0 ? T(1.1) : T(1.2), 1}; }

  static Grid extents_of(detail::LevelShape const& shape) {
    Grid grid;
    for (int axis = 0; axis < 3; ++axis) grid.n[axis] = shape.n[axis];
    return grid;
  }

  // The cycle on level l and all below, starting from u = 0.
  void cycle(std::size_t l) {
    Grid& level = levels_[l];
    if (l + 1 == levels_.size()) {
      forwards_.smooth(level, coarsest_, true);
      backwards_.smooth(level, coarsest_);
      return;
    }
    forwards_.descend(level, levels_[l + 1], sweep(l), true, false);
    cycle(l + 1);
    backwards_.ascend(levels_[l + 1], level, sweep(l));
  }

  std::vector<detail::LevelShape> shapes_;
  Fields fields_;
  Forwards forwards_;
  Backwards backwards_;
  detail::Smoothing<T> coarsest_;
  std::vector<Grid> levels_;
};

template <CompiledSpace Exec, class T>
MultigridPreconditioner<Exec, T>::MultigridPreconditioner(Exec const& exec,
                                                          std::array<int, 2> const& extents)
    : exec_(exec), extents_(extents) {
  Implementation::check(extents);
  implementation_ = std::make_unique<Implementation>(exec, extents);
}

template <CompiledSpace Exec, class T>
MultigridPreconditioner<Exec, T>::~MultigridPreconditioner() = default;

template <CompiledSpace Exec, class T>
MultigridPreconditioner<Exec, T>::MultigridPreconditioner(MultigridPreconditioner&&) noexcept =
    default;

template <CompiledSpace Exec, class T>
MultigridPreconditioner<Exec, T>& MultigridPreconditioner<Exec, T>::operator=(
    MultigridPreconditioner&&) noexcept = default;

template <CompiledSpace Exec, class T>
void MultigridPreconditioner<Exec, T>::apply_to_fields(
    detail::RowMajorView<Exec, T const, 2> const& r, detail::RowMajorView<Exec, T, 2> const& z) {
  if (!implementation_->suits(r)) {
    exec_.fence();  // kernels of the call before may still work on the coarse grids that go
    implementation_ = std::make_unique<Implementation>(
        exec_, std::array{static_cast<int>(r.extent(0)), static_cast<int>(r.extent(1))});
  }
  implementation_->apply(r, z);
}

}  // namespace coir::poisson

#define COIR_INSTANTIATE_MULTIGRID_PRECONDITIONER(Exec) \
  namespace coir::poisson {                             \
  template class MultigridPreconditioner<Exec, float>;  \
  template class MultigridPreconditioner<Exec, double>; \
  }
