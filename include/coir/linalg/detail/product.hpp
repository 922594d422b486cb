#pragma once

/// \file
/// Which kernel computes a product of matrices.

#include <coir/core/kept_launches.hpp>
#include <coir/linalg/detail/plain_product.hpp>
#include <coir/linalg/detail/stack.hpp>

#include <cstdint>
#include <type_traits>

namespace coir::detail {

/// BLAS knows this type.
template <class T>
inline constexpr bool is_blas_type =
    std::is_same_v<T, float> || std::is_same_v<T, double> ||
    std::is_same_v<T, Kokkos::complex<float>> || std::is_same_v<T, Kokkos::complex<double>>;

/// c = a b by BLAS, on devices by way of Kokkos Kernels, for matrices that fit BLAS and a c with
/// elements. c overlaps neither factor. Compiled in src/linalg for the four types, on hosts and the
/// default device.
template <class T, class Exec>
void blas_product(Exec const& exec, Matrix<T const> a, Matrix<T const> b, Matrix<T> c);

/// c[s] = a[s] b[s] on a host, for small matrices that fit BLAS and have elements. c overlaps
/// neither factor. Compiled in src/linalg for the four types.
template <class T, class Exec>
void batched_product(Exec const& exec, Stack<T const> a, Stack<T const> b, Stack<T> c);

/// Whether blas_product() runs on the given instance, so that it can be recorded: always on hosts,
/// and on devices with Kokkos Kernels from version 3.6 on. Before, BLAS runs on the default
/// instance there.
template <class Exec>
bool blas_takes_instance();

/// The instance that a product runs on.
///
/// \throws PreconditionError while record() records, and on a Queue, if the BLAS in use takes the
///   default instance alone
template <class T, class Exec>
Exec product_instance(char const* what) {
  if constexpr (is_blas_type<T> && !runs_on_host<Exec>)
    if (!blas_takes_instance<Exec>()) return default_instance<Exec>(what);
  return instance<Exec>();
}

/// Matrices of a stack with fewer multiplications than this aren't worth a call of BLAS each.
template <class Exec>
inline constexpr std::int64_t small_product = runs_on_host<Exec> ? 32 * 32 * 32 : 128 * 128 * 128;

/// c[s] = a[s] b[s] for s < c.count. For BLAS types all matrices fit BLAS.
template <class Exec, class T>
void product(Exec const& exec, Stack<T const> a, Stack<T const> b, Stack<T> c) {
  if (c.count * c.first.rows * c.first.columns == 0) return;
  if (runs_on_host<Exec> && kept_launches) return launch_on_host([=] { product(exec, a, b, c); });
  if constexpr (!is_blas_type<T>) {
    plain_product(exec, a, b, c);
  } else {
    // Several matrices by the same one are a single product of a taller matrix.
    if (b.step == 0 && a.count == c.count && a.joins() && c.joins() && a.joined().fits_blas() &&
        c.joined().fits_blas()) {
      blas_product<T>(exec, a.joined(), b.first, c.joined());
    } else if (c.count > 1 &&
               c.first.rows * c.first.columns * a.first.columns < small_product<Exec>) {
      if constexpr (runs_on_host<Exec>)
        batched_product<T>(exec, a, b, c);
      else
        plain_product(exec, a, b, c);
    } else {
      for (std::int64_t s = 0; s < c.count; ++s) blas_product<T>(exec, a[s], b[s], c[s]);
    }
  }
}

}  // namespace coir::detail
