// LAPACK's algorithms on devices: by cuSOLVER and cuBLAS on NVIDIA's. What these lack, and all on
// other devices, is computed by LAPACK on copies in host memory.

#include "lapack_failures.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/stream.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#ifdef KOKKOS_ENABLE_CUDA
#include <cublas_v2.h>
#include <cusolverDn.h>
#endif

namespace coir::detail {

namespace {

using Exec = LapackDevice;
using Space = Exec::memory_space;

/// Numbers of a device, copied to the host and back.
template <class T>
class HostCopy {
 public:
  HostCopy(T* device, std::int64_t size) : device_(device), values_(Shape<1>{device ? size : 0}) {}

  T* load() {
    copy_bytes<Kokkos::HostSpace, Space>(values_.data(), device_, bytes());
    return data();
  }
  T* data() { return device_ ? values_.data() : nullptr; }
  void store() { copy_bytes<Space, Kokkos::HostSpace>(device_, values_.data(), bytes()); }

 private:
  std::int64_t bytes() const { return values_.size() * static_cast<std::int64_t>(sizeof(T)); }

  T* device_;
  Array<T, 1, Kokkos::HostSpace> values_;
};

template <class T>
void svd_on_host(std::int64_t stack, std::int64_t m, std::int64_t n, T* a, real_t<T>* s, T* u,
                 T* vh, bool full) {
  std::int64_t const k = std::min(m, n);
  HostCopy<T> matrices(a, stack * m * n), left(u, stack * m * (full ? m : k)),
      right(vh, stack * n * (full ? n : k));
  HostCopy<real_t<T>> values(s, stack * k);
  lapack_svd(LapackHost{}, stack, m, n, matrices.load(), values.data(), left.data(), right.data(),
             full);
  for (auto* const result : {&left, &right}) result->store();
  values.store();
}

}  // namespace

template <class T>
int lapack_least_squares(Exec const&, std::int64_t m, std::int64_t n, std::int64_t count, T* a,
                         T* b, real_t<T>* s, real_t<T> smallest) {
  HostCopy<T> matrix(a, m * n), sides(b, count * std::max(m, n));
  HostCopy<real_t<T>> values(s, std::min(m, n));
  int const rank = lapack_least_squares(LapackHost{}, m, n, count, matrix.load(), sides.load(),
                                        values.data(), smallest);
  sides.store();
  values.store();
  return rank;
}

#ifdef KOKKOS_ENABLE_CUDA

namespace {

/// Stacks of matrices up to this size are factorised together, larger ones one by one.
constexpr std::int64_t most_together = 128;

void check(int status, char const* call) {
  if (status == 0) return;
  std::string const text = std::string(call) + " failed with status " + std::to_string(status);
  static_assert(static_cast<int>(CUSOLVER_STATUS_ALLOC_FAILED) == 2 &&
                static_cast<int>(CUBLAS_STATUS_ALLOC_FAILED) == 3);
  if (status == CUSOLVER_STATUS_ALLOC_FAILED || status == CUBLAS_STATUS_ALLOC_FAILED)
    throw ResourceError(text + ": no memory on the device");
  throw EnvironmentError(text);
}

/// The handles of cuSOLVER and cuBLAS on an instance's stream, for one host thread at a time.
class Handles {
 public:
  explicit Handles(Exec const& exec) : lock_(mutex()) {
    make_device_current(exec);
    if (!solver_) {
      check(cusolverDnCreate(&solver_), "cusolverDnCreate");
      check(cublasCreate(&blas_), "cublasCreate");
      Kokkos::push_finalize_hook([] {
        cusolverDnDestroy(solver_);
        cublasDestroy(blas_);
      });
    }
    check(cusolverDnSetStream(solver_, stream_of(exec)), "cusolverDnSetStream");
    check(cublasSetStream(blas_, stream_of(exec)), "cublasSetStream");
  }

  cusolverDnHandle_t solver() const { return solver_; }
  cublasHandle_t blas() const { return blas_; }

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }

