#pragma once

/// \file
/// Reductions that leave NaN out: NumPy's nansum, nanmean and their like, of all elements or along
/// an axis. If no number is left, a sum is 0, a product 1, and every other reduction NaN.

#include <coir/array/axis_reductions.hpp>
#include <coir/array/reductions.hpp>
#include <coir/array/scan.hpp>
#include <coir/array/statistics.hpp>

#include <cmath>
#include <initializer_list>
#include <limits>

namespace coir {

namespace detail {

/// Replaces NaN by a number.
template <class T>
struct InPlaceOfNan {
  T number;
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T const& x) const {
    return math::select(!is_nan(x), x, number);
  }
};
template <class E>
auto without_nan(E const& x, value_t<E> number) {
  return map(InPlaceOfNan<value_t<E>>{number}, x);
}

struct IsNumber {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION bool operator()(T const& x) const {
    return !is_nan(x);
  }
};
template <class E>
auto numbers_in(E const& x) {
  return map(IsNumber{}, x);
}

/// The smallest or largest number; NaN if there is none.
template <class T, bool Largest>
struct NanExtreme {
  static constexpr bool rounds = false;
  using value_type = T;
  using result_type = T;
  KOKKOS_FORCEINLINE_FUNCTION T neutral() const {
    constexpr T value = std::is_floating_point_v<T> ? std::numeric_limits<T>::quiet_NaN()
                        : Largest                   ? std::numeric_limits<T>::lowest()
                                                    : std::numeric_limits<T>::max();
    return value;
  }
  KOKKOS_FORCEINLINE_FUNCTION void fold(T& into, T const& x, std::int64_t) const { join(into, x); }
  KOKKOS_FORCEINLINE_FUNCTION void join(T& into, T const& other) const {
    bool const beats = Largest ? other > into : other < into;
    into = math::select(beats | is_nan(into), other, into);
  }
  KOKKOS_FORCEINLINE_FUNCTION T result(T const& value) const { return value; }
};

/// |x - middle|^2, 0 for NaN
struct SquaredDistance {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(T const& x, T const& middle) const {
    auto const square = SquaredAbs{}(T(x - middle));
    using R = std::remove_const_t<decltype(square)>;
    return is_nan(x) ? R(0) : square;
  }
};

/// total / (count - ddof), NaN where nothing is left.
template <class T>
struct OverCount {
  std::int64_t ddof;
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T const& total, std::int64_t count) const {
    using R = real_t<T>;
    constexpr R nan = std::numeric_limits<R>::quiet_NaN();
    return count > ddof ? T(total / static_cast<R>(count - ddof)) : T(nan);
  }
};

/// The mean of the numbers, in one pass.
template <class T>
struct MeanOfNumbers {
  static constexpr bool rounds = true;
  using Sum = typename SumCarriedOf<T, false>::type;
  struct value_type {
    Sum total;
    std::int64_t count;
  };
  using result_type = T;
  KOKKOS_FORCEINLINE_FUNCTION value_type neutral() const { return {Sum(0), 0}; }
  KOKKOS_FORCEINLINE_FUNCTION void fold(value_type& into, T const& x, std::int64_t) const {
    if (!is_nan(x)) join(into, {Sum(x), 1});
  }
  KOKKOS_FORCEINLINE_FUNCTION void join(value_type& into, value_type const& other) const {
    into.total += other.total;
    into.count += other.count;
  }
  KOKKOS_FORCEINLINE_FUNCTION T result(value_type const& value) const {
    return static_cast<T>(OverCount<Sum>{0}(value.total, value.count));
  }
};

/// The index of the first extreme number.
template <bool Largest, class E>
std::int64_t nan_arg_extreme(E const& x) {
  using Monoid = NanArgExtreme<value_t<E>, Largest>;
  auto const e = operand(x);
  expects_elements(e, Largest ? "largest element" : "smallest element");
  std::int64_t const index = reduce_all(e, Monoid{});
  expects(index != Monoid::no_index, "there is no extreme element among NaN alone");
  return index;
}
template <bool Largest, class E>
auto nan_arg_extreme(E const& x, int axis) {
  using Monoid = NanArgExtreme<value_t<E>, Largest>;
  expects_elements_along(x, axis, Largest ? "largest element" : "smallest element");
  auto result = reduce_axis(operand(x), axis, Monoid{});
  expects(all(result != Monoid::no_index),
          "there is no extreme element where an array is NaN all along the axis");
  return result;
}

}  // namespace detail

