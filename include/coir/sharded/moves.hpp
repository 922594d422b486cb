#pragma once

/// Functions that move elements of split arrays between ranks. All are collective.

#include <coir/array/joining.hpp>
#include <coir/array/roll.hpp>
#include <coir/core/strided.hpp>
#include <coir/distributed/view_exchange.hpp>
#include <coir/sharded/array.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace coir::sharded {

namespace detail {

using Exec = DefaultSpace::execution_space;

template <class T, int Rank, class Space>
Strided<T, Rank> strided_of(Slice<T, Rank, Space> const& x) {
  return {x.data(), x.shape(), x.strides()};
}

/// Consecutive indices along the split axis that a rank needs: [first, first + count) of the whole
/// array. They go to the indices from `at` on of the rank's target.
struct Wanted {
  std::int64_t first, count, at;
};

/// `count` indices from `first` on, around a periodic axis of n indices.
inline std::vector<Wanted> wrapped(std::int64_t first, std::int64_t count, std::int64_t n) {
  std::vector<Wanted> all;
  for (std::int64_t at = 0; at < count && n > 0;) {
    std::int64_t const from = ((first + at) % n + n) % n;
    std::int64_t const some = std::min(count - at, n - from);
    all.push_back({from, some, at});
    at += some;
  }
  return all;
}

/// Calls visit(key, here, there) for each run of indices that rank `from` has and rank `to` wants:
/// `here` are its places in the part of `from`, `there` its places in the target of `to`.
template <int Rank, class WantedOf, class Visit>
void for_each_piece(Placement<Rank> const& placement, int from, int to, WantedOf const& wanted_of,
                    Visit const& visit) {
  auto const has = placement.share(from);
  std::int64_t key = 0;
  for (Wanted const& wanted : wanted_of(to)) {
    std::int64_t const first = std::max(wanted.first, has.first),
                       end = std::min(wanted.first + wanted.count, has.end());
    if (first < end)
      visit(key, distributed::Share{first - has.first, end - first},
            distributed::Share{wanted.at + first - wanted.first, end - first});
    ++key;
  }
}

/// Brings each rank the indices along the split axis that wanted_of(rank) lists.
///
/// \param target  where they go on this rank
template <class T, int Rank, class WantedOf>
void fetch(char const* purpose, Slice<T const, Rank, DefaultSpace> const& own,
           Placement<Rank> const& placement, WantedOf const& wanted_of,
           Slice<T, Rank, DefaultSpace> const& target) {
  auto const& group = placement.group();
  int const axis = placement.axis();
  distributed::ViewExchange exchange(Exec(), group, purpose);
  for (int other = 0; other < group.size(); ++other) {
    if (other == group.rank()) {
      for_each_piece(placement, other, other, wanted_of,
                     [&](std::int64_t, auto const& here, auto const& there) {
                       part_along(target, axis, there) = part_along(own, axis, here);
                     });
      continue;
    }
    for_each_piece(placement, group.rank(), other, wanted_of,
                   [&](std::int64_t key, auto const& here, auto const&) {
                     exchange.send(other, strided_of(part_along(own, axis, here)), key);
                   });
    for_each_piece(placement, other, group.rank(), wanted_of,
                   [&](std::int64_t key, auto const&, auto const& there) {
                     exchange.receive(other, strided_of(part_along(target, axis, there)), key);
                   });
  }
  exchange.run();
}

/// The adjoint of fetch(): adds what came to each rank to the elements that it came from, in order
/// of ranks.
template <class T, int Rank, class WantedOf>
Array<T, Rank> give_back(char const* purpose, Slice<T const, Rank, DefaultSpace> const& came,
                         Placement<Rank> const& placement, WantedOf const& wanted_of) {
  auto const& group = placement.group();
  int const axis = placement.axis();
  Array<T, Rank> result(placement.local_shape());
  result = T(0);
  struct Part {
    distributed::Share own;
    Slice<T const, Rank, DefaultSpace> elements;
  };
  std::vector<Part> parts;
  distributed::ViewExchange exchange(Exec(), group, purpose);
  for (int other = 0; other < group.size(); ++other) {
    bool const is_here = other == group.rank();
    for_each_piece(placement, other, group.rank(), wanted_of,
                   [&](std::int64_t key, auto const&, auto const& here) {
                     if (!is_here)
                       exchange.send(other, strided_of(part_along(came, axis, here)), key);
                   });
    for_each_piece(placement, group.rank(), other, wanted_of,
                   [&](std::int64_t key, auto const& own, auto const& there) {
                     if (is_here) {
                       parts.push_back({own, part_along(came, axis, there)});
                       return;
                     }
                     Array<T, Rank> part(part_along(result.all(), axis, own).shape());
                     exchange.receive(other, strided_of(part.all()), key);
                     parts.push_back({own, std::as_const(part).all()});
                   });
  }
  exchange.run();
  for (auto const& part : parts) {
    auto const target = part_along(result.all(), axis, part.own);
    target = target + part.elements;
  }
  return result;
}

/// Brings each rank the elements of its box of the whole array.
///
/// \param box_of  box_of(rank): the indices that a rank gets along each axis
template <class T, int Rank, class BoxOf>
Array<T, Rank> rearranged(char const* purpose, Slice<T const, Rank, DefaultSpace> const& own,
                          Placement<Rank> const& from, BoxOf const& box_of) {
  auto const& group = from.group();
  auto const here = from.box(group.rank()), target = box_of(group.rank());
  Shape<Rank> shape{};
  for (std::size_t d = 0; d < Rank; ++d) shape[d] = target[d].count;
  Array<T, Rank> result(shape);
  // What two boxes have in common, in memory that begins with the first index of one.
  auto const common = [](auto const& part, Box<Rank> const& box, Box<Rank> const& other) {
    Box<Rank> shared;
    for (std::size_t d = 0; d < Rank; ++d) {
      std::int64_t const first = std::max(box[d].first, other[d].first),
                         end = std::min(box[d].end(), other[d].end());
      shared[d] = {first - box[d].first, std::max<std::int64_t>(end - first, 0)};
    }
    return part_in(part, shared);
  };
  distributed::ViewExchange exchange(Exec(), group, purpose);
  for (int other = 0; other < group.size(); ++other) {
    auto const goes = common(own, here, box_of(other));
    auto const comes = common(result.all(), target, from.box(other));
    if (other == group.rank()) {
      comes = goes;
    } else {
      exchange.send(other, strided_of(goes));
      exchange.receive(other, strided_of(comes));
    }
  }
  exchange.run();
  return result;
}

/// The part of each rank in another placement.
template <class T, int Rank>
Array<T, Rank> resharded(Slice<T const, Rank, DefaultSpace> const& own, Placement<Rank> const& from,
                         Placement<Rank> const& to) {
  if (from == to) return Array<T, Rank>(own);
  return rearranged("sharded/reshard", own, from, [&](int rank) { return to.box(rank); });
}

/// What the ranks that share an axis with this one have together.
template <int Rank>
Placement<Rank> line_along(Placement<Rank> const& placement, int axis) {
  for (auto const& split : placement.splits())
    if (split.axis == axis) return placement.line(split);
  return placement;
}

/// Applies a move to the values of x: see Parts::moved().
template <AnySplit X, class Move, class Back>
auto moved(X const& x, Move const& move, Back const& back) {
  auto const e = x.expression();
  return Parts<std::remove_cvref_t<decltype(e.local())>>::moved(e.local(), move, back);
}

/// multiply(a, b) of the values of two parts. back(cotangent, a, b) returns the two functions that
/// compute the cotangents of a and b. gradients.hpp has another joined(), for parts that depend on
/// the arguments of value_and_grad.
template <class A, class B, class Multiply, class Back>
auto joined(A const& a, B const& b, Multiply const& multiply, Back const&) {
  return multiply(elements_of(a).as_operand(), elements_of(b).as_operand());
}

/// The whole array, on rank `to`, or on every rank if `to` is negative. Other ranks get an array
/// without indices along the split axis.
template <class T, int Rank>
Array<T, Rank> gathered(Slice<T const, Rank, DefaultSpace> const& own,
                        Placement<Rank> const& placement, int to) {
  return rearranged("sharded/gather", own, placement, [&](int rank) {
    auto box = box_of(placement.shape());
    if (to >= 0 && rank != to) box[static_cast<std::size_t>(placement.axis())].count = 0;
    return box;
  });
}

template <Expression E>
auto shared_out(E const& whole, Placement<rank_of<E>> const& placement) {
  return placed(coir::evaluate(Parts<E>::part(placement, whole)), placement);
}

}  // namespace detail

