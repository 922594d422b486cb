#pragma once

/// \file
/// Derivatives of functions that return arrays, by the way back: a row of the Jacobian, or a sum of
/// rows, costs what a gradient costs.

#include <coir/array/creation.hpp>
#include <coir/autodiff/grad.hpp>
#include <coir/autodiff/objective.hpp>

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace coir {

namespace detail {

/// The sum of a function's results, each times its cotangent.
template <class F, class C>
struct WeightedResults {
  F f;
  C cotangent;

  template <class... X>
  auto operator()(X const&... x) const {
    auto const y = f(x...);
    using Y = std::remove_const_t<decltype(y)>;
    if constexpr (Expression<Y>) {
      static_assert(rank_of<Y> == rank_of<C>, "vjp takes a cotangent of the result's shape");
      if (y.shape() != cotangent.shape())
        throw PreconditionError("vjp takes a cotangent of the result's shape, which is " +
                                in_words(y.shape()) + ", not " + in_words(cotangent.shape()));
      return sum(y * cotangent);
    } else {
      return y * cotangent;
    }
  }
};

/// 1 for the element with the number k in C order, 0 for others.
template <class T>
struct UnitVector {
  std::int64_t k;
  KOKKOS_FORCEINLINE_FUNCTION T operator()(std::int64_t i) const { return T(i == k ? 1 : 0); }
};

}  // namespace detail

/// The function (x, ...) -> the derivatives of sum(f(x, ...) * cotangent) along its arguments: the
/// cotangent times the Jacobian. JAX's vjp(f, x)[1](cotangent).
///
/// \param f          a generic function of arrays that returns an array
/// \param cotangent  of the result's shape
template <class F, Expression C>
auto vjp(F f, C const& cotangent) {
  auto const weights = evaluate(cotangent).as_operand();
  return grad(
      detail::WeightedResults<F, std::remove_const_t<decltype(weights)>>{std::move(f), weights});
}

/// jacobian(f)(x) for an array: element (i, ..., j, ...) is d f(x)(i, ...) / d x(j, ...). Each of
/// the result's elements is a row, and costs a gradient.
///
/// \param f  a generic function that returns an array; the result's axes and those of x are 4 at
///   most
template <class F, Expression X>
auto jacobian_of_array(F const& f, X const& x) {
  using T = value_t<X>;
  auto const y = f(x);
  using Y = std::remove_const_t<decltype(y)>;
  static_assert(Expression<Y>,
                "jacobian is for functions that return an array: use grad for one "
                "number");
  constexpr int rows = rank_of<Y>, columns = rank_of<X>;
  static_assert(rows + columns <= 4,
                "arrays have at most 4 axes, and a Jacobian has those of the result and those of "
                "the argument: ravel them");
  Shape<rows + columns> shape{};
  for (int d = 0; d < rows; ++d) shape[d] = y.shape()[d];
  for (int d = 0; d < columns; ++d) shape[rows + d] = x.shape()[d];
  std::int64_t const count = size_of(y.shape()), width = size_of(x.shape());
  Array<T, rows + columns, space_like<X>> result(shape);
  if (result.size() == 0) return result;
  auto const matrix = reshape(result, Shape<2>{count, width});
  for (std::int64_t k = 0; k < count; ++k) {
    auto const one = from_function<space_like<X>>(Shape<1>{count}, detail::UnitVector<T>{k});
    auto const row = vjp(f, reshape(one, y.shape()))(x);
    matrix(k) = reshape(row, Shape<1>{width});
  }
  return result;
}

}  // namespace coir
