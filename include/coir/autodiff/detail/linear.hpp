#pragma once

/// \file
/// What an expression's type says about its derivatives along Traced arrays: whether they depend on
/// the values of these arrays, and whether they are the same number in each cell.

#include <coir/array/array.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/operators.hpp>

#include <algorithm>
#include <concepts>

namespace coir {

template <class T, int Rank, class Space>
class Traced;

namespace detail {

template <class E>
inline constexpr bool is_traced = false;
template <class T, int Rank, class Space>
inline constexpr bool is_traced<Traced<T, Rank, Space>> = true;

/// Whether an expression contains a Traced.
template <class E>
inline constexpr bool holds_traced = is_traced<E>;
template <class F, class... Operands>
inline constexpr bool holds_traced<Map<F, Operands...>> = (holds_traced<Operands> || ...);

/// How many Traced arrays of type T an expression contains.
template <class T, class E>
inline constexpr int traced_of = 0;
template <class T, int Rank, class Space>
inline constexpr int traced_of<T, Traced<T, Rank, Space>> = 1;
template <class T, class F, class... Operands>
inline constexpr int traced_of<T, Map<F, Operands...>> = (traced_of<T, Operands> + ... + 0);

/// How many Traced arrays an expression contains.
template <class E>
inline constexpr int traced_count = is_traced<E> ? 1 : 0;
template <class F, class... Operands>
inline constexpr int traced_count<Map<F, Operands...>> = (traced_count<Operands> + ... + 0);

/// Whether an expression is one number everywhere.
template <class E>
inline constexpr bool is_one_number = false;
template <class T>
inline constexpr bool is_one_number<Constant<T>> = true;
template <class F, class... Operands>
inline constexpr bool is_one_number<Map<F, Operands...>> = (is_one_number<Operands> && ...);

/// What is known of the derivatives of f(operands).
enum class Slopes { depend_on_values, depend_on_constants, are_numbers };

template <class E>
inline constexpr Slopes slopes_of = Slopes::are_numbers;

/// Of a function of which nothing is known.
template <class F, class... Operands>
struct SlopesOf {
  static constexpr Slopes value = Slopes::depend_on_values;
};
template <class F, class... Operands>
inline constexpr Slopes slopes_of<Map<F, Operands...>> =
    holds_traced<Map<F, Operands...>> ? SlopesOf<F, Operands...>::value : Slopes::are_numbers;

template <class... Operands>
inline constexpr Slopes slopes_of_all = std::min({slopes_of<Operands>...});

template <class A, class B>
struct SlopesOf<Add, A, B> {
  static constexpr Slopes value = slopes_of_all<A, B>;
};
template <class A, class B>
struct SlopesOf<Subtract, A, B> {
  static constexpr Slopes value = slopes_of_all<A, B>;
};

/// Of a times b, or a over b, where b doesn't depend on Traced arrays.
template <class A, class B>
inline constexpr Slopes slopes_of_scaled =
    holds_traced<B> ? Slopes::depend_on_values
                    : std::min(slopes_of<A>, is_one_number<B> ? Slopes::are_numbers
                                                              : Slopes::depend_on_constants);
template <class A, class B>
struct SlopesOf<Multiply, A, B> {
  static constexpr Slopes value = holds_traced<A> ? slopes_of_scaled<A, B> : slopes_of_scaled<B, A>;
};
template <class A, class B>
struct SlopesOf<Divide, A, B> {
  static constexpr Slopes value = slopes_of_scaled<A, B>;
};
template <class Mask, class A, class B>
struct SlopesOf<Where, Mask, A, B> {
  static constexpr Slopes value = holds_traced<Mask>
                                      ? Slopes::depend_on_values
                                      : std::min(slopes_of_all<A, B>, Slopes::depend_on_constants);
};

#define COIR_LINEAR_FUNCTION(...)                 \
  struct SlopesOf<__VA_ARGS__, A> {               \
    static constexpr Slopes value = slopes_of<A>; \
  };
template <class A>
COIR_LINEAR_FUNCTION(Negate)
template <class A>
COIR_LINEAR_FUNCTION(Plus)
template <class A>
COIR_LINEAR_FUNCTION(Real)
template <class A>
COIR_LINEAR_FUNCTION(Imag)
template <class A>
COIR_LINEAR_FUNCTION(Conj)
template <class To, class A>
COIR_LINEAR_FUNCTION(Cast<To>)
#undef COIR_LINEAR_FUNCTION

/// Whether the way back through an expression needs none of the values of its Traced arrays, which
/// are all of type T.
template <class T, class E>
inline constexpr bool forgets_values = slopes_of<E> != Slopes::depend_on_values
                                       && traced_of<T, E> == traced_count<E>;

/// Whether the derivatives of an expression along its real Traced arrays of type T are numbers.
template <class T, class E>
inline constexpr bool has_numbers_as_slopes =
    std::floating_point<T> && std::floating_point<value_t<E>> &&
    slopes_of<E> == Slopes::are_numbers && traced_of<T, E> == traced_count<E>;

}  // namespace detail

}  // namespace coir
