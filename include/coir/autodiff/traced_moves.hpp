#pragma once

/// \file
/// Functions that move elements of Traced arrays: views with other axes, joined arrays, cumulative
/// sums and products, outer products. They do the same as the functions of arrays with the same
/// names. Views cost nothing on either way; an expression is stored first.

#include <coir/array/axes.hpp>
#include <coir/array/calculus.hpp>
#include <coir/array/joining.hpp>
#include <coir/array/roll.hpp>
#include <coir/array/scan.hpp>
#include <coir/array/slices.hpp>
#include <coir/autodiff/traced.hpp>
#include <coir/autodiff/traced_reductions.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <numbers>
#include <tuple>
#include <utility>

namespace coir {

namespace detail {

/// A view of stored elements. `view` makes it from a slice of them.
template <int Rank, class X, class View>
auto traced_view(X const& x, View const& view) {
  if constexpr (DualExpression<X>) {
    return stand_in<Rank>(x);
  } else {
    auto const stored = evaluate(x);
    return stored.seen_as(view(stored.values()).as_operand());
  }
}

template <class... E>
concept AnyDifferentiated = (DifferentiatedExpression<std::remove_cvref_t<E>> || ...);

/// An expression as a whole array of its own. Part of an array is copied.
template <class X>
auto whole_array(X const& x) {
  if constexpr (is_traced<X>) {
    bool const is_whole = x.node()->rank() == X::rank && x.size() == x.node()->size() &&
                          x.unrolled().contiguous() &&
                          std::equal(x.shape().begin(), x.shape().end(), x.node()->shape().begin());
    return is_whole ? x : evaluate(+x);
  } else {
    return evaluate(x);
  }
}

/// An operand in memory, for a function that isn't elementwise. An expression of arguments becomes
/// a statement.
template <class E>
auto stored_operand(E const& e) {
  if constexpr (TracedExpression<E>)
    return evaluate(e);
  else
    return elements_of(e).as_operand();
}

/// The elements of a stored operand.
template <class S>
auto values_of(S const& stored) {
  if constexpr (is_traced<S>)
    return stored.values();
  else
    return stored;
}

}  // namespace detail

// ---- views ----

/// The axes in another order.
///
/// \throws PreconditionError unless `order` has each axis once
template <DifferentiatedExpression X>
auto transpose(X&& x, std::array<int, rank_of<X>> const& order) {
  return detail::traced_view<rank_of<X>>(x, [&](auto const& s) { return transpose(s, order); });
}

/// Two axes exchanged.
///
/// \throws PreconditionError if there is no such axis
template <DifferentiatedExpression X>
auto swap_axes(X&& x, int a, int b) {
  return detail::traced_view<rank_of<X>>(x, [&](auto const& s) { return swap_axes(s, a, b); });
}

/// Reversed along one axis.
///
/// \throws PreconditionError if there is no such axis
template <DifferentiatedExpression X>
auto flip(X&& x, int axis) {
  return detail::traced_view<rank_of<X>>(x, [&](auto const& s) { return flip(s, axis); });
}

/// Reversed along every axis.
template <DifferentiatedExpression X>
auto flip(X&& x) {
  return detail::traced_view<rank_of<X>>(x, [&](auto const& s) { return flip(s); });
}

/// One more axis, of one element.
///
/// \throws PreconditionError if the axis isn't one of the result's
template <DifferentiatedExpression X>
auto with_axis(X&& x, int axis) {
  return detail::traced_view<rank_of<X> + 1>(x, [&](auto const& s) { return with_axis(s, axis); });
}

/// Stretched to a shape by repeating axes of one element.
///
/// \throws PreconditionError if the array doesn't stretch to the shape
template <DifferentiatedExpression X, std::size_t Rank>
auto broadcast_to(X&& x, std::array<std::int64_t, Rank> const& shape) {
  return detail::traced_view<static_cast<int>(Rank)>(
      x, [&](auto const& s) { return broadcast_to(s, shape); });
}

/// The elements in another shape. Elements that don't lie side by side are copied first.
///
/// \throws PreconditionError if the sizes differ
template <DifferentiatedExpression X, std::size_t Rank>
auto reshape(X&& x, std::array<std::int64_t, Rank> shape) {
  if constexpr (DualExpression<X>) {
    return detail::stand_in<static_cast<int>(Rank)>(x);
  } else {
    auto stored = evaluate(x);
    if (!stored.values().contiguous()) stored = evaluate(+stored);
    return stored.seen_as(reshape(stored.values(), shape).as_operand());
  }
}

/// Without one axis, which must have one element.
///
/// \throws PreconditionError if there is no such axis, or it has another number of elements
template <DifferentiatedExpression X, std::integral Axis>
  requires OfRankAtLeast<X, 1>
auto squeeze(X&& x, Axis axis) {
  return detail::traced_view<rank_of<X> - 1>(x, [&](auto const& s) { return squeeze(s, axis); });
}

/// Some axes moved: axis from[k] becomes axis to[k].
///
/// \throws PreconditionError if an axis is none of the array's, or named twice
template <DifferentiatedExpression X, std::size_t Count>
  requires OfRankAtLeast<X, static_cast<int>(Count)>
auto moveaxis(X&& x, int const (&from)[Count], int const (&to)[Count]) {
  return detail::traced_view<rank_of<X>>(x, [&](auto const& s) { return moveaxis(s, from, to); });
}

/// The diagonal of a matrix that lies `above` columns above the main one.
///
/// \throws PreconditionError if the matrix has no such diagonal
template <DifferentiatedExpression X>
  requires OfRank<X, 2>
auto diagonal(X&& x, std::int64_t above = 0) {
  return detail::traced_view<1>(x, [&](auto const& s) { return diagonal(s, above); });
}

// ---- new arrays ----

/// Arrays one after the other along an axis; some may be constants.
///
/// \throws PreconditionError if there is no such axis or other extents differ
template <Expression First, class... Rest>
  requires detail::Joinable<First, Rest...> && detail::AnyDifferentiated<First, Rest...>
auto concatenate(int axis, First const& first, Rest const&... rest) {
  constexpr int rank = rank_of<First>;
  if constexpr (DualExpression<First> || (DualExpression<Rest> || ...)) {
    return detail::stand_in<rank>(first, rest...);
  } else {
    auto const parts = std::tuple(detail::stored_operand(first), detail::stored_operand(rest)...);
    auto const joined = std::apply(
        [&](auto const&... part) { return concatenate(axis, detail::values_of(part)...); }, parts);
    using A = std::remove_const_t<decltype(joined)>;
    using Slices = Slice<value_t<A> const, rank, typename A::space>;
    int const d = axis < 0 ? axis + rank : axis;
    return detail::taped(
        detail::tape_of(first, rest...), joined, [parts, d](Slices const& cotangent) {
          std::int64_t at = 0;
          auto const one = [&](auto const& part) {
            std::int64_t const count = part.shape()[d];
            if constexpr (detail::is_traced<std::remove_cvref_t<decltype(part)>>)
              detail::add_cotangent(part, detail::part_along(cotangent, d, at, count));
            at += count;
          };
          std::apply([&](auto const&... part) { (one(part), ...); }, parts);
        });
  }
}

/// Arrays of one shape beside each other along a new axis; some may be constants.
///
/// \throws PreconditionError if the shapes differ
template <Expression First, class... Rest>
  requires detail::Joinable<First, Rest...> && detail::AnyDifferentiated<First, Rest...>
auto stack(int axis, First const& first, Rest const&... rest) {
  return concatenate(axis, with_axis(first, axis), with_axis(rest, axis)...);
}

/// Elements shifted along several axes, periodically. Elementwise statements read them where they
/// are.
///
/// \throws PreconditionError if there is no such axis
template <DifferentiatedExpression X, std::size_t Count>
auto roll(X const& x, std::array<std::int64_t, Count> const& shifts,
          std::array<int, Count> const& axes) {
  constexpr int rank = rank_of<X>;
  if constexpr (DualExpression<X>) {
    return detail::stand_in<rank>(x);
  } else {
    auto const whole = detail::whole_array(x);
    return whole.rolled(detail::shift_of_axes(whole.unrolled(), shifts, axes));
  }
}

/// The whole array repeated `times` times along an axis.
///
/// \throws PreconditionError if there is no such axis or `times` is negative
template <DifferentiatedExpression X, std::integral Times>
  requires OfRankAtLeast<X, 1>
auto tile(X const& x, Times times, int axis = -1) {
  constexpr int rank = rank_of<X>;
  if constexpr (DualExpression<X>) {
    return detail::stand_in<rank>(x);
  } else {
    auto const stored = evaluate(x);
    using Slices = Slice<value_t<X> const, rank, typename X::space>;
    int const d = axis < 0 ? axis + rank : axis;
    return detail::taped(stored.node()->tape(), tile(stored.values(), times, axis),
                         [stored, d](Slices const& cotangent) {
                           std::int64_t const count = stored.shape()[d];
                           for (std::int64_t at = 0; at < cotangent.shape()[d]; at += count)
                             detail::add_cotangent(stored,
                                                   detail::part_along(cotangent, d, at, count));
                         });
  }
}

/// Sums from the first element on along an axis.
///
/// \throws PreconditionError if there is no such axis
template <DifferentiatedExpression X>
  requires OfRankAtLeast<X, 1>
auto cumsum(X const& x, int axis) {
  constexpr int rank = rank_of<X>;
  if constexpr (DualExpression<X>) {
    return detail::stand_in<rank>(x);
  } else {
    auto const stored = evaluate(x);
    using Slices = Slice<value_t<X> const, rank, typename X::space>;
    return detail::taped(stored.node()->tape(), cumsum(stored.values(), axis),
                         [stored, axis](Slices const& cotangent) {
                           auto const from_the_end = cumsum(flip(cotangent, axis), axis);
                           detail::add_cotangent(stored, flip(from_the_end.as_operand(), axis));
                         });
  }
}

/// Sums from the first element of a vector on.
template <DifferentiatedExpression X>
  requires OfRank<X, 1>
auto cumsum(X const& x) {
  return cumsum(x, 0);
}

namespace detail {

/// The derivatives of products from the first element on along an axis, from the last element on:
///
///   before(j) s(j),  s(j) = c(j) + x(j + 1) s(j + 1),
///
/// where c is the cotangent and before(j) the product of the elements before j. Nothing is divided,
/// so that elements may be 0.
template <class T>
struct PullBackProducts {
  T const* x;
  T const* products;
  T const* cotangent;
  T* result;
  std::int64_t along, behind;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t const first = row / behind * along * behind + row % behind;
    T s(0);
    for (std::int64_t j = along; j-- > 0;) {
      std::int64_t const at = first + j * behind;
      s = cotangent[at] + (j + 1 < along ? x[at + behind] * s : T(0));
      result[at] = (j > 0 ? products[at - behind] : T(1)) * s;
    }
  }
};

}  // namespace detail

