#pragma once

/// \file
/// Systems of linear equations, by LAPACK on hosts and cuSOLVER on NVIDIA's devices: solve, inv,
/// det, lstsq. lstsq, and all on AMD's devices, copies arrays to the host, and the results back.
/// Integers compute in double. record() records solve on hosts, and none of the others.

#include <coir/array/axis_reductions.hpp>
#include <coir/linalg/detail/lapack.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace coir {

namespace detail {
/// Whether B can be one right-hand side for each matrix of A, or several.
template <class A, class B>
concept RightSides = rank_of<B> == 1 || rank_of<B> == rank_of<A>;

template <std::size_t A, std::size_t B>
[[noreturn]] void fail_to_solve(std::array<std::int64_t, A> const& a,
                                std::array<std::int64_t, B> const& b) {
  throw PreconditionError(std::string("solve takes as many rows on the right as on the left") +
                          (A > 2 && B > 1 ? ", and the same leading axes" : "") + ", not shapes " +
                          in_words(a) + " and " + in_words(b));
}
}  // namespace detail

/// The x with a x = b: NumPy's linalg.solve.
///
/// \param a  (..., n, n)
/// \param b  (n,) for each matrix of a, or (..., n, k), with a's leading axes, for k right-hand
///   sides, which are the columns; x is (..., n) or (..., n, k)
/// \throws PreconditionError unless the shapes fit
/// \throws NumericalError if a matrix is singular
template <detail::LapackMatrices A, Expression B>
  requires SameSpace<A, B> && detail::RightSides<A, B>
auto solve(A const& a, B const& b) {
  using T = detail::lapack_t<promote_t<value_t<A>, value_t<B>>>;
  constexpr int rank = rank_of<A>;
  detail::expects_square(a, "solve");
  auto const [stack, n, same] = detail::StackShape(a.shape());
  auto const solved = [&](auto columns) {
    auto factors = detail::kept_lapack_copy<T>(a, "solve()");
    std::int64_t const matrices = stack, rows = n,
                       count = stack == 0 || n == 0 ? 0 : columns.size() / (stack * n);
    detail::keep_or_run(detail::lapack_instance(factors),
                        [=, left = factors.data(), right = columns.data()](auto const& exec) {
                          detail::lapack_solve(exec, matrices, rows, count, left, right);
                        });
    return columns;
  };
  if constexpr (rank_of<B> == 1) {
    if (b.shape()[0] != n) detail::fail_to_solve(a.shape(), b.shape());
    return solved(detail::kept_lapack_copy<T>(broadcast_to(b, detail::with_vectors(a.shape(), n)),
                                              "solve()"));
  } else {
    if (b.shape() != detail::with_matrices(a.shape(), n, b.shape()[rank - 1]))
      detail::fail_to_solve(a.shape(), b.shape());
    return evaluate(detail::transpose_each(
        solved(detail::kept_lapack_copy<T>(detail::transpose_each(b), "solve()"))));
  }
}

namespace detail {

/// Matrices whose systems are solved several times, by one LU decomposition.
template <class T, int Rank, class Space>
class LuFactors {
 public:
  template <LapackMatrices A>
  explicit LuFactors(A const& a) : factors_(kept_lapack_copy<T>(a, "solve()")) {
    expects_square(a, "solve");
    auto const [stack, n, same] = StackShape(factors_.shape());
    pivots_ = Array<int, 1, Space>(Shape<1>{stack * n});
    keep_or_run(lapack_instance(factors_),
                [matrices = stack, rows = n, factors = factors_.data(), pivots = pivots_.data()](
                    auto const& exec) { lapack_factor(exec, matrices, rows, factors, pivots); });
  }

  /// \param b  of solve()'s shapes
  template <Expression B>
  auto solve(B const& b, bool transposed = false) const {
    if constexpr (rank_of<B> == 1) {
      if (b.shape()[0] != factors_.shape()[Rank - 1]) fail_to_solve(factors_.shape(), b.shape());
      return solved(kept_lapack_copy<T>(
                        broadcast_to(b, with_vectors(factors_.shape(), b.shape()[0])), "solve()"),
                    transposed);
    } else {
      if (b.shape() !=
          with_matrices(factors_.shape(), factors_.shape()[Rank - 1], b.shape()[Rank - 1]))
        fail_to_solve(factors_.shape(), b.shape());
      return evaluate(
          transpose_each(solved(kept_lapack_copy<T>(transpose_each(b), "solve()"), transposed)));
    }
  }

 private:
  template <class Columns>
  Columns solved(Columns columns, bool transposed) const {
    auto const [stack, n, same] = StackShape(factors_.shape());
    std::int64_t const matrices = stack, rows = n,
                       count = stack == 0 || n == 0 ? 0 : columns.size() / (stack * n);
    keep_or_run(lapack_instance(factors_), [=, factors = factors_.data(), pivots = pivots_.data(),
                                            right = columns.data()](auto const& exec) {
      lapack_solve_by_factors(exec, matrices, rows, count, factors, pivots, transposed, right);
    });
    return columns;
  }

