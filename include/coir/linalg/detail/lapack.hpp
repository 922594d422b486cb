#pragma once

/// \file
/// LAPACK's algorithms on stacks of matrices in C order, compiled in src/linalg for float, double
/// and their complex numbers: for hosts by LAPACK, which sees transposes, so that nothing needs to
/// be transposed; for NVIDIA's devices by cuSOLVER and cuBLAS. What these lack, and all on other
/// devices, is computed by LAPACK on copies in host memory.
///
/// All functions wait, and throw a NumericalError if the result of a matrix doesn't exist, or isn't
/// reached.

#include <coir/array/axes.hpp>
#include <coir/array/creation.hpp>
#include <coir/array/element.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/reductions.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace coir::detail {

using LapackHost = Kokkos::DefaultHostExecutionSpace;

/// x takes the place of b: row k of b[s], (count, n), solves a[s] x = b[s, k]. a, (stack, n, n), is
/// overwritten.
template <class T>
void lapack_solve(LapackHost const& exec, std::int64_t stack, std::int64_t n, std::int64_t count,
                  T* a, T* b);

/// LU factors, with `pivots`, (stack, n), take the places of a, (stack, n, n).
template <class T>
void lapack_factor(LapackHost const& exec, std::int64_t stack, std::int64_t n, T* a, int* pivots);
/// lapack_solve() by these factors, of the matrices or of their transposes.
template <class T>
void lapack_solve_by_factors(LapackHost const& exec, std::int64_t stack, std::int64_t n,
                             std::int64_t count, T const* factors, int const* pivots,
                             bool transposed, T* b);

/// The inverses take the places of a, (stack, n, n).
template <class T>
void lapack_inverse(LapackHost const& exec, std::int64_t stack, std::int64_t n, T* a);

/// The determinants of a, (stack, n, n), which is overwritten.
///
/// \param result  (stack,), in host memory
template <class T>
void lapack_determinant(LapackHost const& exec, std::int64_t stack, std::int64_t n, T* a,
                        T* result);

/// a, (stack, n, n), becomes the lower triangular factor L of a = L L^H; its upper triangle isn't
/// read.
template <class T>
void lapack_cholesky(LapackHost const& exec, std::int64_t stack, std::int64_t n, T* a);

/// a, (stack, n, n), becomes L^-T a L^-1, where L is the lower triangle of `factor`, of which the
/// rest isn't read.
template <class T>
void lapack_between_inverses(LapackHost const& exec, std::int64_t stack, std::int64_t n, T* factor,
                             T* a);

/// The eigenvalues, (stack, n), in ascending order, of a Hermitian a, (stack, n, n), whose upper
/// triangle isn't read. With `vectors` the conjugate of eigenvector k becomes row k of a.
/// Otherwise a is overwritten.
template <class T>
void lapack_eigh(LapackHost const& exec, std::int64_t stack, std::int64_t n, T* a,
                 real_t<T>* values, bool vectors);

/// a = u diag(s) vh for a, (stack, m, n), which is overwritten.
///
/// \param s   (stack, min(m, n))
/// \param u   (stack, m, k), where k is min(m, n), or m if `full`; nullptr if neither u nor vh is
///   needed
/// \param vh  (stack, k, n), where k is min(m, n), or n if `full`
template <class T>
void lapack_svd(LapackHost const& exec, std::int64_t stack, std::int64_t m, std::int64_t n, T* a,
                real_t<T>* s, T* u, T* vh, bool full);

/// a = q r for a, (stack, m, n), which is overwritten; q is (stack, m, k) and r is (stack, k, n),
/// k = min(m, n).
template <class T>
void lapack_qr(LapackHost const& exec, std::int64_t stack, std::int64_t m, std::int64_t n, T* a,
               T* q, T* r);

/// The x for which |a x - b| is smallest. If there are several, it is the one with the smallest
/// |x|.
///
/// \param a  (n, m), the transposed matrix; overwritten
/// \param b  (count, max(m, n)), row k the right-hand side k, which becomes x in its first n
///   elements; if the rank is n, the squares of the others sum up to |a x - b|^2
/// \param s  min(m, n) singular values
/// \returns the rank: the number of singular values above `smallest` times the largest
template <class T>
int lapack_least_squares(LapackHost const& exec, std::int64_t m, std::int64_t n, std::int64_t count,
                         T* a, T* b, real_t<T>* s, real_t<T> smallest);

// The same on the default execution space: where that is a host, these are the functions above.

using LapackDevice = Kokkos::DefaultExecutionSpace;
template <class T>
void lapack_solve(LapackDevice const& exec, std::int64_t stack, std::int64_t n, std::int64_t count,
                  T* a, T* b);
template <class T>
void lapack_factor(LapackDevice const& exec, std::int64_t stack, std::int64_t n, T* a, int* pivots);
template <class T>
void lapack_solve_by_factors(LapackDevice const& exec, std::int64_t stack, std::int64_t n,
                             std::int64_t count, T const* factors, int const* pivots,
                             bool transposed, T* b);
