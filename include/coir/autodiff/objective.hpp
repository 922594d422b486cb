#pragma once

/// \file
/// What the function given to value_and_grad returns for arrays: reductions of expressions of duals,
/// and functions of their results, not evaluated yet.
///
/// In that function sum, prod, min, max, mean, dot and norm of expressions that contain an argument make
/// an Objective. It combines with numbers and other objectives by + - * /, and goes through real
/// functions and pow. At several equal extremes min and max share the derivative evenly; norm has the
/// derivative 0 at 0.

#include <coir/array/reductions.hpp>
#include <coir/autodiff/detail/terms.hpp>
#include <coir/autodiff/dual.hpp>

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace coir {

/// An expression that contains an argument of value_and_grad.
template <class E>
concept DualExpression = Expression<E> && is_dual<value_t<E>>;

namespace detail {

template <class>
inline constexpr bool never = false;

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

}  // namespace detail

/// f of the results of some reductions.
///
/// \tparam Affine  f is a weighted sum of them and a constant
/// \tparam F       takes a pointer to the results, numbers or duals
template <bool Affine, class F, class... Terms>
class Objective : public detail::ObjectiveBase {
 public:
  static constexpr bool affine = Affine;
  static constexpr std::size_t count = sizeof...(Terms);
  using Result = std::common_type_t<typename Terms::Result...>;

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

/// What the values of an expression of duals are.
template <class E>
using dual_value_t = std::remove_cvref_t<decltype(std::declval<value_t<E>>().value)>;

}  // namespace detail

// ---- the reductions ----

/// The sum of all elements.
template <DualExpression E>
auto sum(E const& x) {
  return detail::objective<detail::SumTerm<detail::dual_value_t<E>, detail::on_host<E>>>(x);
}

/// The product of all elements. Derivatives divide it by an element, and are taken apart where that is 0.
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
  using T = detail::dual_value_t<E>;
  return sum(x) / static_cast<T>(static_cast<double>(size_of(x.shape())));
}

/// The Euclidean norm of all elements. Its derivative at 0 is 0.
template <DualExpression E>
auto norm(E const& x) {
  return sum(square(x)).template then<false>([](auto const& s) {
    using S = std::remove_cvref_t<decltype(s)>;
    return s == 0 ? S(0) : S(sqrt(s));
  });
}

template <DualExpression E>
  requires detail::RealOperand<E>
void argmin(E const&) {
  static_assert(detail::never<E>, "argmin has no derivative");
}
template <DualExpression E>
  requires detail::RealOperand<E>
void argmax(E const&) {
  static_assert(detail::never<E>, "argmax has no derivative");
}

// ---- what may follow them ----

template <detail::AnObjective O>
auto operator+(O const& o) {
  return o;
}
template <detail::AnObjective O>
auto operator-(O const& o) {
  return o.template then<true>([](auto const& r) { return -r; });
}

#define COIR_OBJECTIVE_OPERATOR(symbol, both_affine, right_affine, left_affine)                    \
  template <detail::AnObjective A, detail::AnObjective B>                                          \
  auto operator symbol(A const& a, B const& b) {                                                   \
    return a.template with<both_affine>(b,                                                         \
                                        [](auto const& x, auto const& y) { return x symbol y; });  \
  }                                                                                                \
  template <detail::AnObjective A, detail::PlainNumber S>                                          \
  auto operator symbol(A const& a, S number) {                                                     \
    return a.template then<right_affine>([number](auto const& x) { return x symbol number; });     \
  }                                                                                                \
  template <detail::PlainNumber S, detail::AnObjective A>                                          \
  auto operator symbol(S number, A const& a) {                                                     \
    return a.template then<left_affine>([number](auto const& x) { return number symbol x; });      \
  }                                                                                                \
  template <class A, class B>                                                                      \
    requires(Expression<A> && detail::AnObjective<B>) || (detail::AnObjective<A> && Expression<B>) \
  void operator symbol(A const&, B const&) {                                                       \
    static_assert(detail::never<A>,                                                                \
                  "a reduction of an argument can't be used among elements again: value_and_grad " \
                  "takes functions that are elementwise up to a reduction at their end");          \
  }
COIR_OBJECTIVE_OPERATOR(+, true, true, true)
COIR_OBJECTIVE_OPERATOR(-, true, true, true)
COIR_OBJECTIVE_OPERATOR(*, false, true, true)
COIR_OBJECTIVE_OPERATOR(/, false, true, false)
#undef COIR_OBJECTIVE_OPERATOR

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

template <detail::AnObjective O, detail::PlainNumber S>
auto pow(O const& o, S exponent) {
  return o.template then<false>([exponent](auto const& r) { return pow(r, exponent); });
}

}  // namespace coir