  Array<T, Rank, Space> factors_;
  Array<int, 1, Space> pivots_;
};

}  // namespace detail

/// The inverse of a square matrix, or of each of a stack: NumPy's linalg.inv. To apply it, solve is
/// quicker and more accurate.
///
/// \throws PreconditionError unless the matrices are square
/// \throws NumericalError if a matrix is singular
template <detail::LapackMatrices A>
auto inv(A const& a) {
  using T = detail::lapack_t<value_t<A>>;
  detail::expects_square(a, "inv");
  auto const [stack, n, same] = detail::StackShape(a.shape());
  auto result = detail::lapack_copy<T>(a, "inv()");
  detail::lapack_inverse(detail::lapack_instance(result), stack, n, result.data());
  return result;
}

/// The determinant of a square matrix, a number, or an array of those of a stack: NumPy's
/// linalg.det.
///
/// \throws PreconditionError unless the matrices are square
template <detail::LapackMatrices A>
auto det(A const& a) {
  using T = detail::lapack_t<value_t<A>>;
  constexpr int rank = rank_of<A>;
  detail::expects_square(a, "det");
  auto const [stack, n, same] = detail::StackShape(a.shape());
  auto factors = detail::lapack_copy<T>(a, "det()");
  Shape<rank - 2> leading{};
  std::copy_n(a.shape().begin(), rank - 2, leading.begin());
  Array<T, rank - 2, Kokkos::HostSpace> result(leading);
  detail::lapack_determinant(detail::lapack_instance(factors), stack, n, factors.data(),
                             result.data());
  if constexpr (rank == 2)
    return result.item();
  else if constexpr (std::is_same_v<space_like<A>, Kokkos::HostSpace>)
    return result;
  else
    return detail::moved_to<space_like<A>>(result);
}

/// The result of lstsq.
template <class T, int Rank, class Space>
struct LeastSquares {
  Array<T, Rank, Space> x;
  Array<real_t<T>, 1, Space>
      residuals;  ///< |a x - b|^2 of each right-hand side; none if rank < n or m <= n
  int rank;       ///< of a
  Array<real_t<T>, 1, Space> singular_values;  ///< of a, in descending order
};

/// The x for which |a x - b| is smallest: NumPy's linalg.lstsq. If there are several, it is the one
/// with the smallest |x|.
///
/// \param a         (m, n), of any rank
/// \param b         (m,), or (m, k) for k right-hand sides; x is (n,) or (n, k)
/// \param smallest  singular values below this times the largest count as 0; by default the
///   rounding error times max(m, n)
/// \throws PreconditionError unless the shapes fit and all numbers are finite
/// \throws NumericalError if the singular values don't converge
template <detail::LapackMatrix A, Expression B>
  requires SameSpace<A, B> && OfRankAtLeast<B, 1> && OfRankAtMost<B, 2>
auto lstsq(A const& a, B const& b, std::optional<double> smallest = {}) {
  using T = detail::lapack_t<promote_t<value_t<A>, value_t<B>>>;
  using R = real_t<T>;
  using Space = space_like<A>;
  constexpr int rank = rank_of<B>;
  std::int64_t const m = a.shape()[0], n = a.shape()[1];
  if (b.shape()[0] != m)
    throw PreconditionError("lstsq takes as many rows on the right as on the left, not shapes " +
                            in_words(a.shape()) + " and " + in_words(b.shape()));
  std::int64_t const most = std::max(m, n), count = rank == 1 ? 1 : b.shape().back();
  auto const given = detail::lapack_copy<T>(b, "lstsq()");
  auto factors = detail::lapack_copy<T>(transpose(a), "lstsq()");
  detail::expects_finite(factors, "lstsq");
  detail::expects_finite(given, "lstsq");

  // Right-hand sides are rows, long enough for x.
  auto sides = zeros<T, Space>({count, most});
  sides(range(), range(0, m)) = transpose(reshape(given, {m, count}));
  auto values = zeros<R, Space>({std::min(m, n)});
  double const rounding = std::numeric_limits<R>::epsilon() * static_cast<double>(most);
  int const found = detail::lapack_least_squares(detail::lapack_instance(factors), m, n, count,
                                                 factors.data(), sides.data(), values.data(),
                                                 static_cast<R>(smallest.value_or(rounding)));

  Array<R, 1, Space> residuals(Shape<1>{0});
  if (found == n && m > n)
    residuals = sum(map(detail::SquaredAbs{}, sides(range(), range(n, m))), 1);
  auto const x = transpose(sides(range(), range(0, n)));
  return LeastSquares<T, rank, Space>{evaluate([&] {
                                        if constexpr (rank == 1)
                                          return x(range(), 0);
                                        else
                                          return x;
                                      }()),
                                      std::move(residuals), found, std::move(values)};
}

}  // namespace coir