  std::lock_guard<std::mutex> lock_;
  static inline cusolverDnHandle_t solver_ = nullptr;
  static inline cublasHandle_t blas_ = nullptr;
};

float* native(float* x) { return x; }
double* native(double* x) { return x; }
cuComplex* native(Kokkos::complex<float>* x) { return reinterpret_cast<cuComplex*>(x); }
cuDoubleComplex* native(Kokkos::complex<double>* x) {
  return reinterpret_cast<cuDoubleComplex*>(x);
}
template <class T>
using Native = std::remove_pointer_t<decltype(native(static_cast<T*>(nullptr)))>;
template <class T>
Native<T>** native(T** x) {
  return reinterpret_cast<Native<T>**>(x);
}

// cuda_getrf(float()) is cuSOLVER's getrf for float; the others likewise.
#define COIR_SOLVER(name, letter, function, T) \
  inline constexpr auto name(T) { return cusolverDn##letter##function; }
#define COIR_SOLVERS(name, of_real, of_complex)            \
  COIR_SOLVER(name, S, of_real, float)                     \
  COIR_SOLVER(name, D, of_real, double)                    \
  COIR_SOLVER(name, C, of_complex, Kokkos::complex<float>) \
  COIR_SOLVER(name, Z, of_complex, Kokkos::complex<double>)
COIR_SOLVERS(cuda_getrf, getrf, getrf)
COIR_SOLVERS(cuda_getrf_size, getrf_bufferSize, getrf_bufferSize)
COIR_SOLVERS(cuda_getrs, getrs, getrs)
COIR_SOLVERS(cuda_potrf, potrf, potrf)
COIR_SOLVERS(cuda_potrf_size, potrf_bufferSize, potrf_bufferSize)
COIR_SOLVERS(cuda_potrf_batched, potrfBatched, potrfBatched)
COIR_SOLVERS(cuda_syevd, syevd, heevd)
COIR_SOLVERS(cuda_syevd_size, syevd_bufferSize, heevd_bufferSize)
COIR_SOLVERS(cuda_geqrf, geqrf, geqrf)
COIR_SOLVERS(cuda_geqrf_size, geqrf_bufferSize, geqrf_bufferSize)
COIR_SOLVERS(cuda_orgqr, orgqr, ungqr)
COIR_SOLVERS(cuda_orgqr_size, orgqr_bufferSize, ungqr_bufferSize)
COIR_SOLVERS(cuda_gesvdj, gesvdj, gesvdj)
COIR_SOLVERS(cuda_gesvdj_size, gesvdj_bufferSize, gesvdj_bufferSize)
#undef COIR_SOLVERS
#undef COIR_SOLVER
#define COIR_BLAS(name, letter, function, T) \
  inline constexpr auto name(T) { return cublas##letter##function; }
#define COIR_BLASES(name, function)                    \
  COIR_BLAS(name, S, function, float)                  \
  COIR_BLAS(name, D, function, double)                 \
  COIR_BLAS(name, C, function, Kokkos::complex<float>) \
  COIR_BLAS(name, Z, function, Kokkos::complex<double>)
COIR_BLASES(cuda_getrf_batched, getrfBatched)
COIR_BLASES(cuda_getrs_batched, getrsBatched)
COIR_BLASES(cuda_trsm, trsm)
#undef COIR_BLASES
#undef COIR_BLAS

int cuda_extent(std::int64_t n) {
  expects(n <= std::numeric_limits<int>::max(),
          "cuSOLVER takes stacks of at most 2^31 - 1 matrices, rows and columns", n);
  return static_cast<int>(n);
}

template <class T>
Array<T, 1, Space> workspace(std::int64_t size) {
  return Array<T, 1, Space>(Shape<1>{std::max<std::int64_t>(size, 1)});
}

/// The first failure among the infos of a stack, in the device's memory. Waits.
Failure failure_of(Array<int, 1, Space> const& infos) {
  auto const host = to_host(infos);
  for (std::int64_t s = 0; s < host.size(); ++s)
    if (host.data()[s] != 0) return {s, host.data()[s]};
  return {};
}

/// Where each matrix of a stack begins.
template <class T>
struct Begin {
  T* first;
  std::int64_t step;
  T** result;
  KOKKOS_FUNCTION void operator()(std::int64_t s) const { result[s] = first + s * step; }
};

/// Pointers to the matrices of a stack, in the device's memory.
template <class T>
class Pointers {
 public:
  Pointers(Exec const& exec, T* first, std::int64_t stack, std::int64_t step)
      : values_(workspace<std::int64_t>(stack)) {
    static_assert(sizeof(T*) == sizeof(std::int64_t));
    for_each("coir::linalg::lapack_device/pointers", exec, box<1, std::int64_t>({stack}),
             Begin<T>{first, step, get()});
  }
  T** get() { return reinterpret_cast<T**>(values_.data()); }

 private:
  Array<std::int64_t, 1, Space> values_;
};

/// LU factors of the transposes of a stack of matrices, which LAPACK sees. They take the
/// matrices' place.
template <class T>
class Lu {
 public:
  /// \param pivots  (stack, n), rows that were exchanged, counted from 1
  Lu(Exec const& exec, std::int64_t stack, std::int64_t n, T* a, int* pivots)
      : exec_(exec),
        handles_(exec),
        stack_(cuda_extent(stack)),
        n_(cuda_extent(n)),
        a_(a),
        pivots_(pivots),
        together_(stack > 1 && n <= most_together) {}

  /// The info of each matrix: 0, or the number of a pivot that is 0.
  Array<int, 1, Space> factor() {
    auto infos = workspace<int>(stack_);
    std::int64_t const square = static_cast<std::int64_t>(n_) * n_;
    if (together_) {
      Pointers<T> matrices(exec_, a_, stack_, square);
      check(cuda_getrf_batched(T())(handles_.blas(), n_, native(matrices.get()), n_, pivots_,
                                    infos.data(), stack_),
            "getrfBatched");
      exec_.fence("coir::linalg: pointers are in use");
      return infos;
    }
    int size = 0;
    check(cuda_getrf_size(T())(handles_.solver(), n_, n_, native(a_), n_, &size),
          "getrf_bufferSize");
    auto work = workspace<T>(size);
    for (std::int64_t s = 0; s < stack_; ++s)
      check(cuda_getrf(T())(handles_.solver(), n_, n_, native(a_ + s * square), n_,
                            native(work.data()), pivots_ + s * n_, infos.data() + s),
            "getrf");
    exec_.fence("coir::linalg: the workspace is in use");
    return infos;
  }

  /// The x with a x = b, or a^T x = b as LAPACK sees it, takes the place of the columns of b,
  /// which are (count, n) in C order.
  void solve(cublasOperation_t operation, int count, T* b) {
    std::int64_t const step = static_cast<std::int64_t>(count) * n_;
    std::int64_t const square = static_cast<std::int64_t>(n_) * n_;
    if (together_) {
      Pointers<T> matrices(exec_, a_, stack_, square), sides(exec_, b, stack_, step);
      int info = 0;
      check(cuda_getrs_batched(T())(handles_.blas(), operation, n_, count, native(matrices.get()),
                                    n_, pivots_, native(sides.get()), n_, &info, stack_),
            "getrsBatched");
    } else {
      auto info = workspace<int>(1);
      for (std::int64_t s = 0; s < stack_; ++s)
        check(cuda_getrs(T())(handles_.solver(), operation, n_, count, native(a_ + s * square), n_,
                              pivots_ + s * n_, native(b + s * step), n_, info.data()),
              "getrs");
    }
    exec_.fence("coir::linalg: the factors are in use");
  }

 private:
  Exec exec_;
  Handles handles_;
  int stack_, n_;
  T* a_;
  int* pivots_;
  bool together_;
};

/// 1 on the diagonals of a stack of matrices, and 0 elsewhere.
template <class T>
struct SetIdentity {
  T* a;
  std::int64_t n;
  KOKKOS_FUNCTION void operator()(std::int64_t s, std::int64_t i, std::int64_t j) const {
    a[(s * n + i) * n + j] = T(i == j ? 1 : 0);
  }
};

/// The product of the pivots of each matrix.
template <class T>
struct Determinant {
  T const* factors;
  int const* pivots;
  int const* infos;
  std::int64_t n;
  T* result;
  KOKKOS_FUNCTION void operator()(std::int64_t s) const {
    T product(infos[s] > 0 ? 0 : 1);
    for (std::int64_t i = 0; i < n && infos[s] == 0; ++i) {
      product *= factors[(s * n + i) * n + i];
      if (pivots[s * n + i] != i + 1) product = -product;
    }
    result[s] = product;
  }
};

/// Sets what is above the diagonals of a stack of matrices to 0.
template <class T>
struct ClearUpper {
  T* a;
  std::int64_t n;
  KOKKOS_FUNCTION void operator()(std::int64_t s, std::int64_t i, std::int64_t j) const {
    if (j > i) a[(s * n + i) * n + j] = T(0);
  }
};

/// to[j, i] = from[i, j]. With `upper` what is below the diagonal of `to` becomes 0.
template <class T>
struct Transpose {
  T const* from;
  std::int64_t from_width;
  T* to;
  std::int64_t to_width;
  bool upper;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j) const {
    to[j * to_width + i] = upper && j > i ? T(0) : from[i * from_width + j];
  }
};

/// to[j, i] = the conjugate of from[i, j].
template <class T>
struct Adjoint {
  T const* from;
  std::int64_t from_width;
  T* to;
  std::int64_t to_width;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j) const {
    if constexpr (is_complex<T>)
      to[j * to_width + i] = Kokkos::conj(from[i * from_width + j]);
    else
      to[j * to_width + i] = from[i * from_width + j];
  }
};

/// The settings of Jacobi's method for singular values.
class JacobiSettings {
 public:
  JacobiSettings() { check(cusolverDnCreateGesvdjInfo(&info_), "cusolverDnCreateGesvdjInfo"); }
  ~JacobiSettings() { cusolverDnDestroyGesvdjInfo(info_); }
  JacobiSettings(JacobiSettings const&) = delete;
  gesvdjInfo_t get() const { return info_; }

