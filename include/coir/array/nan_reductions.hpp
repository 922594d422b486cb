#pragma once

/// \file
/// Reductions that leave NaN out: NumPy's nansum, nanmean and their like, of all elements or along
/// an axis. If no number is left, a sum is 0, a product 1, nanargmin and nanargmax throw, and every
/// other reduction is NaN. Where a mean or a variance takes several passes, an expression's
/// elements are computed once, and are kept from pass to pass.

#include <coir/array/axis_reductions.hpp>
#include <coir/array/reductions.hpp>
#include <coir/array/scan.hpp>
#include <coir/array/statistics.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace coir {

namespace detail {

/// What follows the argument of a reduction: nothing, or the number of an axis.
template <class... Axis>
concept AxisOrNone = sizeof...(Axis) <= 1 && (std::integral<Axis> && ...);

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

/// Folds all elements, or those along an axis.
template <class Monoid, class E, class... Axis>
auto reduced(E const& x, Axis... axis) {
  if constexpr (sizeof...(Axis) == 0)
    return reduce_all(operand(x), Monoid{});
  else
    return reduce_axis(operand(x), axis..., Monoid{});
}
template <class E, class... Axis>
void expects_some(E const& x, char const* what, Axis... axis) {
  if constexpr (sizeof...(Axis) == 0)
    expects_elements(x, what);
  else
    expects_elements_along(x, axis..., what);
}

/// The index of the first extreme number.
template <bool Largest, class E, class... Axis>
auto nan_arg_extreme(E const& x, Axis... axis) {
  using Monoid = NanArgExtreme<value_t<E>, Largest>;
  expects_some(x, Largest ? "largest element" : "smallest element", axis...);
  auto index = reduced<Monoid>(x, axis...);
  if constexpr (sizeof...(Axis) == 0)
    expects(index != Monoid::no_index, "there is no extreme element among NaN alone");
  else
    expects(all(index != Monoid::no_index),
            "there is no extreme element where an array is NaN all along the axis");
  return index;
}

/// Totals over how many numbers of x there are, less ddof.
template <class E, Scalar Total>
Total over_counts(E const& x, std::int64_t ddof, Total total) {
  return OverCount<Total>{ddof}(total, count_nonzero(numbers_in(x)));
}
template <class E, Expression Totals>
Totals over_counts(E const& x, std::int64_t ddof, Totals totals, int axis) {
  totals = map(OverCount<value_t<Totals>>{ddof}, totals, count_nonzero(numbers_in(x), axis));
  return totals;
}

/// Results in a shape that broadcasts against the elements.
template <Scalar T>
auto beside_elements(T result) {
  return Constant<T>(result);
}
template <Expression E>
auto beside_elements(E const& results, int axis) {
  return with_axis(results, axis);
}

}  // namespace detail

/// The sum of the numbers. 0 if there are none.
template <Expression E, class... Axis>
  requires detail::AxisOrNone<Axis...>
auto nansum(E const& x, Axis... axis) {
  return sum(detail::without_nan(x, value_t<E>(0)), axis...);
}

/// The product of the numbers. 1 if there are none.
template <Expression E, class... Axis>
  requires detail::AxisOrNone<Axis...>
auto nanprod(E const& x, Axis... axis) {
  return prod(detail::without_nan(x, value_t<E>(1)), axis...);
}

/// The smallest number.
///
/// \throws PreconditionError if there are no elements
template <Expression E, class... Axis>
  requires detail::RealOperand<E> && detail::AxisOrNone<Axis...>
auto nanmin(E const& x, Axis... axis) {
  detail::expects_some(x, "minimum", axis...);
  return detail::reduced<detail::NanExtreme<value_t<E>, false>>(x, axis...);
}

/// The largest number.
///
/// \throws PreconditionError if there are no elements
template <Expression E, class... Axis>
  requires detail::RealOperand<E> && detail::AxisOrNone<Axis...>
auto nanmax(E const& x, Axis... axis) {
  detail::expects_some(x, "maximum", axis...);
  return detail::reduced<detail::NanExtreme<value_t<E>, true>>(x, axis...);
}

/// The index, in C order or along an axis, of the first smallest number.
///
/// \throws PreconditionError if there are no numbers
template <Expression E, class... Axis>
  requires detail::RealOperand<E> && detail::AxisOrNone<Axis...>
auto nanargmin(E const& x, Axis... axis) {
  return detail::nan_arg_extreme<false>(x, axis...);
}

/// The index, in C order or along an axis, of the first largest number.
///
/// \throws PreconditionError if there are no numbers
template <Expression E, class... Axis>
  requires detail::RealOperand<E> && detail::AxisOrNone<Axis...>
auto nanargmax(E const& x, Axis... axis) {
  return detail::nan_arg_extreme<true>(x, axis...);
}

/// The mean of the numbers; of integers in double.
template <Expression E, class... Axis>
  requires detail::AxisOrNone<Axis...>
auto nanmean(E const& x, Axis... axis) {
  if constexpr (detail::on_host<E>) {  // two passes in vectors are quicker
    auto const elements = elements_of(x);
    return detail::over_counts(elements, 0, nansum(detail::to_floating(elements), axis...),
                               axis...);
  } else {
    auto const values = detail::to_floating(x);
    return detail::reduced<detail::MeanOfNumbers<value_t<decltype(values)>>>(values, axis...);
  }
}

namespace detail {

/// The sum of squared distances from the mean, over how many numbers there are less ddof.
template <class E, class... Axis>
auto nan_variance(E const& x, Ddof ddof, Axis... axis) {
  auto const elements = elements_of(x);
  auto const middle = nanmean(elements, axis...);
  auto const distances =
      map(SquaredDistance{}, to_floating(elements), beside_elements(middle, axis...));
  return over_counts(elements, ddof.number(), sum(distances, axis...), axis...);
}

}  // namespace detail

/// The variance of the numbers: the sum of |x - mean|^2 over n - ddof. Arguments as those of var.
template <Expression E>
auto nanvar(E const& x, Ddof ddof = Ddof(0)) {
  return detail::nan_variance(x, ddof);
}
template <Expression E>
auto nanvar(E const& x, int axis, Ddof ddof = Ddof(0)) {
  return detail::nan_variance(x, ddof, axis);
}

/// The standard deviation of the numbers: the root of nanvar, whose arguments it takes.
template <Expression E, class... Arguments>
auto nanstd(E const& x, Arguments... arguments) {
  using std::sqrt;
  return evaluate(sqrt(nanvar(x, arguments...)));
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
