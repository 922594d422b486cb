#pragma once

/// \file
/// einsum of one and of two operands in functions that value_and_grad differentiates. Programs that
/// include this header link coir::linalg.

#include <coir/autodiff/array_grad.hpp>
#include <coir/autodiff/linalg.hpp>
#include <coir/linalg/einsum.hpp>

namespace coir {

/// Traces, diagonals, sums along axes and transposes by subscripts. A result without labels is an
/// array of rank 0.
///
/// \throws PreconditionError if a label stands for different numbers of elements
template <Subscripts Text, Expression A>
  requires DifferentiatedExpression<A>
auto einsum(A const& a) {
  constexpr detail::Equation equation = detail::Equation::of(Text);
  detail::check_equation<equation, 1>();
  static_assert(equation.operand[0].count == rank_of<A>, "einsum needs a label for each axis");
  if constexpr (DualExpression<A>) {
    return detail::stand_in<equation.result.count>(a);
  } else {
    detail::LabelExtents extents;
    extents.add(equation.operand[0], a.shape());
    return detail::einsum_of_one<equation.operand[0], equation.result>(evaluate(a));
  }
}

/// Sums of products of two operands, of which one may be a constant.
///
/// \throws PreconditionError if a label stands for different numbers of elements
template <Subscripts Text, Expression A, Expression B>
  requires SameSpace<A, B> && detail::AnyDifferentiated<A, B>
auto einsum(A const& a, B const& b) {
  constexpr detail::Equation equation = detail::Equation::of(Text);
  detail::check_equation<equation, 2>();
  static_assert(equation.operand[0].count == rank_of<A> && equation.operand[1].count == rank_of<B>,
                "einsum needs a label for each axis");
  if constexpr (DualExpression<A> || DualExpression<B>) {
    return detail::stand_in<equation.result.count>(a, b);
  } else {
    detail::LabelExtents extents;
    extents.add(equation.operand[0], a.shape());
    extents.add(equation.operand[1], b.shape());
    return detail::einsum_of_two<equation.operand[0], equation.operand[1], equation.result>(
        detail::stored_operand(a), detail::stored_operand(b));
  }
}

}  // namespace coir
