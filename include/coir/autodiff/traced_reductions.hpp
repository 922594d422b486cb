#pragma once

/// \file
/// Reductions of Traced arrays, whole and along axes. They do the same as the reductions of arrays.
/// Each is one statement. A number is an array of rank 0.
///
/// Sums, means, norms and variances store nothing but their result. min, max and prod store their
/// argument first, unless it is stored already.

#include <coir/array/axis_reductions.hpp>
#include <coir/autodiff/traced.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

namespace coir {

/// An expression of arguments of value_and_grad: of duals, or of Traced arrays.
template <class E>
concept DifferentiatedExpression =
    Expression<E> && (detail::holds_traced<std::remove_cvref_t<E>> || DualOperand<E>) &&
    !std::integral<value_t<E>>;

namespace detail {

/// A number as an array of rank 0.
template <class Space, class T>
Array<T, 0, Space> as_array_of_rank_0(T const& number) {
  Array<T, 0, Space> result(Shape<0>{});
  result = number;
  return result;
}

template <class T, class Space>
using SumOf = Sum<T, runs_on_host<typename Space::execution_space>>;

/// Folds all elements of an expression into an array of rank 0. While record() records, the host
/// doesn't wait for the number.
template <class Space, class E, class Monoid>
Array<typename Monoid::result_type, 0, Space> fold_into_array(E const& x, Monoid const& monoid) {
  using Exec = typename Space::execution_space;
  using Result = typename Monoid::result_type;
  if (!is_recording<Exec>()) return as_array_of_rank_0<Space>(reduce_all(x, monoid));
  if constexpr (runs_on_host<Exec>) {
    Array<Result, 0, Space> result(Shape<0>{});
    keep_fold_on_host(instance<Exec>(), x, monoid, result.data());
    return result;
  } else {
    // Stored first: the kernels that fold stored elements are those of all expressions.
    Array<value_t<E>, rank_of<E>, Space> const values(x);
    if constexpr (rank_of<E> == 0)
      return values;
    else
      return reduce_axis(reshape(values, Shape<1>{values.size()}), 0, monoid);
  }
}

/// A reduction's result, stretched along the axis that it has lost.
template <class T, int Rank, class Space>
Slice<T const, Rank + 1, Space> stretched_along(Slice<T const, Rank, Space> const& x, int axis,
                                                Shape<Rank + 1> const& shape) {
  return broadcast_to(with_axis(x, axis), shape);
}

/// The root, whose derivative at 0 is 0.
struct Root {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(T const& x) const {
    return x == 0 ? T(0) : T(Function_sqrt{}(x));
  }
};

/// The derivative of an extreme with respect to an element. Elements that equal the extreme share
/// it.
struct ShareOfExtreme {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T const& x, T const& extreme, T const& cotangent,
                                           T const& count) const {
    bool const is_it = (x == extreme) | ((x != x) & (extreme != extreme));
    return is_it ? cotangent / count : T(0);
  }
};
/// The same, added to what came back to the element before.
struct AddShareOfExtreme {
  bool fresh;  // nothing did
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T const& old, T const& x, T const& extreme,
                                           T const& cotangent, T const& count) const {
    T const share = ShareOfExtreme{}(x, extreme, cotangent, count);
    return fresh ? share : old + share;
  }
};
/// The same on devices, where what is no extreme isn't written.
template <class T, int Outer>
struct AddShareWhereExtreme {
  static constexpr bool reads_no_neighbours = true;
  SliceKernel<T const, Outer> x, extreme, cotangent, count;
  SliceKernel<T, Outer> target;
  RowNumbers<Outer> rows;
  bool narrow, fresh;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t column) const
    requires(Outer == 0)
  {
    (*this)(0, column);
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, std::int64_t column) const {
    if (narrow)
      cell(rows.place(static_cast<std::int32_t>(row)), static_cast<std::int32_t>(column));
    else
      cell(rows.place(row), column);
  }

 private:
  template <class I>
  KOKKOS_FORCEINLINE_FUNCTION void cell(Place<Outer, I> const& at, I column) const {
    T& to = target.data[target.offset(at, column)];
    T const here = x.cell(at, column), top = extreme.cell(at, column);
    if ((here == top) | ((here != here) & (top != top))) {
      T const share = cotangent.cell(at, column) / count.cell(at, column);
      to = fresh ? share : to + share;
    } else if (fresh) {
      to = T(0);
    }
  }
};

