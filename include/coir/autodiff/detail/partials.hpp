#pragma once

/// \file
/// The partial derivatives of a statement along all that it reads. Values go forward through the
/// expression, and the cotangent comes back through it. Each operation knows its own derivatives
/// only. Hosts go back through the whole expression in one evaluation of each cell, devices to one
/// array of it at a time, by what that array's derivative needs.

#include <coir/array/array.hpp>
#include <coir/array/dual_elements.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/operators.hpp>
#include <coir/autodiff/detail/dual_complex.hpp>
#include <coir/autodiff/detail/linear.hpp>
#include <coir/core/dual.hpp>
#include <coir/core/pack.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace coir::detail {

/// How many real arrays of type T in an expression have a derivative. A mask has none.
template <class T, class E>
inline constexpr int partials_of = 0;
template <class T, int Rank, class Space>
inline constexpr int partials_of<T, Traced<T, Rank, Space>> = 1;
template <class T, class F, class... Operands>
inline constexpr int partials_of<T, Map<F, Operands...>> =
    std::floating_point<value_t<Map<F, Operands...>>> ? (partials_of<T, Operands> + ... + 0) : 0;

/// Whether all that depends on these arrays in an expression is of type T, too.
template <class T, class E>
inline constexpr bool stays_real = true;
template <class T, class F, class... Operands>
inline constexpr bool stays_real<T, Map<F, Operands...>> =
    partials_of<T, Map<F, Operands...>> == 0 ||
    (std::same_as<value_t<Map<F, Operands...>>, T> && (stays_real<T, Operands> && ...));

/// Whether the cotangent, of type S, comes back through an expression by the nodes below.
template <class T, class S, class E>
inline constexpr bool has_partials =
    std::floating_point<T> && std::same_as<S, T> && std::same_as<value_t<E>, T> && stays_real<T, E>;

/// Calls visit(array) for each array that partials_of counts, in order.
template <class T, class E, class Visit>
void visit_partials(E const& expression, Visit const& visit) {
  if constexpr (is_traced<E>)
    visit(expression);
  else if constexpr (partials_of<T, E> > 0)
    std::apply(
        [&](auto const&... operand) {
          (
              [&] {
                using Operand = std::remove_cvref_t<decltype(operand)>;
                if constexpr (partials_of<T, Operand> > 0) visit_partials<T>(operand, visit);
              }(),
              ...);
        },
        expression.operands());
}

// ---- derivatives of one operation ----

/// The value of f(x, ...), and what a cotangent of it brings to operand I: by duals.
///
/// \tparam Active  which operands have derivatives
template <class T, class F, bool... Active>
struct LocalSlopes {
  static constexpr int count = (int(Active) + ... + 0);
  static constexpr std::array<bool, sizeof...(Active)> active{Active...};
  T value;
  T slope[count];

  template <class... X>
  KOKKOS_FORCEINLINE_FUNCTION LocalSlopes(F const& f, X const&... x)
      : LocalSlopes(f, std::index_sequence_for<X...>{}, x...) {}

  template <std::size_t I>
  KOKKOS_FORCEINLINE_FUNCTION T to(T cotangent) const {
    constexpr int at = position(I);
    return cotangent * slope[at];
  }

 private:
  static constexpr int position(std::size_t operand) {
    int before = 0;
    for (std::size_t i = 0; i < operand; ++i) before += active[i] ? 1 : 0;
    return before;
  }
  template <std::size_t I, class X>
  KOKKOS_FORCEINLINE_FUNCTION static auto variable(X const& x) {
    if constexpr (active[I]) {
      constexpr int at = position(I);
      return Dual<T, count>::variable(x, at);
    } else {
      return x;
    }
  }
  template <std::size_t... I, class... X>
  KOKKOS_FORCEINLINE_FUNCTION LocalSlopes(F const& f, std::index_sequence<I...>, X const&... x) {
    auto const dual = for_duals(f)(variable<I>(x)...);
    value = dual.value;
    for (int k = 0; k < count; ++k) slope[k] = dual.derivative[k];
  }
};

