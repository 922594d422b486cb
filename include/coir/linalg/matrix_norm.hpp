#pragma once

#include <coir/array/axis_reductions.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/reductions.hpp>

namespace coir {

/// The norms of a matrix.
enum class MatrixNorm {
  frobenius,  ///< sqrt(sum |a(i, j)|^2)
  one,        ///< the largest sum of |a(i, j)| along a column
  infinity    ///< the largest sum of |a(i, j)| along a row
};

/// A norm of a matrix; a real number. 0 if the matrix has no elements. See Golub and Van Loan,
/// Matrix Computations (2013), sec. 2.3.
template <Expression E>
  requires OfRank<E, 2>
auto matrix_norm(E const& a, MatrixNorm which = MatrixNorm::frobenius) {
  using Norm = decltype(norm(a));
  if (size_of(a.shape()) == 0) return Norm(0);
  if (which == MatrixNorm::frobenius) return norm(a);
  return max(sum(abs(detail::to_floating(a)), which == MatrixNorm::one ? 0 : 1));
}

}  // namespace coir
