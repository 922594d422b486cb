#pragma once

/// \file
/// The result of a function that value_and_grad differentiates: reductions of expressions of duals,
/// and functions of these reductions, not evaluated yet.
///
/// Reductions of expressions that contain an argument (sum, prod, min, max, mean, dot, norm) make
/// an Objective. Objectives combine with numbers and with each other by + - * /, real functions and
/// pow. Where several elements are equally extreme, min and max share the derivative evenly. The
/// derivative of norm at 0 is 0.

#include <coir/array/dual_elements.hpp>
#include <coir/array/reductions.hpp>
#include <coir/autodiff/detail/forward_arrays.hpp>
#include <coir/autodiff/detail/stand_in.hpp>
#include <coir/autodiff/detail/terms.hpp>

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace coir {

namespace detail {

/// One reduction of an expression of duals.
template <class Kind, class E>
struct Term {
  using Result = typename Kind::result_type;
  Kind kind;
  E expression;
};

struct ObjectiveBase {};

template <class O>
concept AnObjective = std::derived_from<std::remove_cvref_t<O>, ObjectiveBase>;

template <class S>
concept PlainNumber = std::is_arithmetic_v<S>;

template <class B>
constexpr void check_not_assigned_to() {
  static_assert(never<B>,
                "a number can't take what depends on arguments of value_and_grad, and neither can "
                "a reduction of them: begin with a statement, auto s = evaluate(sum(x))");
}

}  // namespace detail

/// f of the results of some reductions.
///
/// \tparam Affine  whether f is a weighted sum of the results and a constant
/// \tparam F       takes a pointer to the results, numbers or duals
template <bool Affine, class F, class... Terms>
class Objective : public detail::ObjectiveBase {
 public:
  static constexpr bool affine = Affine;
  static constexpr std::size_t count = sizeof...(Terms);
  using Result = promoted_t<typename Terms::Result...>;

  Objective(F f, std::tuple<Terms...> terms) : f_(std::move(f)), terms_(std::move(terms)) {}

  F const& function() const { return f_; }
  std::tuple<Terms...> const& terms() const { return terms_; }

  /// g of this.
  template <bool GAffine, class G>
  auto then(G g) const {
    auto both = [f = f_, g](auto const* results) { return g(f(results)); };
    return Objective < Affine && GAffine, decltype(both), Terms... > (both, terms_);
  }

  /// g of this and another one.
  template <bool GAffine, class G, bool OtherAffine, class OtherF, class... OtherTerms>
  auto with(Objective<OtherAffine, OtherF, OtherTerms...> const& other, G g) const {
    auto both = [f = f_, h = other.function(), g](auto const* results) {
      return g(f(results), h(results + count));
    };
    return Objective < Affine && OtherAffine && GAffine, decltype(both), Terms...,
           OtherTerms... > (both, std::tuple_cat(terms_, other.terms()));
  }

  Objective(Objective const&) = default;
#define COIR_OBJECTIVE_ASSIGNMENT(symbol) \
  template <class B>                      \
  void operator symbol(B const&) {        \
    detail::check_not_assigned_to<B>();   \
  }
  COIR_OBJECTIVE_ASSIGNMENT(=)
  COIR_OBJECTIVE_ASSIGNMENT(+=)
  COIR_OBJECTIVE_ASSIGNMENT(-=)
  COIR_OBJECTIVE_ASSIGNMENT(*=)
  COIR_OBJECTIVE_ASSIGNMENT(/=)
#undef COIR_OBJECTIVE_ASSIGNMENT

 private:
  F f_;
  std::tuple<Terms...> terms_;
};

namespace detail {

struct FirstResult {
  template <class R>
  R operator()(R const* results) const {
    return results[0];
  }
};

template <class Kind, class E>
auto objective(E const& expression) {
  using T = Term<Kind, decltype(operand(expression))>;
  return Objective<Kind::linear, FirstResult, T>({}, std::tuple<T>(T{Kind{}, operand(expression)}));
}

/// The type of the values of an expression of duals.
template <class E>
using dual_value_t = std::remove_cvref_t<decltype(std::declval<value_t<E>>().value)>;

}  // namespace detail

// ---- the reductions ----

/// The sum of all elements.
template <DualExpression E>
auto sum(E const& x) {
  if constexpr (is_dual<value_t<E>>)
    return detail::objective<detail::SumTerm<detail::dual_value_t<E>, detail::on_host<E>>>(x);
  else
    return detail::stand_in<0>(x);
}

/// The product of all elements. The derivative with respect to an element is the product of the
/// others, also where an element is 0.
template <DualExpression E>
auto prod(E const& x) {
  return detail::objective<detail::ProductTerm<detail::dual_value_t<E>>>(x);
}

/// The smallest element.
///
/// \throws PreconditionError if there are no elements
template <DualExpression E>
  requires detail::RealOperand<E>
auto min(E const& x) {
  detail::expects_elements(x, "minimum");
  return detail::objective<detail::ExtremeTerm<detail::dual_value_t<E>, false>>(x);
}

/// The largest element.
///
/// \throws PreconditionError if there are no elements
template <DualExpression E>
  requires detail::RealOperand<E>
auto max(E const& x) {
  detail::expects_elements(x, "maximum");
  return detail::objective<detail::ExtremeTerm<detail::dual_value_t<E>, true>>(x);
}

/// The mean of all elements.
///
/// \throws PreconditionError if there are no elements
template <DualExpression E>
auto mean(E const& x) {
  detail::expects_elements(x, "mean");
  using T = real_t<value_t<E>>;
  return sum(x) / static_cast<T>(static_cast<double>(size_of(x.shape())));
}

/// The Euclidean norm of all elements. Its derivative at 0 is 0.
template <DualExpression E>
auto norm(E const& x) {
  if constexpr (is_dual<value_t<E>>)
    return sum(square(x)).template then<false>([](auto const& s) {
      using S = std::remove_cvref_t<decltype(s)>;
      return s == 0 ? S(0) : S(sqrt(s));
    });
  else
    return detail::real_stand_in<0>(x);
}

namespace detail {

/// The values of an expression of arguments, for functions whose results have no derivative.
///
/// \throws PreconditionError for the result of a statement, which isn't computed in one pass
template <class E>
auto values_in_one_pass(E const& x) {
  if constexpr (stands_in<E>) {
    throw PreconditionError(
        "places of elements of a statement's result aren't known in one pass: write evaluate(x) "
        "for an argument that is reduced");
    return Array<dual_value_t<E>, rank_of<E>, typename E::space>();
  } else {
    return map(ValuePart{}, x);
  }
}

}  // namespace detail

/// The index, in C order, of the first smallest or largest element. It has no derivative.
///
/// \throws PreconditionError if there are no elements
template <DualExpression E>
  requires detail::RealOperand<E>
std::int64_t argmin(E const& x) {
  return argmin(detail::values_in_one_pass(x));
}
template <DualExpression E>
  requires detail::RealOperand<E>
std::int64_t argmax(E const& x) {
  return argmax(detail::values_in_one_pass(x));
}

// ---- functions without derivatives: the compiler says so in one line, and goes on with `stand_in`
// ----

#define COIR_NOT_DIFFERENTIATED(name, parameters, stand_in)              \
  auto name parameters {                                                 \
    static_assert(detail::never<E>, "there is no derivative of " #name); \
    return stand_in;                                                     \
  }
template <DualExpression E>
COIR_NOT_DIFFERENTIATED(unique, (E const& x), operand(x))
template <DualExpression E, class... More>
COIR_NOT_DIFFERENTIATED(histogram, (E const& x, More...), operand(x))
#undef COIR_NOT_DIFFERENTIATED

// ---- functions of reductions ----

template <detail::AnObjective O>
auto operator+(O const& o) {
  return o;
}
template <detail::AnObjective O>
auto operator-(O const& o) {
  return o.template then<true>([](auto const& r) { return -r; });
}

namespace detail {

/// The expression that an objective's first term reduces.
template <class O>
struct ReducedExpression;
template <bool Affine, class F, class Kind, class E, class... Terms>
struct ReducedExpression<Objective<Affine, F, Term<Kind, E>, Terms...>> {
  using type = E;
};

/// The stand-in for an expression of elements of type D that uses a reduction of an argument.
template <class D, class E, class O>
auto among_elements_of() {
  using Reduced = typename ReducedExpression<O>::type;
  check_not_evaluated<E, Reduced>();
  return StandIn<D, rank_of<E>, common_space_t<typename E::space, typename Reduced::space>>();
}
template <class E, class O>
auto among_elements() {
  return among_elements_of<value_t<typename ReducedExpression<O>::type>, E, O>();
}

template <class B>
concept ObjectiveOrDual = AnObjective<B> || DualExpression<B>;

template <class A, class B>
bool refused_comparison() {
  static_assert(never<A, B>,
                "a reduction of an argument is no number yet: functions given to value_and_grad "
                "can't compare it, use maximum, minimum or abs");
  return false;
}

}  // namespace detail

#define COIR_OBJECTIVE_OPERATOR(symbol, both_affine, right_affine, left_affine)                   \
  template <detail::AnObjective A, detail::AnObjective B>                                         \
  auto operator symbol(A const& a, B const& b) {                                                  \
    return a.template with<both_affine>(b,                                                        \
                                        [](auto const& x, auto const& y) { return x symbol y; }); \
  }                                                                                               \
  template <detail::AnObjective A, detail::PlainNumber S>                                         \
  auto operator symbol(A const& a, S number) {                                                    \
    return a.template then<right_affine>([number](auto const& x) { return x symbol number; });    \
  }                                                                                               \
  template <detail::PlainNumber S, detail::AnObjective A>                                         \
  auto operator symbol(S number, A const& a) {                                                    \
    return a.template then<left_affine>([number](auto const& x) { return number symbol x; });     \
  }                                                                                               \
  template <Expression A, detail::AnObjective B>                                                  \
  auto operator symbol(A const&, B const&) {                                                      \
    return detail::among_elements<A, B>();                                                        \
  }                                                                                               \
  template <detail::AnObjective A, Expression B>                                                  \
  auto operator symbol(A const&, B const&) {                                                      \
    return detail::among_elements<B, A>();                                                        \
  }
COIR_OBJECTIVE_OPERATOR(+, true, true, true)
COIR_OBJECTIVE_OPERATOR(-, true, true, true)
COIR_OBJECTIVE_OPERATOR(*, false, true, true)
COIR_OBJECTIVE_OPERATOR(/, false, true, false)
#undef COIR_OBJECTIVE_OPERATOR

#define COIR_NUMBER_ASSIGNMENT(symbol)                        \
  template <detail::PlainNumber S, detail::ObjectiveOrDual B> \
  void operator symbol(S&, B const&) {                        \
    detail::check_not_assigned_to<B>();                       \
  }
COIR_NUMBER_ASSIGNMENT(+=)
COIR_NUMBER_ASSIGNMENT(-=)
COIR_NUMBER_ASSIGNMENT(*=)
COIR_NUMBER_ASSIGNMENT(/=)
#undef COIR_NUMBER_ASSIGNMENT

/// The reduced number as an array of rank 0, which can be assigned to: a statement.
template <detail::AnObjective O>
auto evaluate(O const&) {
  using Reduced = typename detail::ReducedExpression<O>::type;
  detail::check_not_evaluated<Reduced>();
  return detail::StandIn<value_t<Reduced>, 0, typename Reduced::space>();
}

#define COIR_OBJECTIVE_FUNCTION(name)                                     \
  template <detail::AnObjective O>                                        \
  auto name(O const& o) {                                                 \
    return o.template then<false>([](auto const& r) { return name(r); }); \
  }
COIR_OBJECTIVE_FUNCTION(exp)
COIR_OBJECTIVE_FUNCTION(exp2)
COIR_OBJECTIVE_FUNCTION(expm1)
COIR_OBJECTIVE_FUNCTION(log)
COIR_OBJECTIVE_FUNCTION(log2)
COIR_OBJECTIVE_FUNCTION(log10)
COIR_OBJECTIVE_FUNCTION(log1p)
COIR_OBJECTIVE_FUNCTION(sin)
COIR_OBJECTIVE_FUNCTION(cos)
COIR_OBJECTIVE_FUNCTION(tan)
COIR_OBJECTIVE_FUNCTION(asin)
COIR_OBJECTIVE_FUNCTION(acos)
COIR_OBJECTIVE_FUNCTION(atan)
COIR_OBJECTIVE_FUNCTION(sinh)
COIR_OBJECTIVE_FUNCTION(cosh)
COIR_OBJECTIVE_FUNCTION(tanh)
COIR_OBJECTIVE_FUNCTION(asinh)
COIR_OBJECTIVE_FUNCTION(acosh)
COIR_OBJECTIVE_FUNCTION(atanh)
COIR_OBJECTIVE_FUNCTION(cbrt)
COIR_OBJECTIVE_FUNCTION(erf)
COIR_OBJECTIVE_FUNCTION(erfc)
COIR_OBJECTIVE_FUNCTION(sqrt)
COIR_OBJECTIVE_FUNCTION(abs)
COIR_OBJECTIVE_FUNCTION(square)
#undef COIR_OBJECTIVE_FUNCTION

#define COIR_OBJECTIVE_BINARY_FUNCTION(name)                                                   \
  template <detail::AnObjective A, detail::AnObjective B>                                      \
  auto name(A const& a, B const& b) {                                                          \
    return a.template with<false>(b, [](auto const& x, auto const& y) { return name(x, y); }); \
  }                                                                                            \
  template <detail::AnObjective A, detail::PlainNumber S>                                      \
  auto name(A const& a, S number) {                                                            \
    return a.template then<false>([number](auto const& x) { return name(x, number); });        \
  }                                                                                            \
  template <detail::PlainNumber S, detail::AnObjective A>                                      \
  auto name(S number, A const& a) {                                                            \
    return a.template then<false>([number](auto const& x) { return name(number, x); });        \
  }                                                                                            \
  template <Expression A, detail::AnObjective B>                                               \
  auto name(A const&, B const&) {                                                              \
    return detail::among_elements<A, B>();                                                     \
  }                                                                                            \
  template <detail::AnObjective A, Expression B>                                               \
  auto name(A const&, B const&) {                                                              \
    return detail::among_elements<B, A>();                                                     \
  }
COIR_OBJECTIVE_BINARY_FUNCTION(pow)
COIR_OBJECTIVE_BINARY_FUNCTION(hypot)
COIR_OBJECTIVE_BINARY_FUNCTION(atan2)
COIR_OBJECTIVE_BINARY_FUNCTION(minimum)
COIR_OBJECTIVE_BINARY_FUNCTION(maximum)
#undef COIR_OBJECTIVE_BINARY_FUNCTION

#define COIR_OBJECTIVE_COMPARISON(symbol)                     \
  template <class A, class B>                                 \
    requires detail::AnObjective<A> || detail::AnObjective<B> \
  auto operator symbol(A const&, B const&) {                  \
    if constexpr (Expression<A>)                              \
      return detail::among_elements_of<bool, A, B>();         \
    else if constexpr (Expression<B>)                         \
      return detail::among_elements_of<bool, B, A>();         \
    else                                                      \
      return detail::refused_comparison<A, B>();              \
  }
COIR_OBJECTIVE_COMPARISON(<)
COIR_OBJECTIVE_COMPARISON(<=)
COIR_OBJECTIVE_COMPARISON(>)
COIR_OBJECTIVE_COMPARISON(>=)
COIR_OBJECTIVE_COMPARISON(==)
COIR_OBJECTIVE_COMPARISON(!=)
#undef COIR_OBJECTIVE_COMPARISON

}  // namespace coir
