#pragma once

#include <coir/array/functions.hpp>

namespace coir::testing {

/// Six answers as bits. By one functor: sums of products of casts are an expression that takes
/// longer to compile.
struct SixBits {
  KOKKOS_FORCEINLINE_FUNCTION int operator()(bool a, bool b, bool c, bool d, bool e, bool f) const {
    return int(a) + 2 * int(b) + 4 * int(c) + 8 * int(d) + 16 * int(e) + 32 * int(f);
  }
};

/// The six comparisons of two operands, of which one may be a number, as bits. In some the operands
/// change sides.
template <class A, class B>
auto six_comparisons(A const& a, B const& b) {
  return map(SixBits{}, a<b, b >= a, a> b, b <= a, a == b, b != a);
}

}  // namespace coir::testing
