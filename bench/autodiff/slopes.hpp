#pragma once

/// Central differences of periodic fields, for programs of both benchmarks.

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

}  // namespace coir::bench
