#pragma once

/// \file
/// Numbers of elements in bins: NumPy's histogram, bincount and digitize.

#include <coir/array/axis_reductions.hpp>
#include <coir/array/creation.hpp>
#include <coir/array/detail/kernels/count_bins.hpp>
#include <coir/array/reductions.hpp>
#include <coir/array/sorting.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

namespace coir {

/// The number of elements in each bin [edges[i], edges[i + 1]), or the sum of their weights. The
/// last bin includes its upper edge.
template <class Edge, class Space, class Count = std::int64_t>
struct Histogram {
  Array<Count, 1, Space> counts;
  Array<Edge, 1, Space> edges;  ///< one more than there are bins
};

/// The result of weights().
template <Expression W>
struct Weights {
  W elements;
};

/// Names the weights of a histogram's elements: histogram(x, 10, weights(w)). Bins then hold sums
/// of weights. Integers are added in 64 bits, float in double.
///
/// \param w  real or complex, of the shape of the elements
template <Expression W>
auto weights(W const& w) {
  return Weights<std::remove_cvref_t<decltype(operand(w))>>{operand(w)};
}

namespace detail {

/// No weights: elements are counted.
struct Unweighted {};

/// Calls f(data, size) with the elements of an expression side by side in memory.
template <class E, class F>
auto with_elements(E const& x, F const& f) {
  if constexpr (requires { x.all(); }) {
    return f(x.data(), x.size());
  } else {
    auto const elements = evaluated(x);
    return f(elements.data(), elements.size());
  }
}

/// The contents of bins. The functor `bin` finds the bin of an element.
template <class E, class W, class Bin>
auto binned(E const& x, W const& weights, std::int64_t bins, Bin const& bin) {
  using T = value_t<E>;
  using Space = space_like<E>;
  return with_elements(x, [&](T const* data, std::int64_t size) {
    if constexpr (std::is_same_v<W, Unweighted>) {
      return count_bins<Space>(data, size, bins, bin);
    } else {
      if (!std::ranges::equal(x.shape(), weights.elements.shape()))
        throw PreconditionError("weights of shape " + in_words(weights.elements.shape()) +
                                " don't fit elements of shape " + in_words(x.shape()) +
                                ": the shapes must be equal");
      using V = value_t<decltype(weights.elements)>;
      return with_elements(weights.elements, [&](V const* weight, std::int64_t) {
        return add_to_bins<Space>(data, weight, size, bins, bin);
      });
    }
  });
}

inline void expects_bins(std::int64_t bins) {
  expects(bins >= 1, "a histogram needs at least one bin", bins);
  expects(bins < std::numeric_limits<std::int64_t>::max() / 8,
          "a histogram has fewer than 2^60 bins", bins);
}

template <class E, class W, class Edge = floating_t<value_t<E>>>
auto histogram_between(E const& x, std::int64_t bins, Edge low, Edge high, W const& weights) {
  using T = value_t<E>;
  expects_bins(bins);
  if (!(low <= high) || !std::isfinite(high - low))
    throw PreconditionError(
        "the range of a histogram must be finite, as its width, and low <= high, not " +
        in_words(low) + " and " + in_words(high));
  Edge const from = low == high ? low - Edge(0.5) : low, to = low == high ? high + Edge(0.5) : high;
  auto edges = linspace<Edge, space_like<E>>(from, to, bins + 1);
  // Edges are compared only if they are so close that rounding may make them equal.
  using Limits = std::numeric_limits<Edge>;
  Edge const size = std::max(std::abs(from), std::abs(to));
  bool const apart =
      (to - from) / static_cast<Edge>(bins) > 4 * std::max(Limits::epsilon() * size, Limits::min());
  if (!apart && !all(edges(range(0, -1)) < edges(range(1, end))))
    throw PreconditionError("the range from " + in_words(low) + " to " + in_words(high) +
                            " can't be cut into " + std::to_string(bins) +
                            " bins, because rounded edges would be equal: take fewer bins or a "
                            "wider range");
  auto counts = binned(x, weights, bins, EqualBins<T, Edge>{edges.data(), bins, from, to});
  return Histogram<Edge, space_like<E>, value_t<decltype(counts)>>{std::move(counts),
                                                                   std::move(edges)};
}

template <class E, class W>
auto histogram_of_all(E const& x, std::int64_t bins, W const& weights) {
  using Edge = floating_t<value_t<E>>;
  if (size_of(x.shape()) == 0) return histogram_between(x, bins, Edge(0), Edge(1), weights);
  return histogram_between(x, bins, static_cast<Edge>(value_t<E>(min(x))),
                           static_cast<Edge>(value_t<E>(max(x))), weights);
}

template <class E, class Edges, class W>
auto histogram_with_edges(E const& x, Edges const& given, W const& weights) {
  using Edge = value_t<Edges>;
  Array<Edge, 1, space_like<E>> edges = given;
  std::int64_t const bins = edges.size() - 1;
  expects(bins >= 1, "a histogram needs at least two edges");
  bool const ascending = all(edges(range(0, -1)) <= edges(range(1, end)));
  expects(ascending, "the edges of a histogram must be in ascending order");
  auto counts = binned(x, weights, bins, EdgeBins<value_t<E>, Edge>{edges.data(), bins});
  return Histogram<Edge, space_like<E>, value_t<decltype(counts)>>{std::move(counts),
                                                                   std::move(edges)};
}

template <class E, class Edges>
concept CountableBetween = Countable<E> && Expression<Edges> && rank_of<Edges> == 1 &&
                           std::is_arithmetic_v<value_t<Edges>> && SameSpace<E, Edges>;

}  // namespace detail

/// The histogram of an array of any rank, with `bins` bins of equal width between low and high.
/// Elements outside, and NaN, aren't counted. If low equals high, both are moved by 1/2.
///
/// Edges are low + i (high - low) / bins, in the element type, double for integers.
///
/// \throws PreconditionError if there are no bins; if low and high are not finite and in order; or
///   if they are so close that rounding makes edges equal
template <detail::Countable E>
auto histogram(E const& x, std::int64_t bins, std::type_identity_t<floating_t<value_t<E>>> low,
               std::type_identity_t<floating_t<value_t<E>>> high) {
  return detail::histogram_between(x, bins, low, high, detail::Unweighted{});
}

/// The histogram with weights: see weights().
///
/// \throws PreconditionError also if the weights have another shape
template <detail::Countable E, class W>
auto histogram(E const& x, std::int64_t bins, std::type_identity_t<floating_t<value_t<E>>> low,
               std::type_identity_t<floating_t<value_t<E>>> high, Weights<W> const& weights) {
  return detail::histogram_between(x, bins, low, high, weights);
}

/// The histogram with `bins` bins of equal width between the smallest and the largest element, or
/// between 0 and 1 if there are no elements.
///
/// \throws PreconditionError if there are no bins; if an element is infinite or NaN; or if elements
///   are so close that rounding makes edges equal
template <detail::Countable E>
auto histogram(E const& x, std::int64_t bins = 10) {
  return detail::histogram_of_all(x, bins, detail::Unweighted{});
}
template <detail::Countable E, class W>
auto histogram(E const& x, std::int64_t bins, Weights<W> const& weights) {
  return detail::histogram_of_all(x, bins, weights);
}

/// The histogram with given edges, in ascending order.
///
/// \param edges  one axis of at least two elements
/// \throws PreconditionError if there are fewer edges, or they aren't in order
template <class E, class Edges>
  requires detail::CountableBetween<E, Edges>
auto histogram(E const& x, Edges const& edges) {
  return detail::histogram_with_edges(x, edges, detail::Unweighted{});
}
template <class E, class Edges, class W>
  requires detail::CountableBetween<E, Edges>
auto histogram(E const& x, Edges const& edges, Weights<W> const& weights) {
  return detail::histogram_with_edges(x, edges, weights);
}

namespace detail {

template <class E, class W>
auto bincount_with(E const& x, std::int64_t min_length, W const& weights) {
  using T = value_t<E>;
  expects(min_length >= 0, "min_length must be 0 or more", min_length);
  expects(min_length < std::numeric_limits<std::int64_t>::max() / 8,
          "min_length must be below 2^60", min_length);
  std::int64_t bins = min_length;
  if (size_of(x.shape()) > 0) {
    T largest;
    if constexpr (std::is_signed_v<T>) {
      // Negative integers are the largest without a sign.
      using Unsigned = std::make_unsigned_t<T>;
      Unsigned const most = max(cast<Unsigned>(x));
      largest = static_cast<T>(most);
      if (largest < 0) expects(false, "bincount counts integers of 0 or more", T(min(x)));
    } else {
      largest = max(x);
    }
    if constexpr (sizeof(T) == 8)
      expects(
          largest < std::numeric_limits<std::int64_t>::max() / 8,
          "bincount keeps a counter for each integer up to the largest, which must be below 2^60",
          largest);
    bins = std::max(bins, static_cast<std::int64_t>(largest) + 1);
  }
  return binned(x, weights, bins, OwnBin<T>{});
}

}  // namespace detail

/// How often each integer occurs, from 0 to the largest element, and at least to min_length - 1.
///
/// \throws PreconditionError if an element or min_length is negative, or 2^60 or more
template <Expression E>
  requires std::integral<value_t<E>>
auto bincount(E const& x, std::int64_t min_length = 0) {
  return detail::bincount_with(x, min_length, detail::Unweighted{});
}

/// bincount with weights: see weights().
///
/// \throws PreconditionError also if the weights have another shape
template <Expression E, class W>
  requires std::integral<value_t<E>>
auto bincount(E const& x, Weights<W> const& weights, std::int64_t min_length = 0) {
  return detail::bincount_with(x, min_length, weights);
}

/// The bin of each element, NumPy's digitize: i with edges[i - 1] <= x < edges[i], 0 before all
/// edges, and the number of edges behind them. For descending edges edges[i - 1] > x >= edges[i].
/// NaN counts as larger than every edge.
///
/// \param edges  one axis, in ascending or descending order; neighbours may be equal
/// \param right  whether bins include their right edge instead: edges[i - 1] < x <= edges[i], or
///   edges[i - 1] >= x > edges[i] for descending edges
/// \returns int64, of the shape of x
/// \throws PreconditionError if the edges are in no order, or NaN is among them
template <class E, class Edges>
  requires detail::CountableBetween<E, Edges>
auto digitize(E const& x, Edges const& edges, bool right = false) {
  auto const held = evaluate(edges);
  Side const side = right ? Side::left : Side::right;
  // A single edge is compared with itself: only NaN differs.
  std::int64_t const pairs = held.size() > 1 ? held.size() - 1 : held.size();
  auto const before = held(range(0, pairs)), behind = held(range(held.size() - pairs, end));
  if (all(before <= behind)) return searchsorted(held, x, side);
  expects(all(before >= behind), "the edges of bins must be in ascending or descending order");
  auto result = searchsorted(flip(held), x, side);
  result = held.size() - result;
  return result;
}

}  // namespace coir
