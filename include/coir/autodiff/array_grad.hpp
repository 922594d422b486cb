#pragma once

/// \file
/// Gradients of functions of arrays:
///
///     auto const [value, slope] = value_and_grad([](auto x) {
///       return sum(square(cos(x)) * exp(-x));
///     })(x);
///
/// A function that is elementwise up to reductions at its end is called with expressions of dual
/// numbers in place of the arrays, and returns an Objective (see objective.hpp). A weighted sum of
/// sums, means and dots takes one pass over memory, which reduces values and writes the gradient.
/// Other functions of reductions (norm, log(sum), products), and prod, min and max, take two
/// passes: one reduces, one writes. Nothing else is stored.
///
/// Any other function is called with Traced arrays, and is differentiated statement by statement:
/// see traced.hpp.

#include <coir/array/array.hpp>
#include <coir/array/dual_elements.hpp>
#include <coir/array/functions.hpp>
#include <coir/autodiff/detail/fused_gradient.hpp>
#include <coir/autodiff/detail/program_gradient.hpp>
#include <coir/autodiff/forward.hpp>
#include <coir/autodiff/grad.hpp>
#include <coir/autodiff/jacobian.hpp>
#include <coir/autodiff/objective.hpp>
#include <coir/autodiff/traced.hpp>
#include <coir/autodiff/traced_gathers.hpp>
#include <coir/autodiff/traced_moves.hpp>
#include <coir/autodiff/traced_nan.hpp>
#include <coir/autodiff/traced_reductions.hpp>
#include <coir/autodiff/traced_samples.hpp>
#include <coir/autodiff/traced_sorting.hpp>
#include <coir/autodiff/traced_writes.hpp>

#include <array>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace coir {

namespace detail {

/// Makes a number the variable along direction K of N.
template <class T, int N, int K>
struct Seed {
  KOKKOS_FORCEINLINE_FUNCTION Dual<T, N> operator()(T const& x) const {
    return Dual<T, N>::variable(x, K);
  }
};

template <class T, int N, int K>
inline constexpr bool makes_arguments<Seed<T, N, K>> = true;

template <class E, int N, int K>
class Variable;
template <class E, int N, int K>
inline constexpr bool holds_argument<Variable<E, N, K>> = true;

/// An argument of the function to differentiate: an expression of duals.
template <class E, int N, int K>
class Variable : public Map<Seed<value_t<E>, N, K>, E> {
 public:
  explicit Variable(E values)
      : Map<Seed<value_t<E>, N, K>, E>(Seed<value_t<E>, N, K>{}, std::move(values)) {}

  std::int64_t extent(int axis) const { return this->shape()[axis]; }
  std::int64_t size() const { return size_of(this->shape()); }

  /// A slice or an element, which needs a tape.
  template <Index... I>
    requires(axes_indexed<I...> <= rank_of<E>) && (sizeof...(I) > 0)
  StandIn<value_t<Variable>, indexed_rank<rank_of<E>, I...>, typename E::space> const operator()(
      I...) const {  // const: it isn't written
    return {};
  }

