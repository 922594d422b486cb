#pragma once

/// Formulas of periodic meshes, written plainly.

#include <cmath>
#include <cstdint>

namespace coir::testing {

/// sin(x) / x, 1 at 0
inline double sinc(double x) { return x == 0 ? 1 : std::sin(x) / x; }

/// The plane of a periodic mesh that a number stands for which may be negative or too large.
inline std::int64_t around(std::int64_t plane, std::int64_t planes) {
  return (plane % planes + planes) % planes;
}

}  // namespace coir::testing
