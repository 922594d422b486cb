#pragma once

/// \file
/// solve, lstsq, inv and det in functions that value_and_grad differentiates, of real matrices and
/// of stacks of them. The derivative of a solution is that of a transposed system, which is solved
/// on the way back. Programs that include this header link coir::linalg.

#include <coir/autodiff/array_grad.hpp>
#include <coir/autodiff/linalg.hpp>
#include <coir/linalg/decompositions.hpp>
#include <coir/linalg/matmul.hpp>
#include <coir/linalg/outer.hpp>
#include <coir/linalg/solve.hpp>

#include <cstdint>
#include <memory>
#include <optional>
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
  if (is_dual<T> || !any(determinants == T(0)))
    return evaluate(of_each(determinants) * transpose_each(inv(a)));
  // a = u diag(s) vh has the cofactors det(u) det(vh) u diag(product of the other s) vh.
  auto const [u, s, vh] = svd(a, false);
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

/// solve(), the one of duals that is declared behind included.
template <class A, class B>
auto solution_of(A const& a, B const& b) {
  return solve(a, b);
}

/// A system of duals, which solve() has no factors of.
template <class A>
struct UnfactoredSystem {
  A matrices;
  template <class B>
  auto solve(B const& b, bool transposed = false) const {
    if (transposed) return solution_of(transpose_each(matrices), b);
    return solution_of(matrices, b);
  }
};
template <class T, int Rank, class Space, class A>
auto system_of(A const& matrices) {
  if constexpr (is_dual<T>)
    return std::make_shared<UnfactoredSystem<A> const>(UnfactoredSystem<A>{matrices});
  else
    return std::make_shared<LuFactors<T, Rank, Space> const>(matrices);
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
    using T = detail::lapack_t<promote_t<value_t<A>, value_t<B>>>;
    using Space = common_space_t<typename A::space, typename B::space>;
    auto const system = detail::system_of<T, rank, Space>(detail::values_of(matrices));
    auto const x = system->solve(detail::values_of(right));
    auto const solution = x.as_operand();
    return detail::taped(
        detail::tape_of(matrices, right), x,
        [matrices, right, system, solution](Slice<T const, result, Space> const& cotangent) {
          auto const columns = [](auto const& s) {
            if constexpr (sides == 1)
              return with_axis(s, -1);
            else
              return s;
          };
          auto const adjoint = system->solve(columns(cotangent), /*transposed=*/true);
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

// ---- of arrays of duals, which jvp makes ----

/// \throws as solve() of numbers
template <detail::LapackMatrices A, Expression B>
  requires SameSpace<A, B> && detail::RightSides<A, B> && detail::AnyForward<A, B>
auto solve(A const& a, B const& b) {
  constexpr int depth = detail::depth_among<A, B>, rank = rank_of<A>;
  auto const matrices = detail::value_part<depth>(a);
  auto const x = solve(matrices, detail::value_part<depth>(b));
  if constexpr (detail::dual_depth<value_t<A>> < depth) {
    return detail::join_parts(x, solve(matrices, detail::derivative_part(b)));
  } else {
    auto const change = detail::derivative_part(a);
    auto right = [&] {
      if constexpr (rank_of<B> == 1)
        return evaluate(-sum(change * with_axis(x, rank - 2), rank - 1));
      else
        return evaluate(-detail::products(change, x, x.shape()));
    }();
    if constexpr (detail::dual_depth<value_t<B>> == depth) right += detail::derivative_part(b);
    if constexpr (rank_of<B> == 1)
      return detail::join_parts(x, reshape(solve(matrices, with_axis(right, -1)), x.shape()));
    else
      return detail::join_parts(x, solve(matrices, right));
  }
}

/// \throws as inv() of numbers
template <detail::LapackMatrices A>
  requires ForwardExpression<A>
auto inv(A const& a) {
  auto const inverse = inv(detail::value_part<detail::depth_among<A>>(a));
  auto const& shape = inverse.shape();
  auto const change = detail::products(inverse, detail::derivative_part(a), shape);
  return detail::join_parts(inverse, -detail::products(change, inverse, shape));
}

/// Second derivatives need matrices that aren't singular.
///
/// \throws as det() of numbers
template <detail::LapackMatrices A>
  requires ForwardExpression<A>
auto det(A const& a) {
  constexpr int rank = rank_of<A>;
  auto const matrices = detail::value_part<detail::depth_among<A>>(a);
  auto const determinants = det(matrices);
  auto const change = detail::derivative_part(a);
  if constexpr (rank == 2) {
    auto const as_array =
        detail::as_array_of_rank_0<typename decltype(change)::space>(determinants);
    return detail::join_parts(determinants, sum(detail::cofactors(matrices, as_array) * change));
  } else {
    return detail::join_parts(
        determinants,
        sum(sum(detail::cofactors(matrices, determinants) * change, rank - 1), rank - 2));
  }
}

// ---- least squares ----

/// What lstsq returns for an argument of value_and_grad.
template <class X>
struct DifferentiatedLeastSquares {
  X x;
  int rank;  ///< of a
};

/// The x of least |a x - b|, of the least |x| if there are several. Its derivative is that of
/// pinv(a) b, where changes of a keep a's rank.
///
/// \see Golub, Pereyra, The differentiation of pseudo-inverses, SIAM J. Numer. Anal. 10 (1973), 413
/// \throws as lstsq of numbers
template <detail::LapackMatrix A, Expression B>
  requires SameSpace<A, B> && OfRankAtLeast<B, 1> && OfRankAtMost<B, 2> &&
           detail::AnyDifferentiated<A, B>
auto lstsq(A const& a, B const& b, std::optional<double> smallest = {}) {
  detail::check_real_matrices<A, B>();
  constexpr int sides = rank_of<B>;
  if constexpr (DualExpression<A> || DualExpression<B>) {
    auto const x = detail::stand_in<sides>(a, b);
    return DifferentiatedLeastSquares<std::remove_const_t<decltype(x)>>{x, 0};
  } else {
    auto const matrix = detail::stored_operand(a);
    auto const right = detail::stored_operand(b);
    auto const found = lstsq(detail::values_of(matrix), detail::values_of(right), smallest);
    auto const solution = found.x.as_operand();
    using Cotangent = std::remove_const_t<decltype(solution)>;
    auto const x = detail::taped(
        detail::tape_of(matrix, right), found.x,
        [matrix, right, solution, smallest](Cotangent const& cotangent) {
          auto const m = detail::values_of(matrix);
          auto const across = transpose(m);
          // pinv(a) and pinv(a)^T times something
          auto const by_inverse = [&](auto const& y) { return lstsq(m, y, smallest).x; };
          auto const by_adjoint = [&](auto const& y) { return lstsq(across, y, smallest).x; };
          auto const z = by_adjoint(cotangent);
          if constexpr (detail::is_traced<std::remove_const_t<decltype(matrix)>>) {
            auto const dyads = [](auto const& u, auto const& v) {
              if constexpr (sides == 1)
                return evaluate(outer(u, v));
              else
                return matmul(u, transpose(v));
            };
            auto const residual = evaluate(detail::values_of(right) - matmul(m, solution));
            auto const outside = evaluate(cotangent - matmul(across, z));  // of a's rows
            detail::add_cotangent(matrix, dyads(residual, by_inverse(z)) - dyads(z, solution) +
                                              dyads(by_adjoint(solution), outside));
          }
          if constexpr (detail::is_traced<std::remove_const_t<decltype(right)>>)
            detail::add_cotangent(right, z);
        });
    return DifferentiatedLeastSquares<std::remove_const_t<decltype(x)>>{x, found.rank};
  }
}

/// The same of arrays of duals, which jvp makes.
template <detail::LapackMatrix A, Expression B>
  requires SameSpace<A, B> && OfRankAtLeast<B, 1> && OfRankAtMost<B, 2> && detail::AnyForward<A, B>
auto lstsq(A const& a, B const& b, std::optional<double> smallest = {}) {
  constexpr int depth = detail::depth_among<A, B>;
  auto const m = detail::value_part<depth>(a);
  auto const right = detail::value_part<depth>(b);
  auto const found = lstsq(m, right, smallest);
  auto const by_inverse = [&](auto const& y) { return lstsq(m, y, smallest).x; };
  auto const by_adjoint = [&](auto const& y) { return lstsq(transpose(m), y, smallest).x; };
  auto change = [&] {
    if constexpr (detail::dual_depth<value_t<B>> == depth) {
      return by_inverse(detail::derivative_part(b));
    } else {
      auto zeros = evaluate(found.x);
      zeros = value_t<decltype(zeros)>(0);
      return zeros;
    }
  }();
  if constexpr (detail::dual_depth<value_t<A>> == depth) {
    auto const slope = detail::derivative_part(a);
    auto const residual = evaluate(right - matmul(m, found.x));
    auto const of_residual = matmul(transpose(slope), residual);
    auto const of_solution = matmul(transpose(slope), by_adjoint(found.x));
    change += by_inverse(by_adjoint(of_residual)) - by_inverse(matmul(slope, found.x)) +
              of_solution - by_inverse(matmul(m, of_solution));
  }
  auto const x = detail::join_parts(found.x, change);
  return DifferentiatedLeastSquares<std::remove_const_t<decltype(x)>>{x, found.rank};
}

}  // namespace coir
