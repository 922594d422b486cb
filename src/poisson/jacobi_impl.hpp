#pragma once

/// The sweeps of coir::poisson::jacobi, for grids whose extents are checked.

#include "iterate_fields.hpp"
#include "jacobi_plain.hpp"
#include "jacobi_tiles.hpp"
#include "jacobi_wavefront.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/profiling.hpp>
#include <coir/poisson/jacobi.hpp>

#include <cstdint>
#include <type_traits>

namespace coir::poisson {

namespace detail {

/// The blocked scheme of an execution space. These are specialisations because std::conditional_t
/// would instantiate both schemes.
template <class Exec, class T, bool OnHost = runs_on_host<Exec>>
struct BlockedJacobiOf {
  using type = WavefrontJacobi<Exec, T>;
};
template <class Exec, class T>
struct BlockedJacobiOf<Exec, T, false> {
  using type = TiledJacobi<Exec, T>;
};
template <class Exec, class T>
using BlockedJacobi = typename BlockedJacobiOf<Exec, T>::type;

/// Whether a grid of 2 dimensions is swept by the blocked scheme: if the caller chose it, or if the
/// choice is automatic and there are enough sweeps and cells.
inline bool takes_blocked(JacobiOptions const& options, std::int64_t rows, std::int64_t columns) {
  return options.scheme == JacobiScheme::blocked ||
         (options.scheme == JacobiScheme::automatic && options.sweeps >= 4 && rows >= 8 &&
          columns >= 8);
}

/// The limits of the options, which are checked.
inline IterationLimits limits_of(JacobiOptions const& options, int rank) {
  expects(options.scheme != JacobiScheme::blocked || rank == 2,
          "the blocked Jacobi scheme is for grids of 2 dimensions: use plain or automatic");
  IterationLimits limits{options.sweeps, options.tolerance,
                         options.check_every == 0 ? 500 : options.check_every, options.monitor};
  expects_limits(limits);
  return limits;
}

template <CompiledSpace Exec, class T, int Rank>
JacobiResult jacobi(Exec const& exec, RowMajorView<Exec, T const, Rank> const& b,
                    RowMajorView<Exec, T, Rank> const& u, JacobiOptions const& options) {
  IterationLimits const limits = limits_of(options, Rank);
  ProfilingRegion const region("coir::poisson::jacobi");
  if constexpr (Rank == 2) {
    if (takes_blocked(options, static_cast<std::int64_t>(b.extent(0)),
                      static_cast<std::int64_t>(b.extent(1)))) {
      BlockedJacobi<Exec, T> sweeper(exec, b, u);
      return {iterate_fields<Exec, T, Rank>(exec, b, u, sweeper, limits), JacobiScheme::blocked};
    }
  }
  PlainJacobi<Exec, T, Rank> sweeper(exec, b, u);
  return {iterate_fields<Exec, T, Rank>(exec, b, u, sweeper, limits), JacobiScheme::plain};
}

}  // namespace detail

}  // namespace coir::poisson

#define COIR_JACOBI(Exec, T, Rank)                                   \
  template JacobiResult detail::jacobi<Exec, T, Rank>(               \
      Exec const&, detail::RowMajorView<Exec, T const, Rank> const&, \
      detail::RowMajorView<Exec, T, Rank> const&, JacobiOptions const&);
#define COIR_INSTANTIATE_JACOBI(Exec) \
  namespace coir::poisson {           \
  COIR_JACOBI(Exec, float, 2)         \
  COIR_JACOBI(Exec, float, 3)         \
  COIR_JACOBI(Exec, double, 2)        \
  COIR_JACOBI(Exec, double, 3)        \
  }
