#pragma once

#include <coir/array/reductions.hpp>
#include <coir/array/slices.hpp>

#include <cstdint>

namespace coir {

/// The sum of the diagonal that lies `above` columns above the main one: NumPy's trace. Integers
/// are added in 64 bits.
///
/// \throws PreconditionError if the matrix has no such diagonal
template <Expression X>
  requires OfRank<X, 2>
auto trace(X const& x, std::int64_t above = 0) {
  return sum(diagonal(x, above));
}

}  // namespace coir
