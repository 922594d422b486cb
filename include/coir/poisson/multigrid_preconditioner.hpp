#pragma once

/// \file
/// A symmetric multigrid cycle, to precondition Krylov methods.

#include <coir/poisson/detail/callers_grid.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>

namespace coir::poisson {

/// A V-cycle from zero as a linear, symmetric, negative definite approximation of the inverse of L
/// in 2-D.
///
///   z = M r,   M ~ L^-1,   L z = (sum of the 4 neighbours) - 4 z,   z = 0 outside
///
/// Conjugate gradients need M to be symmetric and of one sign. So the sweep before the coarse grids
/// relaxes red cells before black ones, and the sweep after them black cells before red ones.
/// Restriction is the adjoint of interpolation, and the coarsest grid is relaxed equally often in
/// both orders. (The cycles of Multigrid relax red cells first in every sweep.)
///
/// The grids are those of Multigrid: any extents, every second cell kept.
///
/// \tparam Exec  where to run
/// \tparam T     float or double
/// \see Trottenberg, Oosterlee, Schueller, Multigrid (2001), sec. 7.8;
///      Tatebe, Proc. 6th Copper Mountain Conf. on Multigrid Methods (1993), NASA CP 3224, p. 621
template <CompiledSpace Exec, class T>
class MultigridPreconditioner {
 public:
  static_assert(Real<T> && !std::is_const_v<T>);

  /// \param extents  rows and columns of cells, without a ring
  /// \throws PreconditionError if an extent is below 1
  /// \throws ResourceError     if the coarse grids don't fit into the free memory
  MultigridPreconditioner(Exec const& exec, std::array<int, 2> const& extents);
  ~MultigridPreconditioner();
  MultigridPreconditioner(MultigridPreconditioner&&) noexcept;
  MultigridPreconditioner& operator=(MultigridPreconditioner&&) noexcept;

  /// Sets z to M r. Views may have any layout, as for the solvers (SourceAndUnknown). Asynchronous
  /// on devices, unless z is copied. The coarse grids are set up again if the order of the Views'
  /// axes in memory differs from that of the last call.
  ///
  /// \param r  [m, n] in
  /// \param z  [m+2, n+2] out; its outermost cells must be zero, and stay so
  /// \throws PreconditionError unless the extents are those of the constructor
  /// \throws ResourceError     if a copy doesn't fit into the free memory
  template <class R, class Z>
    requires SourceAndUnknown<Exec, R, Z> && WritableRealViewOfRank<Z, 2> &&
             std::same_as<typename Z::value_type, T>
  void apply(R const& r, Z const& z) {
    detail::expects_extents("r", strided(r).extents, "the preconditioner's grid", extents_);
    detail::CallersGrid<Exec, T const, T, 2> const grid(exec_, r, z);
    apply_to_fields(grid.source(), grid.unknown());
    grid.finish();
  }

 private:
  void apply_to_fields(detail::RowMajorView<Exec, T const, 2> const& r,
                       detail::RowMajorView<Exec, T, 2> const& z);

  class Implementation;
  Exec exec_;
  std::array<int, 2> extents_;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace coir::poisson
