#pragma once

/// \file
/// Arrays that remember how they were made. They take the place of arguments in a function that
/// value_and_grad differentiates statement by statement.

#include <coir/array/array.hpp>
#include <coir/array/operators.hpp>
#include <coir/autodiff/detail/pull_back.hpp>
#include <coir/autodiff/detail/rolled.hpp>
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
/// A whole array may be seen rolled: expressions then read its elements where they are, shifted
/// periodically. What isn't an expression stores them first.
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
  Slice<T const, Rank, Space> values() const {
    if (is_rolled_) return Array<T, Rank, Space>(*this).as_operand();
    return unrolled();
  }
  /// The elements in memory, in the order that they have there if they are seen rolled.
  Slice<T const, Rank, Space> unrolled() const { return {data_, shape_, strides_, owner_}; }

  std::shared_ptr<Node> const& node() const { return node_; }

  /// unrolled() without a hold on the memory, and so without a reference count, which would take
  /// time in statements on small arrays.
  Slice<T const, Rank, Space> without_owner() const { return {data_, shape_, strides_, nullptr}; }

  bool is_rolled() const { return is_rolled_; }
  /// By how much each axis is seen shifted.
  Shape<Rank> const& shift() const { return shift_; }

  /// The whole array with each axis shifted periodically: by shift[d], for which
  /// 0 <= shift[d] < max(1, extent).
  Traced rolled(Shape<Rank> const& shift) const {
    Traced result = *this;
    for (int d = 0; d < Rank; ++d) {
      std::int64_t const sum = shift_[d] + shift[d];
      result.shift_[d] = sum < shape_[d] ? sum : sum - shape_[d];
      result.is_rolled_ = result.is_rolled_ || shift[d] != 0;
    }
    return result;
  }
  /// The opposite shift.
  Shape<Rank> shift_back() const {
    Shape<Rank> back{};
    for (int d = 0; d < Rank; ++d) back[d] = shift_[d] == 0 ? 0 : shape_[d] - shift_[d];
    return back;
  }

  /// The same elements stored in the order in which they are seen: a statement, if they are rolled.
  Traced stored() const {
    if (!is_rolled_) return *this;
    return detail::taped(node_->tape(), Array<T, Rank, Space>(*this),
                         [x = unrolled(), back = shift_back(),
                          node = node_](Slice<T const, Rank, Space> const& cotangent) {
                           Traced const whole(x, node);
                           detail::add_cotangent(
                               whole, Array<T, Rank, Space>(Traced(cotangent, node).rolled(back)));
                         });
  }

  /// The same without a hold on the memory: what derivatives of linear functions need of it.
  Traced without_memory() const {
    Traced result = *this;
    result.owner_ = nullptr;
    return result;
  }

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
    Traced const x = stored();
    if constexpr (detail::indexed_rank<Rank, I...> == 0) {
      auto const one = x.unrolled()(indices..., newaxis);
      return x.seen_as(Slice<T const, 0, Space>(one.data(), {}, {}, one.owner()));
    } else {
      return x.seen_as(x.unrolled()(indices...));
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
    visit(without_owner());
    if (is_rolled_) visit(detail::KeepsShiftedApart<Rank>(data_, shape_, shift_));
  }
  template <int Target>
  auto kernel(detail::Fold<Target> const& fold) const {
    detail::RolledKernel<T const, Target - 1> kernel{without_owner().kernel(fold)};
    if constexpr (Rank > 0) {
      if (is_rolled_) {
        kernel.is_rolled = true;
        Shape<Target> shape{};
        for (int d = 0; d < Target; ++d)
          shape[d] = d < Target - Rank ? 1 : shape_[d - Target + Rank];
        detail::visit_joined(fold, shape, [&](int position, int axis, std::int64_t inner) {
          kernel.extent[position] = fold.extents()[position];
          int const own = axis - (Target - Rank);
          if (own >= 0) kernel.shift[position] += shift_[own] * inner;
        });
      }
    }
    return kernel;
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
  bool is_rolled_ = false;
  Shape<Rank> shift_{};
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
      tape, values.data(), values.shape(),
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
    return expression.stored();
  } else {
    using T = value_t<E>;
    constexpr int rank = rank_of<E>;
    return detail::taped(detail::tape_of(expression), Array<T, rank, Space>(expression),
                         [expression = detail::needed_back(expression)](
                             Slice<T const, rank, Space> const& cotangent) {
                           detail::pull_back_statement(expression, cotangent);
                         });
  }
}
template <DualOperand E>
auto evaluate(E const& expression) {
  return detail::stand_in<rank_of<E>>(expression);
}

}  // namespace coir