/// The sum of the numbers. 0 if there are none.
template <Expression E>
auto nansum(E const& x) {
  return sum(detail::without_nan(x, value_t<E>(0)));
}
template <Expression E>
auto nansum(E const& x, int axis) {
  return sum(detail::without_nan(x, value_t<E>(0)), axis);
}

/// The product of the numbers. 1 if there are none.
template <Expression E>
auto nanprod(E const& x) {
  return prod(detail::without_nan(x, value_t<E>(1)));
}
template <Expression E>
auto nanprod(E const& x, int axis) {
  return prod(detail::without_nan(x, value_t<E>(1)), axis);
}

/// The smallest number.
///
/// \throws PreconditionError if there are no elements
template <Expression E>
  requires detail::RealOperand<E>
auto nanmin(E const& x) {
  auto const e = operand(x);
  detail::expects_elements(e, "minimum");
  return detail::reduce_all(e, detail::NanExtreme<value_t<E>, false>{});
}
template <Expression E>
  requires detail::RealOperand<E>
auto nanmin(E const& x, int axis) {
  detail::expects_elements_along(x, axis, "minimum");
  return detail::reduce_axis(operand(x), axis, detail::NanExtreme<value_t<E>, false>{});
}

/// The largest number.
///
/// \throws PreconditionError if there are no elements
template <Expression E>
  requires detail::RealOperand<E>
auto nanmax(E const& x) {
  auto const e = operand(x);
  detail::expects_elements(e, "maximum");
  return detail::reduce_all(e, detail::NanExtreme<value_t<E>, true>{});
}
template <Expression E>
  requires detail::RealOperand<E>
auto nanmax(E const& x, int axis) {
  detail::expects_elements_along(x, axis, "maximum");
  return detail::reduce_axis(operand(x), axis, detail::NanExtreme<value_t<E>, true>{});
}

/// The index, in C order, of the first smallest number.
///
/// \throws PreconditionError if there are no numbers
template <Expression E>
  requires detail::RealOperand<E>
std::int64_t nanargmin(E const& x) {
  return detail::nan_arg_extreme<false>(x);
}
template <Expression E>
  requires detail::RealOperand<E>
auto nanargmin(E const& x, int axis) {
  return detail::nan_arg_extreme<false>(x, axis);
}

/// The index, in C order, of the first largest number.
///
/// \throws PreconditionError if there are no numbers
template <Expression E>
  requires detail::RealOperand<E>
std::int64_t nanargmax(E const& x) {
  return detail::nan_arg_extreme<true>(x);
}
template <Expression E>
  requires detail::RealOperand<E>
auto nanargmax(E const& x, int axis) {
  return detail::nan_arg_extreme<true>(x, axis);
}

/// The mean of the numbers; of integers in double.
template <Expression E>
auto nanmean(E const& x) {
  auto const total = nansum(detail::to_floating(x));
  using T = std::remove_const_t<decltype(total)>;
  return detail::OverCount<T>{0}(total, count_nonzero(detail::numbers_in(x)));
}
template <Expression E>
auto nanmean(E const& x, int axis) {
  using T = value_t<decltype(detail::to_floating(x))>;
  if constexpr (detail::on_host<E>) {  // two passes in vectors are quicker
    auto result = nansum(detail::to_floating(x), axis);
    result = map(detail::OverCount<T>{0}, result, count_nonzero(detail::numbers_in(x), axis));
    return result;
  } else {
    return detail::reduce_axis(operand(detail::to_floating(x)), axis, detail::MeanOfNumbers<T>{});
  }
}