 private:
  gesvdjInfo_t info_ = nullptr;
};

/// Calls body(s, i, j) for the elements of a stack of square matrices.
template <class Body>
void for_elements(Exec const& exec, std::int64_t stack, std::int64_t n, Body const& body) {
  for_each("coir::linalg::lapack_device", exec, box<3, std::int64_t>({stack, n, n}), body);
}

}  // namespace

template <class T>
void lapack_solve(Exec const& exec, std::int64_t stack, std::int64_t n, std::int64_t count, T* a,
                  T* b) {
  if (n == 0 || count == 0 || stack == 0) return;
  auto pivots = workspace<int>(stack * n);
  Lu<T> lu(exec, stack, n, a, pivots.data());
  expects_regular(failure_of(lu.factor()), stack);
  lu.solve(CUBLAS_OP_T, cuda_extent(count), b);
}

template <class T>
void lapack_factor(Exec const& exec, std::int64_t stack, std::int64_t n, T* a, int* pivots) {
  if (n == 0 || stack == 0) return;
  expects_regular(failure_of(Lu<T>(exec, stack, n, a, pivots).factor()), stack);
}

template <class T>
void lapack_solve_by_factors(Exec const& exec, std::int64_t stack, std::int64_t n,
                             std::int64_t count, T const* factors, int const* pivots,
                             bool transposed, T* b) {
  if (n == 0 || count == 0 || stack == 0) return;
  // cuBLAS takes pointers to what it doesn't write.
  Lu<T> lu(exec, stack, n, const_cast<T*>(factors), const_cast<int*>(pivots));
  lu.solve(transposed ? CUBLAS_OP_N : CUBLAS_OP_T, cuda_extent(count), b);
}