/// The array in another placement of its group: one exchange of all ranks with all. JAX's
/// with_sharding_constraint, an all_to_all.
///
/// \throws PreconditionError if the placement is one of another shape or group
template <AnySplit X>
auto reshard(X const& x, Placement<rank_of<X>> const& to) {
  auto const from = x.placement();
  detail::expects_one_group(from, to);
  if (from.shape() != to.shape())
    throw PreconditionError("an array of " + in_words(from) + " can't be resharded to one of " +
                            in_words(to) + ": the shape must be the same");
  return detail::placed(
      detail::moved(
          x, [=](auto const& own) { return detail::resharded(own, from, to); },
          [=](auto const& cotangent) { return detail::resharded(cotangent, to, from); }),
      to);
}
/// The array split along another axis.
///
/// \throws PreconditionError if there is no such axis
template <AnySplit X>
auto reshard(X const& x, int axis) {
  auto const from = x.placement();
  return reshard(x, Placement<rank_of<X>>(from.group(), from.shape(), axis));
}
/// The array split along two axes: the ranks of a column of the mesh share the first axis, and
/// those of a row the second one.
///
/// \throws PreconditionError if there is no such axis, both axes are one, or the mesh has other
///   ranks than the array's group
template <AnySplit X>
auto reshard(X const& x, Mesh const& mesh, std::array<int, 2> const& axes) {
  return reshard(x, Placement<rank_of<X>>(mesh, x.placement().shape(), axes));
}

