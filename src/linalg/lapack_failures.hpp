#pragma once

/// \file
/// What LAPACK and the libraries of devices report of a stack of matrices, as errors.

#include <coir/linalg/detail/lapack.hpp>

#include <cstdint>
#include <string>

namespace coir::detail {

/// The first matrix of a stack whose info isn't 0.
struct Failure {
  std::int64_t matrix = 0;
  int info = 0;

  std::string name(std::int64_t stack) const {
    return stack == 1 ? "the matrix" : "matrix " + std::to_string(matrix) + " of the stack";
  }
};

/// \param failure  its info is the number of a pivot that is 0, counted from 1
inline void expects_regular(Failure const& failure, std::int64_t stack) {
  if (failure.info > 0)
    throw NumericalError(failure.name(stack) + " is singular: pivot " +
                         std::to_string(failure.info - 1) + " of its LU factors is 0");
}

/// \param failure  its info is the order of a leading minor that isn't positive
inline void expects_positive_definite(Failure const& failure, std::int64_t stack) {
  if (failure.info > 0)
    throw NumericalError(failure.name(stack) + " isn't positive definite: its first " +
                         std::to_string(failure.info) +
                         (failure.info == 1 ? " row and column" : " rows and columns") +
                         " have no positive determinant");
}

inline void expects_reached(Failure const& failure, char const* what) {
  if (failure.info != 0)
    throw NumericalError(std::string(what) + " (LAPACK's info is " + std::to_string(failure.info) +
                         ")");
}

}  // namespace coir::detail

#define COIR_INSTANTIATE_LAPACK(Exec, T)                                                           \
  template void lapack_solve(Exec const&, std::int64_t, std::int64_t, std::int64_t, T*, T*);       \
  template void lapack_factor(Exec const&, std::int64_t, std::int64_t, T*, int*);                  \
  template void lapack_solve_by_factors(Exec const&, std::int64_t, std::int64_t, std::int64_t,     \
                                        T const*, int const*, bool, T*);                           \
  template void lapack_inverse(Exec const&, std::int64_t, std::int64_t, T*);                       \
  template void lapack_determinant(Exec const&, std::int64_t, std::int64_t, T*, T*);               \
  template void lapack_cholesky(Exec const&, std::int64_t, std::int64_t, T*);                      \
  template void lapack_between_inverses(Exec const&, std::int64_t, std::int64_t, T*, T*);          \
  template void lapack_eigh(Exec const&, std::int64_t, std::int64_t, T*, real_t<T>*, bool);        \
  template void lapack_svd(Exec const&, std::int64_t, std::int64_t, std::int64_t, T*, real_t<T>*,  \
                           T*, T*, bool);                                                          \
  template void lapack_qr(Exec const&, std::int64_t, std::int64_t, std::int64_t, T*, T*, T*);      \
  template int lapack_least_squares(Exec const&, std::int64_t, std::int64_t, std::int64_t, T*, T*, \
                                    real_t<T>*, real_t<T>);