template <class T>
void lapack_inverse(Exec const& exec, std::int64_t stack, std::int64_t n, T* a) {
  if (n == 0 || stack == 0) return;
  auto factors = workspace<T>(stack * n * n);
  copy_bytes<Space, Space>(exec, factors.data(), a,
                           stack * n * n * static_cast<std::int64_t>(sizeof(T)));
  auto pivots = workspace<int>(stack * n);
  Lu<T> lu(exec, stack, n, factors.data(), pivots.data());
  expects_regular(failure_of(lu.factor()), stack);
  for_elements(exec, stack, n, SetIdentity<T>{a, n});
  lu.solve(CUBLAS_OP_N, cuda_extent(n), a);
}

template <class T>
void lapack_determinant(Exec const& exec, std::int64_t stack, std::int64_t n, T* a, T* result) {
  if (stack == 0) return;
  if (n == 0) {
    std::fill(result, result + stack, T(1));
    return;
  }
  auto pivots = workspace<int>(stack * n);
  auto const infos = Lu<T>(exec, stack, n, a, pivots.data()).factor();
  auto found = workspace<T>(stack);
  for_each("coir::linalg::lapack_device/determinant", exec, box<1, std::int64_t>({stack}),
           Determinant<T>{a, pivots.data(), infos.data(), n, found.data()});
  copy_bytes<Kokkos::HostSpace, Space>(result, found.data(),
                                       stack * static_cast<std::int64_t>(sizeof(T)));
}

