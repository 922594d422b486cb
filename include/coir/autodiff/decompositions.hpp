#pragma once

/// \file
/// cholesky, eigh, eigvalsh, qr, svd and svdvals in functions that value_and_grad or jvp
/// differentiates, of real matrices and of stacks of them. As in JAX the first three are functions
/// of (a + a^T) / 2, which is a if a is symmetric: the gradient is symmetric. Programs that include
/// this header link coir::linalg.

#include <coir/autodiff/array_grad.hpp>
#include <coir/autodiff/solve.hpp>
#include <coir/linalg/decompositions.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

namespace coir {

namespace detail {

/// (a + a^T) / 2, a statement.
template <class A>
auto symmetric_part(A const& a, char const* what) {
  auto const stored = evaluate(a);
  expects_square(stored, what);
  return evaluate((stored + transpose_each(stored)) / 2);
}

/// 1 / (b - a) for two different eigenvalues; 0 for one and itself.
template <class T>
struct OneOverGap {
  T const* values;
  std::int64_t n;
  KOKKOS_FORCEINLINE_FUNCTION T operator()(std::int64_t s, std::int64_t i, std::int64_t j) const {
    return i == j ? T(0) : T(1) / (values[s * n + j] - values[s * n + i]);
  }
};

/// Which vectors have no derivative where which numbers meet.
struct Meeting {
  char const* vectors = "eigenvectors";
  char const* numbers = "eigenvalues";
  char const* instead = "eigvalsh";
};

/// Refuses eigenvalues or singular values that rounding can't tell apart.
template <class D, int Rank, class Space>
void expects_apart(Slice<D const, Rank, Space> const& found, Meeting const& said = {}) {
  std::int64_t const n = found.shape()[Rank - 1];
  if (n < 2 || found.size() == 0) return;
  auto const numbers = evaluated(map(NumberPart{}, found));
  auto const values = numbers.as_operand();
  using T = value_t<decltype(numbers)>;
  T const gap =
      min(abs(part_along(values, Rank - 1, 1, n - 1) - part_along(values, Rank - 1, 0, n - 1)));
  T const largest = max(abs(values));
  if (gap <= static_cast<T>(n) * std::numeric_limits<T>::epsilon() * largest)
    throw NumericalError(std::string(said.vectors) + " have no derivative where " + said.numbers +
                         " meet: two of these differ by " + in_words(gap) +
                         ", and the largest is " + in_words(largest) + "; use " + said.instead +
                         " if the values are enough");
}

/// A square of factors for each matrix of a stack, from its n values.
template <template <class> class Factor, class T, int Rank, class Space>
auto factors_between(Slice<T const, Rank, Space> const& values) {
  std::int64_t const n = values.shape()[Rank - 1];
  Shape<Rank + 1> shape{};
  std::copy_n(values.shape().begin(), Rank, shape.begin());
  shape[Rank] = n;
  auto const stack = index_map(Shape<3>{values.size() / std::max<std::int64_t>(n, 1), n, n},
                               Factor<T>{values.data(), n});
  return evaluated(reshape(evaluated(stack), shape));
}

/// 1 / (b^2 - a^2) for two different singular values; 0 for one and itself.
template <class T>
struct OneOverGapOfSquares {
  T const* values;
  std::int64_t n;
  KOKKOS_FORCEINLINE_FUNCTION T operator()(std::int64_t s, std::int64_t i, std::int64_t j) const {
    T const a = values[s * n + i], b = values[s * n + j];
    return i == j ? T(0) : T(1) / ((b - a) * (b + a));
  }
};

/// 1 / x, and 0 for 0.
struct OneOverUnlessZero {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T const& x) const {
    return x == T(0) ? T(0) : T(1) / x;
  }
};

/// 1 below the diagonal, and on it what is asked for.
template <class T>
struct BelowDiagonal {
  T on_it;
  KOKKOS_FORCEINLINE_FUNCTION T operator()(std::int64_t i, std::int64_t j) const {
    return i > j ? T(1) : i == j ? on_it : T(0);
  }
};
template <class A>
auto lower_part(A const& a, double on_diagonal) {
  using T = value_t<A>;
  std::int64_t const n = a.shape()[rank_of<A> - 1];
  return evaluated(
      index_map(Shape<2>{n, n}, BelowDiagonal<T>{static_cast<real_t<T>>(on_diagonal)}) * a);
}

/// The product of each two matrices of two stacks.
template <class A, class B>
auto times(A const& a, B const& b) {
  constexpr int rank = rank_of<A>;
  return products(a, b, with_matrices(a.shape(), a.shape()[rank - 2], b.shape()[rank - 1]));
}
/// The diagonals.
template <class A>
auto diagonals(A const& a) {
  using T = value_t<A>;
  std::int64_t const n = a.shape()[rank_of<A> - 1];
  return evaluated(sum(eye<real_t<T>, space_like<A>>(n) * a, rank_of<A> - 1));
}

}  // namespace detail

