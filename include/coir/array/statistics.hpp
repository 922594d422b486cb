#pragma once

/// \file
/// Histograms and quantiles, by NumPy's rules.

#include <coir/array/creation.hpp>
#include <coir/array/detail/kernels/count_bins.hpp>
#include <coir/array/reductions.hpp>
#include <coir/array/sorting.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace coir {

/// How many elements fall into each bin [edges[i], edges[i + 1]); the last bin includes its upper edge.
template <class Edge, class Space>
struct Histogram {
  Array<std::int64_t, 1, Space> counts;
  Array<Edge, 1, Space> edges;  ///< one more than there are bins
};

namespace detail {

/// An expression of real numbers, of any rank.
template <class E>
concept Countable = Expression<E> && std::is_arithmetic_v<value_t<E>>;

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

}  // namespace detail

/// The histogram of an array of any rank, with `bins` bins of equal width between low and high. Elements
/// outside, and NaN, aren't counted. If low equals high they are moved apart by 1/2 each.
///
/// Edges are low + i (high - low) / bins, in the element type, double for integers.
///
/// \throws PreconditionError if there are no bins, or low and high are not finite and in order
template <detail::Countable E>
auto histogram(E const& x, std::int64_t bins, std::type_identity_t<floating_t<value_t<E>>> low,
               std::type_identity_t<floating_t<value_t<E>>> high) {
  using T = value_t<E>;
  using Edge = floating_t<T>;
  using Space = space_like<E>;
  expects(bins >= 1, "a histogram needs at least one bin", bins);
  if (!(low <= high) || !std::isfinite(high - low))
    throw PreconditionError("the range of a histogram must be finite and low <= high, not " +
                            in_words(low) + " and " + in_words(high));
  if (low == high) {
    low -= Edge(0.5);
    high += Edge(0.5);
  }
  Histogram<Edge, Space> result;
  result.edges = linspace<Edge, Space>(low, high, bins + 1);
  detail::EqualBins<T, Edge> const bin{result.edges.data(), bins, low, high,
                                       static_cast<Edge>(bins) / (high - low)};
  result.counts = detail::with_elements(x, [&](T const* data, std::int64_t size) {
    return detail::count_bins<Space>(data, size, bins, bin);
  });
  return result;
}

/// The histogram with `bins` bins of equal width between the smallest and the largest element; between 0 and 1 if there
/// are no elements.
///
/// \throws PreconditionError if there are no bins, or an element is infinite or NaN
template <detail::Countable E>
auto histogram(E const& x, std::int64_t bins = 10) {
  using Edge = floating_t<value_t<E>>;
  if (size_of(x.shape()) == 0) return histogram(x, bins, Edge(0), Edge(1));
  return histogram(x, bins, static_cast<Edge>(value_t<E>(min(x))),
                   static_cast<Edge>(value_t<E>(max(x))));
}

/// The histogram with given edges, in ascending order.
///
/// \param edges  one axis of at least two elements
/// \throws PreconditionError if there are fewer edges, or one is below the one before it
template <detail::Countable E, Expression Edges>
  requires(rank_of<Edges> == 1) && std::is_arithmetic_v<value_t<Edges>> && SameSpace<E, Edges>
auto histogram(E const& x, Edges const& edges) {
  using T = value_t<E>;
  using Edge = value_t<Edges>;
  using Space = space_like<E>;
  Histogram<Edge, Space> result;
  result.edges = edges;
  std::int64_t const bins = result.edges.size() - 1;
  expects(bins >= 1, "a histogram needs at least two edges");
  bool const ascending = all(result.edges(range(0, -1)) <= result.edges(range(1, end)));
  expects(ascending, "the edges of a histogram must be in ascending order");
  detail::EdgeBins<T, Edge> const bin{result.edges.data(), bins};
  result.counts = detail::with_elements(x, [&](T const* data, std::int64_t size) {
    return detail::count_bins<Space>(data, size, bins, bin);
  });
  return result;
}

/// How often each integer from 0 to the largest element occurs, at least `min_length` of them.
///
/// \throws PreconditionError if an element or min_length is negative
template <Expression E>
  requires std::integral<value_t<E>>
auto bincount(E const& x, std::int64_t min_length = 0) {
  using T = value_t<E>;
  using Space = space_like<E>;
  expects(min_length >= 0, "min_length must be 0 or more", min_length);
  std::int64_t bins = min_length;
  if (size_of(x.shape()) > 0) {
    T const smallest = min(x), largest = max(x);
    if constexpr (std::is_signed_v<T>)
      expects(smallest >= 0, "bincount counts integers of 0 or more", smallest);
    if constexpr (sizeof(T) == 8)
      expects(
          largest < std::numeric_limits<std::int64_t>::max() / 8,
          "bincount keeps a counter for each integer up to the largest, which must be below 2^60",
          largest);
    bins = std::max(bins, static_cast<std::int64_t>(largest) + 1);
  }
  return detail::with_elements(x, [&](T const* data, std::int64_t size) {
    return detail::count_bins<Space>(data, size, bins, detail::OwnBin<T>{});
  });
}

