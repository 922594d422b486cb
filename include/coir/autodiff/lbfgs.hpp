#pragma once

/// \file
/// Minimises a function of an array whose gradient is known, by the limited-memory method of
/// Broyden, Fletcher, Goldfarb and Shanno:
///
///     Array<double, 1> x = coir::zeros(1000);
///     auto const result = coir::lbfgs(coir::value_and_grad(f), x);
///
/// \see Nocedal & Wright, Numerical Optimization (2006), ch. 7.2; Liu & Nocedal, Math. Program. 45,
///   503 (1989); for the line search Lewis & Overton, Math. Program. 141, 135 (2013), algorithm 2.6

#include <coir/array/array.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/reductions.hpp>
#include <coir/core/errors.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace coir {

/// How lbfgs() searches, and when it ends.
struct LbfgsOptions {
  int iterations = 100;  ///< at most; 0 and more
  int pairs = 10;        ///< of steps and changes of the gradient that are remembered; 1 and more
  double tolerance =
      0;  ///< ends after an iteration that lowers the value by this part of it or less
  double first_step = 1;  ///< the length of the first step that is tried, > 0
  int trials = 20;        ///< evaluations of a line search, at most; 1 and more
};

/// Why lbfgs() ended.
enum class LbfgsEnd {
  iterations,
  tolerance,
  no_slope,    ///< the gradient is zero
  no_descent,  ///< no step against the gradient lowers the value: rounding, or a kink
};

/// "iterations", "tolerance", "no_slope", "no_descent".
constexpr std::string_view name_of(LbfgsEnd why) {
  switch (why) {
    case LbfgsEnd::iterations: return "iterations";
    case LbfgsEnd::tolerance: return "tolerance";
    case LbfgsEnd::no_slope: return "no_slope";
    default: return "no_descent";
  }
}

/// The state of a minimisation.
struct LbfgsState {
  int iterations = 0;
  int evaluations = 0;
  double value = 0;
  double gradient_norm = 0;
  double step_norm = 0;  ///< of the last step
};

/// The result of lbfgs().
struct LbfgsResult {
  LbfgsState state;  ///< at the end
  LbfgsEnd end = LbfgsEnd::iterations;
  std::vector<LbfgsState> history;  ///< at the start and after each iteration
};

/// Bytes of the arrays that lbfgs() holds at once, beside x, for an x of this many bytes.
constexpr std::int64_t lbfgs_bytes(std::int64_t bytes_of_x, LbfgsOptions const& options = {}) {
  return (4 + 2 * std::int64_t(std::min(options.pairs, options.iterations))) * bytes_of_x;
}

/// The inner product of two arrays, a sum of doubles.
struct InnerProduct {
  template <class X>
  double operator()(X const& a, X const& b) const {
    return dot(cast<double>(a), cast<double>(b));
  }
};

namespace detail {

template <class X, class ValueAndGrad, class Product>
class LbfgsSearch {
 public:
  LbfgsSearch(ValueAndGrad const& value_and_grad, X& x, LbfgsOptions const& options,
              Product const& inner_product)
      : value_and_grad_(value_and_grad), options_(options), inner_product_(inner_product), x_(x) {
    expects(options.iterations >= 0, "iterations must be 0 or more", options.iterations);
    expects(options.pairs >= 1, "pairs must be 1 or more", options.pairs);
    expects(options.trials >= 1, "trials must be 1 or more", options.trials);
    expects(options.tolerance >= 0, "the tolerance must be 0 or more", options.tolerance);
    expects(options.first_step > 0 && std::isfinite(options.first_step),
            "the length of the first step must be above 0 and finite", options.first_step);
  }

  template <class Monitor>
  LbfgsResult run(Monitor const& monitor) {
    LbfgsResult result;
    auto const tell = [&] {
      result.state = state_;
      result.history.push_back(state_);
      monitor(std::as_const(state_));
    };
    state_.value = evaluate(x_, gradient_);
    state_.gradient_norm = norm_of(gradient_);
    if (!std::isfinite(state_.value) || !std::isfinite(state_.gradient_norm))
      throw NumericalError("where the search starts the value, " + in_words(state_.value) +
                           ", or the norm of its gradient, " + in_words(state_.gradient_norm) +
                           ", isn't finite");
    tell();
    auto const ended = [&](LbfgsEnd why) {
      result.state = state_;
      result.end = why;
      return result;
    };
    while (true) {
      if (!(state_.gradient_norm > 0)) return ended(LbfgsEnd::no_slope);
      if (state_.iterations >= options_.iterations) return ended(LbfgsEnd::iterations);
      double const before = state_.value;
      if (!make_step()) return ended(LbfgsEnd::no_descent);
      ++state_.iterations;
      tell();
      if (before - state_.value <= options_.tolerance * std::abs(before))
        return ended(LbfgsEnd::tolerance);
    }
  }

 private:
  /// A step, what it changed in the gradient, and their inner products.
  struct Pair {
    X step, change;
    double step_change, change_change;
  };

  double norm_of(X const& a) const { return std::sqrt(inner_product_(a, a)); }

  double evaluate(X const& at, X& gradient) {
    ++state_.evaluations;
    auto found = value_and_grad_(at);
    gradient = std::move(found.gradient);
    return static_cast<double>(found.value);
  }

