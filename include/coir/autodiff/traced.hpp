#pragma once

/// \file
/// Arrays that remember how they were made. They take the place of arguments in a function that
/// value_and_grad differentiates statement by statement.

#include <coir/array/array.hpp>
#include <coir/array/operators.hpp>
#include <coir/autodiff/detail/pull_back.hpp>
#include <coir/autodiff/detail/stand_in.hpp>
#include <coir/autodiff/detail/tape.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace coir {

namespace detail {
template <class T, int Rank, class Space, class Pull>
Traced<T, Rank, Space> taped(Tape& tape, Array<T, Rank, Space> const& values, Pull pull);
}  // namespace detail

/// An array, or part of one, whose elements depend on the arguments of value_and_grad.
///
/// Expressions of Traced arrays are evaluated in one kernel, like those of arrays, when they are
/// assigned to a Traced, or given to evaluate(), a reduction or a function that isn't elementwise.
/// The tape keeps the expression. On the way back it is computed again with its derivatives.
///
/// Elements can't be written: an assignment replaces the whole array. Valid while the function
/// runs.
template <class T, int Rank, class Space = DefaultSpace>
class Traced : public ExpressionBase {
 public:
  using value_type = T;
  using space = Space;
  using Node = detail::TapeNode<T, Space>;
  static constexpr int rank = Rank;

  Traced(Slice<T const, Rank, Space> const& values, std::shared_ptr<Node> node)
      : data_(values.data()),
        shape_(values.shape()),
        strides_(values.strides()),
        owner_(values.owner()),
        node_(std::move(node)) {}

  Shape<Rank> const& shape() const { return shape_; }
  std::int64_t extent(int axis) const { return shape_[axis]; }
  std::int64_t size() const { return size_of(shape_); }

  /// The elements as constants.
  Slice<T const, Rank, Space> values() const { return {data_, shape_, strides_, owner_}; }

  std::shared_ptr<Node> const& node() const { return node_; }

  /// The same elements, or part of them, with other axes.
  template <int Other>
  Traced<T, Other, Space> seen_as(Slice<T const, Other, Space> const& part) const {
    return {part, node_};
  }

  /// A slice or an element, as of arrays. An element is an array of rank 0.
  ///
  /// \throws PreconditionError if an index or bound is outside of its axis
  template <Index... I>
    requires(detail::axes_indexed<I...> <= Rank) && (sizeof...(I) > 0)
  auto operator()(I... indices) const {
    if constexpr (detail::indexed_rank<Rank, I...> == 0) {
      auto const one = values()(indices..., newaxis);
      return seen_as(Slice<T const, 0, Space>(one.data(), {}, {}, one.owner()));
    } else {
      return seen_as(values()(indices...));
    }
  }

  /// Takes the values of an expression of arguments, which may contain this array, or of constants.
  /// Values of another precision are rounded.
  template <Expression E>
  Traced& operator=(E const& values) & {
    static_assert(rank_of<E> == Rank,
                  "what depends on arguments of value_and_grad keeps its number of axes when it is "
                  "assigned to: use broadcast_to, or another name for the new values");
    if constexpr (rank_of<E> == Rank) {
      if constexpr (!detail::holds_traced<E>) {
        *this = constants(Array<T, Rank, Space>(values));
      } else if constexpr (std::same_as<value_t<E>, T>) {
        Traced next = evaluate(values);
        *this = std::move(next);
      } else {
        Traced next = evaluate(cast<T>(values));
        *this = std::move(next);
      }
    }
    return *this;
  }
  template <class Number>
    requires std::is_arithmetic_v<Number>
  Traced& operator=(Number number) & {
    Array<T, Rank, Space> values(shape_);
    values = static_cast<T>(number);
    return *this = constants(values);
  }

// Parts can't be written. StandIn says so in one line; without && the compiler would say more.
#define COIR_TRACED_ASSIGNMENT(symbol, compound) \
  template <class B>                             \
  Traced& operator compound(B const& value)& {   \
    return *this = *this symbol value;           \
  }                                              \
  template <class B>                             \
  void operator compound(B const&)&& {}
  COIR_TRACED_ASSIGNMENT(+, +=)
  COIR_TRACED_ASSIGNMENT(-, -=)
  COIR_TRACED_ASSIGNMENT(*, *=)
  COIR_TRACED_ASSIGNMENT(/, /=)
#undef COIR_TRACED_ASSIGNMENT
  template <class B>
  void operator=(B const&) && {}
  Traced(Traced const&) = default;
  Traced(Traced&&) = default;
  Traced& operator=(Traced const&) & = default;
  Traced& operator=(Traced&&) & = default;

  template <class Visit>
  void visit_leaves(Visit const& visit) const {
    values().visit_leaves(visit);
  }
  template <int Target>
  auto kernel(detail::Fold<Target> const& fold) const {
    return values().kernel(fold);
  }

 private:
  /// Values that don't depend on arguments.
  Traced constants(Array<T, Rank, Space> const& values) const {
    return detail::taped(node_->tape(), values, [](Slice<T const, Rank, Space> const&) {});
  }

  T const* data_;
  Shape<Rank> shape_;
  Strides<Rank> strides_;
  std::shared_ptr<void> owner_;  // of the memory
  std::shared_ptr<Node> node_;
};

namespace detail {

/// Puts a statement on the tape.
///
/// \param values  its result
/// \param pull    called with the cotangent of the result, a Slice of constants of its shape
template <class T, int Rank, class Space, class Pull>
Traced<T, Rank, Space> taped(Tape& tape, Array<T, Rank, Space> const& values, Pull pull) {
  auto const shape = values.shape();
  auto node = std::make_shared<TapeNode<T, Space>>(
      tape, values.data(), values.size(),
      [shape, pull = std::move(pull)](Array<T, 1, Space> const& cotangent) {
        pull(Slice<T const, Rank, Space>(cotangent.data(), shape, c_strides(shape),
                                         cotangent.all().owner()));
      });
  tape.add(node);
  return {values.all(), std::move(node)};
}

}  // namespace detail

/// The values of an expression of arguments, computed and stored: a statement. Without evaluate(),
/// `auto h = tanh(x)` is computed again wherever h stands.
template <TracedExpression E>
auto evaluate(E const& expression) {
  using Space = typename E::space;
  if constexpr (detail::is_traced<E>) {
    return expression;
  } else {
    using T = value_t<E>;
    constexpr int rank = rank_of<E>;
    return detail::taped(detail::tape_of(expression), Array<T, rank, Space>(expression),
                         [expression](Slice<T const, rank, Space> const& cotangent) {
                           detail::pull_back_statement(expression, cotangent);
                         });
  }
}
template <DualOperand E>
auto evaluate(E const& expression) {
  return detail::stand_in<rank_of<E>>(expression);
}

}  // namespace coir
