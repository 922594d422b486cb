#pragma once

/// \file
/// Cumulative sums and products.
///
/// Numbers are gathered in groups, these in larger groups, and so on, so that threads share the
/// work and rounding errors grow with the logarithm of the length. (NumPy's grow with the length.)
/// The groups depend on the shape, and on whether the space is a device: bits don't depend on the
/// number of threads.

#include <coir/array/array.hpp>
#include <coir/array/detail/carried.hpp>
#include <coir/array/detail/kernels/scan_groups.hpp>
#include <coir/array/slices.hpp>

#include <cstdint>
#include <string>
#include <type_traits>

namespace coir {

namespace detail {

template <class Operation, Expression E>
auto scan(E const& x, int axis) {
  using T = carried_t<value_t<E>>;
  constexpr int rank = rank_of<E>;
  auto const& shape = x.shape();
  if (axis < -rank || axis >= rank)
    throw PreconditionError("axis " + std::to_string(axis) + " is none of an array of shape " +
                            in_words(shape));
  std::size_t const along = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  ScanShape extents{1, shape[along], 1};
  for (std::size_t d = 0; d < along; ++d) extents.outer *= shape[d];
  for (std::size_t d = along + 1; d < shape.size(); ++d) extents.inner *= shape[d];
  using Space = typename decltype(evaluated(x))::space;
  auto const exec = immediate<typename Space::execution_space>("a scan");
  Array<T, rank, Space> result(shape);
  if (result.size() == 0) return result;
  constexpr bool is_in_memory = requires { x.all(); } || requires { typename E::element_type; };
  if constexpr (is_in_memory || !std::is_same_v<T, value_t<E>>) {
    auto const values = in_c_order(x);
    scan_rows(exec, values.data(), result.data(), extents, Operation{});
  } else {
    result = x;
    scan_rows(exec, result.data(), result.data(), extents, Operation{});
  }
  return result;
}

}  // namespace detail

/// Sums from the first element on along an axis: result[i] = x[0] + ... + x[i]. Integers and bool
/// are added in 64 bits, which wrap around. Negative axes count from the last.
///
/// The error is at most 33 eps times the sum of the absolute values, for each factor of 64 in the
/// length.
///
/// \throws PreconditionError if there is no such axis
template <Expression E>
  requires OfRankAtLeast<E, 1>
auto cumsum(E const& x, int axis) {
  return detail::scan<detail::ScanSum>(x, axis);
}

/// Sums from the first element of a vector on: see above.
template <Expression E>
  requires OfRank<E, 1>
auto cumsum(E const& x) {
  return cumsum(x, 0);
}

/// Products from the first element on along an axis: result[i] = x[0] x[1] ... x[i]. Integers in 64
/// bits.
///
/// A product overflows or vanishes only if it is too large or too small itself, whatever those
/// before it are.
///
/// \throws PreconditionError if there is no such axis
template <Expression E>
  requires OfRankAtLeast<E, 1>
auto cumprod(E const& x, int axis) {
  return detail::scan<detail::ScanProduct>(x, axis);
}

/// Products from the first element of a vector on: see above.
template <Expression E>
  requires OfRank<E, 1>
auto cumprod(E const& x) {
  return cumprod(x, 0);
}

}  // namespace coir
