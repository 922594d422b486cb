#pragma once

/// \file
/// The type that sums and products of an element type are made in, and its operations.

#include <coir/array/element.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace coir::detail {

/// The type that sums and products of T are made in: 64 bits for integers, as in NumPy.
template <class T>
struct CarriedOf {
  using type = T;
};
template <std::integral T>
struct CarriedOf<T> {
  using type = std::conditional_t<std::is_unsigned_v<T> && !std::is_same_v<T, bool>, std::uint64_t,
                                  std::int64_t>;
};
template <class T>
using carried_t = typename CarriedOf<T>::type;

/// a + b and a b, of integers modulo 2^64.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T wrapping_sum(T const& a, T const& b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T wrapping_product(T const& a, T const& b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}

/// The product of two integers in the type of their sum. In their own type small ones would wrap.
struct MultiplyCarried {
  template <class A, class B>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(A const& a, B const& b) const {
    using T = carried_t<promote_t<A, B>>;
    return wrapping_product(static_cast<T>(a), static_cast<T>(b));
  }
};

}  // namespace coir::detail
