#pragma once

/// \file
/// Sorted arrays and the search in them. NaN counts as larger than every number, as in NumPy.
/// Complex numbers have no order here.
///
/// Elements are mapped to keys, unsigned integers of the same order, and the keys are sorted: on
/// hosts by a stable radix sort in parallel, on NVIDIA's devices by CUB, and on other devices by
/// Kokkos (before Kokkos 4.5 on the host).

#include <coir/array/array.hpp>
#include <coir/array/detail/kernels/for_each_held.hpp>
#include <coir/array/detail/sort_rows.hpp>
#include <coir/array/slices.hpp>

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace coir {

namespace detail {

/// An expression of real numbers, of any rank.
template <class E>
concept Countable = Expression<E> && std::is_arithmetic_v<value_t<E>>;

/// An expression of numbers that have an order. Those of autodiff count, which has overloads.
template <class E>
concept Ordered = Expression<E> && is_number<value_t<E>> && !is_complex<value_t<E>>;

/// An expression of numbers that can be sorted.
template <class E>
concept Sortable = Expression<E> && std::is_arithmetic_v<value_t<E>> && rank_of<E> >= 1;

template <std::size_t Bytes>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using type = std::uint8_t;
};
template <>
struct UnsignedOf<2> {
  using type = std::uint16_t;
};
template <>
struct UnsignedOf<4> {
  using type = std::uint32_t;
};
template <>
struct UnsignedOf<8> {
  using type = std::uint64_t;
};

template <class T>
using sort_key_t = typename UnsignedOf<sizeof(T)>::type;

template <class Key>
inline constexpr Key sign_bit = static_cast<Key>(Key(1) << (8 * sizeof(Key) - 1));

/// The key of a number: an unsigned integer of the same order. All NaN have the largest key.
///
/// \tparam JoinsZeros  true: -0 and 0 are equal; false: -0 comes before 0
template <class T, bool JoinsZeros>
struct ToSortKey {
  using Key = sort_key_t<T>;

  KOKKOS_FORCEINLINE_FUNCTION Key operator()(T value) const {
    if constexpr (std::is_floating_point_v<T>) {
      if constexpr (JoinsZeros) value = value == T(0) ? T(0) : value;
      Key bits;
      std::memcpy(&bits, &value, sizeof bits);
      Key const ordered = static_cast<Key>(bits & sign_bit<Key> ? ~bits : bits | sign_bit<Key>);
      return value != value ? static_cast<Key>(~Key(0)) : ordered;
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<Key>(static_cast<Key>(value) ^ sign_bit<Key>);
    } else {
      return static_cast<Key>(value);
    }
  }
};

template <class T>
struct FromSortKey {
  using Key = sort_key_t<T>;

  KOKKOS_FORCEINLINE_FUNCTION T operator()(Key key) const {
    if constexpr (std::is_floating_point_v<T>) {
      Key const bits = static_cast<Key>(key & sign_bit<Key> ? key ^ sign_bit<Key> : ~key);
      T value;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(key ^ sign_bit<Key>);
    } else {
      return static_cast<T>(key);
    }
  }
};

template <class E>
void expects_axis(E const& x, int axis) {
  constexpr int rank = rank_of<E>;
  if (axis < -rank || axis >= rank)
    throw PreconditionError("axis " + std::to_string(axis) + " is none of an array of shape " +
                            in_words(x.shape()));
}

/// The keys of an expression's elements, with `axis` and the last axis exchanged.
template <bool JoinsZeros, class E>
auto sort_keys(E const& x, int axis) {
  using T = value_t<E>;
  static_assert(std::is_arithmetic_v<T>, "only integers and real numbers are sorted");
  expects_axis(x, axis);
  if (axis == -1 || axis == rank_of<E> - 1) return evaluate(map(ToSortKey<T, JoinsZeros>{}, x));
  return evaluate(map(ToSortKey<T, JoinsZeros>{}, swap_axes(x, axis, -1)));
}

/// A result for keys of an expression, with the two axes exchanged back.
template <class Value, int Rank, class Space>
auto axis_put_back(Array<Value, Rank, Space>&& result, int axis) {
  if (axis == -1 || axis == Rank - 1) return std::move(result);
  return Array<Value, Rank, Space>(swap_axes(result, axis, -1));
}

template <class A>
std::int64_t rows_of(A const& x) {
  std::int64_t rows = 1;
  for (int d = 0; d + 1 < A::rank; ++d) rows *= x.extent(d);
  return rows;
}

/// The indices along the last axis that sort keys. Overwrites the keys.
template <class Key, int Rank, class Space>
auto order_of(Array<Key, Rank, Space>&& keys) {
  Array<std::int64_t, Rank, Space> order(keys.shape());
  if (keys.size() > 0)
    argsort_rows(immediate<typename Space::execution_space>("argsort()"), keys.data(), order.data(),
                 rows_of(keys), keys.extent(Rank - 1));
  return order;
}

}  // namespace detail

