#pragma once

/// \file
/// New arrays put together from parts of others.

#include <coir/array/creation.hpp>
#include <coir/array/detail/kernels/for_each_held.hpp>
#include <coir/array/reductions.hpp>
#include <coir/array/slices.hpp>

#include <algorithm>
#include <tuple>

namespace coir {

namespace detail {

/// Expressions of one rank in one memory space.
template <class First, class... Rest>
concept Joinable = (Expression<Rest> && ...) && SameSpace<First, Rest...> &&
                   ((rank_of<First> == rank_of<Rest>) && ...);

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

template <class T>
struct IsntZero {
  T const* values;
  KOKKOS_FORCEINLINE_FUNCTION bool operator()(std::int64_t i) const {
    if constexpr (std::is_same_v<T, bool>)  // as bytes: see BoolRow
      return reinterpret_cast<unsigned char const*>(values)[i] != 0;
    else
      return values[i] != T(0);
  }
};

/// Copies elements i, i + step, ... of what take() finds, and counts indices that are outside.
/// Several at a time on devices, whose threads wait for all of their loads at once.
template <class T, class I, int Several>
struct TakeElements {
  T const* from;
  std::int64_t size;
  I const* indices;
  T* to;
  std::int64_t count, step;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t& outside) const {
    if constexpr (Several == 1) {
      std::int64_t const at = place(i);
      if (at >= 0 && at < size)
        to[i] = from[at];
      else
        ++outside;
    } else {
      std::int64_t at[Several];
      T element[Several];
      COIR_UNROLL
      for (int l = 0; l < Several; ++l) at[l] = i + l * step < count ? place(i + l * step) : 0;
      COIR_UNROLL
      for (int l = 0; l < Several; ++l)
        if (at[l] >= 0 && at[l] < size) element[l] = from[at[l]];
      COIR_UNROLL
      for (int l = 0; l < Several; ++l) {
        if (i + l * step >= count) continue;
        if (at[l] >= 0 && at[l] < size)
          to[i + l * step] = element[l];
        else
          ++outside;
      }
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t place(std::int64_t i) const {
    std::int64_t at = static_cast<std::int64_t>(indices[i]);
    if constexpr (std::is_signed_v<I>) at += at < 0 ? size : 0;
    return at;
  }
};

}  // namespace detail

/// Arrays one after the other along an axis: NumPy's concatenate((a, b, ...), axis). The element
/// type is promoted_t of theirs.
///
/// \throws PreconditionError if there is no such axis or other extents differ
template <Expression First, class... Rest>
  requires detail::Joinable<First, Rest...>
auto concatenate(int axis, First const& first, Rest const&... rest) {
  auto const slices = std::tuple(elements_of(first), elements_of(rest)...);
  auto const& front = std::get<0>(slices);
  int const d = checked_axis(front, axis);
  auto shape = front.shape();
  shape[d] = 0;
  auto const measure = [&](auto const& slice) {
    for (int other = 0; other < rank_of<First>; ++other)
      if (other != d && slice.shape()[other] != shape[other])
        throw PreconditionError("arrays of shapes " + in_words(front.shape()) + " and " +
                                in_words(slice.shape()) + " can't be joined along axis " +
                                std::to_string(axis) + ": the other extents must be equal");
    shape[d] = joined_extent(shape[d], slice.shape()[d]);
  };
  std::apply([&](auto const&... slice) { (measure(slice), ...); }, slices);
  using T = std::remove_cvref_t<decltype(front)>;
  auto result = empty<promoted_t<value_t<First>, value_t<Rest>...>, typename T::space>(shape);
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
template <Expression First, class... Rest>
  requires detail::Joinable<First, Rest...>
auto stack(int axis, First const& first, Rest const&... rest) {
  return concatenate(axis, with_axis(elements_of(first), axis),
                     with_axis(elements_of(rest), axis)...);
}

/// The whole array repeated `times` times along an axis, by default the last one: NumPy's tile.
///
/// \throws PreconditionError if there is no such axis or `times` is negative
template <Expression X, std::integral Times>
  requires OfRankAtLeast<X, 1>
auto tile(X const& x, Times times, int axis = -1) {
  auto const slice = elements_of(x);
  int const d = checked_axis(slice, axis);
  expects(times >= 0, "an array can be repeated 0 or more times", times);
  auto shape = slice.shape();
  Shape<3> box{1, 1, 1};  // elements before the axis, along it, and behind it
  for (int at = 0; at < rank_of<X>; ++at) box[at < d ? 0 : at == d ? 1 : 2] *= shape[at];
  shape[d] = repeated_extent(shape[d], as_index(times));
  auto result = empty<value_t<X>, typename std::remove_cvref_t<decltype(slice)>::space>(shape);
  if (result.size() > 0)
    reshape(result, {box[0], as_index(times), box[1], box[2]}) = with_axis(reshape(slice, box), 1);
  return result;
}

/// The array repeated along each axis: tile(x, {2, 3}). With fewer numbers than axes, the last axes
/// are repeated. With more, axes are added in front.
///
/// \throws PreconditionError if a number is negative
template <Expression X, std::size_t Count>
auto tile(X const& x, std::int64_t const (&times)[Count]) {
  auto const slice = elements_of(x);
  if constexpr (static_cast<int>(Count) > rank_of<X>) {
    return tile(with_axis(slice, 0), times);
  } else if constexpr (Count == 2 && rank_of<X> == 2 && requires { slice.data(); }) {
    // In one statement.
    auto const [rows, columns] = slice.shape();
    expects(times[0] >= 0 && times[1] >= 0, "an array can be repeated 0 or more times",
            std::min(times[0], times[1]));
    auto result = empty<value_t<X>, typename std::remove_cvref_t<decltype(slice)>::space>(
        Shape<2>{repeated_extent(rows, times[0]), repeated_extent(columns, times[1])});
    if (result.size() > 0)
      reshape(result, {times[0], rows, times[1], columns}) = with_axis(slice, 1);
    return result;
  } else {
    auto result = evaluate(slice);
    for (std::size_t k = 0; k < Count; ++k)
      if (times[k] != 1)
        result = tile(result, times[k], static_cast<int>(k) - static_cast<int>(Count));
    return result;
  }
}

/// The elements for which the mask is true, in C order, as a vector: NumPy's x[mask].
///
/// \throws PreconditionError if the shapes differ
template <Expression X, Expression M>
  requires SameSpace<X, M> && std::same_as<value_t<M>, bool> && OfRank<X, rank_of<M>>
auto compress(X const& x, M const& mask) {
  if (x.shape() != mask.shape())
    throw PreconditionError("a mask of shape " + in_words(mask.shape()) +
                            " doesn't fit an array of shape " + in_words(x.shape()) +
                            ": the shapes must be equal");
  auto const held = detail::in_c_order(mask);
  auto const values = detail::in_c_order(x);
  using Space = typename decltype(values)::space;
  using T = value_t<X>;
  auto const exec = detail::immediate<typename Space::execution_space>("compress()");
  detail::HeldIndices const indices(exec, held.size(), detail::IsntZero<bool>{held.data()});
  Array<T, 1, Space> result(Shape<1>{indices.count()});
  indices.visit(detail::CopyElement<T>{values.data(), result.data()});
  exec.fence();
  return result;
}

/// The indices where a vector isn't 0: NumPy's nonzero(x)[0].
template <Expression X>
  requires(rank_of<X> == 1)
auto nonzero(X const& x) {
  auto const values = detail::in_c_order(x);
  using Space = typename decltype(values)::space;
  auto const exec = detail::immediate<typename Space::execution_space>("nonzero()");
  detail::HeldIndices const indices(exec, values.size(),
                                    detail::IsntZero<value_t<X>>{values.data()});
  Array<std::int64_t, 1, Space> result(Shape<1>{indices.count()});
  indices.visit(detail::CopyIndex{result.data()});
  exec.fence();
  return result;
}

/// The elements of a vector at indices: element i is x(indices(i)), in the shape of the indices.
/// Negative indices count from the end.
///
/// \throws PreconditionError if an index is outside of the vector
template <Expression X, Expression I>
  requires SameSpace<X, I> && std::integral<value_t<I>> && OfRank<X, 1>
auto take(X const& x, I const& indices) {
  using T = value_t<X>;
  using Number = value_t<I>;
  auto const values = detail::in_c_order(x);
  auto const at = detail::in_c_order(indices);
  using Space = typename decltype(values)::space;
  auto const exec = detail::immediate<typename Space::execution_space>("take()");
  Array<T, rank_of<I>, Space> result(at.shape());
  std::int64_t outside = 0;
  constexpr int several = runs_on_host<typename Space::execution_space> ? 1 : 4;
  std::int64_t const step = (at.size() + several - 1) / several;
  reduce("coir::array::joining/take", exec, box<1, std::int64_t>({step}),
         detail::TakeElements<T, Number, several>{values.data(), values.size(), at.data(),
                                                  result.data(), at.size(), step},
         Kokkos::Sum<std::int64_t>(outside));
  if (outside > 0) {
    Number const low = min(at), high = max(at);
    bool const too_high = !detail::exactly_less(high, values.size());
    throw PreconditionError("index " + std::to_string(too_high ? high : low) +
                            " is outside of a vector with " + std::to_string(values.size()) +
                            " elements");
  }
  return result;
}

}  // namespace coir
