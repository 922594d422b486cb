#pragma once

/// \file
/// New arrays put together from parts of others.

#include <coir/array/creation.hpp>
#include <coir/array/reductions.hpp>
#include <coir/array/slices.hpp>

#include <tuple>

namespace coir {

namespace detail {

/// The elements [first, first + count) along an axis.
template <class T, int Rank, class Space>
Slice<T, Rank, Space> part_along(Slice<T, Rank, Space> const& x, int axis, std::int64_t first,
                                 std::int64_t count) {
  Shape<Rank> shape = x.shape();
  shape[axis] = count;
  return {x.data() + (count > 0 ? first * x.strides()[axis] : 0), shape, x.strides(), x.owner()};
}

/// Writes, for each element that a mask holds for, visit(how many before it, its number).
template <class Visit>
struct CompressBody {
  bool const* mask;
  Visit visit;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& before, bool final) const {
    if (!mask[i]) return;
    if (final) visit(before, i);
    ++before;
  }
};

template <class T>
struct CopyElement {
  T const* from;
  T* to;
  KOKKOS_FUNCTION void operator()(std::int64_t before, std::int64_t i) const {
    to[before] = from[i];
  }
};
struct CopyIndex {
  std::int64_t* to;
  KOKKOS_FUNCTION void operator()(std::int64_t before, std::int64_t i) const { to[before] = i; }
};

template <class Exec, class Visit>
void for_each_held(bool const* mask, std::int64_t size, Visit const& visit) {
  Kokkos::parallel_scan("coir::array::compress",
                        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(0, size),
                        CompressBody<Visit>{mask, visit});
}

template <class T, class I>
struct Gather {
  T const* from;
  std::int64_t size;
  KOKKOS_FORCEINLINE_FUNCTION T operator()(I i) const {
    auto const at = static_cast<std::int64_t>(i);
    return from[at < 0 ? at + size : at];
  }
};

}  // namespace detail

/// Arrays one after the other along an axis: NumPy's concatenate((a, b, ...), axis).
///
/// \throws PreconditionError if there is no such axis or other extents differ
template <Expression First, Expression... Rest>
  requires SameSpace<First, Rest...> && ((rank_of<First> == rank_of<Rest>) && ...)
auto concatenate(int axis, First const& first, Rest const&... rest) {
  auto const slices = std::tuple(detail::elements_of(first), detail::elements_of(rest)...);
  auto const& front = std::get<0>(slices);
  int const d = detail::checked_axis(front, axis);
  auto shape = front.shape();
  shape[d] = 0;
  auto const measure = [&](auto const& slice) {
    for (int other = 0; other < rank_of<First>; ++other)
      if (other != d && slice.shape()[other] != shape[other])
        throw PreconditionError("arrays of shapes " + in_words(front.shape()) + " and " +
                                in_words(slice.shape()) + " can't be joined along axis " +
                                std::to_string(axis) + ": the other extents must be equal");
    shape[d] += slice.shape()[d];
  };
  std::apply([&](auto const&... slice) { (measure(slice), ...); }, slices);
  using T = std::remove_cvref_t<decltype(front)>;
  auto result =
      empty<std::common_type_t<value_t<First>, value_t<Rest>...>, typename T::space>(shape);
  std::int64_t at = 0;
  std::apply(
      [&](auto const&... slice) {
        ((detail::part_along(result.all(), d, at, slice.shape()[d]) = slice,
          at += slice.shape()[d]),
         ...);
      },
      slices);
  return result;
}

/// Arrays of one shape beside each other along a new axis: NumPy's stack((a, b, ...), axis).
///
/// \throws PreconditionError if the shapes differ
template <Expression First, Expression... Rest>
  requires SameSpace<First, Rest...> && ((rank_of<First> == rank_of<Rest>) && ...)
auto stack(int axis, First const& first, Rest const&... rest) {
  return concatenate(axis, with_axis(detail::elements_of(first), axis),
                     with_axis(detail::elements_of(rest), axis)...);
}

