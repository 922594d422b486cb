#pragma once

#include <coir/array/functions.hpp>

namespace coir::testing {

/// The six comparisons of two operands, of which one may be a number, as bits. In some the operands change
/// sides.
template <class A, class B>
auto six_comparisons(A const& a, B const& b) {
  return cast<int>(a < b) + 2 * cast<int>(b >= a) + 4 * cast<int>(a > b) + 8 * cast<int>(b <= a) +
         16 * cast<int>(a == b) + 32 * cast<int>(b != a);
}

}  // namespace coir::testing
