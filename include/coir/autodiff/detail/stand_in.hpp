#pragma once

/// \file
/// What stands, for the compiler alone, for whatever one pass can't differentiate: it is never evaluated. A function that
/// returns something made of one is differentiated statement by statement, by a tape.

#include <coir/array/array.hpp>
#include <coir/autodiff/dual.hpp>

#include <concepts>
#include <type_traits>

namespace coir {

/// An expression that contains an argument of value_and_grad.
template <class E>
concept DualExpression = Expression<E> && is_dual<value_t<E>>;

namespace detail {

/// Whether an expression holds duals in memory: what arguments were evaluated to by something that knows nothing of
/// derivatives.
template <class E>
inline constexpr bool holds_duals = false;
template <class T, int Rank, class Space>
inline constexpr bool holds_duals<Array<T, Rank, Space>> = is_dual<T>;
template <class T, int Rank, class Space>
inline constexpr bool holds_duals<Slice<T, Rank, Space>> = is_dual<std::remove_const_t<T>>;
template <class F, class... Operands>
inline constexpr bool holds_duals<Map<F, Operands...>> = (holds_duals<Operands> || ...);

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
  auto operator()(I...) const {
    return StandIn<D, indexed_rank<Rank, I...>, Space>();
  }

  template <Expression E>
    requires(rank_of<E> == Rank)
  StandIn& operator=(E const&) {
    check_not_evaluated<E>();
    return *this;
  }
  template <class B>
  StandIn& operator+=(B const&) {
    return *this;
  }
  template <class B>
  StandIn& operator-=(B const&) {
    return *this;
  }
  template <class B>
  StandIn& operator*=(B const&) {
    return *this;
  }
  template <class B>
  StandIn& operator/=(B const&) {
    return *this;
  }

  template <class Visit>
  void visit_leaves(Visit const&) const {}
};

/// What stands for a result of rank Rank of some expressions, of which one is of duals.
template <int Rank, class... E>
auto stand_in(E const&...) {
  check_not_evaluated<E...>();
  return StandIn<dual_among_t<value_t<E>...>, Rank, common_space_t<typename E::space...>>();
}

/// Whether an expression is made of a StandIn.
template <class E>
inline constexpr bool stands_in = false;
template <class D, int Rank, class Space>
inline constexpr bool stands_in<StandIn<D, Rank, Space>> = true;
template <class F, class... Operands>
inline constexpr bool stands_in<Map<F, Operands...>> = (stands_in<Operands> || ...);

}  // namespace detail

}  // namespace coir