// Operations of which duals would compute more than needed.
template <class T, bool A, bool B>
struct LocalSlopes<T, Add, A, B> {
  T value;
  template <class X, class Y>
  KOKKOS_FORCEINLINE_FUNCTION LocalSlopes(Add const& f, X const& x, Y const& y) : value(f(x, y)) {}
  template <std::size_t>
  KOKKOS_FORCEINLINE_FUNCTION T to(T cotangent) const {
    return cotangent;
  }
};
template <class T, bool A, bool B>
struct LocalSlopes<T, Subtract, A, B> {
  T value;
  template <class X, class Y>
  KOKKOS_FORCEINLINE_FUNCTION LocalSlopes(Subtract const& f, X const& x, Y const& y)
      : value(f(x, y)) {}
  template <std::size_t I>
  KOKKOS_FORCEINLINE_FUNCTION T to(T cotangent) const {
    return I == 0 ? cotangent : -cotangent;
  }
};
template <class T, bool A, bool B>
struct LocalSlopes<T, Multiply, A, B> {
  T value, x, y;
  template <class X, class Y>
  KOKKOS_FORCEINLINE_FUNCTION LocalSlopes(Multiply const& f, X const& a, Y const& b)
      : value(f(a, b)), x(static_cast<T>(a)), y(static_cast<T>(b)) {}
  template <std::size_t I>
  KOKKOS_FORCEINLINE_FUNCTION T to(T cotangent) const {
    return cotangent * (I == 0 ? y : x);
  }
};
template <class T, bool A, bool B>
struct LocalSlopes<T, Divide, A, B> {
  T value, y;
  template <class X, class Y>
  KOKKOS_FORCEINLINE_FUNCTION LocalSlopes(Divide const& f, X const& a, Y const& b)
      : value(f(a, b)), y(static_cast<T>(b)) {}
  template <std::size_t I>
  KOKKOS_FORCEINLINE_FUNCTION T to(T cotangent) const {
    return I == 0 ? cotangent / y : -(cotangent / y) * value;
  }
};
template <class T, bool A>
struct LocalSlopes<T, Square, A> {
  T value, twice;
  KOKKOS_FORCEINLINE_FUNCTION LocalSlopes(Square const& f, T x) : value(f(x)), twice(x + x) {}
  template <std::size_t>
  KOKKOS_FORCEINLINE_FUNCTION T to(T cotangent) const {
    return cotangent * twice;
  }
};
template <class T, bool M, bool A, bool B>
struct LocalSlopes<T, Where, M, A, B> {
  T value;
  bool mask;
  template <class X, class Y>
  KOKKOS_FORCEINLINE_FUNCTION LocalSlopes(Where const& f, bool m, X const& x, Y const& y)
      : value(f(m, x, y)), mask(m) {}
  template <std::size_t I>
  KOKKOS_FORCEINLINE_FUNCTION T to(T cotangent) const {
    return I == 1 ? math::select(mask, cotangent, T(0)) : math::select(mask, T(0), cotangent);
  }
};

/// Operations whose derivatives are finite for finite operands. Behind all others a cotangent of 0
/// isn't multiplied: the side of a `where` that isn't chosen may have an infinite derivative.
template <class F>
inline constexpr bool is_polynomial =
    std::same_as<F, Add> || std::same_as<F, Subtract> || std::same_as<F, Multiply> ||
    std::same_as<F, Square> || std::same_as<F, Negate> || std::same_as<F, Plus>;

// ---- an expression's nodes, for a stretch of a row ----

/// What has no derivative.
template <class T, class Row>
struct ConstantNode {
  static constexpr int partials = 0;
  Row row;
  auto value(std::int64_t c) const { return row[c]; }
};

/// An array; its number among those that partials_of counts.
template <class T, int Number, class Row>
struct ArrayNode {
  static constexpr int partials = 1;
  Row row;
  T value(std::int64_t c) const { return row[c]; }
  template <bool Guarded>
  void back(std::int64_t, T cotangent, T* brings) const {
    brings[Number] = cotangent;
  }
};