/// Adds shares to the cotangent of x on a device. All others are stretched to x's shape.
template <class T, int Rank, class Space>
void add_shares_where_extreme(Traced<T, Rank, Space> const& x,
                              Slice<T const, Rank, Space> const& extreme,
                              Slice<T const, Rank, Space> const& cotangent,
                              Slice<T const, Rank, Space> const& count) {
  constexpr int outer = Rank - 1;
  if (x.size() == 0) return;
  auto const values = x.unrolled();
  bool const fresh = x.node()->prepare(x.size() == x.node()->size());
  auto const target = x.node()->cotangent_of(values.data(), values.shape(), values.strides());
  Fold<Rank> fold(x.shape());
  auto const add = [&](auto const&... slice) { (fold.add(stretched_strides<Rank>(slice)), ...); };
  add(values, target, extreme, cotangent, count);
  fold.close();
  auto const seen = [&](auto const& slice) {
    return slice_kernel<T const, outer>(slice.data(), stretched_strides<Rank>(slice), fold);
  };
  using Exec = typename Space::execution_space;
  AddShareWhereExtreme<T, outer> const body{
      seen(values),
      seen(extreme),
      seen(cotangent),
      seen(count),
      slice_kernel<T, outer>(target.data(), stretched_strides<Rank>(target), fold),
      RowNumbers<outer>::of(fold),
      fold.narrow(),
      fresh};
  if constexpr (outer == 0)
    for_each("coir::autodiff::traced_reductions/shares", instance<Exec>(), box({fold.columns()}),
             body);
  else
    for_each("coir::autodiff::traced_reductions/shares", instance<Exec>(),
             box({fold.rows(), fold.columns()}), body);
}

struct IsExtreme {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T const& x, T const& extreme) const {
    return (x == extreme) | ((x != x) & (extreme != extreme)) ? T(1) : T(0);
  }
};

/// The derivative of a product with respect to a factor: the product of the others.
struct SlopeOfProduct {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T const& x, T const& of_others_than_0, T const& zeros,
                                           T const& cotangent) const {
    if (zeros == T(0)) return cotangent * (of_others_than_0 / x);
    return zeros == T(1) && x == T(0) ? cotangent * of_others_than_0 : T(0);
  }
};
struct OneForZero {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T const& x) const {
    return x == T(0) ? T(1) : x;
  }
};
struct OneIfZero {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T const& x) const {
    return x == T(0) ? T(1) : T(0);
  }
};

/// min or max of all elements.
template <class Monoid, class E>
auto traced_extreme(E const& expression, char const* what) {
  auto const x = evaluate(expression);
  using X = std::remove_const_t<decltype(x)>;
  using T = value_t<X>;
  using Space = typename X::space;
  expects_elements(x, what);
  auto const result = fold_into_array<Space>(x.values(), Monoid{});
  auto const top = result.all();
  return taped(x.node()->tape(), result, [x, top](Slice<T const, 0, Space> const& cotangent) {
    auto const count = fold_into_array<Space>(map(IsExtreme{}, x.values(), top), SumOf<T, Space>{});
    add_cotangent(x, map(ShareOfExtreme{}, x.values(), top, cotangent, count));
  });
}

/// min or max along an axis. `extreme` is called with the values.
template <class E, class Extreme>
auto traced_extreme(E const& expression, int axis, Extreme extreme) {
  auto const x = evaluate(expression);
  using X = std::remove_const_t<decltype(x)>;
  using T = value_t<X>;
  using Space = typename X::space;
  constexpr int rest = X::rank - 1;
  auto const result = extreme(x.values());
  auto const tops = result.all();
  return taped(
      x.node()->tape(), result, [x, axis, tops](Slice<T const, rest, Space> const& cotangent) {
        auto const along = [&](auto const& s) { return stretched_along(s, axis, x.shape()); };
        auto const top = along(tops);
        auto const counts = sum(map(IsExtreme{}, x.values(), top), axis);
        auto const count = along(counts.as_operand());
        if constexpr (cell_by_cell<Space> && std::floating_point<T>)
          if (not_repeated(x.shape(), x.unrolled().strides()) == x.shape())
            return add_shares_where_extreme(x, top, along(cotangent), count);
        add_mapped_cotangent<AddShareOfExtreme>(x, x.values(), top, along(cotangent), count);
      });
}

}  // namespace detail