/// A copy of an array, sorted along an axis, by default the last one. -0 comes before 0. NaN come
/// last, without their sign and payload.
///
/// \throws PreconditionError if there is no such axis
template <detail::Ordered E>
  requires OfRankAtLeast<E, 1>
auto sort(E const& x, int axis = -1) {
  using T = value_t<E>;
  auto keys = detail::sort_keys<false>(x, axis);
  if (keys.size() > 0)
    detail::sort_rows(detail::immediate<typename decltype(keys)::Exec>("sort()"), keys.data(),
                      detail::rows_of(keys), keys.extent(rank_of<E> - 1));
  return detail::axis_put_back(evaluate(map(detail::FromSortKey<T>{}, keys)), axis);
}

/// The indices that sort an array along an axis, by default the last one: x[result[0]] <=
/// x[result[1]] ... Equal elements keep their order; -0 and 0 are equal.
///
/// \throws PreconditionError if there is no such axis
template <detail::Ordered E>
  requires OfRankAtLeast<E, 1>
auto argsort(E const& x, int axis = -1) {
  return detail::axis_put_back(detail::order_of(detail::sort_keys<true>(x, axis)), axis);
}

/// Different elements in ascending order, and how often each occurs.
template <class T, class Space>
struct UniqueCounts {
  Array<T, 1, Space> values;
  Array<std::int64_t, 1, Space> counts;
};

namespace detail {

/// Whether a sorted element differs from the one before.
template <class Key>
struct IsFirst {
  Key const* keys;
  KOKKOS_FORCEINLINE_FUNCTION bool operator()(std::int64_t i) const {
    return i == 0 || keys[i] != keys[i - 1];
  }
};

/// Writes a different element, and where it begins.
template <class T>
struct WriteUnique {
  sort_key_t<T> const* keys;
  T* values;
  std::int64_t* starts;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t before, std::int64_t i) const {
    values[before] = FromSortKey<T>{}(keys[i]);
    starts[before] = i;
  }
};

struct Difference {
  std::int64_t const* starts;
  std::int64_t last, size;
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t operator()(std::int64_t i) const {
    return (i == last ? size : starts[i + 1]) - starts[i];
  }
};

}  // namespace detail

/// The different elements of an array of any rank in ascending order, with their numbers. -0 counts
/// as 0, and all NaN as one.
template <detail::Sortable E>
auto unique_counts(E const& x) {
  using T = value_t<E>;
  auto keys = evaluate(map(detail::ToSortKey<T, true>{}, x));
  using Keys = decltype(keys);
  using Space = typename Keys::space;
  using Key = typename Keys::value_type;
  auto const exec = detail::immediate<typename Keys::Exec>("unique()");
  std::int64_t const size = keys.size();
  UniqueCounts<T, Space> result{Array<T, 1, Space>(Shape<1>{0}),
                                Array<std::int64_t, 1, Space>(Shape<1>{0})};
  if (size == 0) return result;

  detail::sort_rows(exec, keys.data(), 1, size);
  detail::HeldIndices const held(exec, size, detail::IsFirst<Key>{keys.data()});
  std::int64_t const count = held.count();
  result.values = Array<T, 1, Space>(Shape<1>{count});
  Array<std::int64_t, 1, Space> starts(Shape<1>{count});
  held.visit(detail::WriteUnique<T>{keys.data(), result.values.data(), starts.data()});
  using Counts = detail::Difference;
  result.counts = IndexMap<Counts, 1>(Shape<1>{count}, Counts{starts.data(), count - 1, size});
  return result;
}

