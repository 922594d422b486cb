#pragma once

/// Arrays that ranks share, and expressions of them.

#include <coir/array/array.hpp>
#include <coir/array/slices.hpp>
#include <coir/distributed/together.hpp>
#include <coir/sharded/placement.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace coir::sharded {

/// An expression of split arrays. Each rank holds the expression of its own parts.
template <Expression E>
class Split {
 public:
  using value_type = coir::value_t<E>;
  static constexpr int rank = rank_of<E>;

  Split(E local, Placement<rank> placement)
      : local_(std::move(local)), placement_(std::move(placement)) {}

  E const& local() const& { return local_; }
  E local() && { return std::move(local_); }
  Placement<rank> const& placement() const& { return placement_; }
  Placement<rank> placement() && { return std::move(placement_); }
  Shape<rank> const& shape() const { return placement_.shape(); }
  Split const& expression() const { return *this; }

 private:
  E local_;
  Placement<rank> placement_;
};

/// A Sharded array, or an expression of Sharded arrays.
template <class X>
concept AnySplit = requires(std::remove_cvref_t<X> const& x) {
  x.placement();
  x.expression().local();
};

/// An array whose elements the ranks of a group share along one axis, or those of a Mesh along two:
/// a JAX array with a NamedSharding. Each rank runs the same program, and works on its part:
///
///     Sharded<float, 2> const x = sharded::normal<float>(world, key, {n, m});
///     Sharded<float, 2> const y = 2 * x + 1;     // each rank its part, nothing travels
///     float const total = sum(y * y);            // the same on every rank
///
/// Elementwise functions and operators take split arrays of one placement, numbers, and plain
/// arrays that are the same on every rank. They send nothing. Functions that move elements between
/// ranks are collective.
///
/// \tparam T     the element type
/// \tparam Rank  axes, 1 to 4
template <Element T, int Rank>
class Sharded {
 public:
  using value_type = T;
  static constexpr int rank = Rank;

  /// No elements: may only be assigned to.
  Sharded() = default;
  /// Elements that aren't set.
  ///
  /// \throws ResourceError if there isn't enough memory
  explicit Sharded(Placement<Rank> placement)
      : placement_(std::move(placement)), local_(placement_.local_shape()) {}
  /// This rank's part.
  ///
  /// \throws PreconditionError unless it has the shape of the part
  Sharded(Array<T, Rank> local, Placement<Rank> placement)
      : placement_(std::move(placement)), local_(std::move(local)) {
    if (local_.shape() != placement_.local_shape())
      throw PreconditionError("the part of rank " + std::to_string(placement_.group().rank()) +
                              " of an array of " + in_words(placement_) + " has shape " +
                              coir::in_words(placement_.local_shape()) + ", not " +
                              coir::in_words(local_.shape()));
  }
  /// The values of an expression.
  template <class E>
    requires(rank_of<E> == Rank)
  Sharded(Split<E> const& values) : placement_(values.placement()), local_(values.local()) {}
  template <class E>
    requires(rank_of<E> == Rank)
  Sharded& operator=(Split<E> const& values) {
    local_ = values.local();  // in the same memory if the shape is the same
    if (!(placement_ == values.placement())) placement_ = values.placement();
    return *this;
  }
  template <Scalar S>
  Sharded& operator=(S const& number) {
    local_ = number;
    return *this;
  }

  Placement<Rank> const& placement() const { return placement_; }
  distributed::Group const& group() const { return placement_.group(); }
  /// The shape of the whole array.
  Shape<Rank> const& shape() const { return placement_.shape(); }
  std::int64_t extent(int axis) const { return shape()[static_cast<std::size_t>(axis)]; }
  std::int64_t size() const { return size_of(shape()); }

  /// The part on this rank, for statements and kernels of its own: JAX's shard_map.
  auto local() { return local_.all(); }
  auto local() const { return local_.all(); }

  auto expression() const {
    auto part = local_.as_operand();
    return Split<decltype(part)>(std::move(part), placement_);
  }

