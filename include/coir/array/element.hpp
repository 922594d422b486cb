#pragma once

/// \file
/// Types of array elements, and the types that two of them combine to.

#include <coir/core/kokkos.hpp>

#include <Kokkos_Complex.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace coir {

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<Kokkos::complex<T>> = true;

/// Whether a type is a number that may be an array element. Specialise it, and PromotedOf, for
/// number types of your own.
template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || is_complex<T>;

/// A type of array elements: bool, an integer type, float, double, `Kokkos::complex<float>` or
/// `Kokkos::complex<double>`.
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

namespace detail {

/// The signed integer type of so many bytes; double if there is none.
template <std::size_t Bytes>
using signed_of_t =
    std::conditional_t<Bytes == 2, std::int16_t,
                       std::conditional_t<Bytes == 4, std::int32_t,
                                          std::conditional_t<Bytes == 8, std::int64_t, double>>>;

/// The type that two integer types combine to, by NumPy's rule: the larger type if both or neither
/// are signed; otherwise the smallest signed type that holds both, or double if there is none.
template <std::integral A, std::integral B>
struct PromotedIntegers {
  using type = std::conditional_t<
      std::is_signed_v<A> == std::is_signed_v<B>, std::conditional_t<(sizeof(A) < sizeof(B)), B, A>,
      std::conditional_t<(std::is_signed_v<A> && sizeof(A) > sizeof(B)), A,
                         std::conditional_t<(std::is_signed_v<B> && sizeof(B) > sizeof(A)), B,
                                            signed_of_t<2 * std::max(sizeof(A), sizeof(B))>>>>;
};
template <std::integral B>
struct PromotedIntegers<bool, B> {
  using type = B;
};
template <std::integral A>
  requires(!std::same_as<A, bool>)
struct PromotedIntegers<A, bool> {
  using type = A;
};

}  // namespace detail

/// The type that elements of two types combine to: see promote_t.
template <class A, class B>
struct PromotedOf {
  using type = std::common_type_t<A, B>;
};
template <std::integral A, std::integral B>
struct PromotedOf<A, B> : detail::PromotedIntegers<A, B> {};
template <class A, class B>
  requires(is_complex<A> || is_complex<B>)
struct PromotedOf<A, B> {
  using type = Kokkos::complex<std::common_type_t<real_t<A>, real_t<B>>>;
};

/// The type that elements of arrays of type A and B combine to, as in NumPy: the larger kind of
/// bool < integer < real < complex, and the larger size within a kind. Small integers stay small:
/// uint8 with uint8 is uint8. Signed and unsigned integers combine to the smallest signed type that
/// holds both, int64 with uint64 to double. Unlike in NumPy, an integer with a float gives float,
/// as in C++ and JAX.
template <class A, class B>
using promote_t = typename PromotedOf<A, B>::type;

namespace detail {

template <class A, class B>
struct PromotedWith : PromotedOf<A, B> {};
template <class B>
struct PromotedWith<void, B> {
  using type = B;
};

/// Promotes the integers among types, and the others, apart; void stands for none.
template <class Integers, class Others, class... T>
struct PromotedAll {
  using type = std::conditional_t<std::is_void_v<Others>, Integers, Others>;
};
template <class Integers, class Others, std::integral T, class... Rest>
struct PromotedAll<Integers, Others, T, Rest...>
    : PromotedAll<typename PromotedWith<Integers, T>::type, Others, Rest...> {};
template <class Integers, class Others, class T, class... Rest>
struct PromotedAll<Integers, Others, T, Rest...>
    : PromotedAll<Integers, typename PromotedWith<Others, T>::type, Rest...> {};

}  // namespace detail

/// The type that elements of arrays of several types combine to: promote_t of all, in any order.
/// Beside real and complex numbers integers don't count.
template <class... T>
using promoted_t = typename detail::PromotedAll<void, void, T...>::type;

/// The type that an operand of type A is converted to in an operation whose result is a C. It is C,
/// except where C's operators take plain numbers, as those of dual numbers do.
template <class C, class A>
struct OperandOf {
  using type = C;
};
template <class C, class A>
using operand_t = typename OperandOf<C, A>::type;

/// The type that arithmetic operations compute in: int for bool, else T.
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

/// The type that a single number S takes beside an array of A. As in NumPy, only a number of a
/// larger kind changes the array's type: `0.25 * x` is float if x is. An integer that the array's
/// type doesn't hold is refused.
template <class A, class S>
using weak_t = typename WeakOf<A, S>::type;

namespace detail {

/// Converts a value to the type that is stored. A real number becomes a complex one with imaginary
/// part 0.
template <class To, class From>
KOKKOS_FORCEINLINE_FUNCTION constexpr To stored(From const& value) {
  if constexpr (is_complex<To> && is_complex<From>)
    return To(value.real(), value.imag());
  else if constexpr (is_complex<To> && std::is_arithmetic_v<From>)
    return To(static_cast<real_t<To>>(value));
  else
    return static_cast<To>(value);
}

}  // namespace detail

}  // namespace coir