namespace detail {

/// The q-quantile of each row of sorted keys.
template <class T>
struct QuantileBody {
  using Real = floating_t<T>;
  sort_key_t<T> const* keys;
  Real* result;
  std::int64_t columns, before;
  Real fraction;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    FromSortKey<T> const value;
    sort_key_t<T> const* const sorted = keys + row * columns;
    Real const last = static_cast<Real>(value(sorted[columns - 1]));
    Real const a = static_cast<Real>(value(sorted[before]));
    Real const b =
        static_cast<Real>(value(sorted[before + 1 < columns ? before + 1 : columns - 1]));
    // From the nearer end, so that the result is monotonic in q. The difference of equal infinities would be NaN.
    Real const between =
        fraction < Real(0.5) ? a + (b - a) * fraction : b - (b - a) * (Real(1) - fraction);
    result[row] = last != last ? last : fraction == Real(0) || a == b ? a : between;
  }
};

/// result[row] = the q-quantile of elements of type T, given by their keys, which are sorted.
template <class T, class Keys, class Result>
void quantile_rows(Keys& keys, std::int64_t rows, std::int64_t columns, double q, Result& result) {
  double const position = q * static_cast<double>(columns - 1);
  double const before = std::floor(position);
  auto const exec = immediate<typename Keys::Exec>("quantile()");
  sort_rows(exec, keys.data(), rows, columns);
  for_each("coir::array::quantile", exec, box<1, std::int64_t>({rows}),
           QuantileBody<T>{keys.data(), result.data(), columns, static_cast<std::int64_t>(before),
                           static_cast<floating_t<T>>(position - before)});
}

inline void expects_percentage(double p) {
  expects(p >= 0 && p <= 100, "a percentage must lie in [0, 100]", p);
}
inline void expects_share(double q) { expects(q >= 0 && q <= 1, "q must lie in [0, 1]", q); }

}  // namespace detail

/// The number that a share q of the elements lies below. With the n elements sorted as x[0], x[1] ..., it
/// is x at q (n - 1), between elements by linear interpolation. NaN if there is a NaN.
///
/// \param q  in [0, 1]
/// \returns the element type, double for integers
/// \throws PreconditionError if q lies outside, or there are no elements
template <detail::Countable E>
auto quantile(E const& x, double q) {
  using T = value_t<E>;
  detail::expects_share(q);
  expects(size_of(x.shape()) > 0, "there is no quantile of an array without elements");
  auto keys = evaluate(map(detail::ToSortKey<T, false>{}, x));
  Array<floating_t<T>, 0, typename decltype(keys)::space> result(Shape<0>{});
  detail::quantile_rows<T>(keys, 1, keys.size(), q, result);
  return result.item();
}

/// The q-quantiles along an axis, which the result lacks: see above.
///
/// \throws PreconditionError if q lies outside of [0, 1], there is no such axis, or it has no elements
template <detail::Sortable E>
auto quantile(E const& x, double q, int axis) {
  using T = value_t<E>;
  constexpr int rank = rank_of<E>;
  detail::expects_share(q);
  detail::expects_axis(x, axis);
  int const along = axis < 0 ? axis + rank : axis;
  std::array<int, rank> permutation{};
  Shape<rank - 1> shape{};
  for (int d = 0, to = 0; d < rank; ++d)
    if (d != along) {
      shape[static_cast<std::size_t>(to)] = x.shape()[static_cast<std::size_t>(d)];
      permutation[static_cast<std::size_t>(to++)] = d;
    }
  permutation[rank - 1] = along;
  std::int64_t const columns = x.shape()[static_cast<std::size_t>(along)];
  if (columns == 0)
    throw PreconditionError("there is no quantile along axis " + std::to_string(axis) +
                            " of an array of shape " + in_words(x.shape()) +
                            ": it has no elements there");
  auto keys = evaluate(map(detail::ToSortKey<T, false>{}, transpose(x, permutation)));
  Array<floating_t<T>, rank - 1, typename decltype(keys)::space> result(shape);
  if (keys.size() > 0) detail::quantile_rows<T>(keys, keys.size() / columns, columns, q, result);
  return result;
}

/// The p-th percentile, p in [0, 100]: quantile(x, p / 100).
template <detail::Countable E>
auto percentile(E const& x, double p) {
  detail::expects_percentage(p);
  return quantile(x, p / 100);
}
template <detail::Sortable E>
auto percentile(E const& x, double p, int axis) {
  detail::expects_percentage(p);
  return quantile(x, p / 100, axis);
}

/// The median: quantile(x, 0.5).
template <detail::Countable E>
auto median(E const& x) {
  return quantile(x, 0.5);
}
template <detail::Sortable E>
auto median(E const& x, int axis) {
  return quantile(x, 0.5, axis);
}

}  // namespace coir
