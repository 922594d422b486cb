#pragma once

/// \file
/// A few numbers in a row, for hosts and kernels: points, gradients, rows of Jacobians. A function
/// given to vmap returns them for a row of its result.

#include <coir/array/element.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace coir {

/// N values of one type. An aggregate; `auto [x, y] = ...` takes it apart.
template <class T, int N>
struct Numbers {
  using value_type = T;
  T items[N];

  KOKKOS_FORCEINLINE_FUNCTION constexpr T& operator[](int i) { return items[i]; }
  KOKKOS_FORCEINLINE_FUNCTION constexpr T const& operator[](int i) const { return items[i]; }
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int size() { return N; }

  template <std::size_t I>
  KOKKOS_FORCEINLINE_FUNCTION constexpr T& get() {
    return items[I];
  }
  template <std::size_t I>
  KOKKOS_FORCEINLINE_FUNCTION constexpr T const& get() const {
    return items[I];
  }
};

namespace detail {

template <class... X>
struct NumbersOf {
  using type = std::common_type_t<X...>;  // dual numbers say themselves what mixes with them
};
template <class... X>
  requires((std::is_arithmetic_v<X> || is_complex<X>) && ...)
struct NumbersOf<X...> {
  using type = promoted_t<X...>;
};

}  // namespace detail

/// These values in the type that they combine to as array elements: numbers(x, 2 * y).
template <class... X>
  requires(sizeof...(X) > 0)
KOKKOS_FORCEINLINE_FUNCTION constexpr auto numbers(X const&... x) {
  using T = typename detail::NumbersOf<X...>::type;
  return Numbers<T, static_cast<int>(sizeof...(X))>{{detail::stored<T>(x)...}};
}

}  // namespace coir

/// \cond  Doxygen knows no std to put them into.
template <class T, int N>
struct std::tuple_size<coir::Numbers<T, N>> : std::integral_constant<std::size_t, N> {};
template <std::size_t I, class T, int N>
struct std::tuple_element<I, coir::Numbers<T, N>> {
  using type = T;
};
/// \endcond
