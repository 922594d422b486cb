#pragma once

/// \file
/// Gradients of array expressions that end in a reduction, with respect to arrays that enter them
/// elementwise:
///
///     auto const [value, slope] = value_and_grad([](auto x) {
///       return sum(square(cos(x)) * exp(-x));
///     })(x);
///
/// The function gets expressions of dual numbers in place of the arrays, and returns an Objective (see
/// objective.hpp). A weighted sum of sums, means and dots takes one pass over memory, in which values
/// are reduced and the gradient is written. Where something not linear follows the sums (norm, log(sum),
/// a product of two), and for prod, min and max, a first pass reduces and a second one writes. Nothing
/// else is stored.

#include <coir/array/array.hpp>
#include <coir/array/functions.hpp>
#include <coir/autodiff/detail/fused_gradient.hpp>
#include <coir/autodiff/dual.hpp>
#include <coir/autodiff/grad.hpp>
#include <coir/autodiff/objective.hpp>

#include <array>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace coir {

namespace detail {

/// A number as the variable along direction K of N.
template <class T, int N, int K>
struct Seed {
  KOKKOS_FORCEINLINE_FUNCTION Dual<T, N> operator()(T const& x) const {
    return Dual<T, N>::variable(x, K);
  }
};

/// An argument as the function to differentiate sees it: an expression of duals.
template <class E, int N, int K>
class Variable : public Map<Seed<value_t<E>, N, K>, E> {
 public:
  explicit Variable(E values)
      : Map<Seed<value_t<E>, N, K>, E>(Seed<value_t<E>, N, K>{}, std::move(values)) {}

  template <class... I>
  void operator()(I...) const {
    static_assert(never<E>,
                  "arguments of value_and_grad must enter elementwise: slices of one aren't "
                  "differentiated; pass the slices as arguments");
  }
};

template <class E>
void check_leaves(E const& expression) {
  expression.visit_leaves([](auto const& leaf) {
    static_assert(!is_dual<value_t<decltype(leaf)>>,
                  "arguments of value_and_grad must enter elementwise: they can't be evaluated, "
                  "reduced along an axis, reshaped or joined in between");
  });
}

/// The kernels that evaluate an objective of arrays of shape `shape`, and its gradient.
template <class T, int N, int Rank, class Space, class F, class Indices, class... Terms>
class GradientOf;
template <class T, int N, int Rank, class Space, class F, std::size_t... I, class... Terms>
class GradientOf<T, N, Rank, Space, F, std::index_sequence<I...>, Terms...> {
  static constexpr int count = static_cast<int>(sizeof...(I));
  static constexpr int rank = std::max(Rank, 1);
  static constexpr int outer = rank - 1;
  using Result = std::common_type_t<typename Terms::Result...>;
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
      for_each("coir::autodiff::value_and_grad/gradient", Exec{}, box({fold_.columns()}), write);
    else
      for_each("coir::autodiff::value_and_grad/gradient", Exec{},
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

  /// f of the reductions' results, with its derivative along each.
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
      reduce("coir::autodiff::value_and_grad", exec, box({fold_.columns()}), body, reducer);
    else
      reduce("coir::autodiff::value_and_grad", exec, box({fold_.rows(), fold_.columns()}), body,
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
  static_assert(((decltype(Terms::expression)::rank == Rank) && ...),
                "arguments of value_and_grad must enter elementwise: what is reduced has another "
                "number of axes than they");
  std::apply(
      [&](auto const&... term) {
        (check_leaves(term.expression), ...);
        auto const check_shape = [&](auto const& reduced) {
          if (reduced != shape)
            throw PreconditionError(
                "arguments of value_and_grad must enter elementwise: an argument of shape " +
                in_words(shape) + " is stretched to shape " + in_words(reduced) +
                " before the reduction; pass it in that shape");
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

template <class F, std::size_t... K, class... X>
auto at_array_variables(F const& f, std::index_sequence<K...>, X const&... x) {
  return f(Variable<X, static_cast<int>(sizeof...(X)), static_cast<int>(K)>(x)...);
}

}  // namespace detail

/// What value_and_grad(f)(x, ...) and grad(f)(x, ...) do for arrays: f's value and its gradient, an
/// array of the arguments' shape for one argument and a std::array of them for several. The value has
/// the bits that f gives for the arrays themselves, as far as the compiler rounds alike. Waits for the
/// value.
///
/// Arrays that f captures, or other expressions, mix in freely if they stretch to the arguments' shape.
///
/// \param f  called with an expression for each argument; elementwise up to reductions at its end
/// \param x  arrays, slices or expressions of float or double, of one type and shape
/// \throws PreconditionError if the arguments' shapes differ, or an argument is stretched to another
///   shape before it is reduced
template <class F, Expression X, Expression... Rest>
  requires SameSpace<X, Rest...>
auto value_and_grad_of_arrays(F const& f, X const& x, Rest const&... rest) {
  using T = value_t<X>;
  static_assert(std::floating_point<T> && (std::same_as<T, value_t<Rest>> && ...),
                "value_and_grad takes arrays of float or double, all of one type");
  static_assert(((rank_of<X> == rank_of<Rest>) && ...),
                "value_and_grad takes arrays of one shape: these have different numbers of axes");
  [[maybe_unused]] auto const check_shape = [&](auto const& shape) {
    if (shape != x.shape())
      throw PreconditionError("value_and_grad takes arrays of one shape, not " +
                              in_words(x.shape()) + " and " + in_words(shape));
  };
  (check_shape(rest.shape()), ...);

  auto const objective = detail::at_array_variables(
      f, std::make_index_sequence<1 + sizeof...(Rest)>{}, operand(x), operand(rest)...);
  using O = std::remove_const_t<decltype(objective)>;
  static_assert(detail::AnObjective<O>,
                "the function given to value_and_grad must end in a reduction of its arguments: "
                "sum, mean, dot, norm, prod, min or max");
  using S = common_space_t<typename X::space, typename Rest::space...>;
  using Space = std::conditional_t<std::same_as<S, AnySpace>, DefaultSpace, S>;
  if constexpr (detail::AnObjective<O>)
    return detail::gradient_of_objective<T, rank_of<X>, Space,
                                         1 + static_cast<int>(sizeof...(Rest))>(objective,
                                                                                x.shape());
}

}  // namespace coir
