#pragma once

/// \file
/// A few numbers in a row: points, gradients and rows of Jacobians, for hosts and kernels alike.

#include <coir/core/kokkos.hpp>

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

/// These values, in their common type: numbers(x, 2 * y).
template <class... X>
KOKKOS_FORCEINLINE_FUNCTION constexpr auto numbers(X const&... x) {
  using T = std::common_type_t<X...>;
  return Numbers<T, static_cast<int>(sizeof...(X))>{{static_cast<T>(x)...}};
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