// ---- of all elements ----

/// The sum of all elements.
template <TracedExpression E>
auto sum(E const& x) {
  using T = value_t<E>;
  using Space = typename E::space;
  constexpr int rank = rank_of<E>;
  E const e = operand(x);
  auto const total = detail::fold_into_array<Space>(e, detail::SumOf<T, Space>{});
  return detail::taped(detail::tape_of(e), total,
                       [e = detail::needed_back(e)](Slice<T const, 0, Space> const& cotangent) {
                         Shape<rank> const shape = e.shape();
                         detail::pull_back_statement(e, broadcast_to(cotangent, shape));
                       });
}

/// The mean of all elements.
///
/// \throws PreconditionError if there are no elements
template <TracedExpression E>
auto mean(E const& x) {
  detail::expects_elements(x, "mean");
  return sum(x) / static_cast<real_t<value_t<E>>>(static_cast<double>(size_of(x.shape())));
}

/// The Euclidean norm of all elements. Its derivative at 0 is 0.
template <TracedExpression E>
auto norm(E const& x) {
  return map(detail::Root{}, sum(map(detail::SquaredAbs{}, x)));
}

/// The variance: the sum of squared distances from the mean, over n - ddof.
///
/// \throws PreconditionError unless there are more than ddof elements
template <TracedExpression E>
auto var(E const& x, Ddof ddof = Ddof(0)) {
  std::int64_t const divisor = ddof.divisor(size_of(x.shape()));
  return sum(map(detail::SquaredAbs{}, x - evaluate(mean(x)))) /
         static_cast<real_t<value_t<E>>>(divisor);
}

/// The standard deviation: the root of the variance. Its derivative at 0 is 0.
template <TracedExpression E>
auto std_dev(E const& x, Ddof ddof = Ddof(0)) {
  return map(detail::Root{}, var(x, ddof));
}

/// The smallest element; equal ones share the derivative.
///
/// \throws PreconditionError if there are no elements
template <TracedExpression E>
  requires detail::RealOperand<E>
auto min(E const& x) {
  return detail::traced_extreme<detail::Min<value_t<E>>>(x, "minimum");
}

/// The largest element; equal ones share the derivative.
///
/// \throws PreconditionError if there are no elements
template <TracedExpression E>
  requires detail::RealOperand<E>
auto max(E const& x) {
  return detail::traced_extreme<detail::Max<value_t<E>>>(x, "maximum");
}

/// The product of all elements. If one element is 0, only its own derivative isn't 0.
template <TracedExpression E>
auto prod(E const& expression) {
  auto const x = evaluate(expression);
  using X = std::remove_const_t<decltype(x)>;
  using T = value_t<X>;
  using Space = typename X::space;
  using Factors = detail::Product<T>;
  return detail::taped(x.node()->tape(), detail::fold_into_array<Space>(x.values(), Factors{}),
                       [x](Slice<T const, 0, Space> const& cotangent) {
                         auto const others = detail::fold_into_array<Space>(
                             map(detail::OneForZero{}, x.values()), Factors{});
                         auto const zeros = detail::fold_into_array<Space>(
                             map(detail::OneIfZero{}, x.values()), detail::SumOf<T, Space>{});
                         detail::add_cotangent(x, map(detail::SlopeOfProduct{}, x.values(), others,
                                                      zeros, cotangent));
                       });
}

// The reductions that objective.hpp lacks, for arguments that are expressions of duals.
template <DualOperand E>
auto var(E const& x, Ddof = Ddof(0)) {
  return detail::real_stand_in<0>(x);
}
template <DualOperand E>
auto std_dev(E const& x, Ddof = Ddof(0)) {
  return detail::real_stand_in<0>(x);
}

// ---- along an axis ----

