#pragma once

/// \file
/// Arithmetic, comparison, logic and bit operators of arrays, all elementwise, lazy and
/// broadcasting.
///
/// Integers divide as in C++ (7 / 2 is 3), and by zero give 0. Overflow wraps around. On bool
/// arrays + and * count: the result is int. && and || evaluate both sides.
///
/// Types combine as promote_t and weak_t say. In arithmetic a single integer that the array's type
/// doesn't hold is a PreconditionError. Comparisons compare values, whatever their types.

#include <coir/array/array.hpp>
#include <coir/array/detail/complex_math.hpp>
#include <coir/array/expression.hpp>

#include <concepts>
#include <type_traits>

namespace coir {

namespace detail {

/// The unsigned type that integers of type T are computed in, so that overflow wraps around, as in
/// NumPy. In signed types it would be undefined.
template <class T>
using wrapping_t = std::common_type_t<std::make_unsigned_t<T>, unsigned>;

/// An arithmetic operator as a functor, which converts both numbers to the type that they combine
/// to.
#define COIR_ARITHMETIC(Name, symbol)                                                        \
  struct Name {                                                                              \
    template <class A, class B>                                                              \
    KOKKOS_FORCEINLINE_FUNCTION auto operator()(A const& a, B const& b) const {              \
      using C = number_t<promote_t<A, B>>;                                                   \
      if constexpr (std::is_integral_v<C>) {                                                 \
        using U = wrapping_t<C>;                                                             \
        return static_cast<C>(static_cast<U>(static_cast<C>(a))                              \
                                  symbol static_cast<U>(static_cast<C>(b)));                 \
      } else {                                                                               \
        return static_cast<C>(stored<operand_t<C, A>>(a) symbol stored<operand_t<C, B>>(b)); \
      }                                                                                      \
    }                                                                                        \
  };
COIR_ARITHMETIC(Add, +)
COIR_ARITHMETIC(Subtract, -)
COIR_ARITHMETIC(Multiply, *)
#undef COIR_ARITHMETIC

struct Divide {
  template <class A, class B>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(A const& a, B const& b) const {
    using C = number_t<promote_t<A, B>>;
    auto const x = stored<operand_t<C, A>>(a);
    auto const y = stored<operand_t<C, B>>(b);
    if constexpr (std::is_integral_v<C>) {
      if (y == C(0)) return C(0);
      if constexpr (std::is_signed_v<C>)
        if (y == C(-1))
          return static_cast<C>(std::make_unsigned_t<C>(0) -
                                static_cast<std::make_unsigned_t<C>>(x));
      return static_cast<C>(x / y);
    } else if constexpr (is_complex<C>) {
      return math::divide(x, y);
    } else {
      return C(x / y);
    }
  }
};

struct Remainder {
  template <std::integral A, std::integral B>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(A a, B b) const {
    using C = number_t<promote_t<A, B>>;
    C const x = static_cast<C>(a), y = static_cast<C>(b);
    if (y == C(0)) return C(0);
    if constexpr (std::is_signed_v<C>)
      if (y == C(-1)) return C(0);
    return static_cast<C>(x % y);
  }
};

struct And {
  KOKKOS_FORCEINLINE_FUNCTION bool operator()(bool a, bool b) const { return a & b; }
};
struct Or {
  KOKKOS_FORCEINLINE_FUNCTION bool operator()(bool a, bool b) const { return a | b; }
};
struct Not {
  KOKKOS_FORCEINLINE_FUNCTION bool operator()(bool a) const { return !a; }
};

#define COIR_BIT_OPERATION(Name, symbol)                                 \
  struct Name {                                                          \
    template <std::integral A, std::integral B>                          \
    KOKKOS_FORCEINLINE_FUNCTION auto operator()(A a, B b) const {        \
      using C = promote_t<A, B>;                                         \
      return static_cast<C>(static_cast<C>(a) symbol static_cast<C>(b)); \
    }                                                                    \
  };
COIR_BIT_OPERATION(BitAnd, &)
COIR_BIT_OPERATION(BitOr, |)
COIR_BIT_OPERATION(BitXor, ^)
#undef COIR_BIT_OPERATION

/// x 2^n and x / 2^n rounded down; 0, or all sign bits, if n exceeds the type's bits.
struct ShiftLeft {
  template <std::integral A, std::integral B>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(A a, B n) const {
    using C = number_t<promote_t<A, B>>;
    using U = wrapping_t<C>;
    constexpr int bits = 8 * sizeof(C);
    return n < B(0) || n >= bits ? C(0) : static_cast<C>(static_cast<U>(static_cast<C>(a)) << n);
  }
};
struct ShiftRight {
  template <std::integral A, std::integral B>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(A a, B n) const {
    using C = number_t<promote_t<A, B>>;
    constexpr int bits = 8 * sizeof(C);
    C const value = static_cast<C>(a);
    return n < B(0) || n >= bits ? static_cast<C>(value < C(0) ? C(-1) : C(0))
                                 : static_cast<C>(value >> n);
  }
};
struct BitNot {
  template <std::integral A>
  KOKKOS_FORCEINLINE_FUNCTION A operator()(A a) const {
    if constexpr (std::same_as<A, bool>)
      return !a;
    else
      return static_cast<A>(~a);
  }
};
struct Negate {
  template <class A>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(A const& a) const {
    using C = number_t<A>;
    if constexpr (std::is_integral_v<C>)
      return static_cast<C>(wrapping_t<C>(0) - static_cast<wrapping_t<C>>(static_cast<C>(a)));
    else
      return static_cast<C>(-stored<C>(a));
  }
};
struct Plus {
  template <class A>
  KOKKOS_FORCEINLINE_FUNCTION A operator()(A const& a) const {
    return a;
  }
};

/// f of two operands of which at least one is an expression.
template <class F, class A, class B>
auto combine(F f, A&& a, B&& b) {
  if constexpr (Expression<A> && Expression<B>)
    return map(f, std::forward<A>(a), std::forward<B>(b));
  else if constexpr (Expression<A>)
    return map(f, std::forward<A>(a), operand_beside<value_t<A>>(b));
  else
    return map(f, operand_beside<value_t<B>>(a), std::forward<B>(b));
}

template <class E>
concept Operand = Expression<E> || Scalar<E>;

/// Two operands, at least one of them an expression, with elements in one memory space.
template <class A, class B>
concept Combinable = (Expression<A> && Expression<B> && SameSpace<A, B>) ||
                     (Expression<A> && Scalar<B>) || (Scalar<A> && Expression<B>);

template <class E>
struct ElementOf {
  using type = std::remove_cvref_t<E>;
};
template <Expression E>
struct ElementOf<E> {
  using type = value_t<E>;
};
template <class E>
using element_t = typename ElementOf<std::remove_cvref_t<E>>::type;

/// The type that two operands combine to, at least one of which is an expression.
template <class A, class B>
struct CombinedType {
  using type = promote_t<element_t<A>, element_t<B>>;
};
template <Expression A, Scalar B>
struct CombinedType<A, B> {
  using type = weak_t<value_t<A>, std::remove_cvref_t<B>>;
};
template <Scalar A, Expression B>
struct CombinedType<A, B> {
  using type = weak_t<value_t<B>, std::remove_cvref_t<A>>;
};

/// Integers that combine to integers: int64 and uint64 don't.
template <class A, class B>
concept CombinableIntegers =
    Combinable<A, B> && std::integral<element_t<A>> && std::integral<element_t<B>> &&
    std::integral<typename CombinedType<std::remove_cvref_t<A>, std::remove_cvref_t<B>>::type>;
template <class A, class B>
concept CombinableBools =
    Combinable<A, B> && std::same_as<element_t<A>, bool> && std::same_as<element_t<B>, bool>;
template <class A, class B>
concept CombinableOrdered =
    Combinable<A, B> && !is_complex<element_t<A>> && !is_complex<element_t<B>>;

/// Whether an integer expression of elements T is compared with a number of type S that T may not
/// hold.
template <class T, class S>
inline constexpr bool outreaches = false;
template <std::integral T, std::floating_point S>
inline constexpr bool outreaches<T, S> = true;
template <std::integral T, std::integral S>
inline constexpr bool outreaches<T, S> = !holds_all<T, S>;

/// f of two operands, where f compares. A single number beside integers keeps its value, whatever
/// their type.
template <class F, class Mirrored, class A, class B>
auto compare(F f, Mirrored mirrored, A&& a, B&& b) {
  if constexpr (Expression<A> && Expression<B>)
    return map(f, std::forward<A>(a), std::forward<B>(b));
  else if constexpr (!Expression<A>)
    return compare(mirrored, f, std::forward<B>(b), a);
  else if constexpr (outreaches<value_t<A>, element_t<B>>)
    return map(beside_number<F, value_t<A>>(b), std::forward<A>(a));
  else
    return map(f, std::forward<A>(a), operand_beside<value_t<A>>(b));
}

}  // namespace detail

#define COIR_BINARY_OPERATOR(symbol, Function, Allowed)                                 \
  template <class A, class B>                                                           \
    requires detail::Allowed<A, B>                                                      \
  auto operator symbol(A&& a, B&& b) {                                                  \
    return detail::combine(detail::Function{}, std::forward<A>(a), std::forward<B>(b)); \
  }
COIR_BINARY_OPERATOR(+, Add, Combinable)
COIR_BINARY_OPERATOR(-, Subtract, Combinable)
COIR_BINARY_OPERATOR(*, Multiply, Combinable)
COIR_BINARY_OPERATOR(/, Divide, Combinable)
COIR_BINARY_OPERATOR(%, Remainder, CombinableIntegers)
COIR_BINARY_OPERATOR(&&, And, CombinableBools)
COIR_BINARY_OPERATOR(||, Or, CombinableBools)
COIR_BINARY_OPERATOR(&, BitAnd, CombinableIntegers)
COIR_BINARY_OPERATOR(|, BitOr, CombinableIntegers)
COIR_BINARY_OPERATOR(^, BitXor, CombinableIntegers)
COIR_BINARY_OPERATOR(<<, ShiftLeft, CombinableIntegers)
COIR_BINARY_OPERATOR(>>, ShiftRight, CombinableIntegers)
#undef COIR_BINARY_OPERATOR

#define COIR_COMPARISON_OPERATOR(symbol, Function, Mirrored, Allowed)                  \
  template <class A, class B>                                                          \
    requires detail::Allowed<A, B>                                                     \
  auto operator symbol(A&& a, B&& b) {                                                 \
    return detail::compare(detail::Function{}, detail::Mirrored{}, std::forward<A>(a), \
                           std::forward<B>(b));                                        \
  }
COIR_COMPARISON_OPERATOR(<, Less, Greater, CombinableOrdered)
COIR_COMPARISON_OPERATOR(<=, LessEqual, GreaterEqual, CombinableOrdered)
COIR_COMPARISON_OPERATOR(>, Greater, Less, CombinableOrdered)
COIR_COMPARISON_OPERATOR(>=, GreaterEqual, LessEqual, CombinableOrdered)
COIR_COMPARISON_OPERATOR(==, Equal, Equal, Combinable)
COIR_COMPARISON_OPERATOR(!=, NotEqual, NotEqual, Combinable)
#undef COIR_COMPARISON_OPERATOR

template <Expression A>
auto operator-(A&& a) {
  return map(detail::Negate{}, std::forward<A>(a));
}
template <Expression A>
auto operator+(A&& a) {
  return map(detail::Plus{}, std::forward<A>(a));
}
template <Expression A>
  requires std::same_as<value_t<A>, bool>
auto operator!(A&& a) {
  return map(detail::Not{}, std::forward<A>(a));
}
template <Expression A>
  requires std::integral<value_t<A>>
auto operator~(A&& a) {
  return map(detail::BitNot{}, std::forward<A>(a));
}

namespace detail {

/// Whether A may stand on the left of += and its like: an array, or a slice that can be written.
template <class A>
inline constexpr bool is_target = false;
template <class T, int Rank, class Space>
inline constexpr bool is_target<Array<T, Rank, Space>> = true;
template <class T, int Rank, class Space>
inline constexpr bool is_target<Slice<T, Rank, Space>> = !std::is_const_v<T>;

template <class A>
concept Target = is_target<std::remove_cvref_t<A>>;

/// The target as a slice, through which its elements are written.
template <Target A>
auto in_place(A&& target) {
  if constexpr (requires { target.all(); })
    return target.all();
  else
    return target;
}

/// An operand that takes the target's type, as in NumPy: no float array becomes double by +=.
template <class T, class B>
auto value_for(B&& b) {
  if constexpr (Expression<B>)
    return operand(std::forward<B>(b));
  else
    return operand_beside<T>(b);
}

}  // namespace detail

#define COIR_COMPOUND_ASSIGNMENT(symbol, Function)                                                \
  template <detail::Target A, class B>                                                            \
    requires detail::Combinable<A, B>                                                             \
  A&& operator symbol(A && target, B && value) {                                                  \
    auto const elements = detail::in_place(target);                                               \
    elements =                                                                                    \
        map(detail::Function{}, elements, detail::value_for<value_t<A>>(std::forward<B>(value))); \
    return std::forward<A>(target);                                                               \
  }
COIR_COMPOUND_ASSIGNMENT(+=, Add)
COIR_COMPOUND_ASSIGNMENT(-=, Subtract)
COIR_COMPOUND_ASSIGNMENT(*=, Multiply)
COIR_COMPOUND_ASSIGNMENT(/=, Divide)
COIR_COMPOUND_ASSIGNMENT(%=, Remainder)
COIR_COMPOUND_ASSIGNMENT(&=, BitAnd)
COIR_COMPOUND_ASSIGNMENT(|=, BitOr)
COIR_COMPOUND_ASSIGNMENT(^=, BitXor)
COIR_COMPOUND_ASSIGNMENT(<<=, ShiftLeft)
COIR_COMPOUND_ASSIGNMENT(>>=, ShiftRight)
#undef COIR_COMPOUND_ASSIGNMENT

}  // namespace coir