/// The lower triangular L with (a + a^T) / 2 = L L^T of a positive definite matrix, or of each of a
/// stack.
///
/// \throws PreconditionError unless the matrices are square
/// \throws NumericalError if a matrix isn't positive definite
template <detail::LapackMatrices A>
  requires DifferentiatedExpression<A>
auto cholesky(A const& a) {
  detail::check_real_matrices<A>();
  constexpr int rank = rank_of<A>;
  if constexpr (DualExpression<A>) {
    return detail::stand_in<rank>(a);
  } else {
    using T = value_t<A>;
    using Slices = Slice<T const, rank, typename A::space>;
    auto const stored = detail::symmetric_part(a, "cholesky");
    auto const factor = cholesky(stored.values());
    auto const kept = factor.as_operand();
    return detail::taped(stored.node()->tape(), factor, [stored, kept](Slices const& cotangent) {
      if (stored.size() == 0) return;
      auto const shape = stored.shape();
      auto const across = detail::transpose_each(kept);
      auto lower = detail::lower_part(detail::products(across, cotangent, shape), 0.5);
      if constexpr (std::floating_point<T>) {
        auto const [stack, n, same] = detail::StackShape(shape);
        detail::keep_or_run(detail::lapack_instance(lower),
                            [matrices = stack, rows = n, factors = const_cast<T*>(kept.data()),
                             data = lower.data()](auto const& exec) {
                              detail::lapack_between_inverses(exec, matrices, rows, factors, data);
                            });
        detail::add_cotangent(stored, std::move(lower));
      } else {
        auto const left = solve(across, lower);
        detail::add_cotangent(stored, solve(across, detail::transpose_each(left)));
      }
    });
  }
}

/// What eigh returns for an argument of value_and_grad or jvp.
template <class Values, class Vectors>
struct DifferentiatedEigh {
  Values values;    ///< in ascending order
  Vectors vectors;  ///< orthonormal columns
};

/// Eigenvalues and eigenvectors of (a + a^T) / 2, for each matrix of a stack.
///
/// \throws PreconditionError unless the matrices are square and all numbers are finite
/// \throws NumericalError if the eigenvalues don't converge; on the way back through the vectors,
///   if two eigenvalues of a matrix are equal to rounding
template <detail::LapackMatrices A>
  requires DifferentiatedExpression<A>
auto eigh(A const& a) {
  detail::check_real_matrices<A>();
  constexpr int rank = rank_of<A>;
  if constexpr (DualExpression<A>) {
    return DifferentiatedEigh<decltype(detail::stand_in<rank - 1>(a)),
                              decltype(detail::stand_in<rank>(a))>{detail::stand_in<rank - 1>(a),
                                                                   detail::stand_in<rank>(a)};
  } else {
    using T = value_t<A>;
    using Space = typename A::space;
    auto const x = detail::symmetric_part(a, "eigh");
    auto const [found, columns] = eigh(x.values());
    auto const v = columns.as_operand();
    auto const w = found.as_operand();
    auto& tape = x.node()->tape();
    auto const values =
        detail::taped(tape, found, [x, v](Slice<T const, rank - 1, Space> const& cotangent) {
          auto const scaled = evaluate(v * with_axis(cotangent, rank - 2));
          detail::add_cotangent(x, detail::products(scaled, detail::transpose_each(v), x.shape()));
        });
    auto const vectors =
        detail::taped(tape, columns, [x, v, w](Slice<T const, rank, Space> const& cotangent) {
          if (x.size() == 0) return;
          detail::expects_apart(w);
          auto const turned = detail::products(detail::transpose_each(v), cotangent, x.shape());
          auto const middle = evaluate(detail::factors_between<detail::OneOverGap>(w) * turned);
          detail::add_cotangent(x, detail::products(detail::products(v, middle, x.shape()),
                                                    detail::transpose_each(v), x.shape()));
        });
    return DifferentiatedEigh<std::remove_const_t<decltype(values)>,
                              std::remove_const_t<decltype(vectors)>>{values, vectors};
  }
}

