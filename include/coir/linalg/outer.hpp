#pragma once

#include <coir/array/operators.hpp>
#include <coir/array/slices.hpp>

namespace coir {

/// The outer product of two vectors, as an expression: element (i, j) is a(i) b(j), shape (m, n).
template <Expression A, Expression B>
  requires SameSpace<A, B> && OfRank<A, 1> && OfRank<B, 1>
auto outer(A&& a, B&& b) {
  return elements_of(std::forward<A>(a))(range(), newaxis) * std::forward<B>(b);
}

}  // namespace coir
