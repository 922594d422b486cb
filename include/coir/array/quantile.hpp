#pragma once

/// \file
/// Quantiles, percentiles and medians, by NumPy's default method.

#include <coir/array/creation.hpp>
#include <coir/array/sorting.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace coir {

namespace detail {

/// The argument that says which quantiles are meant: a number, or several in host memory.
template <class Q>
concept Shares = std::is_arithmetic_v<Q> || std::convertible_to<Q const&, std::span<double const>>;

/// Which quantiles are asked for. A single one has no axis in the result.
template <bool Several>
struct Asked {
  std::vector<double> shares;
};

inline double checked_share(double q) {
  expects(q >= 0 && q <= 1, "q must lie in [0, 1]", q);
  return q;
}
inline double checked_percentage(double p) {
  expects(p >= 0 && p <= 100, "a percentage must lie in [0, 100]", p);
  return p / 100;
}

template <class Q, class Check>
auto asked(Q const& q, Check const& check) {
  if constexpr (std::is_arithmetic_v<Q>) {
    return Asked<false>{{check(static_cast<double>(q))}};
  } else {
    std::span<double const> const several(q);
    Asked<true> result{std::vector<double>(several.size())};
    std::transform(several.begin(), several.end(), result.shares.begin(), check);
    return result;
  }
}
template <class Q>
auto checked_shares(Q const& q) {
  return asked(q, checked_share);
}
inline auto checked_shares(std::initializer_list<double> q) {
  return asked(std::span<double const>(q.begin(), q.size()), checked_share);
}
template <class P>
auto checked_percentages(P const& p) {
  return asked(p, checked_percentage);
}
inline auto checked_percentages(std::initializer_list<double> p) {
  return asked(std::span<double const>(p.begin(), p.size()), checked_percentage);
}

/// a + fraction (b - a) for a <= b, also where b - a overflows. If one of them is infinite, the
/// result is that one; between -inf and inf it is NaN.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T between(T a, T b, T fraction) {
  if (fraction == T(0) || a == b) return a;
  if (math::isinf(a) || math::isinf(b)) return a + b;
  T const distance = b - a, rest = T(1) - fraction;
  if (!math::isfinite(distance)) return rest * a + fraction * b;
  if (fraction == T(0.5) && math::isfinite(a + b)) return (a + b) / T(2);  // rounds once
  // From the nearer end, so that the result rises with the fraction.
  return fraction < T(0.5) ? a + distance * fraction : b - distance * rest;
}

/// result[k, row] is the shares[k]-quantile of a row, from the keys that it lies between: see
/// select_rows().
///
/// \tparam SkipsNan  true: of the elements that aren't NaN; false: a NaN in a row makes its result
///   NaN
template <class T, bool SkipsNan>
struct QuantileBody {
  using Real = floating_t<T>;
  sort_key_t<T> const* found;
  std::int64_t const* numbers;
  double const* shares;
  Real* result;
  std::int64_t count, rows, columns;

  KOKKOS_FUNCTION void operator()(std::int64_t k, std::int64_t row) const {
    FromSortKey<T> const value;
    std::int64_t const n = numbers[row];
    sort_key_t<T> const* const keys = found + 2 * (row * count + k);
    Real& to = result[k * rows + row];
    if (n == 0 || (!SkipsNan && n < columns)) {
      to = std::numeric_limits<Real>::quiet_NaN();
      return;
    }
    double const position = shares[k] * static_cast<double>(n - 1);
    to = between(static_cast<Real>(value(keys[0])), static_cast<Real>(value(keys[1])),
                 static_cast<Real>(position - math::floor(position)));
  }
};

/// result[k, row] = the shares[k]-quantile of a row of elements of type T. Overwrites the keys of
/// the elements.
template <class T, bool SkipsNan, class Keys, class Result>
void quantile_rows(Keys& keys, std::int64_t rows, std::int64_t columns,
                   std::vector<double> const& shares, Result& result) {
  if (result.size() == 0) return;
  using Space = typename Keys::space;
  auto const exec = immediate<typename Keys::Exec>("quantile()");
  auto const count = static_cast<std::int64_t>(shares.size());
  Array<typename Keys::value_type, 1, Space> found(Shape<1>{2 * rows * count});
  Array<std::int64_t, 1, Space> numbers(Shape<1>{rows});
  if (keys.size() > 0)
    select_rows(exec, keys.data(), rows, columns,
                Quantiles{shares.data(), count, std::is_floating_point_v<T>}, found.data(),
                numbers.data());
  else
    numbers = 0;
  auto const q = from_span<Space>(std::span<double const>(shares), {count});
  for_each("coir::array::quantile", exec, box<2, std::int64_t>({count, rows}),
           QuantileBody<T, SkipsNan>{found.data(), numbers.data(), q.data(), result.data(), count,
                                     rows, columns});
}