  Variable(Variable const&) = default;
#define COIR_VARIABLE_ASSIGNMENT(symbol)                                                   \
  template <class Other>                                                                   \
  Variable& operator symbol(Other const&) {                                                \
    static_assert(                                                                         \
        never<Other>,                                                                      \
        "an argument of value_and_grad isn't assigned to: begin with a statement of your " \
        "own, auto u = evaluate(x)");                                                      \
    return *this;                                                                          \
  }
  COIR_VARIABLE_ASSIGNMENT(=)
  COIR_VARIABLE_ASSIGNMENT(+=)
  COIR_VARIABLE_ASSIGNMENT(-=)
  COIR_VARIABLE_ASSIGNMENT(*=)
  COIR_VARIABLE_ASSIGNMENT(/=)
#undef COIR_VARIABLE_ASSIGNMENT
};

/// The type that a function returns for a variable in place of each argument; void if it can't be
/// called so.
template <class F, class Indices, class... X>
struct ResultOfFunction {
  using type = void;
};
template <class F, std::size_t... K, class... X>
  requires requires(F const& f, Variable<X, sizeof...(X), K> const&... x) { f(x...); }
struct ResultOfFunction<F, std::index_sequence<K...>, X...> {
  using type = std::remove_cvref_t<decltype(std::declval<F const&>()(
      std::declval<Variable<X, sizeof...(X), K> const&>()...))>;
};
template <class F, class... X>
using result_of_function_t =
    typename ResultOfFunction<F, std::index_sequence_for<X...>, X...>::type;

/// Whether a gradient can be computed of a result of type O.
template <class O, int Rank>
struct Returned {
  static constexpr bool something = !std::is_void_v<O>;
  static constexpr bool objective = false;
  static constexpr bool evaluated = false;
  static constexpr bool in_one_pass = false;
  static constexpr bool by_tape = false;
};
template <DualExpression E, int Rank>
  requires(rank_of<E> == 0)
struct Returned<E, Rank> {
  static constexpr bool something = true;
  static constexpr bool objective = true;
  static constexpr bool evaluated = holds_duals<E>;
  static constexpr void check() { check_not_evaluated<E>(); }
  static constexpr bool in_one_pass = false;
  static constexpr bool by_tape = !evaluated;
};
/// A number or an array of duals that no function with a derivative has made.
template <class O>
inline constexpr bool is_evaluated = is_dual<O>;
template <Expression O>
inline constexpr bool is_evaluated<O> = carries_derivatives<value_t<O>> && !DualExpression<O>;
template <class O, int Rank>
  requires is_evaluated<O>
struct Returned<O, Rank> {
  static constexpr bool something = true;
  static constexpr bool objective = true;
  static constexpr bool evaluated = true;
  static constexpr void check() { check_not_evaluated<Array<Dual<double, 1>, 1, DefaultSpace>>(); }
  static constexpr bool in_one_pass = false;
  static constexpr bool by_tape = false;
};
template <bool Affine, class F, class... Terms, int Rank>
struct Returned<Objective<Affine, F, Terms...>, Rank> {
  static constexpr bool something = true;
  static constexpr bool objective = true;
  static constexpr bool evaluated = (holds_duals<decltype(Terms::expression)> || ...);
  static constexpr void check() { check_not_evaluated<decltype(Terms::expression)...>(); }
  static constexpr bool in_one_pass = !evaluated &&
                                      !(stands_in<decltype(Terms::expression)> || ...) &&
                                      ((decltype(Terms::expression)::rank == Rank) && ...);
  static constexpr bool by_tape = !evaluated && !in_one_pass;
};

/// Says in one line why a result has no gradient.
template <class R>
constexpr void check_returned() {
  static_assert(R::something,
                "the function given to value_and_grad must take an expression for each argument, "
                "[](auto x, auto y) { ... }, and return something");
  static_assert(R::objective || !R::something,
                "the function given to value_and_grad must be generic, [](auto x) { ... }, its "
                "statements of the form auto u = evaluate(...), and it must end in a reduction of "
                "its arguments: sum, mean, dot, norm, prod, min or max");
  if constexpr (R::objective) R::check();
}

/// The kernels that evaluate an objective of arrays of shape `shape`, and its gradient.
template <class T, int N, int Rank, class Space, class F, class Indices, class... Terms>
class GradientOf;
template <class T, int N, int Rank, class Space, class F, std::size_t... I, class... Terms>
class GradientOf<T, N, Rank, Space, F, std::index_sequence<I...>, Terms...> {
  static constexpr int count = static_cast<int>(sizeof...(I));
  static constexpr int rank = std::max(Rank, 1);
  static constexpr int outer = rank - 1;
  using Result = promoted_t<typename Terms::Result...>;
  using Results = Dual<Result, count>;
  using Kinds = JoinedKinds<std::index_sequence<I...>, decltype(Terms::kind)...>;
  using Totals = typename Kinds::value_type;