/// An operation. Values are asked for again on the way back: compilers compute them once, and
/// vectorise loops in which no objects are copied.
template <class T, class F, class... Nodes>
struct MapNode {
  static constexpr int partials = (Nodes::partials + ...);
  F f;
  Pack<Nodes...> nodes;

  T value(std::int64_t c) const {
    return nodes.apply_on_host([&](auto const&... node) { return f(node.value(c)...); });
  }
  /// \tparam Guarded  whether a cotangent of 0 stays 0
  template <bool Guarded>
  void back(std::int64_t c, T cotangent, T* brings) const {
    nodes.apply_on_host([&](auto const&... node) {
      LocalSlopes<T, F, (Nodes::partials > 0)...> const local(f, node.value(c)...);
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (back_to < I, Guarded || !is_polynomial < F >> (local, node, c, cotangent, brings), ...);
      }(std::index_sequence_for<Nodes...>{});
    });
  }

 private:
  template <std::size_t I, bool Guarded, class Local, class Node>
  static void back_to(Local const& local, Node const& node, std::int64_t c, T cotangent,
                      T* brings) {
    if constexpr (Node::partials > 0) {
      T product = local.template to<I>(cotangent);
      if constexpr (Guarded && !std::same_as<F, Where>)
        product = math::select(cotangent == T(0), T(0), product);
      node.template back<Guarded>(c, product, brings);
    }
  }
};

// ---- what rows of nodes are made of ----
//
// Devices ask for single cells: value(), and bring<K>(), what a cotangent brings to array K. The
// arrays of a node have the numbers from `first` on, as many as `partials`.

/// Whether array K is one of a node's.
template <class Nodes, int K>
inline constexpr bool holds_array = K >= Nodes::first && K < Nodes::first + Nodes::partials;

template <class T, class Kernel>
struct ConstantNodes {
  static constexpr std::size_t scratch_bytes = Kernel::scratch_bytes;
  static constexpr int first = 0, partials = 0;
  Kernel kernel;
  template <class P, class I>
  KOKKOS_FORCEINLINE_FUNCTION auto value(P const& at, I column) const {
    return kernel.cell(at, column);
  }
  template <class P, class S>
  auto row(P const& at, std::int64_t first, std::int64_t count, S& scratch) const {
    auto const row = kernel.row(at, first, count, scratch);
    return ConstantNode<T, std::remove_const_t<decltype(row)>>{row};
  }
};
template <class T, int Number, class Kernel>
struct ArrayNodes {
  static constexpr std::size_t scratch_bytes = Kernel::scratch_bytes;
  static constexpr int first = Number, partials = 1;
  Kernel kernel;
  template <class P, class I>
  KOKKOS_FORCEINLINE_FUNCTION T value(P const& at, I column) const {
    return kernel.cell(at, column);
  }
  template <int K, bool Guarded, class P, class I>
  KOKKOS_FORCEINLINE_FUNCTION T bring(P const&, I, T cotangent) const {
    return cotangent;
  }
  template <class P, class S>
  auto row(P const& at, std::int64_t first, std::int64_t count, S& scratch) const {
    auto const row = kernel.row(at, first, count, scratch);
    return ArrayNode<T, Number, std::remove_const_t<decltype(row)>>{row};
  }
};
template <class T, int First, class F, class... Kernels>
struct MapNodes {
  static constexpr std::size_t scratch_bytes = (Kernels::scratch_bytes + ...);
  static constexpr int first = First, partials = (Kernels::partials + ...);
  F f;
  Pack<Kernels...> kernels;
  template <class P, class I>
  KOKKOS_FORCEINLINE_FUNCTION auto value(P const& at, I column) const {
    return kernels.apply([&](auto const&... node) { return f(node.value(at, column)...); });
  }
  /// \tparam Guarded  whether a cotangent of 0 stays 0
  template <int K, bool Guarded, class P, class I>
  KOKKOS_FORCEINLINE_FUNCTION T bring(P const& at, I column, T cotangent) const {
    return kernels.apply([&](auto const&... node) {
      constexpr bool guarded = Guarded || !is_polynomial<F>;
      return bring_to_one<K, guarded>(std::index_sequence_for<Kernels...>{}, at, column, cotangent,
                                      node...);
    });
  }
  template <class P, class S>
  auto row(P const& at, std::int64_t first, std::int64_t count, S& scratch) const {
    return kernels.apply_on_host([&](auto const&... kernel) {
      return MapNode<T, F, decltype(kernel.row(at, first, count, scratch))...>{
          f, {{kernel.row(at, first, count, scratch)}...}};
    });
  }