  /// Goes to a lower point, and returns whether there is one.
  bool make_step() {
    while (true) {
      find_direction();
      double const slope = inner_product_(direction_, gradient_);
      if (slope < 0 || pairs_.empty()) {
        double const first = pairs_.empty() ? options_.first_step / state_.gradient_norm : 1;
        if (search(slope, first)) break;
      }
      // Without descent the pairs may mislead: the search begins anew along the gradient.
      if (pairs_.empty()) return false;
      pairs_.clear();
    }
    remember();
    return true;
  }

  /// direction = - H gradient, with the inverse Hessian H that follows from the pairs: Nocedal &
  /// Wright, algorithm 7.4.
  void find_direction() {
    direction_ = -gradient_;
    if (pairs_.empty()) return;
    std::vector<double> weights(pairs_.size());
    for (std::size_t n = pairs_.size(); n-- > 0;) {
      auto const& pair = pairs_[n];
      weights[n] = inner_product_(pair.step, direction_) / pair.step_change;
      direction_ -= weights[n] * pair.change;
    }
    direction_ *= pairs_.back().step_change / pairs_.back().change_change;
    for (std::size_t n = 0; n < pairs_.size(); ++n) {
      auto const& pair = pairs_[n];
      double const weight = inner_product_(pair.change, direction_) / pair.step_change;
      direction_ += (weights[n] - weight) * pair.step;
    }
  }

  /// Looks for a step along the direction. trial_, trial_gradient_ and state_.value are then those
  /// of the new point.
  bool search(double slope, double first) {
    constexpr double decrease = 1e-4, curvature = 0.9;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double const before = state_.value;
    double value = 0;
    auto const slope_at = [&](double step) {
      trial_ = x_ + step * direction_;
      try {
        value = evaluate(trial_, trial_gradient_);
      } catch (NumericalError const&) {
        value = infinity;
      }
      return value < infinity ? inner_product_(direction_, trial_gradient_) : 0.0;
    };
    double low = 0, high = infinity, step = first;
    for (int trial = 0; trial < options_.trials; ++trial) {
      double const here = slope_at(step);
      bool const is_low = value <= before + decrease * step * slope && value < before &&
                          std::isfinite(value) && std::isfinite(here);
      if (is_low && here >= curvature * slope) {
        state_.value = value;
        return true;
      }
      (is_low ? low : high) = step;
      step = high < infinity ? (low + high) / 2 : 2 * step;
    }
    if (low == 0) return false;
    slope_at(low);  // lower, but still steep
    state_.value = value;
    return value < before;
  }

  /// Goes to the new point, and keeps the step if the gradient grew along it.
  void remember() {
    if (pairs_.size() == static_cast<std::size_t>(options_.pairs)) pairs_.erase(pairs_.begin());
    Pair pair{trial_ - x_, trial_gradient_ - gradient_, 0, 0};
    x_ = trial_;
    gradient_.swap(trial_gradient_);
    state_.gradient_norm = norm_of(gradient_);
    state_.step_norm = norm_of(pair.step);
    pair.step_change = inner_product_(pair.step, pair.change);
    pair.change_change = inner_product_(pair.change, pair.change);
    constexpr double rounding = std::numeric_limits<double>::epsilon();
    if (pair.step_change > rounding * state_.step_norm * std::sqrt(pair.change_change))
      pairs_.push_back(std::move(pair));
  }

  ValueAndGrad const& value_and_grad_;
  LbfgsOptions options_;
  Product const& inner_product_;
  X& x_;
  LbfgsState state_;
  X gradient_, trial_, trial_gradient_, direction_;
  std::vector<Pair> pairs_;  // the last one is the newest
};

struct IgnoreState {
  void operator()(LbfgsState const&) const {}
};

}  // namespace detail

/// Minimises a function from x on by L-BFGS.
///
/// The search along a direction ends at a step that meets the weak Wolfe conditions: the value
/// falls by at least 1e-4 of the step times the slope, and the slope falls to at most 0.9 of what
/// it was. A value that is NaN counts as too high, and so does a NumericalError of the function.
///
/// Where ranks have parts of x, each calls with its part, and with an inner product over all of
/// them: with the same values and products on all ranks, all make the same steps.
///
/// \param value_and_grad  called with an array like x; returns an object with the members `value`,
///   a real number, and `gradient`, an array of x's type, as coir::value_and_grad(f) does
/// \param x               inout: the start, then the lowest point found so far, also if the
///   function or the monitor throws
/// \param monitor         called with an LbfgsState at the start and after each iteration; may
///   throw to stop
/// \param inner_product   called with two arrays like x; returns a double
/// \throws PreconditionError if an option is out of its range
/// \throws NumericalError if the value or the gradient at the start isn't finite, or the function
///   throws it there
template <class ValueAndGrad, std::floating_point T, int Rank, class Space,
          class Monitor = detail::IgnoreState, class Product = InnerProduct>
LbfgsResult lbfgs(ValueAndGrad const& value_and_grad, Array<T, Rank, Space>& x,
                  LbfgsOptions const& options = {}, Monitor const& monitor = {},
                  Product const& inner_product = {}) {
  return detail::LbfgsSearch<Array<T, Rank, Space>, ValueAndGrad, Product>(value_and_grad, x,
                                                                           options, inner_product)
      .run(monitor);
}

}  // namespace coir
