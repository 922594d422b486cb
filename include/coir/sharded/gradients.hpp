#pragma once

/// Gradients of programs of split arrays:
///
///     auto const [value, slope] = sharded::value_and_grad([](auto const& x) {
///       return sum(square(x - shift(x, 0, 1)));
///     })(x);
///
/// Each rank runs the program with a tape of its own, and the ranks go back through their tapes
/// together. On the way back each move between ranks is replaced by its adjoint: shift() by the
/// shift in the other direction, reshard() by the reshard back. For with_halo() the cotangents of
/// halos are added to those of the elements that the halos are copies of.
///
/// A value that is the same on every rank, such as a sum, has the same cotangent on every rank.
/// Where such a value enters a statement of split arrays, each rank finds a share of the cotangent,
/// and the shares are added up.

#include <coir/array/over_ranks.hpp>
#include <coir/autodiff/array_grad.hpp>
#include <coir/autodiff/custom_derivative.hpp>
#include <coir/sharded/array.hpp>
#include <coir/sharded/moves.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace coir::sharded {

namespace detail {

/// Adds up the ranks' shares of the cotangent of a value that is the same on every rank.
template <class T, int Rank>
Array<T, Rank> shares_added_up(Slice<T const, Rank, DefaultSpace> const& share,
                               distributed::Group const& group) {
  auto const sums = distributed::sum(
      Slice<T const, 1, DefaultSpace>(share.data(), {share.size()}, {1}, share.owner()), group);
  auto const all = sums.all();
  return Slice<T const, Rank, DefaultSpace>(all.data(), share.shape(), c_strides(share.shape()),
                                            all.owner());
}

template <TracedExpression E>
struct Parts<E> {
  static auto evaluated(E const& local) { return coir::evaluate(local); }

  template <class Move, class Back>
  static auto moved(E const& local, Move const& move, Back const& back) {
    auto const stored = coir::evaluate(local);
    return with_collective_pull_back(
        stored, move(stored.values()),
        [stored, back](auto const& cotangent) { add_to_cotangent(stored, back(cotangent)); });
  }

  template <int Rank>
  static auto entered(Placement<Rank> const& placement, E const& x) {
    auto const& splits = placement.splits();
    auto const first = entered_along(splits[0], Rank, x);
    using First = std::remove_cvref_t<decltype(first)>;
    return splits.size() == 1 ? first : Parts<First>::entered_along(splits[1], Rank, first);
  }

  /// What this rank reads along one split axis of an array of `axes` axes.
  static auto entered_along(SplitAxis const& split, int axes, E const& x) {
    if constexpr (rank_of<E> > 0) {
      int const axis = split.axis - (axes - rank_of<E>);
      if (axis >= 0 && x.shape()[static_cast<std::size_t>(axis)] != 1)
        return part_along_line(split.line, axis, x);
    }
    return whole(split.line, x);
  }

  static auto part(Placement<rank_of<E>> const& placement, E const& x) {
    auto const& splits = placement.splits();
    auto const first = part_along_line(splits[0].line, splits[0].axis, x);
    using First = std::remove_cvref_t<decltype(first)>;
    return splits.size() == 1
               ? first
               : Parts<First>::part_along_line(splits[1].line, splits[1].axis, first);
  }

  static auto part_along_line(distributed::Group const& group, int axis, E const& x) {
    constexpr int rank = rank_of<E>;
    Placement<rank> const line(group, x.shape(), axis);
    return moved(
        x,
        [=](auto const& all) {
          return Array<value_t<E>, rank>(part_along(all, axis, line.share()));
        },
        [=](auto const& cotangent) { return gathered<value_t<E>, rank>(cotangent, line, -1); });
  }

  static auto whole(distributed::Group const& group, E const& x) {
    return moved(
        x, [](auto const& all) { return Array<value_t<E>, rank_of<E>>(all); },
        [group](auto const& cotangent) { return shares_added_up(cotangent, group); });
  }