/// The variance of the numbers: the sum of |x - mean|^2 over n - ddof. Arguments as those of var.
template <Expression E>
auto nanvar(E const& x, Ddof ddof = Ddof(0)) {
  auto const values = detail::to_floating(x);
  using T = value_t<decltype(values)>;
  auto const total = sum(map(detail::SquaredDistance{}, values, Constant<T>(T(nanmean(values)))));
  using R = std::remove_const_t<decltype(total)>;
  return detail::OverCount<R>{ddof.number()}(total, count_nonzero(detail::numbers_in(x)));
}
template <Expression E>
auto nanvar(E const& x, int axis, Ddof ddof = Ddof(0)) {
  auto const values = detail::to_floating(x);
  auto const middle = nanmean(values, axis);
  auto result = sum(map(detail::SquaredDistance{}, values, with_axis(middle, axis)), axis);
  using R = value_t<decltype(result)>;
  result =
      map(detail::OverCount<R>{ddof.number()}, result, count_nonzero(detail::numbers_in(x), axis));
  return result;
}

/// The standard deviation of the numbers: the root of nanvar.
template <Expression E>
auto nanstd(E const& x, Ddof ddof = Ddof(0)) {
  return std::sqrt(nanvar(x, ddof));
}
template <Expression E>
auto nanstd(E const& x, int axis, Ddof ddof = Ddof(0)) {
  auto result = nanvar(x, axis, ddof);
  result = sqrt(result);
  return result;
}

/// Sums from the first element on, with 0 in place of NaN: see cumsum.
template <Expression E>
  requires OfRankAtLeast<E, 1>
auto nancumsum(E const& x, int axis) {
  return cumsum(detail::without_nan(x, value_t<E>(0)), axis);
}
template <Expression E>
  requires OfRank<E, 1>
auto nancumsum(E const& x) {
  return nancumsum(x, 0);
}

/// Products from the first element on, with 1 in place of NaN: see cumprod.
template <Expression E>
  requires OfRankAtLeast<E, 1>
auto nancumprod(E const& x, int axis) {
  return cumprod(detail::without_nan(x, value_t<E>(1)), axis);
}
template <Expression E>
  requires OfRank<E, 1>
auto nancumprod(E const& x) {
  return nancumprod(x, 0);
}

/// The q-quantile of the numbers among all elements, or of those along an axis. q is as in
/// quantile.
///
/// \throws PreconditionError if q lies outside, or there is no such axis
template <detail::Countable E, class Q>
  requires detail::Shares<Q>
auto nanquantile(E const& x, Q const& q) {
  return detail::quantiles<true>(x, detail::checked_shares(q));
}
template <detail::Countable E>
auto nanquantile(E const& x, std::initializer_list<double> q) {
  return detail::quantiles<true>(x, detail::checked_shares(q));
}
template <detail::Sortable E, class Q>
  requires detail::Shares<Q>
auto nanquantile(E const& x, Q const& q, int axis) {
  return detail::quantiles<true>(x, detail::checked_shares(q), axis);
}
template <detail::Sortable E>
auto nanquantile(E const& x, std::initializer_list<double> q, int axis) {
  return detail::quantiles<true>(x, detail::checked_shares(q), axis);
}

/// The p-th percentile of the numbers, p in [0, 100]: nanquantile(x, p / 100).
template <detail::Countable E, class P>
  requires detail::Shares<P>
auto nanpercentile(E const& x, P const& p) {
  return detail::quantiles<true>(x, detail::checked_percentages(p));
}
template <detail::Countable E>
auto nanpercentile(E const& x, std::initializer_list<double> p) {
  return detail::quantiles<true>(x, detail::checked_percentages(p));
}
template <detail::Sortable E, class P>
  requires detail::Shares<P>
auto nanpercentile(E const& x, P const& p, int axis) {
  return detail::quantiles<true>(x, detail::checked_percentages(p), axis);
}
template <detail::Sortable E>
auto nanpercentile(E const& x, std::initializer_list<double> p, int axis) {
  return detail::quantiles<true>(x, detail::checked_percentages(p), axis);
}

/// The median of the numbers: nanquantile(x, 0.5).
template <detail::Countable E>
auto nanmedian(E const& x) {
  return nanquantile(x, 0.5);
}
template <detail::Sortable E>
auto nanmedian(E const& x, int axis) {
  return nanquantile(x, 0.5, axis);
}

}  // namespace coir
