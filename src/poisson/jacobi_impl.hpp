#pragma once

/// \file
/// What coir::poisson::jacobi does once its extents are checked.

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

template <CompiledSpace Exec, Real T>
std::int64_t jacobi_bytes(std::int64_t rows, std::int64_t columns, JacobiScheme scheme) {
  if constexpr (runs_on_host<Exec>)
    if (scheme != JacobiScheme::plain && detail::PaddedFields<Exec, T>::worthwhile(rows, columns))
      return detail::PaddedFields<Exec, T>::bytes(rows, columns);
  return (rows + 2) * (columns + 2) * static_cast<std::int64_t>(sizeof(T));
}

namespace detail {

/// The blocked scheme of an execution space. (Two specialisations, because a type that
/// std::conditional_t does not choose must not be instantiated either.)
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

/// Whether blocking pays: with several sweeps, on a grid of more than a few tiles of vectors.
template <class B>
bool blocked_fits(B const& b, std::int64_t sweeps) {
  return sweeps >= 4 && b.extent(0) >= 8 && b.extent(1) >= 8;
}

template <CompiledSpace Exec, class T, int Rank>
JacobiResult jacobi(Exec const& exec, Field<Exec, T const, Rank> const& b,
                    Field<Exec, T, Rank> const& u, JacobiOptions const& options) {
  expects(options.scheme != JacobiScheme::blocked || Rank == 2,
          "the blocked Jacobi scheme is for grids of 2 dimensions: use plain or automatic");
  IterationLimits const limits{options.sweeps, options.tolerance,
                               options.check_every == 0 ? 500 : options.check_every,
                               options.monitor};
  expects_limits(limits);

  ProfilingRegion const region("coir::poisson::jacobi");
  if constexpr (Rank == 2) {
    if (options.scheme == JacobiScheme::blocked ||
        (options.scheme == JacobiScheme::automatic && blocked_fits(b, limits.sweeps))) {
      BlockedJacobi<Exec, T> sweeper(exec, b, u);
      return {iterate_fields<Exec, T, Rank>(exec, b, u, sweeper, limits), JacobiScheme::blocked};
    }
  }
  PlainJacobi<Exec, T, Rank> sweeper(exec, b, u);
  return {iterate_fields<Exec, T, Rank>(exec, b, u, sweeper, limits), JacobiScheme::plain};
}

}  // namespace detail

}  // namespace coir::poisson

#define COIR_JACOBI(Exec, T, Rank)                                                                 \
  template JacobiResult detail::jacobi<Exec, T, Rank>(                                             \
      Exec const&, detail::Field<Exec, T const, Rank> const&, detail::Field<Exec, T, Rank> const&, \
      JacobiOptions const&);
#define COIR_JACOBI_BYTES(Exec, T) \
  template std::int64_t jacobi_bytes<Exec, T>(std::int64_t, std::int64_t, JacobiScheme);
#define COIR_INSTANTIATE_JACOBI(Exec) \
  namespace coir::poisson {           \
  COIR_JACOBI(Exec, float, 2)         \
  COIR_JACOBI(Exec, float, 3)         \
  COIR_JACOBI(Exec, double, 2)        \
  COIR_JACOBI(Exec, double, 3)        \
  COIR_JACOBI_BYTES(Exec, float)      \
  COIR_JACOBI_BYTES(Exec, double)     \
  }
