#pragma once

/// Loops of equal steps whose gradient takes little memory: some of the states between steps are
/// kept, and steps are computed again from the nearest one on the way back.

#include <coir/array/array.hpp>
#include <coir/autodiff/detail/forward_arrays.hpp>
#include <coir/autodiff/detail/program_gradient.hpp>
#include <coir/autodiff/traced.hpp>
#include <coir/autodiff/traced_moves.hpp>
#include <coir/core/memory.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace coir {

/// What the gradient of a loop takes.
struct CheckpointPlan {
  std::int64_t steps = 0;
  std::int64_t states = 0;  ///< states that are kept at once, beside the current one and the first
  std::int64_t bytes = 0;   ///< of all these states and of one step's statements, at most
  /// Steps that are computed beside those of the way forward. A step counts as often as it is
  /// computed.
  std::int64_t computed_again = 0;
};

/// Options of checkpointed().
struct CheckpointOptions {
  std::int64_t bytes = 0;                             ///< of memory; 0: half of what is free
  std::function<void(CheckpointPlan const&)> tell{};  ///< called before the second step, if given
};

namespace detail {

/// The largest number of steps for which `states` kept states beside the first one suffice, if no
/// step is advanced through more than `times` times. It is the binomial coefficient of
/// (states + 1 + times) over times.
inline std::int64_t reach_of(std::int64_t states, std::int64_t times) {
  if (times < 0) return 0;
  double reach = 1;
  for (std::int64_t k = 1; k <= times && reach < 1e15; ++k)
    reach *= static_cast<double>(states + 1 + k) / static_cast<double>(k);
  return static_cast<std::int64_t>(reach + 0.5);
}

/// The next state to be kept on the way through `steps` steps: the number of steps before it.
///
/// \see Griewank, Walther, Algorithm 799: revolve, ACM Trans. Math. Softw. 26 (2000), 19
inline std::int64_t next_checkpoint(std::int64_t steps, std::int64_t states) {
  std::int64_t times = 1;
  while (reach_of(states, times) < steps) ++times;
  return std::clamp<std::int64_t>(
      std::max(reach_of(states, times - 2), steps - reach_of(states - 1, times)), 1, steps - 1);
}

/// Visits the steps of a loop from the last one to the first. States are std::shared_ptr.
///
/// \param advance  (state, first, count): the state after these steps
/// \param visit    (state before the step, step)
template <class State, class Advance, class Visit>
void revolve(State const& state, std::int64_t first, std::int64_t steps, std::int64_t states,
             Advance const& advance, Visit const& visit) {
  /// A kept state, the steps behind it that are to be visited, and the states that may be kept yet.
  struct Kept {
    State state;
    std::int64_t first, steps, states;
  };
  std::vector<Kept> kept{{state, first, steps, states}};
  while (!kept.empty()) {
    Kept& last = kept.back();
    if (last.states > 0 && last.steps > 1) {
      std::int64_t const behind = next_checkpoint(last.steps, last.states);
      Kept next{advance(last.state, last.first, behind), last.first + behind, last.steps - behind,
                last.states - 1};
      last.steps = behind;
      kept.push_back(std::move(next));
    } else {
      for (std::int64_t step = last.steps; step-- > 0;)
        visit(step == 0 ? last.state : advance(last.state, last.first, step), last.first + step);
      kept.pop_back();
    }
  }
}

/// The number of steps that are computed on the way back, and one more: the step whose memory is
/// measured before the way forward.
inline std::int64_t computed_again(std::int64_t steps, std::int64_t states) {
  std::int64_t computed = 0, last = steps;
  for (auto left = states; left > 0 && last > 1; --left) last -= next_checkpoint(last, left);
  revolve(
      0, 0, steps, states,
      [&](int, std::int64_t, std::int64_t count) {
        computed += count;
        return 0;
      },
      [&](int, std::int64_t) { ++computed; });
  return computed - (steps - last) + 1;  // the way forward computes steps - last of them
}

}  // namespace detail