/// The eigenvalues of eigh alone. They have a derivative where they meet, too.
///
/// \throws as eigh
template <detail::LapackMatrices A>
  requires DifferentiatedExpression<A>
auto eigvalsh(A const& a) {
  return eigh(a).values;
}

// ---- the same of arrays of duals, which jvp makes ----

namespace detail {

/// (a + a^T) / 2 of the values and of the derivatives.
template <class A>
auto symmetric_parts(A const& a, char const* what) {
  expects_square(a, what);
  auto const half = [](auto const& m) { return evaluated((m + transpose_each(m)) / 2); };
  return std::pair(half(value_part<depth_among<A>>(a)), half(derivative_part(a)));
}

}  // namespace detail

template <detail::LapackMatrices A>
  requires ForwardExpression<A>
auto cholesky(A const& a) {
  auto const [values, change] = detail::symmetric_parts(a, "cholesky");
  auto const factor = cholesky(values);
  auto const left = solve(factor, change);  // L^-1 da
  auto const both = solve(factor, detail::transpose_each(left));
  return detail::join_parts(factor, detail::times(factor, detail::lower_part(both, 0.5)));
}

/// \throws NumericalError if eigenvalues of a matrix are equal to rounding
template <detail::LapackMatrices A>
  requires ForwardExpression<A>
auto eigh(A const& a) {
  auto const [matrices, change] = detail::symmetric_parts(a, "eigh");
  auto const [values, vectors] = eigh(matrices);
  detail::expects_apart(values.as_operand());
  auto const turned =
      detail::times(detail::transpose_each(vectors), detail::times(change, vectors));
  auto const w = detail::join_parts(values, detail::diagonals(turned));
  auto const gaps = detail::factors_between<detail::OneOverGap>(values.as_operand());
  auto const v = detail::join_parts(vectors, detail::times(vectors, evaluate(gaps * turned)));
  return DifferentiatedEigh<std::remove_const_t<decltype(w)>, std::remove_const_t<decltype(v)>>{w,
                                                                                                v};
}

template <detail::LapackMatrices A>
  requires ForwardExpression<A>
auto eigvalsh(A const& a) {
  auto const [matrices, change] = detail::symmetric_parts(a, "eigvalsh");
  auto const [values, vectors] = eigh(matrices);
  return detail::join_parts(
      values, detail::diagonals(
                  detail::times(detail::transpose_each(vectors), detail::times(change, vectors))));
}

// ---- qr and svd ----

/// What qr returns for an argument of value_and_grad or jvp.
template <class Q, class R>
struct DifferentiatedQr {
  Q q;  ///< orthonormal columns
  R r;  ///< upper triangular
};

namespace detail {

template <class A>
void expects_tall(A const& a) {
  auto const [stack, m, n] = StackShape(a.shape());
  if (m < n)
    throw PreconditionError(
        "qr has a derivative for matrices with at least as many rows as columns, not for shape " +
        in_words(a.shape()));
}

/// x R^-T for upper triangular R.
template <class X, class R>
auto by_transposed_inverse(X const& x, R const& r) {
  return evaluated(transpose_each(solve(r, transpose_each(x))));
}

/// The lower triangle, and above the diagonal its mirror image.
template <class M>
auto mirrored(M const& m) {
  return evaluated(lower_part(m, 1) + transpose_each(lower_part(m, 0)));
}

}  // namespace detail

/// The QR decomposition of matrices with at least as many rows as columns, whose columns are
/// linearly independent.
///
/// \see Walter, Lehmann, Algorithmic differentiation of linear algebra functions (2010)
/// \throws PreconditionError if there are more columns than rows
/// \throws NumericalError on the way back, if columns are linearly dependent
template <detail::LapackMatrices A>
  requires DifferentiatedExpression<A>