/// Sums along an axis.
///
/// \throws PreconditionError if there is no such axis, as all reductions along an axis
template <DifferentiatedExpression E>
auto sum(E const& x, int axis) {
  constexpr int rank = rank_of<E>;
  if constexpr (DualExpression<E>) {
    return detail::stand_in<rank - 1>(x);
  } else {
    using T = value_t<E>;
    using Space = typename E::space;
    E const e = operand(x);
    return detail::taped(
        detail::tape_of(e), sum_of_elements(e, axis),
        [e = detail::needed_back(e), axis](Slice<T const, rank - 1, Space> const& cotangent) {
          Shape<rank> const shape = e.shape();
          detail::pull_back_statement(e, detail::stretched_along(cotangent, axis, shape));
        });
  }
}

/// Means along an axis.
///
/// \throws PreconditionError if the axis has no elements
template <DifferentiatedExpression E>
auto mean(E const& x, int axis) {
  if constexpr (DualExpression<E>) {
    return detail::stand_in<rank_of<E> - 1>(x);
  } else {
    detail::expects_elements_along(x, axis, "mean");
    return sum(x, axis) / static_cast<real_t<value_t<E>>>(detail::extent_along(x, axis));
  }
}

/// Euclidean norms along an axis, with the derivative 0 at 0.
template <DifferentiatedExpression E>
auto norm(E const& x, int axis) {
  if constexpr (DualExpression<E>)
    return detail::real_stand_in<rank_of<E> - 1>(x);
  else
    return map(detail::Root{}, sum(map(detail::SquaredAbs{}, x), axis));
}

/// Variances along an axis.
///
/// \throws PreconditionError unless the axis has more than ddof elements
template <DifferentiatedExpression E>
auto var(E const& x, int axis, Ddof ddof = Ddof(0)) {
  if constexpr (DualExpression<E>) {
    return detail::real_stand_in<rank_of<E> - 1>(x);
  } else {
    std::int64_t const divisor = ddof.divisor(detail::extent_along(x, axis));
    auto const middle = with_axis(evaluate(mean(x, axis)), axis);
    return sum(map(detail::SquaredAbs{}, x - middle), axis) /
           static_cast<real_t<value_t<E>>>(divisor);
  }
}

/// Standard deviations along an axis.
template <DifferentiatedExpression E>
auto std_dev(E const& x, int axis, Ddof ddof = Ddof(0)) {
  if constexpr (DualExpression<E>)
    return detail::real_stand_in<rank_of<E> - 1>(x);
  else
    return map(detail::Root{}, var(x, axis, ddof));
}

/// The smallest elements along an axis; equal ones share the derivative.
///
/// \throws PreconditionError if the axis has no elements
template <DifferentiatedExpression E>
  requires detail::RealOperand<E>
auto min(E const& x, int axis) {
  if constexpr (DualExpression<E>)
    return detail::stand_in<rank_of<E> - 1>(x);
  else
    return detail::traced_extreme(x, axis,
                                  [axis](auto const& values) { return min(values, axis); });
}

/// The largest elements along an axis; equal ones share the derivative.
///
/// \throws PreconditionError if the axis has no elements
template <DifferentiatedExpression E>
  requires detail::RealOperand<E>
auto max(E const& x, int axis) {
  if constexpr (DualExpression<E>)
    return detail::stand_in<rank_of<E> - 1>(x);
  else
    return detail::traced_extreme(x, axis,
                                  [axis](auto const& values) { return max(values, axis); });
}

/// Products along an axis.
template <DifferentiatedExpression E>
auto prod(E const& expression, int axis) {
  constexpr int rest = rank_of<E> - 1;
  if constexpr (DualExpression<E>) {
    return detail::stand_in<rest>(expression);
  } else {
    auto const x = evaluate(expression);
    using X = std::remove_const_t<decltype(x)>;
    using T = value_t<X>;
    using Space = typename X::space;
    return detail::taped(x.node()->tape(), prod(x.values(), axis),
                         [x, axis](Slice<T const, rest, Space> const& cotangent) {
                           auto const others = prod(map(detail::OneForZero{}, x.values()), axis);
                           auto const zeros = sum(map(detail::OneIfZero{}, x.values()), axis);
                           auto const along = [&](auto const& s) {
                             return detail::stretched_along(s, axis, x.shape());
                           };
                           detail::add_cotangent(
                               x,
                               map(detail::SlopeOfProduct{}, x.values(), along(others.as_operand()),
                                   along(zeros.as_operand()), along(cotangent)));
                         });
  }
}

}  // namespace coir