template <class T>
void lapack_between_inverses(Exec const& exec, std::int64_t stack, std::int64_t n, T* factor,
                             T* a) {
  if (n == 0 || stack == 0) return;
  Handles const handles(exec);
  int const side = cuda_extent(n);
  T one(1);
  for (std::int64_t s = 0; s < stack; ++s) {
    auto* const upper = native(factor + s * n * n);  // for cuBLAS, which sees transposes
    auto* const matrix = native(a + s * n * n);
    check(cuda_trsm(T())(handles.blas(), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N,
                         CUBLAS_DIAG_NON_UNIT, side, side, native(&one), upper, side, matrix, side),
          "trsm");
    check(cuda_trsm(T())(handles.blas(), CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T,
                         CUBLAS_DIAG_NON_UNIT, side, side, native(&one), upper, side, matrix, side),
          "trsm");
  }
}

template <class T>
void lapack_cholesky(Exec const& exec, std::int64_t stack, std::int64_t n, T* a) {
  if (n == 0 || stack == 0) return;
  Handles const handles(exec);
  int const side = cuda_extent(n), count = cuda_extent(stack);
  auto infos = workspace<int>(stack);
  // Upper for cuSOLVER, which sees the transposes.
  if (stack > 1 && n <= most_together) {
    Pointers<T> matrices(exec, a, stack, n * n);
    check(cuda_potrf_batched(T())(handles.solver(), CUBLAS_FILL_MODE_UPPER, side,
                                  native(matrices.get()), side, infos.data(), count),
          "potrfBatched");
    exec.fence("coir::linalg: pointers are in use");
  } else {
    int size = 0;
    check(cuda_potrf_size(T())(handles.solver(), CUBLAS_FILL_MODE_UPPER, side, native(a), side,
                               &size),
          "potrf_bufferSize");
    auto work = workspace<T>(size);
    for (std::int64_t s = 0; s < stack; ++s)
      check(cuda_potrf(T())(handles.solver(), CUBLAS_FILL_MODE_UPPER, side, native(a + s * n * n),
                            side, native(work.data()), size, infos.data() + s),
            "potrf");
    exec.fence("coir::linalg: the workspace is in use");
  }
  for_elements(exec, stack, n, ClearUpper<T>{a, n});
  expects_positive_definite(failure_of(infos), stack);
}

template <class T>
void lapack_eigh(Exec const& exec, std::int64_t stack, std::int64_t n, T* a, real_t<T>* values,
                 bool vectors) {
  if (n == 0 || stack == 0) return;
  Handles const handles(exec);
  int const side = cuda_extent(n);
  auto const job = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  auto infos = workspace<int>(stack);
  int size = 0;
  check(cuda_syevd_size(T())(handles.solver(), job, CUBLAS_FILL_MODE_UPPER, side, native(a), side,
                             values, &size),
        "syevd_bufferSize");
  auto work = workspace<T>(size);
  for (std::int64_t s = 0; s < stack; ++s)
    check(
        cuda_syevd(T())(handles.solver(), job, CUBLAS_FILL_MODE_UPPER, side, native(a + s * n * n),
                        side, values + s * n, native(work.data()), size, infos.data() + s),
        "syevd");
  expects_reached(failure_of(infos), "the eigenvalues didn't converge");
}

