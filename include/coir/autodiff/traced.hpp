#pragma once

/// \file
/// Arrays that remember how they were made. They take the place of arguments in a function that
/// value_and_grad differentiates statement by statement.

#include <coir/array/array.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/roll.hpp>
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

/// What a Traced shows: its first element, and the memory that the element lies in.
template <class T, class Space>
struct TapedMemory {
  T const* data;
  std::shared_ptr<void> owner;
  std::shared_ptr<TapeNode<T, Space>> node;
};

// In traced_writes.hpp.
template <class T, int Rank, class Space>
void write_part(TapedMemory<T, Space>& whole, Slice<T const, Rank, Space> const& part,
                Traced<T, Rank, Space> const& values);
template <class T, int Rank, class Space, class B>
Traced<T, Rank, Space> values_for_part(Traced<T, Rank, Space> const& part, B const& values);
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
/// An assignment gives a name new values: what was made of the array before keeps the old ones.
/// Valid while the function runs.
template <class T, int Rank, class Space = DefaultSpace>
class Traced : public ExpressionBase {
 public:
  using value_type = T;
  using space = Space;
  using Node = detail::TapeNode<T, Space>;
  static constexpr int rank = Rank;

  Traced(Slice<T const, Rank, Space> const& values, std::shared_ptr<Node> node)
      : memory_{values.data(), values.owner(), std::move(node)},
        shape_(values.shape()),
        strides_(values.strides()) {}

  Shape<Rank> const& shape() const { return shape_; }
  std::int64_t extent(int axis) const { return shape_[axis]; }
  std::int64_t size() const { return size_of(shape_); }

  /// The elements as constants.
  Slice<T const, Rank, Space> values() const {
    if constexpr (Rank > 0)
      if (is_rolled_) return Array<T, Rank, Space>(*this).as_operand();
    return unrolled();
  }
  /// The elements in memory, in the order that they have there if they are seen rolled.
  Slice<T const, Rank, Space> unrolled() const {
    return {memory_.data, shape_, strides_, memory_.owner};
  }

  std::shared_ptr<Node> const& node() const { return memory_.node; }

  /// unrolled() without a hold on the memory, and so without a reference count, which would take
  /// time in statements on small arrays.
  Slice<T const, Rank, Space> without_owner() const {
    return {memory_.data, shape_, strides_, nullptr};
  }

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
    return detail::taped(memory_.node->tape(), Array<T, Rank, Space>(*this),
                         [x = unrolled(), back = shift_back(),
                          node = memory_.node](Slice<T const, Rank, Space> const& cotangent) {
                           Traced const whole(x, node);
                           detail::add_cotangent(
                               whole, Array<T, Rank, Space>(Traced(cotangent, node).rolled(back)));
                         });
  }

  /// The same without a hold on the memory: what derivatives of linear functions need of it.
  Traced without_memory() const {
    Traced result = *this;
    result.memory_.owner = nullptr;
    return result;
  }

  /// The same elements, or part of them, with other axes.
  template <int Other>
  Traced<T, Other, Space> seen_as(Slice<T const, Other, Space> const& part) const {
    return {part, node()};
  }

  /// A slice or an element, as of arrays. An element is an array of rank 0.
  ///
  /// \throws PreconditionError if an index or bound is outside of its axis
  template <Index... I>
    requires(detail::axes_indexed<I...> <= Rank) && (sizeof...(I) > 0)
  auto operator()(I... indices) const& {
    Traced const x = stored();
    if constexpr (detail::indexed_rank<Rank, I...> == 0) {
      auto const one = x.unrolled()(indices..., newaxis);
      return x.seen_as(Slice<T const, 0, Space>(one.data(), {}, {}, one.owner()));
    } else {
      return x.seen_as(x.unrolled()(indices...));
    }
  }

  /// The same of an array that has a name. It may be written: u(range(1, -1)) = values.
  template <Index... I>
    requires(detail::axes_indexed<I...> <= Rank) && (sizeof...(I) > 0)
  auto operator()(I... indices) & {
    if (is_rolled_) *this = stored();
    auto part = std::as_const(*this)(indices...);
    if (detail::not_repeated(shape_, strides_) == shape_) part.whole_ = &memory_;
    return part;
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

  /// Writes into the array that this is a part of.
  ///
  /// \throws PreconditionError if the values don't stretch to the part's shape
  template <class B>
  void operator=(B const& values) && {
    expects(whole_ != nullptr,
            "parts are written of arrays that aren't const and that broadcasting hasn't stretched: "
            "begin with auto u = evaluate(+x)");
    detail::write_part(*whole_, this->values(), detail::values_for_part(*this, values));
  }

#define COIR_TRACED_ASSIGNMENT(symbol, compound) \
  template <class B>                             \
  Traced& operator compound(B const& value)& {   \
    return *this = *this symbol value;           \
  }                                              \
  template <class B>                             \
  void operator compound(B const& value)&& {     \
    std::move(*this) = *this symbol value;       \
  }
  COIR_TRACED_ASSIGNMENT(+, +=)
  COIR_TRACED_ASSIGNMENT(-, -=)
  COIR_TRACED_ASSIGNMENT(*, *=)
  COIR_TRACED_ASSIGNMENT(/, /=)
#undef COIR_TRACED_ASSIGNMENT
  Traced(Traced const&) = default;
  Traced(Traced&&) = default;
  Traced& operator=(Traced const&) & = default;
  Traced& operator=(Traced&&) & = default;

  /// Values that don't depend on arguments.
  template <int Other>
  Traced<T, Other, Space> constants(Array<T, Other, Space> const& values) const {
    return detail::taped(node()->tape(), values, [](Slice<T const, Other, Space> const&) {});
  }

  template <class Visit>
  void visit_leaves(Visit const& visit) const {
    auto const slice = without_owner();
    visit(slice);
    if (is_rolled_) visit(detail::ReadElsewhere{slice});
  }
  template <int Target>
  auto kernel(detail::Fold<Target> const& fold) const {
    using Kernel = detail::RolledKernel<T const, Target - 1>;
    auto const slice = without_owner().kernel(fold);
    return is_rolled_ ? Kernel(slice, shift_, fold) : Kernel(slice);
  }

 private:
  template <class, int, class>
  friend class Traced;

  detail::TapedMemory<T, Space> memory_;
  Shape<Rank> shape_;
  Strides<Rank> strides_;
  bool is_rolled_ = false;
  Shape<Rank> shift_{};
  detail::TapedMemory<T, Space>* whole_ = nullptr;  // of the array that this is a part of
};

namespace detail {

/// Puts a statement on the tape.
///
/// \param values  its result
/// \param pull    called with the cotangent of the result, a Slice of constants of its shape
template <class T, int Rank, class Space, class Pull>
Traced<T, Rank, Space> taped(Tape& tape, Array<T, Rank, Space> const& values, Pull pull) {
  typename TapeNode<T, Space>::PullBack back;
  if (tape.goes_back())
    back = [shape = values.shape(), pull = std::move(pull)](Array<T, 1, Space> const& cotangent) {
      pull(Slice<T const, Rank, Space>(cotangent.data(), shape, c_strides(shape),
                                       cotangent.all().owner()));
    };
  auto node =
      std::make_shared<TapeNode<T, Space>>(tape, values.data(), values.shape(), std::move(back));
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