auto qr(A const& a) {
  detail::check_real_matrices<A>();
  constexpr int rank = rank_of<A>;
  if constexpr (DualExpression<A>) {
    auto const one = detail::stand_in<rank>(a);
    return DifferentiatedQr<std::remove_const_t<decltype(one)>, std::remove_const_t<decltype(one)>>{
        one, one};
  } else {
    auto const x = evaluate(a);
    detail::expects_tall(x);
    auto const found = qr(x.values());
    auto const q = found.q.as_operand(), r = found.r.as_operand();
    auto& tape = x.node()->tape();
    using Slices = std::remove_const_t<decltype(q)>;
    auto const of_q = detail::taped(tape, found.q, [x, q, r](Slices const& cotangent) {
      auto const m = detail::times(detail::transpose_each(cotangent), q);
      detail::add_cotangent(x, detail::by_transposed_inverse(
                                   evaluate(cotangent - detail::times(q, detail::mirrored(m))), r));
    });
    auto const of_r = detail::taped(tape, found.r, [x, q, r](Slices const& cotangent) {
      auto const m = detail::times(r, detail::transpose_each(cotangent));
      detail::add_cotangent(
          x, detail::by_transposed_inverse(detail::times(q, detail::mirrored(m)), r));
    });
    return DifferentiatedQr<std::remove_const_t<decltype(of_q)>,
                            std::remove_const_t<decltype(of_r)>>{of_q, of_r};
  }
}
template <detail::LapackMatrices A>
  requires ForwardExpression<A>
auto qr(A const& a) {
  detail::expects_tall(a);
  auto const [q, r] = qr(detail::value_part<detail::depth_among<A>>(a));
  // da R^-1
  auto const scaled = detail::by_transposed_inverse(detail::derivative_part(a),
                                                    evaluate(detail::transpose_each(r)));
  auto const turned = detail::times(detail::transpose_each(q), scaled);
  auto const below = detail::lower_part(turned, 0);
  auto const skew = evaluate(below - detail::transpose_each(below));
  auto const of_q = detail::join_parts(q, detail::times(q, evaluate(skew - turned)) + scaled);
  auto const of_r = detail::join_parts(r, detail::times(evaluate(turned - skew), r));
  return DifferentiatedQr<std::remove_const_t<decltype(of_q)>, std::remove_const_t<decltype(of_r)>>{
      of_q, of_r};
}

/// What svd returns for an argument of value_and_grad or jvp.
template <class Vectors, class Values>
struct DifferentiatedSvd {
  Vectors u;   ///< orthonormal columns
  Values s;    ///< in descending order, 0 or more
  Vectors vh;  ///< orthonormal rows
};

namespace detail {

inline constexpr Meeting of_singular_values{"singular vectors", "singular values", "svdvals"};

template <class A>
void expects_reduced(A const& a, bool full) {
  auto const [stack, m, n] = StackShape(a.shape());
  if (full && m != n)
    throw PreconditionError(
        "of matrices of shape " + in_words(a.shape()) +
        " the reduced singular value decomposition has a derivative: svd(a, false)");
}

/// The part of x's columns outside of the space that the orthonormal columns of u span.
template <class U, class X>
auto outside(U const& u, X const& x) {
  return evaluated(x - times(u, times(transpose_each(u), x)));
}

}  // namespace detail

/// The reduced singular value decomposition, svd(a, false). Of square matrices it is the full one.
/// The singular vectors have a derivative where singular values differ. The part of it that divides
/// by a singular value of 0 is left out, as in JAX.
///
/// \see Townsend, Differentiating the singular value decomposition (2016)
/// \throws PreconditionError if `full` is true and the matrices aren't square
/// \throws NumericalError on the way back through the vectors, if two singular values of a matrix
///   are equal to rounding
template <detail::LapackMatrices A>
  requires DifferentiatedExpression<A>