template <class T>
void lapack_qr(Exec const& exec, std::int64_t stack, std::int64_t m, std::int64_t n, T* a, T* q,
               T* r) {
  std::int64_t const k = std::min(m, n);
  if (k == 0 || stack == 0) return;
  Handles const handles(exec);
  int const rows = cuda_extent(m), columns = cuda_extent(n), least = cuda_extent(k);
  auto info = workspace<int>(1);
  auto tau = workspace<T>(k), matrix = workspace<T>(m * n);
  int factorise = 0, generate = 0;
  check(cuda_geqrf_size(T())(handles.solver(), rows, columns, native(a), rows, &factorise),
        "geqrf_bufferSize");
  check(cuda_orgqr_size(T())(handles.solver(), rows, least, least, native(a), rows,
                             native(tau.data()), &generate),
        "orgqr_bufferSize");
  int const size = std::max(factorise, generate);
  auto work = workspace<T>(size);
  auto const transpose = [&](T const* from, std::int64_t height, std::int64_t width,
                             std::int64_t used, T* to, std::int64_t to_width, bool upper) {
    for_each("coir::linalg::lapack_device/transpose", exec, box<2, std::int64_t>({height, used}),
             Transpose<T>{from, width, to, to_width, upper});
  };
  for (std::int64_t s = 0; s < stack; ++s) {
    // cuSOLVER sees (n, m) in C order as an (m, n) matrix.
    transpose(a + s * m * n, m, n, n, matrix.data(), m, false);
    check(cuda_geqrf(T())(handles.solver(), rows, columns, native(matrix.data()), rows,
                          native(tau.data()), native(work.data()), size, info.data()),
          "geqrf");
    transpose(matrix.data(), n, m, k, r + s * k * n, n, true);
    check(cuda_orgqr(T())(handles.solver(), rows, least, least, native(matrix.data()), rows,
                          native(tau.data()), native(work.data()), size, info.data()),
          "orgqr");
    transpose(matrix.data(), k, m, m, q + s * m * k, k, false);
  }
  exec.fence("coir::linalg: the workspace is in use");
}

/// Jacobi's method. Small matrices are faster on the host, whose threads share a stack.
template <class T>
void lapack_svd(Exec const& exec, std::int64_t stack, std::int64_t m, std::int64_t n, T* a,
                real_t<T>* s, T* u, T* vh, bool full) {
  std::int64_t const k = std::min(m, n);
  if (stack == 0 || k == 0 || std::max(m, n) <= most_together) {
    svd_on_host(stack, m, n, a, s, u, vh, full);
    return;
  }
  Handles const handles(exec);
  JacobiSettings const settings;
  bool const vectors = u != nullptr;
  auto const job = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  // cuSOLVER reads a as its transpose: its left vectors are vh, and the right ones u^H, transposed.
  int const rows = cuda_extent(n), columns = cuda_extent(m), economic = full ? 0 : 1;
  std::int64_t const rights = full ? m : k, lefts = full ? n : k;
  auto right = workspace<T>(vectors ? m * rights : 0);
  auto infos = workspace<int>(stack);
  int size = 0;
  check(
      cuda_gesvdj_size(T())(handles.solver(), job, economic, rows, columns, native(a), rows, s,
                            native(vh), rows, native(right.data()), columns, &size, settings.get()),
      "gesvdj_bufferSize");
  auto work = workspace<T>(size);
  for (std::int64_t i = 0; i < stack; ++i) {
    check(cuda_gesvdj(T())(handles.solver(), job, economic, rows, columns, native(a + i * m * n),
                           rows, s + i * k, native(vectors ? vh + i * lefts * n : vh), rows,
                           native(right.data()), columns, native(work.data()), size,
                           infos.data() + i, settings.get()),
          "gesvdj");
    if (vectors)
      for_each("coir::linalg::lapack_device/adjoint", exec, box<2, std::int64_t>({rights, m}),
               Adjoint<T>{right.data(), m, u + i * m * rights, rights});
  }
  expects_reached(failure_of(infos), "the singular values didn't converge");
}

