#pragma once

/// \file
/// Decompositions of matrices, and of stacks of them along leading axes, by LAPACK on hosts and
/// cuSOLVER on NVIDIA's devices: cholesky, qr, eigh, svd. svd of matrices of up to 128 rows and
/// columns, and all on AMD's devices, copies arrays to the host, and the results back. Integers
/// compute in double. record() records cholesky on hosts, and none of the others.

#include <coir/linalg/detail/lapack.hpp>

#include <algorithm>
#include <cstdint>

namespace coir {

/// The lower triangular L with a = L L^H of a Hermitian, positive definite matrix, or of each of a
/// stack: NumPy's linalg.cholesky. Only the lower triangle of a is read.
///
/// \throws PreconditionError unless the matrices are square
/// \throws NumericalError if a matrix isn't positive definite
template <detail::LapackMatrices A>
auto cholesky(A const& a) {
  using T = detail::lapack_t<value_t<A>>;
  detail::expects_square(a, "cholesky");
  auto const [stack, n, same] = detail::StackShape(a.shape());
  auto result = detail::kept_lapack_copy<T>(a, "cholesky()");
  detail::keep_or_run(detail::lapack_instance(result),
                      [matrices = stack, rows = n, data = result.data()](auto const& exec) {
                        detail::lapack_cholesky(exec, matrices, rows, data);
                      });
  return result;
}

/// a = q r.
template <class T, int Rank, class Space>
struct Qr {
  Array<T, Rank, Space> q;  ///< orthonormal columns
  Array<T, Rank, Space> r;  ///< upper triangular
};

/// The QR decomposition of (..., m, n) matrices: q is (..., m, k) and r (..., k, n) with
/// k = min(m, n), NumPy's linalg.qr.
template <detail::LapackMatrices A>
auto qr(A const& a) {
  using T = detail::lapack_t<value_t<A>>;
  using Space = space_like<A>;
  auto const [stack, m, n] = detail::StackShape(a.shape());
  std::int64_t const k = std::min(m, n);
  auto factors = detail::lapack_copy<T>(a, "qr()");
  auto q = empty<T, Space>(detail::with_matrices(a.shape(), m, k));
  auto r = empty<T, Space>(detail::with_matrices(a.shape(), k, n));
  detail::lapack_qr(detail::lapack_instance(factors), stack, m, n, factors.data(), q.data(),
                    r.data());
  return Qr<T, rank_of<A>, Space>{std::move(q), std::move(r)};
}

/// a v = v diag(values)
template <class T, int Rank, class Space>
struct Eigh {
  Array<real_t<T>, Rank - 1, Space> values;  ///< in ascending order
  Array<T, Rank, Space> vectors;             ///< v, orthonormal columns
};

/// Eigenvalues and eigenvectors of a Hermitian (real: symmetric) matrix, or of each of a stack:
/// NumPy's linalg.eigh. Only the lower triangle of a is read.
///
/// \throws PreconditionError unless the matrices are square and all numbers are finite
/// \throws NumericalError if the eigenvalues don't converge
template <detail::LapackMatrices A>
auto eigh(A const& a) {
  using T = detail::lapack_t<value_t<A>>;
  using Space = space_like<A>;
  detail::expects_square(a, "eigh");
  auto const [stack, n, same] = detail::StackShape(a.shape());
  auto rows = detail::lapack_copy<T>(a, "eigh()");
  detail::expects_finite(rows, "eigh");
  auto values = empty<real_t<T>, Space>(detail::with_vectors(a.shape(), n));
  detail::lapack_eigh(detail::lapack_instance(rows), stack, n, rows.data(), values.data(), true);
  return Eigh<T, rank_of<A>, Space>{std::move(values),
                                    evaluate(conj(detail::transpose_each(rows)))};
}

/// The eigenvalues of eigh alone, which is faster: NumPy's linalg.eigvalsh.
///
/// \throws as eigh
template <detail::LapackMatrices A>
auto eigvalsh(A const& a) {
  using T = detail::lapack_t<value_t<A>>;
  detail::expects_square(a, "eigvalsh");
  auto const [stack, n, same] = detail::StackShape(a.shape());
  auto rows = detail::lapack_copy<T>(a, "eigvalsh()");
  detail::expects_finite(rows, "eigvalsh");
  auto values = empty<real_t<T>, space_like<A>>(detail::with_vectors(a.shape(), n));
  detail::lapack_eigh(detail::lapack_instance(rows), stack, n, rows.data(), values.data(), false);
  return values;
}

/// a = u diag(s) vh
template <class T, int Rank, class Space>
struct Svd {
  Array<T, Rank, Space> u;              ///< orthonormal columns
  Array<real_t<T>, Rank - 1, Space> s;  ///< in descending order, 0 or more
  Array<T, Rank, Space> vh;             ///< orthonormal rows
};

/// The singular value decomposition of (..., m, n) matrices: NumPy's linalg.svd.
///
/// \param full  true: u is (..., m, m) and vh (..., n, n); false: u is (..., m, k) and vh
///   (..., k, n), k = min(m, n)
/// \throws PreconditionError unless all numbers are finite
/// \throws NumericalError if the singular values don't converge
template <detail::LapackMatrices A>
auto svd(A const& a, bool full = true) {
  using T = detail::lapack_t<value_t<A>>;
  using Space = space_like<A>;
  auto const [stack, m, n] = detail::StackShape(a.shape());
  std::int64_t const k = std::min(m, n);
  auto factors = detail::lapack_copy<T>(a, "svd()");
  detail::expects_finite(factors, "svd");
  auto u = empty<T, Space>(detail::with_matrices(a.shape(), m, full ? m : k));
  auto s = empty<real_t<T>, Space>(detail::with_vectors(a.shape(), k));
  auto vh = empty<T, Space>(detail::with_matrices(a.shape(), full ? n : k, n));
  detail::lapack_svd(detail::lapack_instance(factors), stack, m, n, factors.data(), s.data(),
                     u.data(), vh.data(), full);
  return Svd<T, rank_of<A>, Space>{std::move(u), std::move(s), std::move(vh)};
}

/// The singular values of svd alone: NumPy's linalg.svdvals.
///
/// \throws as svd
template <detail::LapackMatrices A>
auto svdvals(A const& a) {
  using T = detail::lapack_t<value_t<A>>;
  auto const [stack, m, n] = detail::StackShape(a.shape());
  auto factors = detail::lapack_copy<T>(a, "svdvals()");
  detail::expects_finite(factors, "svdvals");
  auto s = empty<real_t<T>, space_like<A>>(detail::with_vectors(a.shape(), std::min(m, n)));
  detail::lapack_svd<T>(detail::lapack_instance(factors), stack, m, n, factors.data(), s.data(),
                        nullptr, nullptr, false);
  return s;
}

}  // namespace coir
