#pragma once

/// \file
/// Takes the place, for the compiler alone, of results that one pass can't differentiate. It is
/// never evaluated. A function whose result contains one is differentiated statement by statement,
/// by a tape.

#include <coir/array/array.hpp>
#include <coir/array/dual_elements.hpp>
#include <coir/autodiff/detail/dual_complex.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace coir {

namespace detail {

/// Whether a functor makes an argument of value_and_grad out of an array.
template <class F>
inline constexpr bool makes_arguments = false;

/// Whether an expression contains an argument of value_and_grad.
template <class E>
inline constexpr bool holds_argument = false;
template <class F, class... Operands>
inline constexpr bool holds_argument<Map<F, Operands...>> =
    makes_arguments<F> || (holds_argument<Operands> || ...);

}  // namespace detail

/// An expression that contains an argument of value_and_grad. Arrays of duals, which jvp makes,
/// are none.
template <class E>
concept DualExpression = Expression<E> && detail::holds_argument<std::remove_cvref_t<E>> &&
                         detail::carries_derivatives<value_t<E>>;

namespace detail {

/// Whether an expression holds duals in memory, because a function without derivatives has
/// evaluated arguments.
template <class E>
inline constexpr bool holds_duals = false;
template <class T, int Rank, class Space>
inline constexpr bool holds_duals<Array<T, Rank, Space>> = carries_derivatives<T>;
template <class T, int Rank, class Space>
inline constexpr bool holds_duals<Slice<T, Rank, Space>> =
    carries_derivatives<std::remove_const_t<T>>;
template <class F, class... Operands>
inline constexpr bool holds_duals<Map<F, Operands...>> =
    !makes_arguments<F> && (holds_duals<Operands> || ...);

template <class... E>
constexpr void check_not_evaluated() {
  static_assert(!(holds_duals<E> || ...),
                "an argument of value_and_grad was evaluated on the way by a function that has no "
                "derivative");
}

/// \tparam D  the type of its elements, a dual
template <class D, int Rank, class Space>
class StandIn : public ExpressionBase {
 public:
  using value_type = D;
  using space = Space;
  static constexpr int rank = Rank;

  Shape<Rank> shape() const { return {}; }
  std::int64_t extent(int) const { return 0; }
  std::int64_t size() const { return 0; }

  template <Index... I>
    requires(axes_indexed<I...> <= Rank) && (sizeof...(I) > 0)
  StandIn<D, indexed_rank<Rank, I...>, Space> operator()(I...) & {
    return {};
  }
  template <Index... I>
    requires(axes_indexed<I...> <= Rank) && (sizeof...(I) > 0)
  StandIn<D, indexed_rank<Rank, I...>, Space> const operator()(I...) const& {
    return {};
  }

  StandIn() = default;
  StandIn(StandIn const&) = default;
  StandIn& operator=(StandIn const&) & = default;

#define COIR_STAND_IN_ASSIGNMENT(symbol)                                                         \
  template <class B>                                                                             \
  StandIn& operator symbol(B const&)& {                                                          \
    if constexpr (Expression<B>) check_not_evaluated<B>();                                       \
    return *this;                                                                                \
  }                                                                                              \
  template <class B>                                                                             \
  void operator symbol(B const&)&& {                                                             \
    if constexpr (Expression<B>) {                                                               \
      check_not_evaluated<B>();                                                                  \
      static_assert(rank_of<B> <= Rank,                                                          \
                    "the values have more axes than what they are written into");                \
    }                                                                                            \
  }                                                                                              \
  template <class B>                                                                             \
  void operator symbol(B const&) const&& {                                                       \
    static_assert(never<B>,                                                                      \
                  "arguments of value_and_grad, and parts of parts, aren't written: begin with " \
                  "auto u = evaluate(x), and name all indices at once, u(i, j) = ...");          \
  }
  COIR_STAND_IN_ASSIGNMENT(=)
  COIR_STAND_IN_ASSIGNMENT(+=)
  COIR_STAND_IN_ASSIGNMENT(-=)
  COIR_STAND_IN_ASSIGNMENT(*=)
  COIR_STAND_IN_ASSIGNMENT(/=)
#undef COIR_STAND_IN_ASSIGNMENT

  template <class Visit>
  void visit_leaves(Visit const&) const {}
};

template <class D, int Rank, class Space>
inline constexpr bool holds_argument<StandIn<D, Rank, Space>> = true;

/// The first type with derivatives.
template <class First, class... Rest>
struct FirstDual {
  using type = typename FirstDual<Rest...>::type;
};
template <class First, class... Rest>
  requires carries_derivatives<First>
struct FirstDual<First, Rest...> {
  using type = First;
};

/// The stand-in for a result of rank Rank of some expressions, one of which is of duals.
template <int Rank, class... E>
auto stand_in(E const&...) {
  check_not_evaluated<E...>();
  return StandIn<typename FirstDual<value_t<E>...>::type, Rank,
                 common_space_t<typename E::space...>>();
}

/// The stand-in for a real result.
template <class D>
struct RealDual {
  using type = D;
};
template <class T, int N>
struct RealDual<DualComplex<T, N>> {
  using type = Dual<T, N>;
};
template <int Rank, class... E>
auto real_stand_in(E const&...) {
  check_not_evaluated<E...>();
  using D = typename FirstDual<value_t<E>...>::type;
  return StandIn<typename RealDual<D>::type, Rank, common_space_t<typename E::space...>>();
}

/// Whether an expression is made of a StandIn.
template <class E>
inline constexpr bool stands_in = false;
template <class D, int Rank, class Space>
inline constexpr bool stands_in<StandIn<D, Rank, Space>> = true;
template <class F, class... Operands>
inline constexpr bool stands_in<Map<F, Operands...>> = (stands_in<Operands> || ...);

}  // namespace detail

/// A DualExpression that no function without derivatives has evaluated.
template <class E>
concept DualOperand = DualExpression<E> && !detail::holds_duals<std::remove_cvref_t<E>>;

/// The elements of arrays of duals in another precision; integers have no derivatives.
template <Element T, Expression E>
  requires detail::CastableTo<E, T> && detail::carries_derivatives<value_t<E>> &&
           (!DualExpression<E>) && (!detail::carries_derivatives<T>)
auto cast(E&& x) {
  return map(detail::CastOfDual<T>{}, std::forward<E>(x));
}

/// The elements in another precision.
template <Element T, DualOperand E>
  requires detail::CastableTo<E, T> && (!detail::carries_derivatives<T>)
auto cast([[maybe_unused]] E&& x) {
  using D = value_t<E>;
  static_assert(is_dual<D> && !is_complex<T>,
                "there is no derivative of cast but of real numbers to real numbers");
  if constexpr (std::integral<T>)
    return map(detail::CastOfDual<T>{}, std::forward<E>(x));  // its derivative is 0
  else
    return detail::StandIn<Dual<T, detail::directions_of<D>>, rank_of<E>,
                           typename std::remove_cvref_t<E>::space>();
}

/// The real part, the imaginary part and the conjugate of numbers with derivatives.
template <Expression E>
  requires detail::carries_derivatives<value_t<E>>
auto real(E&& x) {
  return map(detail::RealOfDual{}, std::forward<E>(x));
}
template <Expression E>
  requires detail::carries_derivatives<value_t<E>>
auto imag(E&& x) {
  return map(detail::ImagOfDual{}, std::forward<E>(x));
}
template <Expression E>
  requires detail::carries_derivatives<value_t<E>>
auto conj(E&& x) {
  return map(detail::ConjOfDual{}, std::forward<E>(x));
}

}  // namespace coir