 public:
  GradientOf(F const& f, std::tuple<Terms...> const& terms, Shape<Rank> const& shape)
      : f_(f),
        terms_(terms),
        kinds_{{{std::get<I>(terms).kind}...}},
        fold_(at_least_one_axis(shape)) {
    (add_leaves(fold_, std::get<I>(terms_).expression), ...);
    fold_.close();
  }

  /// One pass, for weighted sums.
  Result fold_and_write(GradientArrays<T, N> const& gradient) const {
    return f_of(fold(body<true, true>(f_of(kinds_.neutral()), kinds_.neutral(), gradient))).value;
  }

  /// Two passes, for everything.
  Result fold_then_write(GradientArrays<T, N> const& gradient) const {
    Totals const totals = fold(body<true, false>(Results(0), kinds_.neutral(), gradient));
    Results const y = f_of(totals);
    auto const write = body<false, true>(y, totals, gradient);
    if constexpr (outer == 0)
      for_each("coir::autodiff::array_grad/gradient", coir::detail::instance<Exec>(),
               box({fold_.columns()}), write);
    else
      for_each("coir::autodiff::array_grad/gradient", coir::detail::instance<Exec>(),
               box({fold_.rows(), fold_.columns()}), write);
    return y.value;
  }

 private:
  using Exec = typename Space::execution_space;

  static Shape<rank> at_least_one_axis(Shape<Rank> const& shape) {
    if constexpr (Rank == 0)
      return {1};
    else
      return shape;
  }

  /// f of the reductions' results, with the derivative with respect to each.
  Results f_of(Totals const& totals) const {
    Results const results[] = {
        Results::variable(static_cast<Result>(item<I>(kinds_.kinds).result(item<I>(totals))),
                          static_cast<int>(I))...};
    return Results(f_(static_cast<Results const*>(results)));
  }

  template <bool Folds, bool Writes>
  auto body(Results const& y, Totals const& totals, GradientArrays<T, N> const& gradient) const {
    using Kernels = Pack<decltype(std::get<I>(terms_).expression.kernel(fold_))...>;
    return GradientBody<Folds, Writes, T, N, outer, std::index_sequence<I...>, Kernels,
                        decltype(Terms::kind)...>{
        Kernels{{std::get<I>(terms_).expression.kernel(fold_)}...},
        {{WeightedSlope<decltype(Terms::kind), T>{
            item<I>(kinds_.kinds), static_cast<T>(y.derivative[I]), item<I>(totals)}}...},
        gradient,
        RowNumbers<outer>::of(fold_),
        fold_.columns()};
  }

  template <class Body>
  Totals fold(Body const& body) const {
    Totals totals;
    MonoidReducer<Kinds> const reducer(kinds_, totals);
    Exec const exec = coir::detail::immediate<Exec>("value_and_grad()");
    if constexpr (outer == 0)
      reduce("coir::autodiff::array_grad", exec, box({fold_.columns()}), body, reducer);
    else
      reduce("coir::autodiff::array_grad", exec, box({fold_.rows(), fold_.columns()}), body,
             reducer);
    return totals;
  }

