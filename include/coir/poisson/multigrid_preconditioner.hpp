#pragma once

/// \file
/// A symmetric multigrid cycle, to precondition Krylov methods.

#include <coir/poisson/detail/field.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>

namespace coir::poisson {

/// A V-cycle from zero as a linear, symmetric, negative definite approximation of the inverse of L in 2-D.
///
///   z = M r,   M ~ L^-1,   L z = (sum of the 4 neighbours) - 4 z,   z = 0 outside
///
/// Before the coarse grids a sweep relaxes the red cells and then the black ones, after them the black cells and
/// then the red ones: one is the adjoint of the other, which the cycles of Multigrid do without. So are
/// restriction and interpolation, and the coarsest grid is relaxed as often one way as the other. Conjugate
/// gradients need both, symmetry and the one sign.
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

  /// Sets z to M r. Asynchronous on devices.
  ///
  /// \param r  [m, n] in
  /// \param z  [m+2, n+2] out; its outermost cells must be zero, and stay so
  /// \throws PreconditionError unless the extents are those of the constructor
  template <class R, class Z>
    requires SourceAndUnknown<Exec, R, Z> && RowMajor<R> && RowMajor<Z> &&
             WritableRealViewOfRank<Z, 2> && std::same_as<typename Z::value_type, T>
  void apply(R const& r, Z const& z) {
    detail::expects_ring(strided(r).extents, strided(z).extents);
    apply_to_fields(r, z);
  }

  /// Bytes it holds: two thirds of one field, and rows of scratch memory.
  static std::int64_t bytes(Exec const& exec, std::array<int, 2> const& extents);

 private:
  void apply_to_fields(detail::Field<Exec, T const, 2> const& r,
                       detail::Field<Exec, T, 2> const& z);

  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace coir::poisson