/// Products from the first element on along an axis. Elements may be 0.
///
/// \throws PreconditionError if there is no such axis
template <DifferentiatedExpression X>
  requires OfRankAtLeast<X, 1>
auto cumprod(X const& x, int axis) {
  constexpr int rank = rank_of<X>;
  if constexpr (DualExpression<X>) {
    return detail::stand_in<rank>(x);
  } else {
    using T = value_t<X>;
    using Space = typename X::space;
    static_assert(!is_complex<T>, "there is no derivative of cumprod of complex numbers");
    auto const stored = evaluate(x);
    auto const products = cumprod(stored.values(), axis);
    auto const kept = products.as_operand();
    int const d = axis < 0 ? axis + rank : axis;
    return detail::taped(stored.node()->tape(), products,
                         [stored, kept, d](Slice<T const, rank, Space> const& cotangent) {
                           if (stored.size() == 0) return;
                           auto const values = detail::in_c_order(stored.values());
                           auto const given = detail::in_c_order(cotangent);
                           Array<T, rank, Space> result(stored.shape());
                           std::int64_t behind = 1;
                           for (int at = d + 1; at < rank; ++at) behind *= stored.shape()[at];
                           std::int64_t const along = stored.shape()[d];
                           for_each(
                               "coir::autodiff::traced_moves/cumprod",
                               detail::instance<typename Space::execution_space>(),
                               box<1, std::int64_t>({result.size() / along}),
                               detail::PullBackProducts<T>{values.data(), kept.data(), given.data(),
                                                           result.data(), along, behind});
                           detail::add_cotangent(stored, result);
                         });
  }
}