  /// A slice for reading, which shows the same elements. Split axes stay whole. Expressions of
  /// split arrays have no slices: evaluate() them first.
  ///
  /// \param ranges  for the first axes; the others stay whole
  /// \throws PreconditionError if a bound lies outside of its axis, or a range cuts the split axis
  template <std::same_as<Range>... Ranges>
    requires(sizeof...(Ranges) >= 1 && sizeof...(Ranges) <= Rank)
  auto operator()(Ranges const&... ranges) const {
    auto shape = placement_.shape();
    std::array<Range, sizeof...(Ranges)> const list{ranges...};
    for (std::size_t d = 0; d < list.size(); ++d) {
      auto const placed = list[d].on(shape[d], static_cast<int>(d));
      bool const is_whole = placed.count == shape[d] && list[d].step == 1;
      expects(is_whole || !placement_.is_split(static_cast<int>(d)),
              "a slice must leave the split axis whole, because ranks would have uneven parts: "
              "reshard() the array along another axis, or replicate() it, before axis " +
                  std::to_string(d) + " is cut");
      shape[d] = placed.count;
    }
    auto part = sliced(local_.as_operand(), list, std::index_sequence_for<Ranges...>());
    return Split<decltype(part)>(std::move(part),
                                 Placement<Rank>(group(), shape, placement_.splits()));
  }

 private:
  template <class S, std::size_t... I>
  auto sliced(S const& part, std::array<Range, sizeof...(I)> list,
              std::index_sequence<I...>) const {
    for (std::size_t d = 0; d < list.size(); ++d)
      if (placement_.is_split(static_cast<int>(d))) list[d] = range();
    return part(list[I]...);
  }

  Placement<Rank> placement_;
  Array<T, Rank> local_;
};

template <class E>
Sharded(Split<E> const&) -> Sharded<value_t<E>, rank_of<E>>;

namespace detail {

/// The elements of these indices along each axis.
template <class T, int Rank, class Space>
Slice<T, Rank, Space> part_in(Slice<T, Rank, Space> const& x, Box<Rank> const& box) {
  Shape<Rank> shape{};
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < Rank; ++d) {
    shape[d] = box[d].count;
    offset += box[d].first * x.strides()[d];
  }
  return {x.data() + (size_of(shape) > 0 ? offset : 0), shape, x.strides(), x.owner()};
}

/// The elements [first, first + count) along an axis.
template <class T, int Rank, class Space>
Slice<T, Rank, Space> part_along(Slice<T, Rank, Space> const& x, int axis,
                                 distributed::Share const& part) {
  auto box = box_of(x.shape());
  box[static_cast<std::size_t>(axis)] = part;
  return part_in(x, box);
}

/// What functions of split arrays do with parts and plain operands of type E. gradients.hpp has a
/// specialisation for expressions of the arguments of value_and_grad.
template <class E>
struct Parts {
  static auto evaluated(E const& local) { return Array<value_t<E>, rank_of<E>>(local); }
  /// move(elements). `back` is the adjoint of `move`, and is called on the way back of gradients.
  template <class Move, class Back>
  static auto moved(E const& local, Move const& move, Back const&) {
    return move(elements_of(local).as_operand());
  }
  /// What this rank reads of a plain operand that stands beside split ones. Along a split axis of
  /// which the operand has two or more indices this is the rank's part of it, and otherwise all.
  template <int Rank>
  static auto entered(Placement<Rank> const& placement, E const& x) {
    auto const all = elements_of(x).as_operand();
    auto box = box_of(all.shape());
    for (auto const& split : placement.splits()) {
      int const axis = split.axis - (Rank - rank_of<E>);
      if (axis >= 0 && all.shape()[static_cast<std::size_t>(axis)] != 1)
        box[static_cast<std::size_t>(axis)] = placement.share(split, placement.group().rank());
    }
    return part_in(all, box);
  }
  /// This rank's part of a plain array.
  static auto part(Placement<rank_of<E>> const& placement, E const& x) {
    return part_in(elements_of(x).as_operand(), placement.box(placement.group().rank()));
  }
  /// A plain operand that every rank needs whole.
  static auto whole(distributed::Group const&, E const& x) { return operand(x); }
  /// The sum of all elements, given the function that adds up parts in memory.
  template <class Add>
  static auto summed(E const& local, Add const& add) {
    return add(local);
  }
};

/// A part with its placement.
template <class T, int Rank>
Sharded<T, Rank> placed(Array<T, Rank> part, Placement<Rank> const& placement) {
  return {std::move(part), placement};
}
template <Expression E>
Split<E> placed(E const& part, Placement<rank_of<E>> const& placement) {
  return {part, placement};
}

template <class X>
inline constexpr int axes_of = 0;
template <class X>
  requires(AnySplit<X> || Expression<X>)
inline constexpr int axes_of<X> = rank_of<X>;

/// The first of some operands that is split.
template <class First, class... Rest>
decltype(auto) first_split(First&& first, Rest&&... rest) {
  if constexpr (AnySplit<First>)
    return std::forward<First>(first);
  else
    return first_split(std::forward<Rest>(rest)...);
}