/// Element i is element i - steps of x along an axis, periodically: numpy.roll, and JAX's ppermute
/// if the axis is split. There may be any number of steps. Elements travel straight to the rank
/// that gets them. Elements that stay on their rank aren't sent.
///
/// \throws PreconditionError if there is no such axis
template <AnySplit X>
auto shift(X const& x, int axis, std::int64_t steps) {
  constexpr int rank = rank_of<X>;
  auto const e = x.expression();
  auto const placement = e.placement();
  int const d = placement.checked(axis);
  if (!placement.is_split(d)) return detail::placed(evaluate(roll(e.local(), steps, d)), placement);
  auto const line = detail::line_along(placement, d);
  std::int64_t const n = line.extent(), around = n > 0 ? steps % n : 0;
  auto const wanted = [line, n, around](int to) {
    auto const share = line.share(to);
    return detail::wrapped(share.first - around, share.count, n);
  };
  return detail::placed(detail::moved(
                            x,
                            [=](auto const& own) {
                              Array<value_t<X>, rank> result(own.shape());
                              detail::fetch("sharded/shift", own, line, wanted, result.all());
                              return result;
                            },
                            [=](auto const& cotangent) {
                              return detail::give_back("sharded/shift", cotangent, line, wanted);
                            }),
                        placement);
}

/// What lies beyond the ends of an axis.
enum class Edges {
  periodic,  ///< the elements of the other end
  zero       ///< zeros
};

namespace detail {

/// A part with more layers on either side of one split axis: see with_halo().
///
/// \param line  what the ranks that share the axis have together
template <Expression E, int Rank>
auto with_layers(E const& part, Placement<Rank> const& line, std::int64_t width, Edges edges) {
  std::int64_t const n = line.extent();
  auto const wanted = [=](int to) {
    auto const share = line.share(to);
    std::int64_t const first = share.first - width, count = share.count + 2 * width;
    if (edges == Edges::periodic) return wrapped(first, count, n);
    std::int64_t const from = std::max<std::int64_t>(first, 0);
    return std::vector<Wanted>{{from, std::min(first + count, n) - from, from - first}};
  };
  return Parts<E>::moved(
      part,
      [=](auto const& own) {
        auto shape = own.shape();
        shape[static_cast<std::size_t>(line.axis())] += 2 * width;
        Array<value_t<E>, Rank> result(shape);
        if (edges == Edges::zero) result = value_t<E>(0);
        fetch("sharded/with_halo", own, line, wanted, result.all());
        return result;
      },
      [=](auto const& cotangent) {
        return give_back("sharded/with_halo", cotangent, line, wanted);
      });
}

}  // namespace detail

