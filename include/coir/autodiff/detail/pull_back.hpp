#pragma once

/// \file
/// The way back through one statement: from the cotangent of its result to the cotangents of the
/// arrays that it read.
///
/// For each of these arrays the expression is evaluated again with dual numbers, whose one
/// direction is that array. The derivative times the result's cotangent is added to the array's
/// cotangent. This is one kernel, which stores nothing else. If an array was stretched, the
/// products are stored and summed along the stretched axes.

#include <coir/array/array.hpp>
#include <coir/array/axis_reductions.hpp>
#include <coir/array/dual_elements.hpp>
#include <coir/array/operators.hpp>
#include <coir/autodiff/detail/dual_complex.hpp>
#include <coir/autodiff/detail/tape.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <vector>

namespace coir {

template <class T, int Rank, class Space>
class Traced;

namespace detail {

template <class E>
inline constexpr bool is_traced = false;
template <class T, int Rank, class Space>
inline constexpr bool is_traced<Traced<T, Rank, Space>> = true;

/// Whether an expression contains a Traced.
template <class E>
inline constexpr bool holds_traced = is_traced<E>;
template <class F, class... Operands>
inline constexpr bool holds_traced<Map<F, Operands...>> = (holds_traced<Operands> || ...);

}  // namespace detail

/// An expression of Traced arrays. Masks don't count, because their derivatives are 0.
template <class E>
concept TracedExpression =
    Expression<E> && detail::holds_traced<std::remove_cvref_t<E>> && !std::integral<value_t<E>>;

namespace detail {

/// Elements that an expression reads, of one node of the tape.
struct NodeView {
  void const* node;
  void const* first;
  std::array<std::int64_t, 5> shape;
  std::array<std::int64_t, 5> strides;

  bool operator==(NodeView const&) const = default;
};

template <class T, int Rank, class Space>
NodeView view_of_node(Traced<T, Rank, Space> const& x) {
  NodeView view{x.node().get(), x.values().data(), {}, {}};
  for (int d = 0; d < Rank; ++d) {
    view.shape[d] = x.shape()[d];
    view.strides[d] = x.values().strides()[d];
  }
  return view;
}

/// Makes a number a dual whose derivative is `seed`: 1 for the array that is differentiated along,
/// 0 for constants. A complex number has two directions: its real and its imaginary part.
template <class T>
struct Seeded {
  T seed;
  KOKKOS_FORCEINLINE_FUNCTION Dual<T, 1> operator()(T const& x) const {
    Dual<T, 1> result(x);
    result.derivative[0] = seed;
    return result;
  }
};
template <class T>
struct Seeded<Kokkos::complex<T>> {
  T seed;
  KOKKOS_FORCEINLINE_FUNCTION DualComplex<T, 2> operator()(Kokkos::complex<T> const& z) const {
    DualComplex<T, 2> result(z);
    result.re.derivative[0] = seed;
    result.im.derivative[1] = seed;
    return result;
  }
};

/// An expression as one of duals, whose directions are the elements, of type Along, that it reads
/// through one view.
template <class Along>
struct AlongView {
  NodeView view;

  template <class T, int Rank, class Space>
  auto operator()(Traced<T, Rank, Space> const& leaf) const {
    if constexpr (std::same_as<T, Along>)
      return map(Seeded<T>{view_of_node(leaf) == view ? real_t<T>(1) : real_t<T>(0)},
                 leaf.values());
    else
      return leaf.values();
  }
  template <class F, class... Operands>
    requires holds_traced<Map<F, Operands...>>
  auto operator()(Map<F, Operands...> const& e) const {
    return std::apply(
        [&](auto const&... operand) {
          // Its arguments are deduced: nvcc 13.0 garbles a decltype of (*this)(operand) here.
          return Map(for_duals(e.function()), (*this)(operand)...);
        },
        e.operands());
  }
  template <class E>
    requires(!holds_traced<E>)
  E operator()(E const& constant) const {
    return constant;
  }
};

/// Calls visit(leaf) for each Traced of an expression.
template <class Visit, class T, int Rank, class Space>
void visit_traced(Traced<T, Rank, Space> const& leaf, Visit const& visit) {
  visit(leaf);
}
template <class Visit, class E>
void visit_traced(E const& expression, Visit const& visit) {
  if constexpr (holds_traced<E>)
    std::apply([&](auto const&... operand) { (visit_traced(operand, visit), ...); },
               expression.operands());
}

/// The tape that an expression's arrays are on.
template <class E>
Tape& tape_of(E const& expression) {
  Tape* tape = nullptr;
  visit_traced(expression, [&](auto const& leaf) { tape = &leaf.node()->tape(); });
  return *tape;
}

/// A cotangent times the derivative of a result along direction k. The cotangent of a complex
/// number holds the derivatives along its real and its imaginary part.
template <class S, class T, int N>
KOKKOS_FORCEINLINE_FUNCTION S along_direction(S const& cotangent, Dual<T, N> const& result, int k) {
  return static_cast<S>(cotangent * result.derivative[k]);
}
template <class S, class T, int N>
KOKKOS_FORCEINLINE_FUNCTION S along_direction(Kokkos::complex<S> const& cotangent,
                                              DualComplex<T, N> const& result, int k) {
  return static_cast<S>(cotangent.real() * result.re.derivative[k] +
                        cotangent.imag() * result.im.derivative[k]);
}

/// The old value plus the derivative times the cotangent. An infinite slope isn't multiplied by 0.
struct AddProduct {
  bool fresh;  // there is no old value
  template <class T, class S, class D>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T const& old, S const& cotangent, D const& dual) const {
    T product(0);
    if constexpr (is_complex<T>)
      product = T(along_direction(cotangent, dual, 0), along_direction(cotangent, dual, 1));
    else
      product = static_cast<T>(along_direction(cotangent, dual, 0));
    T const finite = math::select(cotangent == S(0), T(0), product);
    return fresh ? finite : old + finite;
  }
};
struct AddUnlessFresh {
  bool fresh;
  template <class T, class S>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T const& old, S const& more) const {
    return fresh ? stored<T>(more) : old + stored<T>(more);
  }
};