/// Elements moved on by `shift` along an axis; those that fall off its end come in at its start.
///
/// \throws PreconditionError if there is no such axis
template <Expression X>
auto roll(X const& x, std::int64_t shift, int axis = 0) {
  auto const slice = detail::elements_of(x);
  int const d = detail::checked_axis(slice, axis);
  std::int64_t const n = slice.shape()[d];
  auto result = empty_like(slice);
  if (result.size() == 0) return result;
  std::int64_t const by = (shift % n + n) % n;
  detail::part_along(result.all(), d, by, n - by) = detail::part_along(slice, d, 0, n - by);
  detail::part_along(result.all(), d, 0, by) = detail::part_along(slice, d, n - by, by);
  return result;
}

/// The array repeated `times` times along an axis, as a whole: NumPy's tile along one axis.
///
/// \throws PreconditionError if there is no such axis or `times` is negative
template <Expression X>
auto tile(X const& x, std::int64_t times, int axis = 0) {
  auto const slice = detail::elements_of(x);
  int const d = detail::checked_axis(slice, axis);
  expects(times >= 0, "an array can be repeated 0 or more times", times);
  auto shape = slice.shape();
  std::int64_t const n = shape[d];
  shape[d] *= times;
  auto result = empty<value_t<X>, typename std::remove_cvref_t<decltype(slice)>::space>(shape);
  for (std::int64_t t = 0; t < times; ++t) detail::part_along(result.all(), d, t * n, n) = slice;
  return result;
}

/// The elements for which the mask holds, in C order, as a vector: NumPy's x[mask].
///
/// \throws PreconditionError if the shapes differ
template <Expression X, Expression M>
  requires SameSpace<X, M> && std::same_as<value_t<M>, bool> && (rank_of<X> == rank_of<M>)
auto compress(X const& x, M const& mask) {
  if (x.shape() != mask.shape())
    throw PreconditionError("a mask of shape " + in_words(mask.shape()) +
                            " doesn't fit an array of shape " + in_words(x.shape()) +
                            ": the shapes must be equal");
  auto const held = evaluate(mask);
  auto const values = evaluate(x);
  using A = std::remove_const_t<decltype(values)>;
  using T = value_t<X>;
  Array<T, 1, typename A::space> result(Shape<1>{count_nonzero(held)});
  detail::for_each_held<typename A::Exec>(held.data(), values.size(),
                                          detail::CopyElement<T>{values.data(), result.data()});
  typename A::Exec{}.fence();
  return result;
}

/// Where a vector isn't 0: NumPy's nonzero(x)[0].
template <Expression X>
  requires(rank_of<X> == 1)
auto nonzero(X const& x) {
  auto const held = evaluate(x != 0);
  using A = std::remove_const_t<decltype(held)>;
  Array<std::int64_t, 1, typename A::space> result(Shape<1>{count_nonzero(held)});
  detail::for_each_held<typename A::Exec>(held.data(), held.size(),
                                          detail::CopyIndex{result.data()});
  typename A::Exec{}.fence();
  return result;
}

/// The elements of a vector at the indices: element i is x(indices(i)), in the indices' shape. Negative
/// indices count from the end.
///
/// \throws PreconditionError if an index is outside of the vector
template <Expression X, Expression I>
  requires SameSpace<X, I> && std::integral<value_t<I>> && (rank_of<X> == 1)
auto take(X const& x, I const& indices) {
  auto const values = evaluate(x);
  auto const at = evaluate(indices);
  using A = std::remove_const_t<decltype(values)>;
  Array<value_t<X>, rank_of<I>, typename A::space> result(at.shape());
  if (at.size() == 0) return result;
  auto const low = static_cast<std::int64_t>(min(at)), high = static_cast<std::int64_t>(max(at));
  if (low < -values.size() || high >= values.size())
    throw PreconditionError("index " + std::to_string(high >= values.size() ? high : low) +
                            " is outside of a vector with " + std::to_string(values.size()) +
                            " elements");
  result = map(detail::Gather<value_t<X>, value_t<I>>{values.data(), values.size()}, at);
  typename A::Exec{}.fence();
  return result;
}

}  // namespace coir