 private:
  template <int K, bool Guarded, std::size_t... J, class P, class I>
  KOKKOS_FORCEINLINE_FUNCTION T bring_to_one(std::index_sequence<J...>, P const& at, I column,
                                             T cotangent, Kernels const&... node) const {
    LocalSlopes<T, F, (Kernels::partials > 0)...> const local(f, node.value(at, column)...);
    return (bring_through<K, J, Guarded>(local, node, at, column, cotangent) + ...);
  }
  template <int K, std::size_t J, bool Guarded, class Local, class Node, class P, class I>
  KOKKOS_FORCEINLINE_FUNCTION static T bring_through(Local const& local, Node const& node,
                                                     P const& at, I column, T cotangent) {
    if constexpr (holds_array<Node, K>) {
      T product = local.template to<J>(cotangent);
      if constexpr (Guarded && !std::same_as<F, Where>)
        product = math::select(cotangent == T(0), T(0), product);
      return node.template bring<K, Guarded>(at, column, product);
    } else {
      return T(0);
    }
  }
};

template <class T, bool Reads, int First, class F, class... Operands, class Fold>
auto nodes_of_operands(Map<F, Operands...> const& expression, Fold const& fold);

/// An expression's nodes.
///
/// \tparam Reads  false if derivatives need no values of arrays, whose memory may be gone
/// \tparam First  the number of the first array among those that partials_of counts
template <class T, bool Reads, int First, class E, class Fold>
auto nodes_of(E const& expression, Fold const& fold) {
  if constexpr (is_traced<E> && partials_of<T, E> > 0) {
    if constexpr (Reads)
      return ArrayNodes<T, First, decltype(expression.kernel(fold))>{expression.kernel(fold)};
    else
      return ArrayNodes<T, First, ConstantKernel<T>>{{T(0)}};
  } else if constexpr (partials_of<T, E> == 0) {
    return ConstantNodes<T, decltype(expression.kernel(fold))>{expression.kernel(fold)};
  } else {
    return nodes_of_operands<T, Reads, First>(expression, fold);
  }
}
template <class T, bool Reads, int First, class F, class... Operands, class Fold>
auto nodes_of_operands(Map<F, Operands...> const& expression, Fold const& fold) {
  auto const& operands = expression.operands();
  constexpr std::array<int, sizeof...(Operands)> counts{partials_of<T, Operands>...};
  constexpr auto first_of = [counts](std::size_t operand) {
    int first = First;
    for (std::size_t i = 0; i < operand; ++i) first += counts[i];
    return first;
  };
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return MapNodes<T, First, F,
                    decltype(nodes_of<T, Reads, first_of(I)>(std::get<I>(operands), fold))...>{
        expression.function(), {{nodes_of<T, Reads, first_of(I)>(std::get<I>(operands), fold)}...}};
  }(std::index_sequence_for<Operands...>{});
}

/// Visits the arrays of an expression whose values derivatives need, and all constants, as leaves.
template <class T, bool Reads, class E, class Visit>
void visit_needed_leaves(E const& expression, Visit const& visit) {
  if constexpr (is_traced<E>) {
    if constexpr (Reads || partials_of<T, E> == 0) expression.visit_leaves(visit);
  } else if constexpr (partials_of<T, E> == 0) {
    expression.visit_leaves(visit);
  } else {
    std::apply(
        [&](auto const&... operand) { (visit_needed_leaves<T, Reads>(operand, visit), ...); },
        expression.operands());
  }
}

}  // namespace coir::detail