  F const& f_;
  std::tuple<Terms...> const& terms_;
  Kinds kinds_;
  Fold<rank> fold_;
};

template <class T, int Rank, class Space, int N, bool Affine, class F, class... Terms>
auto gradient_of_objective(Objective<Affine, F, Terms...> const& objective,
                           Shape<Rank> const& shape) {
  std::apply(
      [&](auto const&... term) {
        auto const check_shape = [&](auto const& reduced) {
          if (reduced != shape)
            throw PreconditionError("in one pass an argument of shape " + in_words(shape) +
                                    " can't be stretched to shape " + in_words(reduced) +
                                    " before the reduction: write evaluate(x) for it in the "
                                    "function");
        };
        (check_shape(term.expression.shape()), ...);
      },
      objective.terms());

  static_assert(SameSpace<Array<T, Rank, Space>, decltype(Terms::expression)...>,
                "all arrays of a function must lie in one memory space");

  auto gradients = [&]<std::size_t... K>(std::index_sequence<K...>) {
    return std::array<Array<T, Rank, Space>, N>{((void)K, Array<T, Rank, Space>(shape))...};
  }(std::make_index_sequence<N>{});
  GradientArrays<T, N> out;
  for (int k = 0; k < N; ++k) out.data[k] = gradients[static_cast<std::size_t>(k)].data();

  GradientOf<T, N, Rank, Space, F, std::index_sequence_for<Terms...>, Terms...> const evaluated(
      objective.function(), objective.terms(), shape);
  auto const value = [&] {
    if constexpr (Affine)
      return evaluated.fold_and_write(out);
    else
      return evaluated.fold_then_write(out);
  }();

  using V = std::remove_const_t<decltype(value)>;
  if constexpr (N == 1)
    return ValueAndGradient<V, Array<T, Rank, Space>>{value, std::move(gradients[0])};
  else
    return ValueAndGradient<V, std::array<Array<T, Rank, Space>, N>>{value, std::move(gradients)};
}

/// Whether a gradient can be taken with respect to these types.
template <class X, class... Rest>
struct Arguments {
  static constexpr bool inside = AnyDifferentiated<X, Rest...>;
  static constexpr bool duals = !inside && (is_dual<value_t<X>> || (is_dual<value_t<Rest>> || ...));
  static constexpr bool numbers =
      inside || duals ||
      (std::floating_point<value_t<X>> && (std::floating_point<value_t<Rest>> && ...));
  static constexpr bool alike =
      ((rank_of<X> == rank_of<Rest> && std::same_as<value_t<X>, value_t<Rest>>) && ...);
  static constexpr bool one_space = SameSpace<X, Rest...>;
  static constexpr bool differentiable = numbers && one_space;
};

template <class... X>
using space_of_all =
    std::conditional_t<std::same_as<common_space_t<typename X::space...>, AnySpace>, DefaultSpace,
                       common_space_t<typename X::space...>>;

/// Says in one line why an argument is refused.
template <class A>
constexpr void check_arguments() {
  static_assert(A::numbers, "value_and_grad takes arrays of float or double");
  static_assert(A::one_space || !A::numbers, "value_and_grad takes arrays in one memory space");
}

/// Takes the place of a result after an error, so that the compiler says no more about it.
template <class T, int Rank, class Space, int N>
using Refused = ValueAndGradient<
    T, std::conditional_t<N == 1, Array<T, Rank, Space>, std::array<Array<T, Rank, Space>, N>>>;

template <class F, std::size_t... K, class... X>
auto at_array_variables(F const& f, std::index_sequence<K...>, X const&... x) {
  return f(Variable<X, static_cast<int>(sizeof...(X)), static_cast<int>(K)>(x)...);
}

}  // namespace detail

