#pragma once

/// \file
/// Systems of linear equations, by LAPACK on the host: solve, inv, det, lstsq. Arrays on devices
/// are copied to the host, and the results back. Integers compute in double. record() can't record
/// these functions.

#include <coir/array/axis_reductions.hpp>
#include <coir/linalg/detail/lapack.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace coir {

/// The x with a x = b: NumPy's linalg.solve.
///
/// \param a  (n, n)
/// \param b  (n,), or (n, k) for k right-hand sides, which are the columns; the result has its
///   shape
/// \throws PreconditionError unless the shapes fit
/// \throws NumericalError if a is singular
template <detail::LapackMatrix A, Expression B>
  requires SameSpace<A, B> && (rank_of<B> == 1 || rank_of<B> == 2)
auto solve(A const& a, B const& b) {
  using T = detail::lapack_t<promote_t<value_t<A>, value_t<B>>>;
  using Space = space_like<A>;
  detail::expects_square(a, "solve");
  if (b.shape()[0] != a.shape()[0])
    throw PreconditionError("solve takes as many rows on the right as on the left, not shapes " +
                            in_words(a.shape()) + " and " + in_words(b.shape()));
  auto factors = detail::lapack_copy<T>(a, "solve()");
  auto columns = detail::lapack_copy<T>(transpose(b), "solve()");
  std::int64_t const n = a.shape()[0];
  detail::lapack_solve(n, rank_of<B> == 1 ? 1 : columns.extent(0), factors.data(), columns.data());
  if constexpr (rank_of<B> == 1)
    return detail::lapack_result<Space>(std::move(columns));
  else
    return detail::lapack_result<Space>(evaluate(transpose(columns)));
}

/// The inverse of a square matrix: NumPy's linalg.inv. To apply it, solve is quicker and more
/// accurate.
///
/// \throws PreconditionError unless a is square
/// \throws NumericalError if a is singular
template <detail::LapackMatrix A>
auto inv(A const& a) {
  using T = detail::lapack_t<value_t<A>>;
  detail::expects_square(a, "inv");
  auto result = detail::lapack_copy<T>(a, "inv()");
  detail::lapack_inverse(a.shape()[0], result.data());
  return detail::lapack_result<space_like<A>>(std::move(result));
}

/// The determinant of a square matrix: NumPy's linalg.det.
///
/// \throws PreconditionError unless a is square
template <detail::LapackMatrix A>
auto det(A const& a) {
  using T = detail::lapack_t<value_t<A>>;
  detail::expects_square(a, "det");
  auto factors = detail::lapack_copy<T>(a, "det()");
  return detail::lapack_determinant(a.shape()[0], factors.data());
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
  requires SameSpace<A, B> && (rank_of<B> == 1 || rank_of<B> == 2)
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
  auto sides = zeros<T, Kokkos::HostSpace>({count, most});
  sides(range(), range(0, m)) = transpose(reshape(given, {m, count}));
  auto values = zeros<R, Kokkos::HostSpace>({std::min(m, n)});
  double const rounding = std::numeric_limits<R>::epsilon() * static_cast<double>(most);
  int const found =
      detail::lapack_least_squares(m, n, count, factors.data(), sides.data(), values.data(),
                                   static_cast<R>(smallest.value_or(rounding)));

  Array<R, 1, Kokkos::HostSpace> residuals(Shape<1>{0});
  if (found == n && m > n)
    residuals = sum(map(detail::SquaredAbs{}, sides(range(), range(n, m))), 1);
  auto const x = transpose(sides(range(), range(0, n)));
  return LeastSquares<T, rank, Space>{detail::lapack_result<Space>(evaluate([&] {
                                        if constexpr (rank == 1)
                                          return x(range(), 0);
                                        else
                                          return x;
                                      }())),
                                      detail::lapack_result<Space>(std::move(residuals)), found,
                                      detail::lapack_result<Space>(std::move(values))};
}

}  // namespace coir
