#pragma once

/// Values and gradients of programs of arrays in memory that is there, so that record() can record
/// them.

#include <coir/array/array.hpp>
#include <coir/autodiff/array_grad.hpp>
#include <coir/autodiff/detail/program_gradient.hpp>
#include <coir/core/instance.hpp>

#include <concepts>
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace coir {

namespace detail {

/// While record() records, has each run look whether an array still is in the same memory.
template <class T, int Rank, class Space>
void expects_to_stay(Array<T, Rank, Space> const& x, std::string const& what) {
  auto const* const state = instance_state<typename Space::execution_space>;
  if (!state || !state->recorded) return;
  if (x.size() > 0 && x.data() == nullptr)
    throw PreconditionError(what +
                            " of a recorded program has no memory yet: make it by zeros<T>()");
  auto const& blocks = state->recorded->blocks;
  if (!blocks || blocks->holds(x.data())) return;
  state->recorded->checks.push_back([&x, data = x.data(), what] {
    if (x.data() != data)
      throw PreconditionError(
          what +
          " of a recorded program has other memory than when it was recorded: keep its "
          "shape, assign elements to it, or record again");
  });
}
template <class X>
void expects_to_stay(X const&, std::string const&) {}

template <class... G, class... X, std::size_t... K>
void lend_gradients(std::tuple<G&...> const& gradients, std::tuple<X...> const& arguments,
                    std::index_sequence<K...>) {
  auto const lend = [](auto& gradient, auto const& argument, std::size_t k) {
    if (gradient.shape() != argument.shape())
      throw PreconditionError("the gradient along argument " + std::to_string(k) +
                              " has the shape " + in_words(argument.shape()) + ", and its array " +
                              in_words(gradient.shape()));
    if constexpr (requires { gradient.contiguous(); })
      expects(gradient.contiguous(),
              "a gradient is written to an array, or to a slice whose elements lie side by side");
    argument.node()->lend(gradient.data());
  };
  (lend(std::get<K>(gradients), std::get<K>(arguments), K), ...);
  (expects_to_stay(std::get<K>(gradients), "the gradient along argument " + std::to_string(K)),
   ...);
}

}  // namespace detail

/// What value_and_grad_into() returns.
template <class F>
class ValueAndGradInto {
 public:
  explicit ValueAndGradInto(F f) : f_(std::move(f)) {}

  /// \param value      f's value
  /// \param gradients  an array of each argument's shape and type: one, or std::tie(a, b, ...) for
  ///   several arguments. They overlap no argument
  template <class V, class Space, class Gradients, class... X>
  void operator()(Array<V, 0, Space>& value, Gradients&& gradients, X const&... x) const {
    auto const all = [&] {
      if constexpr (Expression<Gradients>)
        return std::tie(gradients);
      else
        return gradients;
    }();
    static_assert(
        std::tuple_size_v<std::remove_const_t<decltype(all)>> == sizeof...(X),
        "value_and_grad_into takes an array for the gradient along each argument: one, or "
        "std::tie(a, b, ...)");
    detail::Tape tape;
    std::tuple const arguments(detail::traced_argument<value_t<X>, Space>(tape, x)...);
    detail::lend_gradients(all, arguments, std::index_sequence_for<X...>{});
    (detail::expects_to_stay(x, "an argument"), ...);
    detail::expects_to_stay(value, "the value");
    detail::differentiate<Space>(tape, f_, arguments, [&](auto const& result) { value = result; });
    std::apply(
        [](auto const&... argument) {
          (static_cast<void>(argument.node()->take_cotangent(argument.shape())), ...);
        },
        arguments);
  }

 private:
  F f_;
};

/// value_and_grad(f) that writes into arrays: value_and_grad_into(f)(value, gradient, x, ...). The
/// host doesn't wait, so that record() can record it together with what uses the gradient:
///
///     auto const step = record([&] {
///       value_and_grad_into(loss)(value, slope, weights);
///       weights -= 0.1F * slope;
///     });
///     step.run(1000);
///
/// All statements of f go by the tape, which is built once. Each run makes the same launches in the
/// same memory: on CUDA as one graph, on hosts without new arrays. Reductions to numbers are
/// recorded, too; what else of f makes the host wait isn't.
///
/// \param f  as for value_and_grad. It returns a real number
/// \throws PreconditionError if a gradient's shape isn't that of its argument; by a later run(), if
///   one of the arrays was given other memory after it was recorded
template <class F>
ValueAndGradInto<F> value_and_grad_into(F f) {
  return ValueAndGradInto<F>(std::move(f));
}

/// What value_into() returns.
template <class F>
class ValueInto {
 public:
  explicit ValueInto(F f) : f_(std::move(f)) {}

  /// \param value  f's value
  template <class V, class Space, class... X>
  void operator()(Array<V, 0, Space>& value, X const&... x) const {
    detail::Tape tape(false);
    std::tuple const arguments(detail::traced_argument<value_t<X>, Space>(tape, x)...);
    (detail::expects_to_stay(x, "an argument"), ...);
    detail::expects_to_stay(value, "the value");
    value = detail::traced_value(f_, arguments).values();
  }

 private:
  F f_;
};

/// The value alone of what value_and_grad_into() takes, by the same statements: for a loss that
/// record() records without its gradient, value_into(f)(value, x, ...).
///
/// \param f  as for value_and_grad. It returns a real number
/// \throws PreconditionError by a later run(), if one of the arrays was given other memory after it
///   was recorded
template <class F>
ValueInto<F> value_into(F f) {
  return ValueInto<F>(std::move(f));
}

}  // namespace coir