/// A loop that value_and_grad differentiates in little memory: see checkpointed().
template <class Body>
class Checkpointed {
 public:
  Checkpointed(std::int64_t steps, Body body, CheckpointOptions options)
      : steps_(steps), body_(std::move(body)), options_(std::move(options)) {
    expects(steps >= 0, "checkpointed takes 0 steps or more", steps);
    expects(options_.bytes >= 0, "a budget of memory is 0 bytes or more", options_.bytes);
  }

  /// The state after all steps.
  ///
  /// \param u     the first state
  /// \param more  further arguments of the body, the same ones in each step
  /// \throws PreconditionError if a step changes the state's shape
  /// \throws ResourceError if the budget is too small for one step
  template <Expression U, Expression... More>
  auto operator()(U const& u, More const&... more) const {
    if constexpr ((DualExpression<U> || ... || DualExpression<More>)) {
      return detail::stand_in<rank_of<U>>(u, more...);
    } else if constexpr (!detail::AnyDifferentiated<U, More...>) {
      // A first state that is constant has derivatives after a step whose other arguments do.
      using T = value_t<decltype(body_(detail::evaluated(u), more...))>;
      using State = std::conditional_t<is_dual<T>, T, value_t<U>>;
      auto state = detail::evaluated(detail::in_type<State>(u));
      for (std::int64_t step = 0; step < steps_; ++step) state = next(state, more...);
      return state;
    } else {
      return differentiated(detail::stored_operand(u), detail::stored_operand(more)...);
    }
  }

 private:
  template <class State, class... More>
  static void expects_shape(State const& before, State const& after) {
    if (after.shape() != before.shape())
      throw PreconditionError("a step of checkpointed keeps the state's shape, and one of shape " +
                              in_words(before.shape()) + " became one of shape " +
                              in_words(after.shape()));
  }

  template <class State, class... More>
  State next(State const& state, More const&... more) const {
    static_assert(!TracedExpression<decltype(body_(state, more...))>,
                  "arguments of value_and_grad that a step of checkpointed reads are given to it "
                  "beside the state: checkpointed(n, body)(u, k), body(u, k)");
    State after(body_(state, more...));
    expects_shape(state, after);
    return after;
  }

  /// A step on a tape of its own.
  template <class T, int Rank, class Space, class... More>
  struct OneStep {
    detail::Tape tape;
    std::tuple<Traced<T, Rank, Space>,
               Traced<std::remove_const_t<value_t<More>>, rank_of<More>, Space>...>
        arguments;
    Traced<T, Rank, Space> result;

    OneStep(Body const& body, Array<T, Rank, Space> const& state, More const&... more)
        : arguments(detail::traced_argument<T, Space>(tape, state),
                    detail::traced_argument<value_t<More>, Space>(tape, more)...),
          result(std::apply([&](auto const&... each) { return evaluate(body(each...)); },
                            arguments)) {}
  };

  /// The states that fit beside a step, and what they take.
  CheckpointPlan plan(std::int64_t step_bytes, std::int64_t state_bytes, std::int64_t free) const {
    std::int64_t const budget = options_.bytes > 0 ? options_.bytes : free / 2;
    std::int64_t const one = step_bytes + 2 * state_bytes;  // and the current state, and the first
    if (budget < one)
      throw ResourceError("checkpointed has a budget of " + std::to_string(budget) +
                          " bytes, and one step takes " + std::to_string(one) +
                          ": allow as many, or take smaller states");
    std::int64_t const fit = (budget - one) / std::max<std::int64_t>(state_bytes, 1);
    CheckpointPlan result{.steps = steps_, .states = std::min(fit, steps_ - 1)};
    result.bytes = one + result.states * state_bytes;
    result.computed_again = detail::computed_again(steps_, result.states);
    return result;
  }

