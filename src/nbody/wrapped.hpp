#pragma once

/// \file
/// Positions in a periodic box.

#include <coir/core/kokkos.hpp>
#include <coir/core/math.hpp>

namespace coir::nbody::detail {

/// x into [0, length).
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T wrapped(T x, T length) {
  // Nothing where x is in the box; a test would keep hosts from vectorising.
  if (!COIR_ON_DEVICE || !(x >= T(0) && x < length)) x -= length * math::floor(x / length);
  return x >= length ? T(0) : x;  // rounding may leave length itself; what is no number stays so
}

}  // namespace coir::nbody::detail