/// The different elements of an array of any rank in ascending order: see unique_counts.
template <detail::Sortable E>
auto unique(E const& x) {
  return unique_counts(x).values;
}

/// Where a value goes among equal elements of a sorted array: before or after them.
enum class Side { left, right };

namespace detail {

/// a < b, with NaN after all numbers.
template <class A, class B>
KOKKOS_FORCEINLINE_FUNCTION bool sorts_before(A a, B b) {
  return exactly_less(a, b) | ((b != b) & (a == a));
}

/// Where values go in `size` sorted elements.
template <class A, class B, bool Left>
struct SearchSorted {
  A const* data;
  std::int64_t size;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t operator()(B const& value) const {
    std::int64_t place;
    find<1>(&value, &place);
    return place;
  }

  /// Several values at a time, whose steps are as many: a processor doesn't wait for each load.
  template <int Count>
  KOKKOS_FORCEINLINE_FUNCTION void find(B const* values, std::int64_t* places) const {
    std::int64_t first[Count] = {};
    for (std::int64_t rest = size; rest > 0;) {
      std::int64_t const half = (rest + 1) / 2;
      COIR_UNROLL
      for (int l = 0; l < Count; ++l) {
        A const element = data[first[l] + half - 1];
        bool const behind =
            Left ? sorts_before(element, values[l]) : !sorts_before(values[l], element);
        first[l] += behind ? half : 0;
      }
      rest -= half;
    }
    COIR_UNROLL
    for (int l = 0; l < Count; ++l) places[l] = first[l];
  }
};

/// Searches for vectors of values, on hosts.
template <class A, class B, bool Left>
struct SearchMany {
  SearchSorted<A, B, Left> search;
  B const* values;
  std::int64_t* places;

  void stretch(std::int64_t begin, std::int64_t end) const {
    constexpr int several = 16;
    for (; begin + several <= end; begin += several)
      search.template find<several>(values + begin, places + begin);
    for (; begin < end; ++begin) places[begin] = search(values[begin]);
  }
  std::int64_t cells_per_index() const {
    return std::bit_width(static_cast<std::uint64_t>(search.size));
  }
};

template <bool Left, class S, class V>
auto search_sorted(S const& sorted, V const& values) {
  using A = value_t<S>;
  using B = value_t<V>;
  using Exec = typename S::space::execution_space;
  SearchSorted<A, B, Left> const search{sorted.data(), sorted.size()};
  if constexpr (runs_on_host<Exec>) {
    auto const held = in_c_order(values);
    Array<std::int64_t, rank_of<V>, typename S::space> places(held.shape());
    for_each("coir::array::sorting/searchsorted", instance<Exec>(),
             box<1, std::int64_t>({held.size()}),
             SearchMany<A, B, Left>{search, held.data(), places.data()});
    return places;
  } else {
    return evaluate(map(search, values));
  }
}

}  // namespace detail

/// For each value the index at which a sorted array takes it and stays sorted:
///   sorted[i - 1] < value <= sorted[i]  (left),   sorted[i - 1] <= value < sorted[i]  (right).
///
/// \param sorted  one axis, in ascending order, NaN at the end; not checked
/// \param values  of any shape, which the result has, too
template <Expression S, Expression V>
  requires(rank_of<S> == 1) && std::is_arithmetic_v<value_t<S>> &&
          std::is_arithmetic_v<value_t<V>> && SameSpace<S, V>
auto searchsorted(S const& sorted, V const& values, Side side = Side::left) {
  auto const elements = detail::in_c_order(sorted);
  return side == Side::left ? detail::search_sorted<true>(elements, values)
                            : detail::search_sorted<false>(elements, values);
}

}  // namespace coir
