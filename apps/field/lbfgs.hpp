#pragma once

/// \file
/// Minimises a function of many numbers in the memory of any space, whose gradient is known, by the limited-memory method of
/// Broyden, Fletcher, Goldfarb and Shanno.
///
/// \see Liu & Nocedal, Math. Program. 45, 503 (1989); for the line search, which also ends at kinks, Lewis & Overton, Math.
///   Program. 141, 135 (2013), algorithm 2.6

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/loops.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coir::apps::field {

struct LbfgsOptions {
  int iterations = 100;  ///< at most; 0 and more
  int pairs = 10;        ///< of steps and changes of the gradient that are remembered; 1 and more
  double tolerance =
      0;  ///< ends after an iteration that lowers the value by this part of it or less
  double first_step = 1;  ///< the length of the first step that is tried, > 0
  int trials = 20;        ///< evaluations of a line search, at most; 1 and more
};

enum class StoppedBy {
  iterations,
  tolerance,
  no_slope,    ///< the gradient is zero
  no_descent,  ///< no step against the gradient lowers the value: rounding, or a kink
};

/// "iterations", "tolerance", "no_slope", "no_descent".
constexpr std::string_view name_of(StoppedBy stopped_by) {
  switch (stopped_by) {
    case StoppedBy::iterations: return "iterations";
    case StoppedBy::tolerance: return "tolerance";
    case StoppedBy::no_slope: return "no_slope";
    default: return "no_descent";
  }
}

/// Where a minimisation has come to.
struct LbfgsState {
  int iterations = 0;
  int evaluations = 0;
  double value = 0;
  double gradient_norm = 0;
  double step_norm = 0;  ///< of the last step
};

struct LbfgsResult {
  LbfgsState state;
  StoppedBy stopped_by = StoppedBy::iterations;
};

namespace detail {

/// to = a + factor b
template <class T>
struct AddScaled {
  T* to;
  T const *a, *b;
  T factor;
  KOKKOS_FUNCTION void operator()(std::int64_t n) const { to[n] = a[n] + factor * b[n]; }
};

/// to = factor a
template <class T>
struct Scale {
  T* to;
  T const* a;
  T factor;
  KOKKOS_FUNCTION void operator()(std::int64_t n) const { to[n] = factor * a[n]; }
};

/// Goes on to a new point: step = trial - x, change = trial_gradient - gradient.
template <class T>
struct GoOn {
  T *x, *gradient, *step, *change;
  T const *trial, *trial_gradient;
  KOKKOS_FUNCTION void operator()(std::int64_t n) const {
    step[n] = trial[n] - x[n];
    change[n] = trial_gradient[n] - gradient[n];
    x[n] = trial[n];
    gradient[n] = trial_gradient[n];
  }
};

template <class T>
struct InnerProduct {
  T const *a, *b;
  KOKKOS_FUNCTION void operator()(std::int64_t n, double& sum) const {
    sum += static_cast<double>(a[n]) * static_cast<double>(b[n]);
  }
};

}  // namespace detail

/// A minimisation and the memory that it works in.
///
/// The search for a step ends where the value has fallen by 1e-4 of what the slope promised or more, and the slope to 0.9 of what it
/// was or less. Values that aren't numbers count as too high, and so does a NumericalError of the function's. Inner products are sums of doubles.
///
/// \tparam Field  a View of float or double without gaps, of any rank, in memory of Exec
template <ExecutionSpace Exec, class Field>
  requires CanAccess<Exec, Field>
class Lbfgs {
 public:
  using T = typename Field::non_const_value_type;

  /// \param like  of the shape that is minimised over
  /// \throws PreconditionError if an option is out of its range
  Lbfgs(Exec const& exec, Field const& like, LbfgsOptions const& options)
      : exec_(exec), options_(checked(options)), count_(static_cast<std::int64_t>(like.size())) {
    auto const make = [&](std::string const& label) { return Field(label, like.layout()); };
    gradient_ = make("coir::apps::field::gradient");
    trial_ = make("coir::apps::field::trial");
    trial_gradient_ = make("coir::apps::field::trial_gradient");
    direction_ = make("coir::apps::field::direction");
    for (int n = 0; n < options.pairs; ++n)
      unused_.push_back({make("coir::apps::field::step"), make("coir::apps::field::change"), 0, 0});
    weights_.resize(unused_.size());
  }

  /// Bytes that a minimisation over `count` numbers holds.
  static std::int64_t bytes(std::int64_t count, LbfgsOptions const& options) {
    return (4 + 2 * std::int64_t(options.pairs)) * count * std::int64_t(sizeof(T));
  }

  /// Goes downhill from x.
  ///
  /// \param x          inout: where to begin, and the lowest point found so far, also while an exception of the function's or
  ///                   the monitor's is on its way
  /// \param evaluate   double evaluate(Field const& x, Field const& gradient): returns the value and sets the gradient
  /// \param monitor    called with an LbfgsState at the start and after each iteration; may throw to stop
  /// \throws NumericalError if the value or the gradient at the start isn't finite, or as the function does there
  template <class Evaluate, class Monitor>
  LbfgsResult minimise(Field const& x, Evaluate const& evaluate, Monitor const& monitor) {
    forget();
    LbfgsState state;
    state.value = evaluate(x, gradient_);
    state.evaluations = 1;
    state.gradient_norm = norm(gradient_);
    if (!std::isfinite(state.value) || !std::isfinite(state.gradient_norm))
      throw NumericalError("where the search starts the value, " + in_words(state.value) +
                           ", or the norm of its gradient, " + in_words(state.gradient_norm) +
                           ", isn't finite");
    monitor(std::as_const(state));
    while (true) {
      if (!(state.gradient_norm > 0)) return {state, StoppedBy::no_slope};
      if (state.iterations >= options_.iterations) return {state, StoppedBy::iterations};
      double const before = state.value;
      if (!make_step(x, evaluate, state)) return {state, StoppedBy::no_descent};
      ++state.iterations;
      monitor(std::as_const(state));
      if (before - state.value <= options_.tolerance * std::abs(before))
        return {state, StoppedBy::tolerance};
    }
  }

 private:
  /// A step, what it changed in the gradient, and their inner products.
  struct Pair {
    Field step, change;
    double step_change, change_change;
  };

  static LbfgsOptions const& checked(LbfgsOptions const& options) {
    expects(options.iterations >= 0, "iterations must be 0 or more", options.iterations);
    expects(options.pairs >= 1, "pairs must be 1 or more", options.pairs);
    expects(options.trials >= 1, "trials must be 1 or more", options.trials);
    expects(options.tolerance >= 0, "the tolerance must be 0 or more", options.tolerance);
    expects(options.first_step > 0 && std::isfinite(options.first_step),
            "the length of the first step must be above 0 and finite", options.first_step);
    return options;
  }

  /// \return  whether a lower point was found, and gone to
  template <class Evaluate>
  bool make_step(Field const& x, Evaluate const& evaluate, LbfgsState& state) {
    while (true) {
      find_direction();
      double slope = inner_product(direction_, gradient_);
      if (!(slope < 0) && !pairs_.empty()) {
        forget();
        continue;
      }
      double const first = pairs_.empty() ? options_.first_step / state.gradient_norm : 1;
      if (search(x, evaluate, slope, first, state)) break;
      // The search failed: remembered steps may mislead, so it begins anew along the gradient.
      if (pairs_.empty()) return false;
      forget();
    }
    remember(x, state);
    return true;
  }

  /// Looks for a step along the direction: trial_, trial_gradient_ and state.value are then those of the new point.
  template <class Evaluate>
  bool search(Field const& x, Evaluate const& evaluate, double slope, double first,
              LbfgsState& state) {
    constexpr double decrease = 1e-4, curvature = 0.9;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double const before = state.value;
    double value = 0;
    auto const slope_at = [&](double step) {
      combine(trial_, x, step, direction_);
      ++state.evaluations;
      try {
        value = evaluate(trial_, trial_gradient_);
      } catch (NumericalError const&) {
        value = infinity;
      }
      return value < infinity ? inner_product(direction_, trial_gradient_) : 0.0;
    };
    double low = 0, high = infinity, step = first;
    for (int trial = 0; trial < options_.trials; ++trial) {
      double const here = slope_at(step);
      bool const is_low = value <= before + decrease * step * slope && value < before &&
                          std::isfinite(value) && std::isfinite(here);
      if (is_low && here >= curvature * slope) {
        state.value = value;
        return true;
      }
      (is_low ? low : high) = step;
      step = high < infinity ? (low + high) / 2 : 2 * step;
    }
    if (low == 0) return false;
    slope_at(low);  // lower, though steep yet
    state.value = value;
    return value < before;
  }

  /// direction = - H gradient, with H the inverse Hessian that the pairs tell of.
  void find_direction() {
    scale(direction_, -1, gradient_);
    for (std::size_t n = pairs_.size(); n-- > 0;) {
      auto const& pair = pairs_[n];
      weights_[n] = inner_product(pair.step, direction_) / pair.step_change;
      combine(direction_, direction_, -weights_[n], pair.change);
    }
    if (pairs_.empty()) return;
    scale(direction_, pairs_.back().step_change / pairs_.back().change_change, direction_);
    for (std::size_t n = 0; n < pairs_.size(); ++n) {
      auto const& pair = pairs_[n];
      double const weight = inner_product(pair.change, direction_) / pair.step_change;
      combine(direction_, direction_, weights_[n] - weight, pair.step);
    }
  }

  /// Goes to the new point, and keeps the step if the gradient grew along it.
  void remember(Field const& x, LbfgsState& state) {
    if (unused_.empty()) {
      unused_.push_back(pairs_.front());
      pairs_.erase(pairs_.begin());
    }
    Pair pair = unused_.back();
    for_each("coir::apps::field::go_on", exec_, box<1, std::int64_t>({count_}),
             detail::GoOn<T>{x.data(), gradient_.data(), pair.step.data(), pair.change.data(),
                             trial_.data(), trial_gradient_.data()});
    state.gradient_norm = norm(gradient_);
    state.step_norm = norm(pair.step);
    pair.step_change = inner_product(pair.step, pair.change);
    pair.change_change = inner_product(pair.change, pair.change);
    constexpr double rounding = std::numeric_limits<double>::epsilon();
    if (!(pair.step_change > rounding * state.step_norm * std::sqrt(pair.change_change))) return;
    unused_.pop_back();
    pairs_.push_back(std::move(pair));
  }

  void forget() {
    unused_.insert(unused_.end(), pairs_.begin(), pairs_.end());
    pairs_.clear();
  }

  void scale(Field const& to, double factor, Field const& a) const {
    for_each("coir::apps::field::scale", exec_, box<1, std::int64_t>({count_}),
             detail::Scale<T>{to.data(), a.data(), static_cast<T>(factor)});
  }

  /// to = a + factor b
  void combine(Field const& to, Field const& a, double factor, Field const& b) const {
    for_each("coir::apps::field::combine", exec_, box<1, std::int64_t>({count_}),
             detail::AddScaled<T>{to.data(), a.data(), b.data(), static_cast<T>(factor)});
  }

  double inner_product(Field const& a, Field const& b) const {
    double sum = 0;
    reduce("coir::apps::field::inner_product", exec_, box<1, std::int64_t>({count_}),
           detail::InnerProduct<T>{a.data(), b.data()}, Kokkos::Sum<double>(sum));
    return sum;
  }
  double norm(Field const& a) const { return std::sqrt(inner_product(a, a)); }

  Exec exec_;
  LbfgsOptions options_;
  std::int64_t count_;
  Field gradient_, trial_, trial_gradient_, direction_;
  std::vector<Pair> pairs_, unused_;  // the last pair is the newest
  std::vector<double> weights_;
};

}  // namespace coir::apps::field
