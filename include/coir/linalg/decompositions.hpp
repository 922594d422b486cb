#pragma once

/// \file
/// Decompositions of matrices, by LAPACK on the host: cholesky, qr, eigh, svd. Arrays on devices
/// are copied to the host, and the results back. Integers compute in double. record() can't record
/// these functions.

#include <coir/linalg/detail/lapack.hpp>

#include <algorithm>
#include <cstdint>

namespace coir {

/// The lower triangular L with a = L L^H of a Hermitian, positive definite matrix: NumPy's
/// linalg.cholesky. Only the lower triangle of a is read.
///
/// \throws PreconditionError unless a is square
/// \throws NumericalError if a isn't positive definite
template <detail::LapackMatrix A>
auto cholesky(A const& a) {
  using T = detail::lapack_t<value_t<A>>;
  detail::expects_square(a, "cholesky");
  auto result = detail::lapack_copy<T>(a, "cholesky()");
  detail::lapack_cholesky(a.shape()[0], result.data());
  return detail::lapack_result<space_like<A>>(std::move(result));
}

/// a = q r.
template <class T, class Space>
struct Qr {
  Array<T, 2, Space> q;  ///< orthonormal columns
  Array<T, 2, Space> r;  ///< upper triangular
};

/// The QR decomposition of an (m, n) matrix: q is (m, k) and r (k, n) with k = min(m, n), NumPy's
/// linalg.qr.
template <detail::LapackMatrix A>
auto qr(A const& a) {
  using T = detail::lapack_t<value_t<A>>;
  using Space = space_like<A>;
  auto const [m, n] = a.shape();
  std::int64_t const k = std::min(m, n);
  auto factors = detail::lapack_copy<T>(a, "qr()");
  auto q = empty<T, Kokkos::HostSpace>({m, k}), r = empty<T, Kokkos::HostSpace>({k, n});
  detail::lapack_qr(m, n, factors.data(), q.data(), r.data());
  return Qr<T, Space>{detail::lapack_result<Space>(std::move(q)),
                      detail::lapack_result<Space>(std::move(r))};
}

/// a v = v diag(values)
template <class T, class Space>
struct Eigh {
  Array<real_t<T>, 1, Space> values;  ///< in ascending order
  Array<T, 2, Space> vectors;         ///< v, orthonormal columns
};

/// Eigenvalues and eigenvectors of a Hermitian (real: symmetric) matrix: NumPy's linalg.eigh. Only
/// the lower triangle of a is read.
///
/// \throws PreconditionError unless a is square and all its numbers are finite
/// \throws NumericalError if the eigenvalues don't converge
template <detail::LapackMatrix A>
auto eigh(A const& a) {
  using T = detail::lapack_t<value_t<A>>;
  using Space = space_like<A>;
  detail::expects_square(a, "eigh");
  std::int64_t const n = a.shape()[0];
  auto rows = detail::lapack_copy<T>(a, "eigh()");
  detail::expects_finite(rows, "eigh");
  auto values = empty<real_t<T>, Kokkos::HostSpace>({n});
  detail::lapack_eigh(n, rows.data(), values.data(), true);
  return Eigh<T, Space>{detail::lapack_result<Space>(std::move(values)),
                        detail::lapack_result<Space>(evaluate(conj(transpose(rows))))};
}

/// The eigenvalues of eigh alone, which is faster: NumPy's linalg.eigvalsh.
///
/// \throws as eigh
template <detail::LapackMatrix A>
auto eigvalsh(A const& a) {
  using T = detail::lapack_t<value_t<A>>;
  detail::expects_square(a, "eigvalsh");
  auto rows = detail::lapack_copy<T>(a, "eigvalsh()");
  detail::expects_finite(rows, "eigvalsh");
  auto values = empty<real_t<T>, Kokkos::HostSpace>({a.shape()[0]});
  detail::lapack_eigh(a.shape()[0], rows.data(), values.data(), false);
  return detail::lapack_result<space_like<A>>(std::move(values));
}

/// a = u diag(s) vh
template <class T, class Space>
struct Svd {
  Array<T, 2, Space> u;          ///< orthonormal columns
  Array<real_t<T>, 1, Space> s;  ///< in descending order, 0 or more
  Array<T, 2, Space> vh;         ///< orthonormal rows
};

/// The singular value decomposition of an (m, n) matrix: NumPy's linalg.svd.
///
/// \param full  true: u is (m, m) and vh (n, n); false: u is (m, k) and vh (k, n), k = min(m, n)
/// \throws PreconditionError unless all numbers are finite
/// \throws NumericalError if the singular values don't converge
template <detail::LapackMatrix A>
auto svd(A const& a, bool full = true) {
  using T = detail::lapack_t<value_t<A>>;
  using Space = space_like<A>;
  auto const [m, n] = a.shape();
  std::int64_t const k = std::min(m, n);
  auto factors = detail::lapack_copy<T>(a, "svd()");
  detail::expects_finite(factors, "svd");
  auto u = empty<T, Kokkos::HostSpace>({m, full ? m : k});
  auto s = empty<real_t<T>, Kokkos::HostSpace>({k});
  auto vh = empty<T, Kokkos::HostSpace>({full ? n : k, n});
  detail::lapack_svd(m, n, factors.data(), s.data(), u.data(), vh.data(), full);
  return Svd<T, Space>{detail::lapack_result<Space>(std::move(u)),
                       detail::lapack_result<Space>(std::move(s)),
                       detail::lapack_result<Space>(std::move(vh))};
}

/// The singular values of svd alone: NumPy's linalg.svdvals.
///
/// \throws as svd
template <detail::LapackMatrix A>
auto svdvals(A const& a) {
  using T = detail::lapack_t<value_t<A>>;
  auto const [m, n] = a.shape();
  auto factors = detail::lapack_copy<T>(a, "svdvals()");
  detail::expects_finite(factors, "svdvals");
  auto s = empty<real_t<T>, Kokkos::HostSpace>({std::min(m, n)});
  detail::lapack_svd<T>(m, n, factors.data(), s.data(), nullptr, nullptr, false);
  return detail::lapack_result<space_like<A>>(std::move(s));
}

}  // namespace coir