  template <class Add>
  static auto summed(E const& local, Add const& add) {
    using T = value_t<E>;
    auto const stored = coir::evaluate(local);
    Array<T, 0> total(Shape<0>{});
    total = static_cast<T>(add(stored.values()));
    return with_pull_back(stored, total,
                          [stored](Slice<T const, 0, DefaultSpace> const& cotangent) {
                            if (stored.size() > 0)
                              add_to_cotangent(stored, broadcast_to(cotangent, stored.shape()));
                          });
  }
};

/// joined() where a or b depends on arguments.
template <class A, class B, class Multiply, class Back>
  requires(TracedExpression<A> || TracedExpression<B>)
auto joined(A const& a, B const& b, Multiply const& multiply, Back const& back) {
  auto const values = [](auto const& stored) {
    if constexpr (TracedExpression<decltype(stored)>)
      return stored.values();
    else
      return stored.as_operand();
  };
  auto const x = Parts<A>::evaluated(a);
  auto const y = Parts<B>::evaluated(b);
  auto const pull = [=](auto const& cotangent) {
    auto const [first, second] = back(cotangent, values(x), values(y));
    if constexpr (TracedExpression<A>) add_to_cotangent(x, first());
    if constexpr (TracedExpression<B>) add_to_cotangent(y, second());
  };
  auto const result = multiply(values(x), values(y));
  if constexpr (TracedExpression<A>)
    return with_collective_pull_back(x, result, pull);
  else
    return with_collective_pull_back(y, result, pull);
}

/// An argument of value_and_grad on this rank, and what the program gets in its place.
template <class X>
auto argument(X const& x) {
  if constexpr (AnySplit<X>)
    return x.expression().local();
  else
    return operand(x);
}
template <class X, class Given>
auto given_as(X const& x, Given const& given) {
  if constexpr (AnySplit<X>)
    return Split<Given>(given, x.placement());
  else
    return given;
}
template <class X, class A>
auto gradient_as(X const& x, A gradient) {
  if constexpr (AnySplit<X>)
    return placed(std::move(gradient), x.placement());
  else
    return gradient;
}

}  // namespace detail

/// See value_and_grad().
template <class F>
struct ValueAndGradOf {
  F f;

  template <class... X>
    requires((AnySplit<X> || Expression<X>) && ...)
  auto operator()(X const&... x) const {
    auto result = value_and_grad_of_program(
        [&](auto const&... given) { return f(detail::given_as(x, given)...); },
        detail::argument(x)...);
    auto gradients = [&] {
      if constexpr (sizeof...(X) == 1)
        return detail::gradient_as(x..., std::move(result.gradient));
      else
        return std::apply(
            [&](auto&... one) { return std::tuple(detail::gradient_as(x, std::move(one))...); },
            result.gradient);
    }();
    using V = decltype(result.value);
    return ValueAndGradient<V, decltype(gradients)>{result.value, std::move(gradients)};
  }
};

/// value_and_grad(f)(x, ...) for split arrays: f's value, the same on every rank, and its gradient,
/// split as x is. Several arguments have a std::tuple of gradients. Plain arrays that are the same
/// on every rank may be arguments, too; their gradients are the same on every rank. Collective.
///
/// In f, split arguments work with elementwise functions, sum, mean, dot, norm, var, sums and means
/// along axes that aren't split, reshard, shift, with_halo, from_parts, replicate, shard, matmul,
/// rfftn and irfftn. A plain array that is the same on every rank may stand beside them.
///
/// with_halo() and local() give f elements of the rank's own. Expressions of these must go through
/// from_parts() before they are added up. Plain arguments and sums go into such expressions through
/// vary(), or else their gradients would lack the shares of other ranks.
///
/// \param f  generic; returns one real number that is the same on every rank
template <class F>
ValueAndGradOf<F> value_and_grad(F f) {
  return {std::move(f)};
}

}  // namespace coir::sharded