  template <class First, class... More>
  auto differentiated(First const& u, More const&... more) const {
    using T = std::remove_const_t<value_t<First>>;
    constexpr int rank = rank_of<First>;
    using Space = typename First::space;
    using State = Array<T, rank, Space>;
    using Held = std::shared_ptr<State const>;
    auto const values = std::tuple(detail::values_of(more)...);
    auto const hold = [](State state) { return std::make_shared<State const>(std::move(state)); };
    Held const start = hold(State(detail::values_of(u)));
    detail::Tape& tape = detail::tape_of(u, more...);
    auto const advance = [body = *this, values, hold](Held state, std::int64_t,
                                                      std::int64_t count) {
      for (std::int64_t k = 0; k < count; ++k)
        state = hold(
            std::apply([&](auto const&... each) { return body.next(*state, each...); }, values));
      return state;
    };
    using Step = OneStep<T, rank, Space, std::remove_cvref_t<decltype(detail::values_of(more))>...>;
    auto const one_step = [body = body_, values](State const& state) {
      return std::apply(
          [&](auto const&... each) { return std::make_unique<Step>(body, state, each...); },
          values);
    };

    // States that the way back begins with, each after so many steps with so many states left.
    struct Checkpoint {
      Held state;
      std::int64_t first, states;
    };
    auto const kept = std::make_shared<std::vector<Checkpoint>>();
    auto& checkpoints = *kept;
    Held last = start;
    if (steps_ > 0) {
      CheckpointPlan const planned = [&] {
        auto const step = one_step(*start);
        expects_shape(*start, State(step->result));
        return plan(step->tape.bytes(), start->size() * static_cast<std::int64_t>(sizeof(T)),
                    free_bytes<Space>());
      }();
      if (options_.tell) options_.tell(planned);
      checkpoints.push_back({start, 0, planned.states});
      while (checkpoints.back().states > 0 && steps_ - checkpoints.back().first > 1) {
        auto const [state, first, states] = checkpoints.back();
        std::int64_t const count = detail::next_checkpoint(steps_ - first, states);
        checkpoints.push_back({advance(state, first, count), first + count, states - 1});
      }
      auto const& [state, first, states] = checkpoints.back();
      last = advance(state, first, steps_ - first);
    }

    return detail::taped(
        tape, State(*last),
        [u, arguments = std::tuple(more...), kept, steps = steps_, advance,
         one_step](Slice<T const, rank, Space> const& given) {
          State cotangent(given);
          auto const visit = [&](Held const& state, std::int64_t) {
            auto const step = one_step(*state);
            detail::add_cotangent(step->result, cotangent.as_operand());
            step->tape.pull_back();
            [&]<std::size_t... K>(std::index_sequence<K...>) {
              cotangent = std::get<0>(step->arguments).node()->take_cotangent(state->shape());
              (add(std::get<K>(arguments), std::get<K + 1>(step->arguments)), ...);
            }(std::index_sequence_for<More...>{});
          };
          std::int64_t end = steps;
          while (!kept->empty()) {
            auto const [state, first, states] = kept->back();
            kept->pop_back();
            detail::revolve(state, first, end - first, states, advance, visit);
            end = first;
          }
          if constexpr (detail::is_traced<First>) detail::add_cotangent(u, cotangent);
        });
  }

  /// What a step brings back to a further argument.
  template <class Argument, class OfStep>
  static void add(Argument const& argument, OfStep const& of_step) {
    if constexpr (detail::is_traced<Argument>)
      detail::add_cotangent(argument, of_step.node()->take_cotangent(of_step.shape()));
  }

  std::int64_t steps_;
  Body body_;
  CheckpointOptions options_;
};

/// The loop `for (k = 0; k < steps; ++k) u = body(u, more...)`, for functions that value_and_grad
/// differentiates: checkpointed(steps, body)(u, more...). Its memory doesn't grow with the steps.
/// As many states between steps are kept as the budget allows, by the binomial schedule. With s
/// kept states each step is computed r + 1 times at most. Here r is the least number for which
/// (s + 1 + r)! / ((s + 1)! r!) is `steps` or more.
///
/// \param body  a generic function that returns the next state, of the shape of the one before.
///   Arguments of value_and_grad that it needs are given to it beside the state: it must not
///   capture them
template <class Body>
Checkpointed<Body> checkpointed(std::int64_t steps, Body body, CheckpointOptions options = {}) {
  return {steps, std::move(body), std::move(options)};
}

}  // namespace coir