/// This rank's part with `width` more layers on either side of each split axis: its neighbours'
/// elements. The result is a plain array for statements of the rank's own. from_parts() makes a
/// split array of the results of these statements.
///
/// \throws PreconditionError if the width is negative, or larger than the whole array's extent
///   along a split axis
template <AnySplit X>
auto with_halo(X const& x, std::int64_t width, Edges edges = Edges::periodic) {
  auto const e = x.expression();
  auto const placement = e.placement();
  for (auto const& split : placement.splits()) {
    std::int64_t const n = placement.shape()[static_cast<std::size_t>(split.axis)];
    expects(width >= 0 && width <= n,
            "the halo of an array of " + in_words(placement) + " must have 0 to " +
                std::to_string(n) + " layers",
            width);
  }
  auto const& splits = placement.splits();
  auto const first = detail::with_layers(e.local(), placement.line(splits[0]), width, edges);
  if (splits.size() == 1) return first;
  // Corners come along: the second axis' layers are those of parts that have the first axis' ones.
  auto shape = first.shape();
  auto const& second = splits[1];
  shape[static_cast<std::size_t>(second.axis)] =
      placement.shape()[static_cast<std::size_t>(second.axis)];
  return detail::with_layers(first, Placement<rank_of<X>>(second.line, shape, second.axis), width,
                             edges);
}

/// The whole array on every rank: JAX's all_gather.
template <AnySplit X>
auto replicate(X const& x) {
  auto const placement = x.placement();
  return detail::moved(
      x, [=](auto const& own) { return detail::gathered(own, placement, -1); },
      // The result is the same on every rank, and so is its cotangent: each rank takes its part.
      [=](auto const& cotangent) {
        return evaluate(detail::part_in(cotangent, placement.box(placement.group().rank())));
      });
}

/// The whole array on one rank; the others get an array without elements along the split axis. In
/// functions that value_and_grad differentiates use replicate().
///
/// \throws PreconditionError if `to` is no rank of the group
template <AnySplit X>
  requires Element<value_t<X>>
auto gather(X const& x, int to = 0) {
  auto const e = x.expression();
  expects(to >= 0 && to < e.placement().group().size(),
          "an array must be gathered on a rank of its group", to);
  auto const part = evaluate(e.local());
  return detail::gathered<value_t<X>, rank_of<X>>(part.as_operand(), e.placement(), to);
}

/// The split array of an array that is the same on every rank. Nothing travels.
///
/// \throws PreconditionError if there is no such axis, or both axes of a mesh are one
template <Expression E>
  requires(rank_of<E> >= 1)
auto shard(distributed::Group const& group, E const& whole, int axis = 0) {
  return detail::shared_out(whole, Placement<rank_of<E>>(group, whole.shape(), axis));
}
template <Expression E>
  requires(rank_of<E> >= 2)
auto shard(Mesh const& mesh, E const& whole, std::array<int, 2> const& axes = {0, 1}) {
  return detail::shared_out(whole, Placement<rank_of<E>>(mesh, whole.shape(), axes));
}

/// A value that is the same on every rank, for expressions of elements of a rank's own, which
/// with_halo() and local() give: JAX's pvary. On the way back of gradients the ranks' shares of its
/// cotangent are added up. Without gradients this is the value itself.
template <Expression E>
auto vary(distributed::Group const& group, E const& x) {
  return detail::Parts<E>::whole(group, x);
}

/// The split array of the ranks' own parts: what JAX's shard_map returns.
///
/// \param part  of shape placement.local_shape() on each rank
/// \throws PreconditionError on every rank unless each part has this shape
template <Expression E>
auto from_parts(E const& part, Placement<rank_of<E>> const& placement) {
  distributed::together(placement.group(), [&] {
    if (part.shape() != placement.local_shape())
      throw PreconditionError("the part of rank " + std::to_string(placement.group().rank()) +
                              " of an array of " + in_words(placement) + " must have shape " +
                              coir::in_words(placement.local_shape()) + ", not " +
                              coir::in_words(part.shape()));
  });
  return detail::placed(detail::Parts<E>::evaluated(part), placement);
}

}  // namespace coir::sharded
