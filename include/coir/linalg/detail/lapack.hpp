#pragma once

/// \file
/// LAPACK on matrices in host memory, in C order. LAPACK sees their transposes, and algorithms are
/// chosen so that nothing needs to be transposed. Compiled in src/linalg for float, double and
/// their complex numbers.
///
/// All functions throw a NumericalError if the result doesn't exist, or isn't reached.

#include <coir/array/creation.hpp>
#include <coir/array/element.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/reductions.hpp>

#include <cstdint>
#include <string>

namespace coir::detail {

/// x, (count, n), takes the place of b: row k solves a x = b[k]. a, (n, n), is overwritten.
template <class T>
void lapack_solve(std::int64_t n, std::int64_t count, T* a, T* b);

/// The inverse takes the place of a, (n, n).
template <class T>
void lapack_inverse(std::int64_t n, T* a);

/// The determinant of a, (n, n), which is overwritten.
template <class T>
T lapack_determinant(std::int64_t n, T* a);

/// a, (n, n), becomes the lower triangular factor L of a = L L^H; its upper triangle isn't read.
template <class T>
void lapack_cholesky(std::int64_t n, T* a);

/// The eigenvalues, in ascending order, of a Hermitian a, (n, n), whose upper triangle isn't read.
/// With `vectors` the conjugate of eigenvector k becomes row k of a. Otherwise a is overwritten.
template <class T>
void lapack_eigh(std::int64_t n, T* a, real_t<T>* values, bool vectors);

/// a = u diag(s) vh for a, (m, n), which is overwritten.
///
/// \param s   min(m, n)
/// \param u   (m, k), where k is min(m, n), or m if `full`; nullptr if neither u nor vh is needed
/// \param vh  (k, n), where k is min(m, n), or n if `full`
template <class T>
void lapack_svd(std::int64_t m, std::int64_t n, T* a, real_t<T>* s, T* u, T* vh, bool full);

/// a = q r for a, (m, n), which is overwritten; q is (m, k) and r is (k, n), k = min(m, n).
template <class T>
void lapack_qr(std::int64_t m, std::int64_t n, T* a, T* q, T* r);

/// The x for which |a x - b| is smallest. If there are several, it is the one with the smallest
/// |x|.
///
/// \param a  (n, m), the transposed matrix; overwritten
/// \param b  (count, max(m, n)), row k the right-hand side k, which becomes x in its first n
///   elements; if the rank is n, the squares of the others sum up to |a x - b|^2
/// \param s  min(m, n) singular values
/// \returns the rank: the number of singular values above `smallest` times the largest
template <class T>
int lapack_least_squares(std::int64_t m, std::int64_t n, std::int64_t count, T* a, T* b,
                         real_t<T>* s, real_t<T> smallest);

/// The type that LAPACK computes in for elements of type T: double for integers.
template <class T>
using lapack_t = floating_t<T>;

/// A matrix of real or complex numbers.
template <class A>
concept LapackMatrix = Expression<A> && rank_of<A> == 2 &&
                       (std::is_arithmetic_v<value_t<A>> || is_complex<value_t<A>>);

/// A copy of the values in host memory, to be overwritten. Waits.
template <class T, class E>
auto lapack_copy(E const& x, char const* what) {
  immediate<typename space_like<E>::execution_space>(what);
  Array<T, rank_of<E>, Kokkos::HostSpace> result = to_host(cast<T>(x));
  Kokkos::DefaultHostExecutionSpace{}.fence();
  return result;
}

/// An array in the memory space of others.
template <class Space, class T, int Rank>
Array<T, Rank, Space> lapack_result(Array<T, Rank, Kokkos::HostSpace>&& x) {
  if constexpr (std::is_same_v<Space, Kokkos::HostSpace>)
    return std::move(x);
  else
    return moved_to<Space>(x);
}

template <class A>
void expects_square(A const& a, char const* what) {
  if (a.shape()[0] != a.shape()[1])
    throw PreconditionError(std::string(what) + " needs a square matrix, not one of shape " +
                            in_words(a.shape()));
}

template <class T, int Rank>
void expects_finite(Array<T, Rank, Kokkos::HostSpace> const& x, char const* what) {
  if (!all(isfinite(x)))
    throw PreconditionError(std::string(what) +
                            " needs finite numbers, and there is a NaN or an infinity");
}

}  // namespace coir::detail
