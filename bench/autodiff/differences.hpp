#pragma once

/// Differences of periodic fields.

#include <coir/array/all.hpp>

namespace coir::bench {

template <class U>
auto along_0(U const& u) {
  return 0.5F * (roll(u, -1, 0) - roll(u, 1, 0));
}
template <class U>
auto along_1(U const& u) {
  return 0.5F * (roll(u, -1, 1) - roll(u, 1, 1));
}
template <class U>
auto laplacian(U const& u) {
  return roll(u, 1, 0) + roll(u, -1, 0) + roll(u, 1, 1) + roll(u, -1, 1) - 4 * u;
}

}  // namespace coir::bench
