#pragma once

/// \file
/// Products of matrices and vectors in functions that value_and_grad differentiates. The
/// derivatives are products again. Programs that include this header link coir::linalg.

#include <coir/autodiff/array_grad.hpp>
#include <coir/linalg/covariance.hpp>
#include <coir/linalg/matmul.hpp>
#include <coir/linalg/matrix_norm.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace coir {

namespace detail {

/// A factor as the way back multiplies by it: complex ones are conjugated.
template <class T, int Rank, class Space>
auto conjugated(Slice<T, Rank, Space> const& x) {
  if constexpr (is_complex<std::remove_const_t<T>>)
    return evaluated(conj(x)).as_operand();
  else
    return x;
}

/// A matrix, or each of several, transposed.
template <class T, int Rank, class Space>
auto transposed_matrix(Slice<T, Rank, Space> const& x) {
  return swap_axes(x, Rank - 2, Rank - 1);
}

/// Adds a product to a factor's cotangent, summed over the matrices that share the factor.
template <class Factor, class Product>
void add_product_cotangent(Factor const& factor, Product const& product) {
  if constexpr (is_complex<value_t<Product>> && !is_complex<value_t<Factor>>)
    add_product_cotangent(factor, evaluated(real(product)));
  else if constexpr (rank_of<Product> == rank_of<Factor> + 1)
    add_cotangent(factor, sum(product, 0));
  else if (product.shape() != factor.shape())
    add_cotangent(factor, with_axis(sum(product, 0), 0));
  else
    add_cotangent(factor, product);
}

/// A matrix times a vector, or the sum of the products of as many matrices and vectors.
template <class A, class X>
auto matrices_times(A const& a, X const& x) {
  if constexpr (rank_of<A> == 3)
    return evaluate(sum(matvec(a, x), 0));
  else
    return matmul(a, x);
}

/// For c = a b: adds to the cotangents of a and b, if they aren't constants.
template <class A, class B, class C>
void pull_back_product(A const& a, B const& b, C const& cotangent) {
  constexpr int rank_a = rank_of<A>, rank_b = rank_of<B>;
  if constexpr (is_traced<A>) {
    auto const right = conjugated(values_of(b));
    if constexpr (rank_a == 1)
      add_product_cotangent(a, matrices_times(right, cotangent));
    else if constexpr (rank_b == 1)
      add_product_cotangent(a, with_axis(cotangent, rank_a - 1) * right);
    else
      add_product_cotangent(a, matmul(cotangent, transposed_matrix(right)));
  }
  if constexpr (is_traced<B>) {
    auto const left = conjugated(values_of(a));
    if constexpr (rank_b == 1)
      add_product_cotangent(b, matrices_times(transposed_matrix(left), cotangent));
    else if constexpr (rank_a == 1)
      add_product_cotangent(b, with_axis(left, 1) * with_axis(cotangent, rank_b - 2));
    else
      add_product_cotangent(b, matmul(transposed_matrix(left), cotangent));
  }
}

}  // namespace detail

/// The product of two matrices, of a matrix and a vector, or of several matrices. Either factor may
/// be a constant. The tape keeps both.
///
/// \throws PreconditionError naming the shapes if they don't multiply
template <Expression A, Expression B>
  requires detail::Multipliable<A, B> && detail::AnyDifferentiated<A, B>
auto matmul(A const& a, B const& b) {
  constexpr int rank = detail::product_rank<rank_of<A>, rank_of<B>>;
  if constexpr (DualExpression<A> || DualExpression<B>) {
    return detail::stand_in<rank>(a, b);
  } else {
    auto const left = detail::stored_operand(a);
    auto const right = detail::stored_operand(b);
    auto const product = matmul(detail::values_of(left), detail::values_of(right));
    using P = std::remove_const_t<decltype(product)>;
    using Values = Slice<value_t<P> const, rank, typename P::space>;
    return detail::taped(detail::tape_of(left, right), product,
                         [left, right](Values const& cotangent) {
                           detail::pull_back_product(left, right, cotangent);
                         });
  }
}

/// The product of a matrix and a vector, or of each of several; either factor may be a constant.
///
/// \throws PreconditionError naming the shapes if they don't multiply
template <Expression A, Expression X>
  requires detail::MatrixOfVectors<A, X> && detail::AnyDifferentiated<A, X>
auto matvec(A const& a, X const& x) {
  static_assert(rank_of<A> == 2 || !(is_complex<value_t<A>> || is_complex<value_t<X>>),
                "there is no derivative of matvec of several complex matrices: use matmul");
  if constexpr (DualExpression<A> || DualExpression<X>) {
    return detail::stand_in<rank_of<X>>(a, x);
  } else if constexpr (rank_of<X> == 1) {
    return matmul(a, x);
  } else if constexpr (rank_of<A> == 2) {
    return matmul(x, transpose(a));
  } else {
    auto const matrices = detail::stored_operand(a);
    auto const vectors = detail::stored_operand(x);
    auto const product = matvec(detail::values_of(matrices), detail::values_of(vectors));
    using P = std::remove_const_t<decltype(product)>;
    using Values = Slice<value_t<P> const, 2, typename P::space>;
    return detail::taped(
        detail::tape_of(matrices, vectors), product, [matrices, vectors](Values const& cotangent) {
          using detail::is_traced;
          if constexpr (is_traced<std::remove_const_t<decltype(matrices)>>)
            detail::add_cotangent(
                matrices, with_axis(cotangent, 2) * with_axis(detail::values_of(vectors), 1));
          if constexpr (is_traced<std::remove_const_t<decltype(vectors)>>)
            detail::add_cotangent(
                vectors, matvec(detail::transposed_matrix(detail::values_of(matrices)), cotangent));
        });
  }
}

/// Products of arrays of duals, which jvp makes.
///
/// \throws PreconditionError naming the shapes if they don't multiply
template <Expression A, Expression B>
  requires detail::Multipliable<A, B> && detail::AnyForward<A, B>
auto matmul(A const& a, B const& b) {
  return detail::forward_bilinear(a, b, [](auto const& x, auto const& y) { return matmul(x, y); });
}
template <Expression A, Expression X>
  requires detail::MatrixOfVectors<A, X> && detail::AnyForward<A, X>
auto matvec(A const& a, X const& x) {
  return detail::forward_bilinear(a, x, [](auto const& m, auto const& v) { return matvec(m, v); });
}

/// The norm of a matrix, with the derivative 0 at 0; the largest sums share it evenly.
template <DifferentiatedExpression E>
  requires OfRank<E, 2>
auto matrix_norm(E const& a, MatrixNorm which = MatrixNorm::frobenius) {
  if constexpr (DualExpression<E>) {
    return detail::real_stand_in<0>(a);
  } else {
    if (which == MatrixNorm::frobenius || size_of(a.shape()) == 0) return evaluate(norm(a));
    return max(sum(abs(a), which == MatrixNorm::one ? 0 : 1));
  }
}

/// Covariances over the root of the product of variances. cov needs no overload.
template <DerivedExpression X>
  requires OfRank<X, 2> && detail::RealOperand<X>
auto corrcoef(X const& x) {
  if constexpr (DualExpression<X>) {
    return detail::stand_in<2>(x);
  } else {
    auto const covariances = evaluate(cov(x, ddof(0)));
    auto const deviations = evaluate(sqrt(diagonal(covariances)));
    return evaluate(clip(covariances / deviations / with_axis(deviations, 1), -1, 1));
  }
}

}  // namespace coir
