#pragma once

/// \file
/// Dual numbers (coir/core/dual.hpp) as elements of arrays: the types that they combine to with
/// other elements.

#include <coir/array/element.hpp>
#include <coir/core/dual.hpp>

#include <type_traits>

namespace coir {

template <class T, int N>
inline constexpr bool is_number<Dual<T, N>> = true;

template <class T, int N, class B>
struct PromotedOf<Dual<T, N>, B> {
  using type = Dual<typename PromotedOf<T, B>::type, N>;
};
template <class A, class T, int N>
  requires(!is_dual<A>)
struct PromotedOf<A, Dual<T, N>> {
  using type = Dual<typename PromotedOf<A, T>::type, N>;
};
template <class A, class B, int N>
struct PromotedOf<Dual<A, N>, Dual<B, N>> {
  using type = Dual<typename PromotedOf<A, B>::type, N>;
};

/// Single numbers stay numbers beside duals.
template <class T, int N, class S>
  requires std::is_arithmetic_v<S>
struct WeakOf<Dual<T, N>, S> {
  using type = detail::scalar_t<T>;
};

/// A single dual beside numbers makes duals of their precision.
template <class A, class T, int N>
  requires std::is_arithmetic_v<A>
struct WeakOf<A, Dual<T, N>> {
  using type = Dual<typename WeakOf<A, T>::type, N>;
};
template <class A, class B, int N>
struct WeakOf<Dual<A, N>, Dual<B, N>> {
  using type = Dual<A, N>;
};

template <class T, int N>
struct RealOf<Dual<T, N>> {
  using type = detail::scalar_t<T>;
};

template <class T, int N, class A>
  requires std::is_arithmetic_v<A>
struct OperandOf<Dual<T, N>, A> {
  using type = detail::scalar_t<T>;
};

}  // namespace coir
