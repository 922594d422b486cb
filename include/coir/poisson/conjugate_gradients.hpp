#pragma once

/// \file
/// Conjugate gradients for L u = b in 2-D, with L as a sparse matrix of Kokkos Kernels.

#include <coir/poisson/detail/callers_grid.hpp>
#include <coir/poisson/result.hpp>

#include <cstdint>
#include <string>

namespace coir::poisson {

/// The approximation M of the inverse of L, which every iteration applies to the residual.
enum class Preconditioner {
  none,       ///< the iterations grow with the longer side of the grid
  multigrid,  ///< MultigridPreconditioner: some ten iterations on any grid
  direct,     ///< Direct: exact for L; for coefficients, iterations grow with their contrast alone
};

struct ConjugateGradientsOptions {
  std::int64_t max_iterations = 1000;  ///< at least 0
  double tolerance = 1e-8;             ///< on the relative residual; 0 makes max_iterations
  Preconditioner preconditioner = Preconditioner::multigrid;
  Monitor monitor = {};  ///< called after every iteration
};

/// Whether this build of coir has conjugate_gradients() without coefficients: it needs Kokkos
/// Kernels with its sparse matrices.
bool has_conjugate_gradients();

namespace detail {

/// \param options  checked here, the extents before
template <CompiledSpace Exec, class T>
Result conjugate_gradients(Exec const& exec, RowMajorView<Exec, T const, 2> const& b,
                           RowMajorView<Exec, T, 2> const& u,
                           ConjugateGradientsOptions const& options);

/// With coefficients.
///
/// \param transposed  the caller's axes are in the other order, for messages
template <CompiledSpace Exec, class T>
Result conjugate_gradients(Exec const& exec, RowMajorView<Exec, T const, 2> const& k,
                           RowMajorView<Exec, T const, 2> const& b,
                           RowMajorView<Exec, T, 2> const& u, bool transposed,
                           ConjugateGradientsOptions const& options);

}  // namespace detail

/// Solves L u = b by preconditioned conjugate gradients.
///
///   L u = (sum of the 4 neighbours) - 4 u = b
///
///   alpha = r.z / p.Lp,   u <- u + alpha p,   r <- r - alpha L p,   z = M r,
///   p <- z + (r.z / its last value) p
///
/// L is a matrix in compressed rows, made at each call, and Kokkos Kernels multiplies by it. The
/// solver takes about 67 bytes a cell in float and 105 in double. Multigrid needs no matrix, and is
/// faster.
///
/// r drifts from b - L u by rounding. When r reaches the tolerance, b - L u is computed; if it is
/// still larger than the tolerance, the iteration starts again from it. On hosts the result has the
/// same bits for any number of threads.
///
/// \param exec     where to run; waits for the result
/// \param b        [m, n] in; the source; m n at most 2^31 - 1
/// \param u        [m+2, n+2] inout; the outermost cells hold the boundary values, the others a
///   first guess
/// \param options  defaults: to a relative residual of 1e-8
/// \return         iterations, and the residual that they left. The solver stops by stagnation if a
///   new start doesn't reduce the residual by a tenth: rounding keeps it from the tolerance
/// \throws PreconditionError if an option is out of its range, or the extents don't fit
/// \throws ResourceError     if there is no memory
/// \throws EnvironmentError  if this build has no Kokkos Kernels
/// \see Saad, Iterative Methods for Sparse Linear Systems, 2nd ed. (2003), sec. 6.7 and 9.2
template <CompiledSpace Exec, class B, class U>
  requires SourceAndUnknown<Exec, B, U> && RealViewOfRank<B, 2>
Result conjugate_gradients(Exec const& exec, B const& b, U const& u,
                           ConjugateGradientsOptions const& options = {}) {
  using T = typename U::value_type;
  constexpr int rank = 2;
  detail::CallersGrid<Exec, T const, T, rank> const grid(exec, b, u);
  Result const result =
      detail::conjugate_gradients<Exec, T>(exec, grid.source(), grid.unknown(), options);
  grid.finish();
  return result;
}

/// Solves div(k grad u) = b, a problem of heat, flow or charge in a medium that differs from cell
/// to cell.
///
///   sum over the 4 neighbours of k_face (u_neighbour - u) = b,   k_face = 2 k k' / (k + k')
///
/// A face to the ring has the k of the cell inside. The preconditioners are those of L. Where k is
/// smooth (neighbours differ by a factor of 1.5 at most), r and z are divided by sqrt(k), and the
/// iterations hardly grow with the contrast of k. At jumps they grow with its square root. The
/// operator is applied cell by cell, without a matrix.
///
/// \param k  [m, n] in; positive and finite. Its layout may be any, as b's
/// \throws PreconditionError as above; if a k isn't positive and finite, naming the cell
/// \throws EnvironmentError  if Preconditioner::direct is asked for in a build without it
/// \see Concus and Golub, SIAM J. Numer. Anal. 10 (1973) 1103
template <CompiledSpace Exec, class K, class B, class U>
  requires SourceAndUnknown<Exec, B, U> && SourceAndUnknown<Exec, K, U> && RealViewOfRank<B, 2>
Result conjugate_gradients(Exec const& exec, K const& k, B const& b, U const& u,
                           ConjugateGradientsOptions const& options = {}) {
  using T = typename U::value_type;
  for (int d = 0; d < 2; ++d)
    expects(k.extent(d) == b.extent(d),
            "k must have as many cells as b along axis " + std::to_string(d) + " (" +
                std::to_string(b.extent(d)) + ")",
            k.extent(d));
  expects(!share_memory(strided(k), strided(u)), "k and u must not share memory");
  detail::CallersGrid<Exec, T const, T const, 2> const coefficients(exec, k, u);
  detail::CallersGrid<Exec, T const, T, 2> const grid(exec, b, u);
  bool const transposed = memory_order(strided(u))[0] != 0;
  Result const result = detail::conjugate_gradients<Exec, T>(
      exec, coefficients.source(), grid.source(), grid.unknown(), transposed, options);
  grid.finish();
  return result;
}

/// Solves on the default instance of the execution space of u.
template <class K, class B, class U>
  requires SourceAndUnknown<typename U::execution_space, B, U> &&
           SourceAndUnknown<typename U::execution_space, K, U> && RealViewOfRank<B, 2>
Result conjugate_gradients(K const& k, B const& b, U const& u,
                           ConjugateGradientsOptions const& options = {}) {
  return conjugate_gradients(typename U::execution_space{}, k, b, u, options);
}

/// Solves on the default instance of the execution space of u.
template <class B, class U>
  requires SourceAndUnknown<typename U::execution_space, B, U> && RealViewOfRank<B, 2>
Result conjugate_gradients(B const& b, U const& u, ConjugateGradientsOptions const& options = {}) {
  return conjugate_gradients(typename U::execution_space{}, b, u, options);
}

}  // namespace coir::poisson
