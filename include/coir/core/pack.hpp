#pragma once

/// \file
/// A tuple that kernels may use (std::tuple's functions can't be called on every device).

#include <coir/core/kokkos.hpp>

#include <utility>

namespace coir::detail {

template <std::size_t I, class T>
struct PackItem {
  T value;
};

template <class Indices, class... T>
struct PackOf;

template <std::size_t... I, class... T>
struct PackOf<std::index_sequence<I...>, T...> : PackItem<I, T>... {
  /// f(item...)
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION constexpr decltype(auto) apply(F const& f) const {
    return f(static_cast<PackItem<I, T> const&>(*this).value...);
  }

  /// The same with an f that only hosts can call.
  template <class F>
  constexpr decltype(auto) apply_on_host(F const& f) const {
    return f(static_cast<PackItem<I, T> const&>(*this).value...);
  }
};

/// Values of several types in a row.
template <class... T>
using Pack = PackOf<std::index_sequence_for<T...>, T...>;

}  // namespace coir::detail