/// Products from the first element of a vector on.
template <DifferentiatedExpression X>
  requires OfRank<X, 1>
auto cumprod(X const& x) {
  return cumprod(x, 0);
}

/// The n-th differences along an axis.
///
/// \throws PreconditionError if there is no such axis or n is negative
template <DifferentiatedExpression X>
  requires OfRankAtLeast<X, 1>
auto diff(X const& x, int n, int axis = -1) {
  if constexpr (DualExpression<X>) {
    return detail::stand_in<rank_of<X>>(x);
  } else {
    expects(n >= 0, "differences can be taken 0 or more times", n);
    auto stored = evaluate(x);
    int const d = checked_axis(stored.values(), axis);
    for (int taken = 0; taken < n; ++taken) {
      std::int64_t const extent = stored.shape()[d];
      std::int64_t const count = std::max<std::int64_t>(extent - 1, 0);
      auto const part = [&](std::int64_t first) {
        return stored.seen_as(detail::part_along(stored.values(), d, first, count));
      };
      stored = evaluate(part(extent - count) - part(0));
    }
    return stored;
  }
}

/// x[i + 1] - x[i] along the last axis.
template <DifferentiatedExpression X>
  requires OfRankAtLeast<X, 1>
auto diff(X const& x) {
  return diff(x, 1);
}

/// Angles without jumps. The number of periods counts as a constant.
///
/// \throws PreconditionError if there is no such axis, or the period isn't above 0
template <DifferentiatedExpression X>
  requires OfRankAtLeast<X, 1> && detail::RealOperand<X>
auto unwrap(X const& x, int axis = -1, double period = 2 * std::numbers::pi) {
  if constexpr (DualExpression<X>) {
    return detail::stand_in<rank_of<X>>(x);
  } else {
    auto const stored = evaluate(x);
    auto const periods = evaluate(unwrap(stored.values(), axis, period) - stored.values());
    return evaluate(stored + periods);
  }
}

/// Element (i, j) is a(i) b(j).
template <Expression A, Expression B>
  requires SameSpace<A, B> && OfRank<A, 1> && OfRank<B, 1> && detail::AnyDifferentiated<A, B>
auto outer(A&& a, B&& b) {
  return with_axis(std::forward<A>(a), 1) * std::forward<B>(b);
}

}  // namespace coir
