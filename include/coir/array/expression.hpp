#pragma once

/// \file
/// Lazy expressions: what `a + b` is until it is assigned. A statement of them becomes one kernel.
///
/// An expression has value_type, rank, space, shape(), and two member templates:
/// - visit_leaves(visit) calls visit(leaf) for each array in it.
/// - kernel(fold) returns the form that kernels evaluate: a small trivially copyable object. On
///   hosts its `row` returns something to index for a stretch of a row. On devices its `cell`
///   returns a single value.

#include <coir/array/detail/compare.hpp>
#include <coir/array/element.hpp>
#include <coir/array/fold.hpp>
#include <coir/core/pack.hpp>
#include <coir/core/shape.hpp>

#include <limits>
#include <string>
#include <tuple>
#include <utility>

namespace coir {

/// Base class of all expressions.
struct ExpressionBase {};

/// An array, a slice, or something computed from them that has not been evaluated yet.
template <class E>
concept Expression = std::derived_from<std::remove_cvref_t<E>, ExpressionBase>;

/// A single number that may stand in an expression.
template <class S>
concept Scalar = Element<std::remove_cvref_t<S>>;

template <class E>
using value_t = typename std::remove_cvref_t<E>::value_type;

template <class E>
inline constexpr int rank_of = std::remove_cvref_t<E>::rank;

/// Expressions with `Rank` axes, with at least so many, and with at most so many. They are
/// concepts, so that overloads of autodiff, which ask for one more concept, are preferred.
template <class E, int Rank>
concept OfRank = rank_of<E> == Rank;
template <class E, int Rank>
concept OfRankAtLeast = rank_of<E> >= Rank;
template <class E, int Rank>
concept OfRankAtMost = rank_of<E> <= Rank;

/// The memory space of expressions without arrays, which combines with every other.
struct AnySpace {};

namespace detail {

template <class... Spaces>
struct CommonSpace;
template <class Space>
struct CommonSpace<Space> {
  using type = Space;
};
template <class A, class B, class... Rest>
  requires(std::same_as<A, B> || std::same_as<B, AnySpace>)
struct CommonSpace<A, B, Rest...> : CommonSpace<A, Rest...> {};
template <class A, class B, class... Rest>
  requires(std::same_as<A, AnySpace> && !std::same_as<B, AnySpace>)
struct CommonSpace<A, B, Rest...> : CommonSpace<B, Rest...> {};

}  // namespace detail

/// The one memory space of all these; not defined if two of them differ.
template <class... Spaces>
using common_space_t = typename detail::CommonSpace<Spaces...>::type;

/// Expressions in one memory space, so that one kernel can evaluate them.
template <class... E>
concept SameSpace =
    requires { typename common_space_t<typename std::remove_cvref_t<E>::space...>; };

/// An expression whose elements are all one number.
template <class T>
class Constant : public ExpressionBase {
 public:
  using value_type = T;
  using space = AnySpace;
  static constexpr int rank = 0;

  explicit Constant(T value) : value_(value) {}

  Shape<0> shape() const { return {}; }
  T value() const { return value_; }

  template <class Visit>
  void visit_leaves(Visit const&) const {}

  template <int Rank>
  detail::ConstantKernel<T> kernel(detail::Fold<Rank> const&) const {
    return {value_};
  }

 private:
  T value_;
};

/// An expression whose elements are f(a, b, ...) of the operands' elements.
template <class F, Expression... Operands>
  requires SameSpace<Operands...>
class Map : public ExpressionBase {
 public:
  using value_type =
      std::remove_cvref_t<std::invoke_result_t<F const&, typename Operands::value_type...>>;
  using space = common_space_t<typename Operands::space...>;
  static constexpr int rank = std::max({Operands::rank...});

  /// \throws PreconditionError if the shapes don't broadcast
  explicit Map(F f, Operands... operands)
      : f_(std::move(f)), shape_(common_shape(operands...)), operands_(std::move(operands)...) {}

  Shape<rank> const& shape() const { return shape_; }

  F const& function() const { return f_; }
  std::tuple<Operands...> const& operands() const { return operands_; }

  template <class Visit>
  void visit_leaves(Visit const& visit) const {
    std::apply([&](auto const&... operand) { (operand.visit_leaves(visit), ...); }, operands_);
  }

  template <int Rank>
  auto kernel(detail::Fold<Rank> const& fold) const {
    return std::apply(
        [&](auto const&... operand) {
          return detail::MapKernel<F, decltype(operand.kernel(fold))...>{
              f_, {{operand.kernel(fold)}...}};
        },
        operands_);
  }

