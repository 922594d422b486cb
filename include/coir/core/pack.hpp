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
  /// Calls f(item...).
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION constexpr decltype(auto) apply(F const& f) const {
    return f(static_cast<PackItem<I, T> const&>(*this).value...);
  }

  /// Calls f(item...), where only hosts can call f.
  template <class F>
  constexpr decltype(auto) apply_on_host(F const& f) const {
    return f(static_cast<PackItem<I, T> const&>(*this).value...);
  }
};

/// A tuple of values of several types.
template <class... T>
using Pack = PackOf<std::index_sequence_for<T...>, T...>;

}  // namespace coir::detail
