#pragma once

/// \file
/// Types of array elements, and which type comes of combining two.

#include <coir/core/kokkos.hpp>

#include <Kokkos_Complex.hpp>

#include <concepts>
#include <type_traits>

namespace coir {

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<Kokkos::complex<T>> = true;

/// True for further number types that may be array elements: specialise it, and PromotedOf, for your own.
template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || is_complex<T>;

/// What an array may hold: bool, integers, float, double, Kokkos::complex of these two.
template <class T>
concept Element = is_number<T> && std::is_trivially_copyable_v<T>;

/// float or double.
template <class T>
concept RealElement = std::floating_point<T>;

/// Kokkos::complex<float> or Kokkos::complex<double>.
template <class T>
concept ComplexElement = is_complex<T>;

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<Kokkos::complex<T>> {
  using type = T;
};

/// The type of a number's real part.
template <class T>
using real_t = typename RealOf<T>::type;

/// The type of what two elements of arrays combine to.
template <class A, class B>
struct PromotedOf {
  using type = std::common_type_t<A, B>;
};
template <class A, class B>
  requires(is_complex<A> || is_complex<B>)
struct PromotedOf<A, B> {
  using type = Kokkos::complex<std::common_type_t<real_t<A>, real_t<B>>>;
};

/// The type that elements of arrays of type A and B combine to: the larger kind of bool < integer < real
/// < complex, and the larger size within a kind, as in NumPy, but for an integer with a float, which
/// gives float in C++ and JAX. Small integers stay small: uint8 with uint8 is uint8.
template <class A, class B>
using promote_t = typename PromotedOf<A, B>::type;

/// The type that an operand A takes in an operation that gives a C: C itself, or less where C's own
/// operators mix with plain numbers (dual numbers do).
template <class C, class A>
struct OperandOf {
  using type = C;
};
template <class C, class A>
using operand_t = typename OperandOf<C, A>::type;

/// What an arithmetic operation makes of bool: a number.
template <class T>
using number_t = std::conditional_t<std::is_same_v<T, bool>, int, T>;

/// The type that real functions such as sin compute in: the type itself, or double for integers.
template <class T>
using floating_t = std::conditional_t<std::is_integral_v<T>, double, T>;

template <class A, class S>
struct WeakOf {
  using type = std::conditional_t<
      std::is_same_v<A, bool> || (std::is_integral_v<A> && std::is_floating_point_v<S>), S, A>;
};
template <class A, class S>
struct WeakOf<A, Kokkos::complex<S>> {
  using type =
      std::conditional_t<std::is_integral_v<A>, Kokkos::complex<S>, Kokkos::complex<real_t<A>>>;
};

/// The type that a single number S takes next to an array of A: as in NumPy it never makes a float array
/// double, only a number of a larger kind changes the kind. `0.25 * x` is float if x is.
template <class A, class S>
using weak_t = typename WeakOf<A, S>::type;

}  // namespace coir