/// Writes to a cotangent, or adds to it. A fresh cotangent's memory is uninitialised: `first` is
/// passed in place of the old value, so that one kernel serves both cases.
template <class F, class T, int Rank, class Space, class S, class... More>
void add_to(Slice<T, Rank, Space> const& target, bool fresh,
            Slice<S const, Rank, Space> const& first, More const&... more) {
  Slice<T const, Rank, Space> const old = target;
  if constexpr (std::same_as<T, S>) {
    target = map(F{fresh}, fresh ? first : old, first, more...);
  } else {
    if (fresh) target = T(0);
    target = map(F{false}, old, first, more...);
  }
}

/// The shape of the elements that a view shows, without the axes along which it repeats them.
template <std::size_t Rank>
std::array<std::int64_t, Rank> not_repeated(std::array<std::int64_t, Rank> shape,
                                            std::array<std::int64_t, Rank> const& strides) {
  for (std::size_t d = 0; d < Rank; ++d)
    if (strides[d] == 0) shape[d] = 1;
  return shape;
}

/// Sums along the axes along which `shape` has one element.
template <class T, int Rank, class Space>
Array<T, Rank, Space> summed_to(Shape<Rank> const& shape, Array<T, Rank, Space> values) {
  if constexpr (Rank > 0)
    for (int d = 0; d < Rank; ++d)
      if (shape[d] != values.shape()[d]) values = with_axis(sum(values, d), d);
  return values;
}

/// Adds to the cotangent of some elements of an array, which a view may repeat.
///
/// \param more  in the elements' shape
template <class T, int Rank, class Space, class S>
void add_cotangent(Traced<T, Rank, Space> const& x, Slice<S const, Rank, Space> const& more) {
  if (x.size() == 0) return;
  auto const strides = x.values().strides();
  auto const own = not_repeated(x.shape(), strides);
  bool const fresh = x.node()->prepare(size_of(own) == x.node()->size());
  auto const target = x.node()->cotangent_of(x.values().data(), own, strides);
  if (own == x.shape())
    add_to<AddUnlessFresh>(target, fresh, more);
  else
    add_to<AddUnlessFresh>(target, fresh, summed_to(own, Array<S, Rank, Space>(more)).as_operand());
}

/// Adds an expression, or an array that nothing else needs. If there is no cotangent yet, the
/// array's memory becomes the cotangent's.
template <class T, int Rank, class Space, Expression E>
void add_cotangent(Traced<T, Rank, Space> const& x, E const& more) {
  static_assert(rank_of<E> == Rank);
  if (x.size() == 0) return;
  bool const whole = x.size() == x.node()->size() && x.values().contiguous();
  if constexpr (std::same_as<E, Array<T, Rank, Space>>) {
    if (!whole || !x.node()->adopt(more)) add_cotangent(x, more.as_operand());
  } else if constexpr (std::same_as<value_t<E>, T>) {
    Array<T, Rank, Space> values(more);
    if (!whole || !x.node()->adopt(values)) add_cotangent(x, values.as_operand());
  } else {
    add_cotangent(x, Array<value_t<E>, Rank, Space>(more).as_operand());
  }
}

/// Adds to the cotangent of the elements that an expression reads through one of its arrays.
template <class E, class S, int Rank, class Space, class T, int LeafRank>
void pull_back_along(E const& expression, Slice<S const, Rank, Space> const& cotangent,
                     Traced<T, LeafRank, Space> const& leaf) {
  auto const duals = AlongView<T>{view_of_node(leaf)}(expression);
  if constexpr (carries_derivatives<value_t<decltype(duals)>>) {
    auto const& shape = expression.shape();
    auto const strides = stretched_strides<Rank>(leaf.values());
    Shape<Rank> const own = not_repeated(shape, strides);  // with axes before the leaf's first one
    auto& node = *leaf.node();
    bool const fresh = node.prepare(size_of(own) == node.size());
    auto const target = node.cotangent_of(leaf.values().data(), own, strides);
    if (own == shape) {
      add_to<AddProduct>(target, fresh, cotangent, duals);
    } else {
      using P = std::conditional_t<is_complex<T>, Kokkos::complex<real_t<S>>, real_t<S>>;
      Array<P, Rank, Space> products(shape);
      add_to<AddProduct>(products.all(), true, cotangent, duals);
      add_to<AddUnlessFresh>(target, fresh, summed_to(own, products).as_operand());
    }
  }
}

/// Adds to the cotangents of all arrays in an expression, given the cotangent of its values.
template <class E, class S, int Rank, class Space>
void pull_back_statement(E const& expression, Slice<S const, Rank, Space> const& cotangent) {
  static_assert(rank_of<E> == Rank);
  if (size_of(expression.shape()) == 0) return;
  std::vector<NodeView> done;
  visit_traced(expression, [&](auto const& leaf) {
    auto const view = view_of_node(leaf);
    if (std::find(done.begin(), done.end(), view) != done.end()) return;
    done.push_back(view);
    pull_back_along(expression, cotangent, leaf);
  });
}

}  // namespace detail

}  // namespace coir
