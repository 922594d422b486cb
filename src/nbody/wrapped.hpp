#pragma once

#include <coir/core/kokkos.hpp>
#include <coir/core/math.hpp>

#include <limits>

namespace coir::nbody::detail {

/// A particle further away than this many box lengths has lost its place in the box to rounding, or
/// will in the next step.
inline constexpr int most_boxes = 4096;

/// x wrapped into the periodic box [0, length); NaN if x is more than most_boxes lengths away.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T wrapped(T x, T length) {
  constexpr T lost = std::numeric_limits<T>::quiet_NaN();
  // Hosts wrap positions in the box, too: a test for that would keep them from vectorising.
  if (!COIR_ON_DEVICE || !(x >= T(0) && x < length)) {
    T const boxes = math::floor(x / length);
    x = math::abs(boxes) <= T(most_boxes) ? x - length * boxes : lost;
  }
  return x >= length || x < T(0) ? T(0) : x;  // rounding may leave the box by an end; NaN stays NaN
}

}  // namespace coir::nbody::detail
