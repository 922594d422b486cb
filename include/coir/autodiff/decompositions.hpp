#pragma once

/// \file
/// cholesky, eigh and eigvalsh in functions that value_and_grad differentiates, of real matrices
/// and of stacks of them. As in JAX these are functions of (a + a^T) / 2, which is a if a is
/// symmetric: the gradient is symmetric. Programs that include this header link coir::linalg.

#include <coir/autodiff/array_grad.hpp>
#include <coir/autodiff/solve.hpp>
#include <coir/linalg/decompositions.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace coir {

namespace detail {

/// (a + a^T) / 2, a statement.
template <class A>
auto symmetric_part(A const& a, char const* what) {
  auto const stored = evaluate(a);
  expects_square(stored, what);
  return evaluate((stored + transpose_each(stored)) / 2);
}

/// What is left of L^T times the cotangent of L: the lower triangle, and half of the diagonal.
template <class T>
struct LowerHalf {
  KOKKOS_FORCEINLINE_FUNCTION T operator()(std::int64_t i, std::int64_t j) const {
    return i > j ? T(1) : i == j ? T(0.5) : T(0);
  }
};

/// 1 / (b - a) for two different eigenvalues; 0 for one and itself.
template <class T>
struct OneOverGap {
  T const* values;
  std::int64_t n;
  KOKKOS_FORCEINLINE_FUNCTION T operator()(std::int64_t s, std::int64_t i, std::int64_t j) const {
    return i == j ? T(0) : T(1) / (values[s * n + j] - values[s * n + i]);
  }
};

/// Refuses eigenvalues that rounding can't tell apart.
template <class T, int Rank, class Space>
void expects_apart(Slice<T const, Rank, Space> const& values) {
  std::int64_t const n = values.shape()[Rank - 1];
  if (n < 2 || values.size() == 0) return;
  T const gap =
      min(part_along(values, Rank - 1, 1, n - 1) - part_along(values, Rank - 1, 0, n - 1));
  T const largest = max(abs(values));
  if (gap <= static_cast<T>(n) * std::numeric_limits<T>::epsilon() * largest)
    throw NumericalError(
        "eigenvectors have no derivative where eigenvalues meet: two of these "
        "differ by " +
        in_words(gap) + ", and the largest is " + in_words(largest) +
        "; use eigvalsh if the values are enough");
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
      auto const half =
          index_map(Shape<2>{shape[rank - 1], shape[rank - 1]}, detail::LowerHalf<T>{});
      auto const lower = evaluate(half * detail::products(across, cotangent, shape));
      auto const left = solve(across, lower);
      detail::add_cotangent(stored, solve(across, detail::transpose_each(left)));
    });
  }
}

/// What eigh returns for an argument of value_and_grad.
template <class Values, class Vectors>
struct TracedEigh {
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
    return TracedEigh<decltype(detail::stand_in<rank - 1>(a)), decltype(detail::stand_in<rank>(a))>{
        detail::stand_in<rank - 1>(a), detail::stand_in<rank>(a)};
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
          std::int64_t const n = x.shape()[rank - 1];
          auto const turned = detail::products(detail::transpose_each(v), cotangent, x.shape());
          auto const gaps =
              index_map(Shape<3>{x.size() / (n * n), n, n}, detail::OneOverGap<T>{w.data(), n});
          auto const middle = evaluate(gaps * detail::as_one_stack(turned));
          detail::add_cotangent(x, detail::products(detail::products(v, middle, x.shape()),
                                                    detail::transpose_each(v), x.shape()));
        });
    return TracedEigh<std::remove_const_t<decltype(values)>,
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

}  // namespace coir