 private:
  static Shape<rank> common_shape(Operands const&... operands) {
    Shape<rank> shape;
    shape.fill(1);
    ((shape = broadcast(shape, operands.shape())), ...);
    return shape;
  }

  F f_;
  Shape<rank> shape_;
  std::tuple<Operands...> operands_;
};

/// An expression whose elements are f(i, j, ...) of their own indices.
template <class F, int Rank>
class IndexMap : public ExpressionBase {
 public:
  using value_type = std::remove_cvref_t<decltype(detail::call_with_indices<Rank>(
      std::declval<F const&>(), std::declval<detail::Place<Rank - 1> const&>(), std::int64_t()))>;
  using space = AnySpace;
  static constexpr int rank = Rank;

  IndexMap(Shape<Rank> const& shape, F f) : shape_(shape), f_(std::move(f)) {}

  Shape<Rank> const& shape() const { return shape_; }

  template <class Visit>
  void visit_leaves(Visit const& visit) const {
    visit(*this);
  }

  template <int Target>
  auto kernel(detail::Fold<Target> const&) const {
    detail::IndexKernel<F, Rank, Target - 1> kernel{f_, {}};
    for (int d = 0; d < Rank; ++d) kernel.real[d] = shape_[d] != 1;
    return kernel;
  }

 private:
  Shape<Rank> shape_;
  F f_;
};

/// An operand as an expression holds it: an array as a slice that keeps its memory alive, an
/// expression by value.
template <Expression E>
auto operand(E&& expression) {
  if constexpr (requires { expression.as_operand(); })
    return std::forward<E>(expression).as_operand();
  else
    return std::remove_cvref_t<E>(std::forward<E>(expression));
}

namespace detail {

/// Whether T holds all integers of type S.
template <std::integral T, std::integral S>
inline constexpr bool holds_all =
    std::numeric_limits<T>::digits >= std::numeric_limits<S>::digits &&
    (std::is_signed_v<T> || !std::is_signed_v<S>);

template <class T>
[[noreturn]] void fail_to_hold(std::string const& number) {
  using Limits = std::numeric_limits<T>;
  throw PreconditionError("an array of " + std::string(std::is_signed_v<T> ? "int" : "uint") +
                          std::to_string(8 * sizeof(T)) + " takes numbers from " +
                          std::to_string(Limits::min()) + " to " + std::to_string(Limits::max()) +
                          ", not " + number + ": cast the array to a larger type");
}

/// A number as the type T of an array that it is combined with or written into.
///
/// \throws PreconditionError if T is an integer type that doesn't hold it
template <class T, Scalar S>
T number_as(S const& number) {
  if constexpr (std::is_integral_v<T> && std::is_integral_v<S> && !std::is_same_v<T, bool>) {
    if constexpr (!holds_all<T, S>)
      if (exactly_less(number, std::numeric_limits<T>::min()) ||
          exactly_less(std::numeric_limits<T>::max(), number))
        fail_to_hold<T>(std::to_string(number));
  }
  return stored<T>(number);
}

}  // namespace detail

/// A single number as an expression, of the type that it takes beside elements of type `Beside`.
///
/// \throws PreconditionError if it is an integer that the type doesn't hold
template <class Beside, Scalar S>
auto operand_beside(S const& number) {
  using T = weak_t<Beside, S>;
  return Constant<T>(detail::number_as<T>(number));
}

namespace detail {

/// An operand of map: a number as an expression of its own type.
template <class E>
auto map_operand(E&& e) {
  if constexpr (Expression<E>)
    return operand(std::forward<E>(e));
  else
    return Constant<std::remove_cvref_t<E>>(e);
}

template <class E>
using map_operand_t = decltype(map_operand(std::declval<E>()));

}  // namespace detail

/// f(a[i], b[i], ...) for all i, with broadcasting, as an expression: CuPy's ElementwiseKernel,
/// Numba's vectorize. Operands are arrays, expressions and numbers; f gets numbers in their own
/// type. f is a callable that kernels can use (KOKKOS_LAMBDA, or a struct with KOKKOS_FUNCTION).
///
/// \throws PreconditionError if the shapes don't broadcast
template <class F, class... E>
  requires((Expression<E> || Scalar<E>) && ...) &&
          (Expression<E> || ...) && SameSpace<detail::map_operand_t<E>...>
auto map(F f, E&&... operands) {
  return Map<F, detail::map_operand_t<E>...>(std::move(f),
                                             detail::map_operand(std::forward<E>(operands))...);
}

}  // namespace coir