/// Quantiles of all elements: a number, or a vector of several.
template <bool SkipsNan, class E, bool Several>
auto quantiles(E const& x, Asked<Several> const& q) {
  using T = value_t<E>;
  expects(SkipsNan || size_of(x.shape()) > 0, "there is no quantile of an array without elements");
  auto keys = evaluate(map(ToSortKey<T, false>{}, x));
  Shape<Several ? 1 : 0> shape{};
  if constexpr (Several) shape[0] = static_cast<std::int64_t>(q.shares.size());
  Array<floating_t<T>, Several ? 1 : 0, typename decltype(keys)::space> result(shape);
  quantile_rows<T, SkipsNan>(keys, 1, keys.size(), q.shares, result);
  if constexpr (Several)
    return result;
  else
    return result.item();
}

/// Quantiles along an axis, which the result lacks. If there are several, its first axis counts
/// them.
template <bool SkipsNan, class E, bool Several>
auto quantiles(E const& x, Asked<Several> const& q, int axis) {
  using T = value_t<E>;
  constexpr int rank = rank_of<E>, first = Several ? 1 : 0;
  expects_axis(x, axis);
  int const along = axis < 0 ? axis + rank : axis;
  std::array<int, rank> permutation{};
  Shape<rank - 1 + first> shape{};
  if constexpr (Several) shape[0] = static_cast<std::int64_t>(q.shares.size());
  for (int d = 0, to = 0; d < rank; ++d)
    if (d != along) {
      std::int64_t const extent = x.shape()[static_cast<std::size_t>(d)];
      shape[static_cast<std::size_t>(to + first)] = extent;
      permutation[static_cast<std::size_t>(to++)] = d;
    }
  permutation[rank - 1] = along;
  std::int64_t const columns = x.shape()[static_cast<std::size_t>(along)];
  if (columns == 0 && !SkipsNan)
    throw PreconditionError("there is no quantile along axis " + std::to_string(axis) +
                            " of an array of shape " + in_words(x.shape()) +
                            ": it has no elements there");
  auto keys = evaluate(map(ToSortKey<T, false>{}, transpose(x, permutation)));
  Array<floating_t<T>, rank - 1 + first, typename decltype(keys)::space> result(shape);
  if (result.size() == 0) return result;
  std::int64_t const rows = result.size() / static_cast<std::int64_t>(q.shares.size());
  quantile_rows<T, SkipsNan>(keys, rows, columns, q.shares, result);
  return result;
}

// Found by their second argument, so that arrays of autodiff have overloads.
template <Expression E, bool Several>
auto quantiles_of(E const& x, Asked<Several> const& q) {
  return quantiles<false>(x, q);
}
template <Expression E, bool Several>
auto quantiles_of(E const& x, Asked<Several> const& q, int axis) {
  return quantiles<false>(x, q, axis);
}

}  // namespace detail

/// The q-quantile of all elements: a share q of them lies below it. With the n elements sorted as
/// x[0], x[1] ..., it is x at q (n - 1), by linear interpolation between elements. NaN if there is
/// a NaN.
///
/// \param q  a number in [0, 1]; or several, as {0.25, 0.5, 0.75}, a std::vector<double> or a
///   std::span
/// \returns a number of the element type, double for integers; for several q a vector of these
/// \throws PreconditionError if q lies outside, or there are no elements
template <detail::Ordered E, class Q>
  requires detail::Shares<Q>
auto quantile(E const& x, Q const& q) {
  return quantiles_of(x, detail::checked_shares(q));
}
template <detail::Ordered E>
auto quantile(E const& x, std::initializer_list<double> q) {
  return quantiles_of(x, detail::checked_shares(q));
}

/// The q-quantiles along an axis, which the result lacks. If there are several q, the result has a
/// first axis that counts them.
///
/// \throws PreconditionError if q lies outside of [0, 1], there is no such axis, or it has no
///   elements
template <detail::Ordered E, class Q>
  requires detail::Shares<Q> && OfRankAtLeast<E, 1>
auto quantile(E const& x, Q const& q, int axis) {
  return quantiles_of(x, detail::checked_shares(q), axis);
}
template <detail::Ordered E>
  requires OfRankAtLeast<E, 1>
auto quantile(E const& x, std::initializer_list<double> q, int axis) {
  return quantiles_of(x, detail::checked_shares(q), axis);
}

/// The p-th percentile, p in [0, 100], or several: quantile(x, p / 100).
template <detail::Ordered E, class P>
  requires detail::Shares<P>
auto percentile(E const& x, P const& p) {
  return quantiles_of(x, detail::checked_percentages(p));
}
template <detail::Ordered E>
auto percentile(E const& x, std::initializer_list<double> p) {
  return quantiles_of(x, detail::checked_percentages(p));
}
template <detail::Ordered E, class P>
  requires detail::Shares<P> && OfRankAtLeast<E, 1>
auto percentile(E const& x, P const& p, int axis) {
  return quantiles_of(x, detail::checked_percentages(p), axis);
}
template <detail::Ordered E>
  requires OfRankAtLeast<E, 1>
auto percentile(E const& x, std::initializer_list<double> p, int axis) {
  return quantiles_of(x, detail::checked_percentages(p), axis);
}

/// The median: quantile(x, 0.5).
template <detail::Ordered E>
auto median(E const& x) {
  return quantile(x, 0.5);
}
template <detail::Ordered E>
  requires OfRankAtLeast<E, 1>
auto median(E const& x, int axis) {
  return quantile(x, 0.5, axis);
}

}  // namespace coir
