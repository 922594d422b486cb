#pragma once

/// \file
/// solve, inv and det in functions that value_and_grad differentiates, of real matrices and of
/// stacks of them. The derivative of a solution is that of a transposed system, which is solved on
/// the way back. Programs that include this header link coir::linalg.

#include <coir/autodiff/array_grad.hpp>
#include <coir/linalg/decompositions.hpp>
#include <coir/linalg/matmul.hpp>
#include <coir/linalg/solve.hpp>

#include <cstdint>
#include <type_traits>

namespace coir {

namespace detail {

template <class... E>
constexpr void check_real_matrices() {
  static_assert(!(is_complex<value_t<E>> || ...),
                "of complex matrices there is no derivative of solve, inv, det, cholesky and eigh");
}

/// Matrices in C order as a stack along one leading axis.
template <class A>
auto as_one_stack(A const& a) {
  auto const [stack, rows, columns] = StackShape(a.shape());
  return reshape(a, Shape<3>{stack, rows, columns});
}

/// The products of the matrices of two stacks, in a stack of a given shape.
template <std::size_t Rank, class A, class B>
auto products(A const& a, B const& b, std::array<std::int64_t, Rank> const& shape) {
  return evaluate(reshape(matmul(as_one_stack(a), as_one_stack(b)), shape));
}

/// The cofactors of matrices: the derivatives of their determinants.
template <class A, class Determinants>
auto cofactors(A const& a, Determinants const& determinants) {
  using T = value_t<A>;
  constexpr int rank = rank_of<A>;
  auto const of_each = [](auto const& x) { return with_axis(with_axis(x, -1), -1); };
  if (!any(determinants == T(0))) return evaluate(of_each(determinants) * transpose_each(inv(a)));
  // a = u diag(s) vh has the cofactors det(u) det(vh) u diag(product of the other s) vh.
  auto const [u, s, vh] = svd(a);
  auto const others = prod(map(OneForZero{}, s), -1);
  auto const zeros = sum(map(OneIfZero{}, s), -1);
  auto const slopes = evaluate(
      map(SlopeOfProduct{}, s, with_axis(others, -1), with_axis(zeros, -1), Constant<T>(T(1))));
  auto const scaled = products(evaluate(u * with_axis(slopes, rank - 2)), vh, a.shape());
  if constexpr (rank == 2)
    return evaluate(det(u) * det(vh) * scaled);
  else
    return evaluate(of_each(evaluate(det(u) * det(vh))) * scaled);
}

}  // namespace detail

/// The x with a x = b. Either may be a constant.
///
/// \throws PreconditionError unless the shapes fit
/// \throws NumericalError if a matrix is singular
template <detail::LapackMatrices A, Expression B>
  requires SameSpace<A, B> && detail::RightSides<A, B> && detail::AnyDifferentiated<A, B>
auto solve(A const& a, B const& b) {
  detail::check_real_matrices<A, B>();
  constexpr int rank = rank_of<A>, sides = rank_of<B>, result = sides == 1 ? rank - 1 : rank;
  if constexpr (DualExpression<A> || DualExpression<B>) {
    return detail::stand_in<result>(a, b);
  } else {
    auto const matrices = detail::stored_operand(a);
    auto const right = detail::stored_operand(b);
    auto const x = solve(detail::values_of(matrices), detail::values_of(right));
    using X = std::remove_const_t<decltype(x)>;
    using T = value_t<X>;
    using Space = typename X::space;
    auto const solution = x.as_operand();
    return detail::taped(
        detail::tape_among(matrices, right), x,
        [matrices, right, solution](Slice<T const, result, Space> const& cotangent) {
          auto const columns = [](auto const& s) {
            if constexpr (sides == 1)
              return with_axis(s, -1);
            else
              return s;
          };
          auto const adjoint =
              solve(detail::transpose_each(detail::values_of(matrices)), columns(cotangent));
          if constexpr (detail::is_traced<std::remove_const_t<decltype(matrices)>>)
            detail::add_cotangent(
                matrices, -detail::products(adjoint, detail::transpose_each(columns(solution)),
                                            matrices.shape()));
          if constexpr (detail::is_traced<std::remove_const_t<decltype(right)>>) {
            if constexpr (sides == 1)
              detail::add_cotangent(right,
                                    sum(reshape(adjoint, Shape<2>{-1, right.shape()[0]}), 0));
            else
              detail::add_cotangent(right, adjoint);
          }
        });
  }
}

/// The inverse of a square matrix, or of each of a stack.
///
/// \throws PreconditionError unless the matrices are square
/// \throws NumericalError if a matrix is singular
template <detail::LapackMatrices A>
  requires DifferentiatedExpression<A>
auto inv(A const& a) {
  detail::check_real_matrices<A>();
  constexpr int rank = rank_of<A>;
  if constexpr (DualExpression<A>) {
    return detail::stand_in<rank>(a);
  } else {
    auto const stored = evaluate(a);
    using Slices = Slice<value_t<A> const, rank, typename A::space>;
    auto const inverse = inv(stored.values());
    auto const kept = inverse.as_operand();
    return detail::taped(stored.node()->tape(), inverse, [stored, kept](Slices const& cotangent) {
      auto const across = detail::transpose_each(kept);
      auto const shape = stored.shape();
      detail::add_cotangent(
          stored, -detail::products(detail::products(across, cotangent, shape), across, shape));
    });
  }
}

/// The determinant of a square matrix, or of each of a stack. Its derivative, the cofactors, exists
/// for singular matrices, too.
///
/// \throws PreconditionError unless the matrices are square
template <detail::LapackMatrices A>
  requires DifferentiatedExpression<A>
auto det(A const& a) {
  detail::check_real_matrices<A>();
  constexpr int rank = rank_of<A> - 2;
  if constexpr (DualExpression<A>) {
    return detail::stand_in<rank>(a);
  } else {
    using T = value_t<A>;
    using Space = typename A::space;
    auto const stored = evaluate(a);
    Array<T, rank, Space> const determinants = [&] {
      if constexpr (rank == 0)
        return detail::as_array_of_rank_0<Space, T>(det(stored.values()));
      else
        return det(stored.values());
    }();
    auto const kept = determinants.as_operand();
    return detail::taped(stored.node()->tape(), determinants,
                         [stored, kept](Slice<T const, rank, Space> const& cotangent) {
                           if (stored.size() == 0) return;
                           detail::add_cotangent(stored,
                                                 with_axis(with_axis(cotangent, -1), -1) *
                                                     detail::cofactors(stored.values(), kept));
                         });
  }
}

}  // namespace coir