#else

template <class T>
void lapack_svd(Exec const&, std::int64_t stack, std::int64_t m, std::int64_t n, T* a, real_t<T>* s,
                T* u, T* vh, bool full) {
  svd_on_host(stack, m, n, a, s, u, vh, full);
}

template <class T>
void lapack_solve(Exec const&, std::int64_t stack, std::int64_t n, std::int64_t count, T* a, T* b) {
  HostCopy<T> matrices(a, stack * n * n), sides(b, stack * count * n);
  lapack_solve(LapackHost{}, stack, n, count, matrices.load(), sides.load());
  sides.store();
}

template <class T>
void lapack_factor(Exec const&, std::int64_t stack, std::int64_t n, T* a, int* pivots) {
  HostCopy<T> matrices(a, stack * n * n);
  HostCopy<int> rows(pivots, stack * n);
  lapack_factor(LapackHost{}, stack, n, matrices.load(), rows.data());
  matrices.store();
  rows.store();
}

template <class T>
void lapack_solve_by_factors(Exec const&, std::int64_t stack, std::int64_t n, std::int64_t count,
                             T const* factors, int const* pivots, bool transposed, T* b) {
  HostCopy<T> matrices(const_cast<T*>(factors), stack * n * n), sides(b, stack * count * n);
  HostCopy<int> rows(const_cast<int*>(pivots), stack * n);
  lapack_solve_by_factors(LapackHost{}, stack, n, count, matrices.load(), rows.load(), transposed,
                          sides.load());
  sides.store();
}

template <class T>
void lapack_inverse(Exec const&, std::int64_t stack, std::int64_t n, T* a) {
  HostCopy<T> matrices(a, stack * n * n);
  lapack_inverse(LapackHost{}, stack, n, matrices.load());
  matrices.store();
}

template <class T>
void lapack_determinant(Exec const&, std::int64_t stack, std::int64_t n, T* a, T* result) {
  HostCopy<T> matrices(a, stack * n * n);
  lapack_determinant(LapackHost{}, stack, n, matrices.load(), result);
}

template <class T>
void lapack_cholesky(Exec const&, std::int64_t stack, std::int64_t n, T* a) {
  HostCopy<T> matrices(a, stack * n * n);
  lapack_cholesky(LapackHost{}, stack, n, matrices.load());
  matrices.store();
}

template <class T>
void lapack_between_inverses(Exec const&, std::int64_t stack, std::int64_t n, T* factor, T* a) {
  HostCopy<T> factors(factor, stack * n * n), matrices(a, stack * n * n);
  lapack_between_inverses(LapackHost{}, stack, n, factors.load(), matrices.load());
  matrices.store();
}

template <class T>
void lapack_eigh(Exec const&, std::int64_t stack, std::int64_t n, T* a, real_t<T>* values,
                 bool vectors) {
  HostCopy<T> matrices(a, stack * n * n);
  HostCopy<real_t<T>> found(values, stack * n);
  lapack_eigh(LapackHost{}, stack, n, matrices.load(), found.data(), vectors);
  matrices.store();
  found.store();
}

template <class T>
void lapack_qr(Exec const&, std::int64_t stack, std::int64_t m, std::int64_t n, T* a, T* q, T* r) {
  std::int64_t const k = std::min(m, n);
  HostCopy<T> matrices(a, stack * m * n), left(q, stack * m * k), right(r, stack * k * n);
  lapack_qr(LapackHost{}, stack, m, n, matrices.load(), left.data(), right.data());
  left.store();
  right.store();
}

#endif

#define COIR_INSTANTIATE(T) COIR_INSTANTIATE_LAPACK(Exec, T)
COIR_INSTANTIATE(float)
COIR_INSTANTIATE(double)
COIR_INSTANTIATE(Kokkos::complex<float>)
COIR_INSTANTIATE(Kokkos::complex<double>)
#undef COIR_INSTANTIATE

}  // namespace coir::detail
