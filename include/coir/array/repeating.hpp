#pragma once

/// \file
/// Each element several times: NumPy's repeat. To repeat whole arrays use tile (joining.hpp).

#include <coir/array/joining.hpp>
#include <coir/array/scan.hpp>
#include <coir/array/sorting.hpp>

#include <concepts>
#include <cstdint>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

namespace coir {

namespace detail {

/// Writes an element several times, on hosts.
template <class T>
struct RepeatElement {
  T const* from;
  std::int64_t step;
  T* to;
  std::int64_t times;
  void operator()(std::int64_t i) const {
    T const value = from[i * step];
    for (std::int64_t t = 0; t < times; ++t) to[i * times + t] = value;
  }
  std::int64_t cells_per_index() const { return times; }
};

}  // namespace detail

/// Repeats each element `times` times along an axis: 1 2 becomes 1 1 2 2.
///
/// \throws PreconditionError if there is no such axis or `times` is negative
template <Expression X>
  requires OfRankAtLeast<X, 1>
auto repeat(X const& x, std::int64_t times, int axis) {
  auto const slice = elements_of(x);
  int const d = checked_axis(slice, axis);
  expects(times >= 0, "an element can be repeated 0 or more times", times);
  auto shape = slice.shape();
  Shape<3> box{1, 1, 1};  // elements before the axis, along it, and behind it
  for (int at = 0; at < rank_of<X>; ++at) box[at < d ? 0 : at == d ? 1 : 2] *= shape[at];
  shape[d] = repeated_extent(shape[d], times);
  auto result = empty<value_t<X>, space_like<X>>(shape);
  if constexpr (runs_on_host<typename decltype(result)::Exec>) {
    if (box[2] == 1) {
      auto const values = reshape(slice, Shape<1>{box[0] * box[1]});
      for_each("coir::array::repeating", detail::instance<typename decltype(result)::Exec>(),
               coir::box<1, std::int64_t>({times > 0 ? values.shape()[0] : 0}),
               detail::RepeatElement<value_t<X>>{values.data(), values.strides()[0], result.data(),
                                                 times});
      return result;
    }
  }
  if (result.size() > 0)
    reshape(result, {box[0], box[1], times, box[2]}) = with_axis(reshape(slice, box), 2);
  return result;
}

/// Repeats each element of the array, in C order, `times` times; the result is a vector.
template <Expression X>
auto repeat(X const& x, std::int64_t times) {
  return repeat(ravel(x), times, 0);
}

namespace detail {

/// How often each element of a vector is repeated, checked, and the length of the result.
template <class N>
std::int64_t checked_repetitions(std::int64_t elements, N const& times) {
  if (elements != times.shape()[0])
    throw PreconditionError("a vector of " + std::to_string(elements) +
                            " elements can't be repeated by " + std::to_string(times.shape()[0]) +
                            " numbers: give one for each");
  if (elements == 0) return 0;
  if constexpr (std::is_signed_v<value_t<N>>) {
    std::int64_t const smallest = min(times);
    expects(smallest >= 0, "an element can be repeated 0 or more times", smallest);
  }
  double const result = sum(cast<double>(times));
  expects(result < 0x1p62, "a vector can be repeated to fewer than 2^62 elements", result);
  return static_cast<std::int64_t>(sum(times));
}

/// For each element of a vector's repetition the place of the element that it repeats.
template <class Space, Expression N>
Array<std::int64_t, 1, Space> places_of_repeats(std::int64_t elements, N const& times) {
  auto const given = evaluated(times);
  std::int64_t const total = checked_repetitions(elements, given);
  if (elements == 0) return Array<std::int64_t, 1, Space>(Shape<1>{0});
  // Element k of the result is the first element whose last repetition comes after k.
  return searchsorted(cumsum(cast<std::int64_t>(given)), arange<std::int64_t, Space>(total),
                      Side::right);
}

/// Writes values[i * step], counts[i] times, for all i < size one after the other to `to`, on
/// hosts.
template <class Exec, class T, class N>
void repeat_by_counts(Exec const& exec, T const* values, std::int64_t step, N const* counts,
                      std::int64_t size, T* to, std::int64_t total) {
  std::int64_t const parts = threads_worth_starting(exec, size + total, size);
  std::vector<std::int64_t> ends(static_cast<std::size_t>(parts));
  std::int64_t* const places = ends.data();
  auto const begin = [=](std::int64_t part) { return size * part / parts; };
  if (parts > 1)
    for_each_task("coir::array::repeating/count", exec, parts, [=](std::int64_t part) {
      std::int64_t sum = 0;
      for (std::int64_t i = begin(part); i < begin(part + 1); ++i)
        sum += static_cast<std::int64_t>(counts[i]);
      places[part] = sum;
    });
  std::exclusive_scan(ends.begin(), ends.end(), ends.begin(), std::int64_t(0));
  for_each_task("coir::array::repeating", exec, parts, [=](std::int64_t part) {
    T* next = to + places[part];
    for (std::int64_t i = begin(part); i < begin(part + 1); ++i) {
      T const value = values[i * step];
      T* const last = next + static_cast<std::int64_t>(counts[i]);
      while (next != last) *next++ = value;
    }
  });
}

}  // namespace detail

/// Repeats element i of a vector times[i] times.
///
/// \param times  as many as the vector has elements
/// \throws PreconditionError if a number is negative, there are more or fewer numbers than
///   elements, or the result has 2^62 elements or more. Waits.
template <Expression X, Expression N>
  requires OfRank<X, 1> && OfRank<N, 1> && std::integral<value_t<N>> && SameSpace<X, N>
auto repeat(X const& x, N const& times) {
  if constexpr (runs_on_host<typename space_like<X>::execution_space>) {
    auto const exec =
        detail::immediate<typename space_like<X>::execution_space>("repeat() by several numbers");
    auto const values = elements_of(x);
    auto const counts = detail::in_c_order(times);
    std::int64_t const total = detail::checked_repetitions(x.shape()[0], counts);
    auto result = empty<value_t<X>, space_like<X>>(Shape<1>{total});
    detail::repeat_by_counts(exec, values.data(), values.strides()[0], counts.data(), x.shape()[0],
                             result.data(), total);
    return result;
  } else {
    return take(x, detail::places_of_repeats<space_like<X>>(x.shape()[0], times));
  }
}

}  // namespace coir
