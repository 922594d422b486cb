#include <coir/linalg/detail/lapack.hpp>

#include <algorithm>
#include <limits>
#include <vector>

// LAPACK's functions, in Fortran's calling convention: its real ones, and what differs for complex
// numbers.
#define COIR_DECLARE_LAPACK(letter, T, R)                                                        \
  extern "C" {                                                                                   \
  void letter##getrf_(int const*, int const*, T*, int const*, int*, int*);                       \
  void letter##getrs_(char const*, int const*, int const*, T const*, int const*, int const*, T*, \
                      int const*, int*);                                                         \
  void letter##getri_(int const*, T*, int const*, int const*, T*, int const*, int*);             \
  void letter##potrf_(char const*, int const*, T*, int const*, int*);                            \
  void letter##gelqf_(int const*, int const*, T*, int const*, T*, T*, int const*, int*);         \
  }                                                                                              \
  namespace coir::detail {                                                                       \
  inline constexpr auto getrf_of(T) { return letter##getrf_; }                                   \
  inline constexpr auto getrs_of(T) { return letter##getrs_; }                                   \
  inline constexpr auto getri_of(T) { return letter##getri_; }                                   \
  inline constexpr auto potrf_of(T) { return letter##potrf_; }                                   \
  inline constexpr auto gelqf_of(T) { return letter##gelqf_; }                                   \
  }
#define COIR_DECLARE_REAL(letter, T)                                                               \
  COIR_DECLARE_LAPACK(letter, T, T)                                                                \
  extern "C" {                                                                                     \
  void letter##orglq_(int const*, int const*, int const*, T*, int const*, T const*, T*,            \
                      int const*, int*);                                                           \
  void letter##syevd_(char const*, char const*, int const*, T*, int const*, T*, T*, int const*,    \
                      int*, int const*, int*);                                                     \
  void letter##gesdd_(char const*, int const*, int const*, T*, int const*, T*, T*, int const*, T*, \
                      int const*, T*, int const*, int*, int*);                                     \
  void letter##gelsd_(int const*, int const*, int const*, T*, int const*, T*, int const*, T*,      \
                      T const*, int*, T*, int const*, int*, int*);                                 \
  }                                                                                                \
  namespace coir::detail {                                                                         \
  inline constexpr auto unglq_of(T) { return letter##orglq_; }                                     \
  inline constexpr auto heevd_of(T) { return letter##syevd_; }                                     \
  inline constexpr auto gesdd_of(T) { return letter##gesdd_; }                                     \
  inline constexpr auto gelsd_of(T) { return letter##gelsd_; }                                     \
  }
#define COIR_DECLARE_COMPLEX(letter, R)                                                          \
  COIR_DECLARE_LAPACK(letter, Kokkos::complex<R>, R)                                             \
  extern "C" {                                                                                   \
  void letter##unglq_(int const*, int const*, int const*, Kokkos::complex<R>*, int const*,       \
                      Kokkos::complex<R> const*, Kokkos::complex<R>*, int const*, int*);         \
  void letter##heevd_(char const*, char const*, int const*, Kokkos::complex<R>*, int const*, R*, \
                      Kokkos::complex<R>*, int const*, R*, int const*, int*, int const*, int*);  \
  void letter##gesdd_(char const*, int const*, int const*, Kokkos::complex<R>*, int const*, R*,  \
                      Kokkos::complex<R>*, int const*, Kokkos::complex<R>*, int const*,          \
                      Kokkos::complex<R>*, int const*, R*, int*, int*);                          \
  void letter##gelsd_(int const*, int const*, int const*, Kokkos::complex<R>*, int const*,       \
                      Kokkos::complex<R>*, int const*, R*, R const*, int*, Kokkos::complex<R>*,  \
                      int const*, R*, int*, int*);                                               \
  }                                                                                              \
  namespace coir::detail {                                                                       \
  inline constexpr auto unglq_of(Kokkos::complex<R>) { return letter##unglq_; }                  \
  inline constexpr auto heevd_of(Kokkos::complex<R>) { return letter##heevd_; }                  \
  inline constexpr auto gesdd_of(Kokkos::complex<R>) { return letter##gesdd_; }                  \
  inline constexpr auto gelsd_of(Kokkos::complex<R>) { return letter##gelsd_; }                  \
  }
COIR_DECLARE_REAL(s, float)
COIR_DECLARE_REAL(d, double)
COIR_DECLARE_COMPLEX(c, float)
COIR_DECLARE_COMPLEX(z, double)
#undef COIR_DECLARE_LAPACK
#undef COIR_DECLARE_REAL
#undef COIR_DECLARE_COMPLEX

namespace coir::detail {

namespace {

/// An extent as LAPACK takes it.
int extent(std::int64_t n) {
  expects(n <= std::numeric_limits<int>::max(),
          "LAPACK takes matrices of at most 2^31 - 1 rows and columns", n);
  return static_cast<int>(n);
}
/// A leading dimension: at least 1, also of an empty matrix.
int leading(int n) { return std::max(n, 1); }

/// The length of a workspace, as LAPACK answered.
template <class T>
int length(T const& answer) {
  if constexpr (is_complex<T>)
    return length(answer.real());
  else  // a float may have been rounded down
    return static_cast<int>(static_cast<double>(answer) * (1 + std::numeric_limits<T>::epsilon()));
}

template <class T>
std::vector<T> workspace(int length) {
  return std::vector<T>(static_cast<std::size_t>(std::max(length, 1)));
}

/// LAPACK's info is -i if its argument i, counted from 1, is wrong.
void expects_reached(int info, char const* what) {
  if (info != 0)
    throw NumericalError(std::string(what) + " (LAPACK's info is " + std::to_string(info) + ")");
}

/// The LU factors of a, and the rows that were exchanged. Returns 0, or the number of a pivot that
/// is 0, counted from 1.
template <class T>
int factorise(int n, T* a, std::vector<int>& pivots) {
  pivots.resize(static_cast<std::size_t>(leading(n)));
  int const lda = leading(n);
  int info = 0;
  getrf_of(T())(&n, &n, a, &lda, pivots.data(), &info);
  return info;
}

void expects_regular(int info) {
  if (info > 0)
    throw NumericalError("the matrix is singular: pivot " + std::to_string(info - 1) +
                         " of its LU factors is 0");
}

}  // namespace

template <class T>
void lapack_solve(std::int64_t size, std::int64_t columns, T* a, T* b) {
  int const n = extent(size), count = extent(columns), lda = leading(n);
  if (n == 0 || count == 0) return;
  std::vector<int> pivots;
  int info = 0;
  expects_regular(factorise(n, a, pivots));
  getrs_of(T())("T", &n, &count, a, &lda, pivots.data(), b, &lda, &info);
  expects_reached(info, "the system wasn't solved");
}

template <class T>
void lapack_inverse(std::int64_t size, T* a) {
  int const n = extent(size), lda = leading(n), ask = -1;
  if (n == 0) return;
  std::vector<int> pivots;
  int info = 0;
  expects_regular(factorise(n, a, pivots));
  T answer(0);
  getri_of(T())(&n, a, &lda, pivots.data(), &answer, &ask, &info);
  int const lwork = length(answer);
  auto work = workspace<T>(lwork);
  getri_of(T())(&n, a, &lda, pivots.data(), work.data(), &lwork, &info);
  expects_regular(info);
}

template <class T>
T lapack_determinant(std::int64_t size, T* a) {
  int const n = extent(size);
  T result(1);
  std::vector<int> pivots;
  if (n == 0) return result;
  if (factorise(n, a, pivots) > 0) return T(0);
  for (int i = 0; i < n; ++i) {
    result *= a[static_cast<std::int64_t>(i) * (n + 1)];
    if (pivots[static_cast<std::size_t>(i)] != i + 1) result = -result;
  }
  return result;
}

template <class T>
void lapack_cholesky(std::int64_t size, T* a) {
  int const n = extent(size), lda = leading(n);
  if (n == 0) return;
  int info = 0;
  potrf_of(T())("U", &n, a, &lda, &info);  // upper for LAPACK, which sees the transpose
  if (info > 0)
    throw NumericalError("the matrix isn't positive definite: its first " + std::to_string(info) +
                         (info == 1 ? " row and column" : " rows and columns") +
                         " have no positive determinant");
  for (std::int64_t i = 0; i < size; ++i) std::fill(a + i * size + i + 1, a + (i + 1) * size, T(0));
}

template <class T>
void lapack_eigh(std::int64_t size, T* a, real_t<T>* values, bool vectors) {
  using R = real_t<T>;
  int const n = extent(size), lda = leading(n);
  if (n == 0) return;
  char const* const job = vectors ? "V" : "N";
  int info = 0;
  auto const call = [&](T* work, int lwork, R* rwork, int lrwork, int* iwork, int liwork) {
    if constexpr (is_complex<T>)
      heevd_of(T())(job, "U", &n, a, &lda, values, work, &lwork, rwork, &lrwork, iwork, &liwork,
                    &info);
    else
      heevd_of(T())(job, "U", &n, a, &lda, values, work, &lwork, iwork, &liwork, &info);
  };
  T answer(0);
  R real_answer(0);
  int whole_answer = 0;
  call(&answer, -1, &real_answer, -1, &whole_answer, -1);
  int const lwork = length(answer), lrwork = length(real_answer);
  auto work = workspace<T>(lwork);
  auto rwork = workspace<R>(lrwork);
  auto iwork = workspace<int>(whole_answer);
  call(work.data(), lwork, rwork.data(), lrwork, iwork.data(), whole_answer);
  expects_reached(info, "the eigenvalues didn't converge");
}

template <class T>
void lapack_svd(std::int64_t rows, std::int64_t columns, T* a, real_t<T>* s, T* u, T* vh,
                bool full) {
  using R = real_t<T>;
  // LAPACK reads row-major a as its transpose. So it returns the transposes of vh and u in the
  // places of u and vh.
  int const m = extent(columns), n = extent(rows);
  int const least = std::min(m, n), most = std::max(m, n);
  if (least == 0) {  // no singular values: any orthonormal rows will do
    auto const set_identity = [full](T* matrix, int side) {
      if (matrix == nullptr || !full) return;
      for (std::int64_t i = 0; i < side; ++i)
        for (std::int64_t j = 0; j < side; ++j) matrix[i * side + j] = T(i == j ? 1 : 0);
    };
    set_identity(vh, m);
    set_identity(u, n);
    return;
  }
  char const* const job = u == nullptr ? "N" : full ? "A" : "S";
  int const lda = m, ldu = m, ldvt = full ? n : least;
  auto rwork =
      workspace<R>(is_complex<T> ? least * std::max(5 * least + 7, 2 * (most + least) + 1) : 1);
  auto iwork = workspace<int>(8 * least);
  int info = 0;
  auto const call = [&](T* work, int lwork) {
    if constexpr (is_complex<T>)
      gesdd_of(T())(job, &m, &n, a, &lda, s, vh, &ldu, u, &ldvt, work, &lwork, rwork.data(),
                    iwork.data(), &info);
    else
      gesdd_of(T())(job, &m, &n, a, &lda, s, vh, &ldu, u, &ldvt, work, &lwork, iwork.data(), &info);
  };
  T answer(0);
  call(&answer, -1);
  int const lwork = length(answer);
  auto work = workspace<T>(lwork);
  call(work.data(), lwork);
  expects_reached(info, "the singular values didn't converge");
}

template <class T>
void lapack_qr(std::int64_t rows, std::int64_t columns, T* a, T* q, T* r) {
  // The transpose, which LAPACK sees, is l p with orthonormal rows of p: a = p^T l^T.
  int const m = extent(columns), n = extent(rows), lda = leading(m), ask = -1;
  int const k = std::min(m, n);
  if (k == 0) return;
  auto tau = workspace<T>(k);
  int info = 0;
  T answer(0);
  gelqf_of(T())(&m, &n, a, &lda, tau.data(), &answer, &ask, &info);
  int lwork = length(answer);
  auto work = workspace<T>(lwork);
  gelqf_of(T())(&m, &n, a, &lda, tau.data(), work.data(), &lwork, &info);
  expects_reached(info, "the matrix wasn't decomposed");
  for (std::int64_t j = 0; j < k; ++j)
    for (std::int64_t i = 0; i < m; ++i) r[j * m + i] = i < j ? T(0) : a[j * m + i];
  unglq_of(T())(&k, &n, &k, a, &lda, tau.data(), &answer, &ask, &info);
  lwork = length(answer);
  work.resize(static_cast<std::size_t>(lwork));
  unglq_of(T())(&k, &n, &k, a, &lda, tau.data(), work.data(), &lwork, &info);
  expects_reached(info, "the matrix wasn't decomposed");
  for (std::int64_t j = 0; j < n; ++j) std::copy(a + j * m, a + j * m + k, q + j * k);
}

template <class T>
int lapack_least_squares(std::int64_t rows, std::int64_t columns, std::int64_t sides, T* a, T* b,
                         real_t<T>* s, real_t<T> smallest) {
  using R = real_t<T>;
  int const m = extent(rows), n = extent(columns), count = extent(sides);
  int const lda = leading(m), ldb = leading(std::max(m, n));
  if (m == 0 || n == 0) {
    std::fill(b, b + sides * std::max(rows, columns), T(0));
    return 0;
  }
  int rank = 0, info = 0;
  auto const call = [&](T* work, int lwork, R* rwork, int* iwork) {
    if constexpr (is_complex<T>)
      gelsd_of(T())(&m, &n, &count, a, &lda, b, &ldb, s, &smallest, &rank, work, &lwork, rwork,
                    iwork, &info);
    else
      gelsd_of(T())(&m, &n, &count, a, &lda, b, &ldb, s, &smallest, &rank, work, &lwork, iwork,
                    &info);
  };
  T answer(0);
  R real_answer(0);
  int whole_answer = 0;
  call(&answer, -1, &real_answer, &whole_answer);
  int const lwork = length(answer);
  auto work = workspace<T>(lwork);
  auto rwork = workspace<R>(length(real_answer));
  auto iwork = workspace<int>(whole_answer);
  call(work.data(), lwork, rwork.data(), iwork.data());
  expects_reached(info, "the singular values didn't converge");
  return rank;
}

#define COIR_INSTANTIATE(T)                                                              \
  template void lapack_solve<T>(std::int64_t, std::int64_t, T*, T*);                     \
  template void lapack_inverse<T>(std::int64_t, T*);                                     \
  template T lapack_determinant<T>(std::int64_t, T*);                                    \
  template void lapack_cholesky<T>(std::int64_t, T*);                                    \
  template void lapack_eigh<T>(std::int64_t, T*, real_t<T>*, bool);                      \
  template void lapack_svd<T>(std::int64_t, std::int64_t, T*, real_t<T>*, T*, T*, bool); \
  template void lapack_qr<T>(std::int64_t, std::int64_t, T*, T*, T*);                    \
  template int lapack_least_squares<T>(std::int64_t, std::int64_t, std::int64_t, T*, T*, \
                                       real_t<T>*, real_t<T>);
COIR_INSTANTIATE(float)
COIR_INSTANTIATE(double)
COIR_INSTANTIATE(Kokkos::complex<float>)
COIR_INSTANTIATE(Kokkos::complex<double>)
#undef COIR_INSTANTIATE

}  // namespace coir::detail
