#pragma once

/// Bounded parameters as functions of unbounded ones, on which samplers move.

#include <coir/array/creation.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/inference/target.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace coir::inference {

/// Where a parameter x lies, and the unbounded y that stands for it:
///
///   (low, high)      y = log((x - low) / (high - x))
///   (low, infinity)  y = log(x - low)
///   (-infinity, high)  y = log(high - x)
///   all numbers      y = x
struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

namespace detail {

/// x as a function of y, its slope, and log |slope| with the slope of that.
struct Inside {
  double x, slope, log_slope, slope_of_log;
};

KOKKOS_INLINE_FUNCTION Inside inside(double low, double high, double y) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  bool const bounded_below = low > -infinity, bounded_above = high < infinity;
  if (bounded_below && bounded_above) {
    // The smaller one of exp(y) and exp(-y) doesn't overflow.
    double const small = math::exp(-math::abs(y)), part = 1 / (1 + small);
    double const width = high - low, near = width * small * part;
    return {y < 0 ? low + near : high - near, near * part,
            math::log(width) - math::abs(y) - 2 * math::log1p(small),
            (y < 0 ? 1.0 : -1.0) * (1 - small) * part};
  }
  if (!bounded_below && !bounded_above) return {y, 1, 0, 0};
  double const distance = math::exp(y);
  if (bounded_below) return {low + distance, distance, y, 1};
  return {high - distance, -distance, y, 1};
}

// Functions of their own, because the type of a target may be local to a function.

/// The bounded parameters x of y. Returns the sum of log |dx/dy|.
template <ExecutionSpace Exec>
double to_inside(Exec const& exec, std::int64_t n, double const* limits, double const* y,
                 double* x) {
  double log_slopes = 0;
  reduce(
      "coir::inference::transforms/inside", exec, box<1, std::int64_t>({n}),
      KOKKOS_LAMBDA(std::int64_t i, double& sum) {
        auto const at = inside(limits[2 * i], limits[2 * i + 1], y[i]);
        x[i] = at.x;
        sum += at.log_slope;
      },
      Kokkos::Sum<double>(log_slopes));
  return log_slopes;
}

/// Makes the slope along x the one along y: slope dx/dy + d log |dx/dy| / dy.
template <ExecutionSpace Exec>
void to_unbounded(Exec const& exec, std::int64_t n, double const* limits, double const* y,
                  double* slope) {
  for_each(
      "coir::inference::transforms/slope", exec, box<1, std::int64_t>({n}),
      KOKKOS_LAMBDA(std::int64_t i) {
        auto const at = inside(limits[2 * i], limits[2 * i + 1], y[i]);
        slope[i] = slope[i] * at.slope + at.slope_of_log;
      });
  if constexpr (!runs_on_host<Exec>) exec.fence();
}

}  // namespace detail

/// Bounds of all parameters.
class Bounds {
 public:
  /// \throws PreconditionError unless low < high for each
  explicit Bounds(std::vector<Interval> intervals) : intervals_(std::move(intervals)) {
    for (std::size_t k = 0; k < intervals_.size(); ++k)
      if (!(intervals_[k].low < intervals_[k].high))
        throw PreconditionError("the bounds of parameter " + std::to_string(k) +
                                " must have low < high, not " + in_words(intervals_[k].low) +
                                " and " + in_words(intervals_[k].high));
  }

  std::size_t size() const { return intervals_.size(); }
  Interval const& operator[](std::size_t k) const { return intervals_[k]; }

  /// The unbounded parameters of bounded ones, along the last axis of any array in host memory.
  ///
  /// \throws PreconditionError naming a parameter that isn't inside its bounds
  template <int Rank>
  Array<double, Rank, Kokkos::HostSpace> unbounded(Array<double, Rank, Kokkos::HostSpace> x) const {
    for_each_element(x, [](double& value, std::size_t k, Interval const& in) {
      if (!(value > in.low && value < in.high))
        throw PreconditionError("parameter " + std::to_string(k) + " must start inside (" +
                                in_words(in.low) + ", " + in_words(in.high) + "), not at " +
                                in_words(value));
      bool const below = in.low > -infinity, above = in.high < infinity;
      value = below && above ? std::log(value - in.low) - std::log(in.high - value)
              : below        ? std::log(value - in.low)
              : above        ? std::log(in.high - value)
                             : value;
    });
    return x;
  }

  /// The bounded parameters of unbounded ones, such as draws, along the last axis.
  template <int Rank>
  Array<double, Rank, Kokkos::HostSpace> bounded(Array<double, Rank, Kokkos::HostSpace> y) const {
    for_each_element(y, [](double& value, std::size_t, Interval const& in) {
      value = detail::inside(in.low, in.high, value).x;
    });
    return y;
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  template <class A, class Each>
  void for_each_element(A& array, Each const& each) const {
    auto const n = static_cast<std::int64_t>(size());
    expects(n > 0 && array.shape().back() == n,
            "the bounds must be of as many parameters as the array has, " +
                std::to_string(array.shape().back()),
            n);
    for (std::int64_t i = 0; i < array.size(); ++i)
      each(array.data()[i], static_cast<std::size_t>(i % n),
           intervals_[static_cast<std::size_t>(i % n)]);
  }

  std::vector<Interval> intervals_;
};

/// The target that `inside_bounds` makes.
template <class Space, class T>
class BoundedTarget {
 public:
  static constexpr bool one_at_a_time = detail::one_at_a_time<T>;

  BoundedTarget(Bounds const& bounds, T target)
      : limits_("coir::inference::transforms/limits", bounds.size()), target_(std::move(target)) {
    auto const host = Kokkos::create_mirror_view(limits_);
    for (std::size_t k = 0; k < bounds.size(); ++k) {
      host(k, 0) = bounds[k].low;
      host(k, 1) = bounds[k].high;
    }
    Kokkos::deep_copy(limits_, host);
  }

  double operator()(Kokkos::View<double const*, Space> const& y,
                    Kokkos::View<double*, Space> const& slope) const {
    typename Space::execution_space const exec;
    auto const n = static_cast<std::int64_t>(y.extent(0));
    expects(
        y.extent(0) == limits_.extent(0),
        [&] {
          return "the bounds must be of as many parameters as the chains have, " +
                 std::to_string(n);
        },
        static_cast<std::int64_t>(limits_.extent(0)));
    Array<double, 1, Space> x({n});
    double const log_slopes = detail::to_inside(exec, n, limits_.data(), y.data(), x.data());
    double const value = target_(x.view(), slope);
    detail::to_unbounded(exec, n, limits_.data(), y.data(), slope.data());
    return value + log_slopes;
  }

 private:
  Kokkos::View<double* [2], Kokkos::LayoutRight, Space> limits_;
  T target_;
};

/// A target of bounded parameters as one of unbounded ones, whose density is that of the bounded
/// ones times |dx/dy| for each. Starts go through bounds.unbounded(), draws through
/// bounds.bounded(). A parameter that rounding puts onto a bound is evaluated there.
///
/// \tparam Space  the memory of theta and the slope
template <class Space = Kokkos::HostSpace, class T>
BoundedTarget<Space, T> inside_bounds(Bounds const& bounds, T target) {
  return BoundedTarget<Space, T>(bounds, std::move(target));
}

}  // namespace coir::inference