auto svd(A const& a, bool full = true) {
  detail::check_real_matrices<A>();
  constexpr int rank = rank_of<A>;
  if constexpr (DualExpression<A>) {
    return DifferentiatedSvd<decltype(detail::stand_in<rank>(a)),
                             decltype(detail::stand_in<rank - 1>(a))>{
        detail::stand_in<rank>(a), detail::stand_in<rank - 1>(a), detail::stand_in<rank>(a)};
  } else {
    auto const x = evaluate(a);
    detail::expects_reduced(x, full);
    auto const found = svd(x.values(), false);
    auto const u = found.u.as_operand(), vh = found.vh.as_operand();
    auto const s = found.s.as_operand();
    using Matrices = std::remove_const_t<decltype(u)>;
    using Vectors = std::remove_const_t<decltype(s)>;
    auto& tape = x.node()->tape();
    // What comes back to a through its left vectors; a^T has those on the right.
    auto const through_left = [s](auto const& left, auto const& right, auto const& cotangent) {
      detail::expects_apart(s, detail::of_singular_values);
      auto const turned = detail::times(detail::transpose_each(left), cotangent);
      auto const gaps = detail::factors_between<detail::OneOverGapOfSquares>(s);
      auto const middle =
          evaluate(gaps * (turned - detail::transpose_each(turned)) * with_axis(s, rank - 2));
      auto const rest = evaluate(detail::outside(left, cotangent) *
                                 map(detail::OneOverUnlessZero{}, with_axis(s, rank - 2)));
      return detail::times(evaluate(detail::times(left, middle) + rest), right);
    };
    auto const of_u = detail::taped(tape, found.u, [=](Matrices const& cotangent) {
      detail::add_cotangent(x, through_left(u, vh, cotangent));
    });
    auto const of_s = detail::taped(tape, found.s, [=](Vectors const& cotangent) {
      detail::add_cotangent(x, detail::times(evaluate(u * with_axis(cotangent, rank - 2)), vh));
    });
    auto const of_vh = detail::taped(tape, found.vh, [=](Matrices const& cotangent) {
      auto const back = through_left(detail::transpose_each(vh), detail::transpose_each(u),
                                     detail::transpose_each(cotangent));
      detail::add_cotangent(x, evaluate(detail::transpose_each(back)));
    });
    return DifferentiatedSvd<std::remove_const_t<decltype(of_u)>,
                             std::remove_const_t<decltype(of_s)>>{of_u, of_s, of_vh};
  }
}
template <detail::LapackMatrices A>
  requires ForwardExpression<A>
auto svd(A const& a, bool full = true) {
  constexpr int rank = rank_of<A>;
  detail::expects_reduced(a, full);
  auto const found = svd(detail::value_part<detail::depth_among<A>>(a), false);
  auto const u = found.u.as_operand(), vh = found.vh.as_operand();
  auto const s = found.s.as_operand();
  detail::expects_apart(s, detail::of_singular_values);
  auto const change = detail::derivative_part(a);
  auto const turned =
      detail::times(detail::times(detail::transpose_each(u), change), detail::transpose_each(vh));
  auto const across = detail::transpose_each(turned);
  auto const gaps = detail::factors_between<detail::OneOverGapOfSquares>(s);
  auto const rows = with_axis(s, rank - 1), columns = with_axis(s, rank - 2);
  auto const left_change = [&](auto const& left, auto const& right, auto const& slope,
                               auto const& middle) {
    auto const rest = detail::outside(left, detail::times(slope, right));
    return evaluate(detail::times(left, evaluate(gaps * middle)) +
                    rest * map(detail::OneOverUnlessZero{}, columns));
  };
  auto const of_u = detail::join_parts(found.u, left_change(u, detail::transpose_each(vh), change,
                                                            turned * columns + rows * across));
  auto const of_v = left_change(detail::transpose_each(vh), u, detail::transpose_each(change),
                                rows * turned + across * columns);
  auto const of_s = detail::join_parts(found.s, detail::diagonals(turned));
  return DifferentiatedSvd<std::remove_const_t<decltype(of_u)>,
                           std::remove_const_t<decltype(of_s)>>{
      of_u, of_s, detail::join_parts(found.vh, detail::transpose_each(of_v))};
}

/// The singular values of svd alone. They have a derivative where they meet, too.
///
/// \throws as svd of numbers
template <detail::LapackMatrices A>
  requires DifferentiatedExpression<A>
auto svdvals(A const& a) {
  return svd(a, false).s;
}
template <detail::LapackMatrices A>
  requires ForwardExpression<A>
auto svdvals(A const& a) {
  auto const found = svd(detail::value_part<detail::depth_among<A>>(a), false);
  auto const turned =
      detail::times(detail::times(detail::transpose_each(found.u), detail::derivative_part(a)),
                    detail::transpose_each(found.vh));
  return detail::join_parts(found.s, detail::diagonals(turned));
}

}  // namespace coir