template <class T>
void lapack_inverse(LapackDevice const& exec, std::int64_t stack, std::int64_t n, T* a);
template <class T>
void lapack_determinant(LapackDevice const& exec, std::int64_t stack, std::int64_t n, T* a,
                        T* result);
template <class T>
void lapack_cholesky(LapackDevice const& exec, std::int64_t stack, std::int64_t n, T* a);
template <class T>
void lapack_between_inverses(LapackDevice const& exec, std::int64_t stack, std::int64_t n,
                             T* factor, T* a);
template <class T>
void lapack_eigh(LapackDevice const& exec, std::int64_t stack, std::int64_t n, T* a,
                 real_t<T>* values, bool vectors);
template <class T>
void lapack_svd(LapackDevice const& exec, std::int64_t stack, std::int64_t m, std::int64_t n, T* a,
                real_t<T>* s, T* u, T* vh, bool full);
template <class T>
void lapack_qr(LapackDevice const& exec, std::int64_t stack, std::int64_t m, std::int64_t n, T* a,
               T* q, T* r);
template <class T>
int lapack_least_squares(LapackDevice const& exec, std::int64_t m, std::int64_t n,
                         std::int64_t count, T* a, T* b, real_t<T>* s, real_t<T> smallest);

/// The type that LAPACK computes in for elements of type T: double for integers.
template <class T>
using lapack_t = floating_t<T>;

/// A matrix of numbers, or a stack of matrices along leading axes.
template <class A>
concept LapackMatrices = Expression<A> && (rank_of<A> >= 2) && is_number<value_t<A>>;

/// A single matrix of numbers.
template <class A>
concept LapackMatrix = LapackMatrices<A> && rank_of<A> == 2;

/// Rows and columns of each matrix, and how many matrices a stack has.
struct StackShape {
  std::int64_t stack = 1;
  std::int64_t rows;
  std::int64_t columns;

  template <std::size_t Rank>
  explicit StackShape(std::array<std::int64_t, Rank> const& shape)
      : rows(shape[Rank - 2]), columns(shape[Rank - 1]) {
    for (std::size_t d = 0; d + 2 < Rank; ++d) stack *= shape[d];
  }
};

/// The shape of a stack whose matrices are (rows, columns) in place of their own extents.
template <std::size_t Rank>
std::array<std::int64_t, Rank> with_matrices(std::array<std::int64_t, Rank> shape,
                                             std::int64_t rows, std::int64_t columns) {
  shape[Rank - 2] = rows;
  shape[Rank - 1] = columns;
  return shape;
}

/// The shape of a stack with a vector of `length` in place of each matrix.
template <std::size_t Rank>
std::array<std::int64_t, Rank - 1> with_vectors(std::array<std::int64_t, Rank> const& shape,
                                                std::int64_t length) {
  std::array<std::int64_t, Rank - 1> result{};
  std::copy(shape.begin(), shape.end() - 2, result.begin());
  result.back() = length;
  return result;
}

/// Each matrix of a stack transposed.
template <class E>
auto transpose_each(E const& matrices) {
  return swap_axes(matrices, rank_of<E> - 2, rank_of<E> - 1);
}

/// A copy of the values in C order, to be overwritten.
///
/// \param what  the operation, for the message when record() records
template <class T, class E>
auto lapack_copy(E const& x, char const* what) {
  immediate<typename space_like<E>::execution_space>(what);
  return Array<T, rank_of<E>, space_like<E>>(cast<T>(x));
}

/// lapack_copy() for an operation that recordings on hosts keep, by keep_or_run().
template <class T, class E>
auto kept_lapack_copy(E const& x, char const* what) {
  using Exec = typename space_like<E>::execution_space;
  if constexpr (runs_on_host<Exec>)
    return Array<T, rank_of<E>, space_like<E>>(cast<T>(x));
  else
    return lapack_copy<T>(x, what);
}

/// Calls a function of LAPACK with an instance, or keeps that for the runs of a recording on hosts.
template <class Exec, class Call>
void keep_or_run(Exec const& exec, Call const& call) {
  if constexpr (runs_on_host<Exec>)
    launch_on_host([=] { call(exec); });
  else
    call(exec);
}

/// The instance that an array's functions of LAPACK run on.
template <class T, int Rank, class Space>
auto lapack_instance(Array<T, Rank, Space> const&) {
  return instance<typename Space::execution_space>();
}

template <class A>
void expects_square(A const& a, char const* what) {
  auto const [stack, rows, columns] = StackShape(a.shape());
  if (rows != columns)
    throw PreconditionError(
        std::string(what) + " needs " +
        (rank_of<A> == 2 ? "a square matrix, not one" : "square matrices, not a stack") +
        " of shape " + in_words(a.shape()));
}

template <class T, int Rank, class Space>
void expects_finite(Array<T, Rank, Space> const& x, char const* what) {
  if (!all(isfinite(x)))
    throw PreconditionError(std::string(what) +
                            " needs finite numbers, and there is a NaN or an infinity");
}

}  // namespace coir::detail