/// The placement of an expression of operands that don't all have one.
template <class... X>
auto fitted_placement(X const&... x) {
  constexpr int rank = std::max({axes_of<X>...});
  auto const& first = first_split(x...).placement();
  Shape<rank> shape;
  shape.fill(1);
  auto const stretch = [&](auto const& one) {
    if constexpr (axes_of<std::remove_cvref_t<decltype(one)>> > 0)
      shape = broadcast(shape, one.shape());
  };
  (stretch(x), ...);
  constexpr int axes = std::remove_cvref_t<decltype(first)>::rank;
  auto const common = [&] {
    if constexpr (axes == rank)
      if (shape == first.shape()) return first;
    auto splits = first.splits();
    for (auto& split : splits) split.axis += rank - axes;
    return Placement<rank>(first.group(), shape, std::move(splits));
  }();
  auto const check = [&](auto const& one) {
    using One = std::remove_cvref_t<decltype(one)>;
    if constexpr (AnySplit<One>) {
      constexpr int more = rank - rank_of<One>;
      auto const& other = one.placement();
      expects_one_group(first, other);
      auto const &splits = other.splits(), &expected = common.splits();
      bool is_alike = splits.size() == expected.size(), is_stretched = false;
      for (std::size_t n = 0; is_alike && n < splits.size(); ++n) {
        auto split = splits[n];
        auto const d = static_cast<std::size_t>(split.axis);
        split.axis += more;
        is_alike = split == expected[n];
        is_stretched =
            is_stretched || other.shape()[d] != common.shape()[d + static_cast<std::size_t>(more)];
      }
      if (!is_alike)
        throw PreconditionError("split arrays of one expression must be split alike, not " +
                                in_words(first) + " and " + in_words(other) +
                                ": reshard() one of them, or replicate() one that is stretched");
      if (is_stretched)
        throw PreconditionError("an array of " + in_words(other) + " can't be stretched to shape " +
                                coir::in_words(common.shape()) +
                                " along an axis that is split: replicate() it");
    }
  };
  (check(x), ...);
  return common;
}

/// Whether an operand lets an expression have a placement as it is.
template <int Rank, class X>
bool fits_in(Placement<Rank> const& placement, X const& x) {
  if constexpr (AnySplit<X> && axes_of<X> == Rank)
    return x.placement() == placement;
  else
    return axes_of<X> == 0;
}

/// The placement of an expression of these operands. All ranks find the same placement, or throw
/// the same error.
template <class... X>
auto common_placement(X&&... x) {
  constexpr int rank = std::max({axes_of<std::remove_cvref_t<X>>...});
  decltype(auto) first = first_split(std::forward<X>(x)...);
  // Otherwise copying and comparing placements takes as long as a short statement.
  if constexpr (std::remove_cvref_t<decltype(first.placement())>::rank == rank)
    if ((fits_in(first.placement(), x) && ...))
      return std::forward<decltype(first)>(first).placement();
  return fitted_placement(x...);
}

/// An operand of an expression on this rank.
template <int Rank, class X>
decltype(auto) local_operand(Placement<Rank> const& placement, X&& x) {
  using Plain = std::remove_cvref_t<X>;
  if constexpr (AnySplit<X> && std::is_lvalue_reference_v<X>)
    return std::as_const(x).local();
  else if constexpr (AnySplit<X>)
    return std::forward<X>(x).local();
  else if constexpr (Expression<X>)
    return Parts<Plain>::entered(placement, x);
  else
    return Plain(x);
}

}  // namespace detail

/// The expression f(part, ...) of this rank's parts of the operands.
///
/// \param f  returns an elementwise expression of coir/array
/// \throws PreconditionError on every rank if shapes don't fit, or split operands are split
///   differently
template <class F, class... X>
  requires(AnySplit<X> || ...)
auto elementwise(F const& f, X&&... x) {
  // Takes an operand's placement alone; its elements are taken below.
  auto placement = detail::common_placement(std::forward<X>(x)...);
  auto expression = f(detail::local_operand(placement, std::forward<X>(x))...);
  return Split<decltype(expression)>(std::move(expression), std::move(placement));
}

/// The values of an expression, computed and stored.
template <AnySplit X>
auto evaluate(X const& x) {
  auto const& e = x.expression();
  return detail::placed(
      detail::Parts<std::remove_cvref_t<decltype(e.local())>>::evaluated(e.local()), e.placement());
}

}  // namespace coir::sharded