/// value_and_grad(f)(x, ...) and grad(f)(x, ...) for arrays: f's value, and its gradient df / dx[i]
/// in an array of the argument's shape. Several arguments have a std::array of gradients, or a
/// std::tuple if their ranks or types differ. The value has the bits of f(x, ...), as far as the
/// compiler rounds alike. Waits for the value.
///
/// Arrays that f captures are constants. f must not write to them, nor to its arguments by another
/// name, because statements read them again on the way back.
///
/// \param f  a generic function that returns one real number. It is called with an expression of
///   duals or a Traced array in place of each argument
/// \param x  arrays, slices or expressions of float or double, in one memory space
/// \throws PreconditionError as the functions that f calls; for elementwise f also if the
///   arguments' shapes differ, or one of them is stretched to another shape before it is reduced
template <class F, Expression X, Expression... Rest>
auto value_and_grad_of_arrays(F const& f, X const& x, Rest const&... rest) {
  using T = value_t<X>;
  constexpr int count = 1 + static_cast<int>(sizeof...(Rest));
  using Arguments = detail::Arguments<X, Rest...>;
  detail::check_arguments<Arguments>();
  if constexpr (!Arguments::differentiable) {
    return detail::Refused<double, rank_of<X>, DefaultSpace, count>();
  } else if constexpr (Arguments::inside) {
    return detail::value_and_grad_inside(f, x, rest...);
  } else if constexpr (Arguments::duals) {
    return detail::gradient_of_program<detail::space_of_all<X, Rest...>>(f, x, rest...);
  } else {
    using Space = detail::space_of_all<X, Rest...>;
    using O = detail::result_of_function_t<F, decltype(operand(x)), decltype(operand(rest))...>;
    using Returned = detail::Returned<O, rank_of<X>>;
    detail::check_returned<Returned>();
    if constexpr (Returned::in_one_pass && Arguments::alike) {
      [[maybe_unused]] auto const check_shape = [&](auto const& shape) {
        if (shape != x.shape())
          throw PreconditionError("in one pass value_and_grad takes arrays of one shape, not " +
                                  in_words(x.shape()) + " and " + in_words(shape) +
                                  ": write evaluate(x) for one of them in the function");
      };
      (check_shape(rest.shape()), ...);
      auto const objective = detail::at_array_variables(f, std::make_index_sequence<count>{},
                                                        operand(x), operand(rest)...);
      return detail::gradient_of_objective<T, rank_of<X>, Space, count>(objective, x.shape());
    } else if constexpr (Returned::in_one_pass || Returned::by_tape) {
      return detail::gradient_of_program<Space>(f, x, rest...);
    } else {
      return detail::Refused<T, rank_of<X>, Space, count>();
    }
  }
}

namespace detail {

/// The type of an argument's numbers beside others: bool, which adds nothing, for a single number.
template <class X>
struct BesideOthers {
  using type = bool;
  using space = AnySpace;
};
template <Expression X>
struct BesideOthers<X> {
  using type = value_t<X>;
  using space = typename X::space;
};

template <class T, class Space, class X>
auto array_or_number(X const& x) {
  if constexpr (Expression<X>)
    return operand(x);
  else
    return as_array_of_rank_0<Space, T>(static_cast<T>(x));
}
template <class X, class G>
auto gradient_like(G const& gradient) {
  if constexpr (Expression<X>)
    return gradient;
  else
    return gradient.item();
}

}  // namespace detail

/// value_and_grad(f)(x, 2.0, ...) for arrays and numbers. f gets a number as an array of rank 0, of
/// the type of the arrays' elements; its gradient is a number.
template <class F, class... X>
auto value_and_grad_beside_numbers(F const& f, X const&... x) {
  using T = promoted_t<typename detail::BesideOthers<X>::type...>;
  using S = common_space_t<typename detail::BesideOthers<X>::space...>;
  using Space = std::conditional_t<std::same_as<S, AnySpace>, DefaultSpace, S>;
  auto const result = value_and_grad_of_arrays(f, detail::array_or_number<T, Space>(x)...);
  return std::apply(
      [&](auto const&... gradient) {
        auto gradients = detail::together(detail::gradient_like<X>(gradient)...);
        return ValueAndGradient<std::remove_cvref_t<decltype(result.value)>, decltype(gradients)>{
            result.value, std::move(gradients)};
      },
      result.gradient);
}

/// value_and_grad_of_arrays() by the tape alone: f is called with Traced arrays only, never with
/// expressions of duals, so that it needs no overloads for those.
///
/// \param x  arrays, slices or expressions of float or double in the default memory space
template <class F, Expression... X>
auto value_and_grad_of_program(F const& f, X const&... x) {
  return detail::gradient_of_program<DefaultSpace>(f, x...);
}

}  // namespace coir
