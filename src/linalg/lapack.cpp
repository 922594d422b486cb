#include "blas_calls.hpp"
#include "lane_solve.hpp"
#include "lapack_failures.hpp"
#include "one_blas_thread.hpp"

#include <core/lanes.hpp>

#include <coir/core/memory.hpp>
#include <coir/core/tasks.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

// LAPACK's functions, in Fortran's calling convention: its real ones, and what differs for complex
// numbers.
#define COIR_DECLARE_LAPACK(letter, T, R)                                                        \
  extern "C" {                                                                                   \
  void letter##getrf_(int const*, int const*, T*, int const*, int*, int*);                       \
  void letter##getrs_(char const*, int const*, int const*, T const*, int const*, int const*, T*, \
                      int const*, int*);                                                         \
  void letter##trtri_(char const*, char const*, int const*, T*, int const*, int*);               \
  void letter##potrf_(char const*, int const*, T*, int const*, int*);                            \
  void letter##gelqf_(int const*, int const*, T*, int const*, T*, T*, int const*, int*);         \
  }                                                                                              \
  namespace coir::detail {                                                                       \
  inline constexpr auto getrf_of(T) { return letter##getrf_; }                                   \
  inline constexpr auto getrs_of(T) { return letter##getrs_; }                                   \
  inline constexpr auto trtri_of(T) { return letter##trtri_; }                                   \
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

using Host = LapackHost;

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

/// Memory that LAPACK works in, kept from one matrix of a stack to the next.
template <class T>
class Workspace {
 public:
  T* work(std::int64_t length) { return at_least(work_, length); }
  real_t<T>* reals(std::int64_t length) { return at_least(reals_, length); }
  T* factors(std::int64_t length) { return at_least(factors_, length); }
  int* integers(std::int64_t length) { return at_least(integers_, length); }

 private:
  template <class Number>
  static Number* at_least(std::vector<Number>& numbers, std::int64_t length) {
    // zgemv of OpenBLAS 0.3.21 reads beyond the last column, and beyond mapped memory if a heap
    // ends there.
    constexpr std::size_t beyond = 4096;
    auto const size = static_cast<std::size_t>(std::max<std::int64_t>(length, 1)) + beyond;
    if (numbers.size() < size) numbers.resize(size);
    return numbers.data();
  }

  std::vector<T> work_, factors_;
  std::vector<real_t<T>> reals_;
  std::vector<int> integers_;
};

/// Multiplications and additions of an algorithm that takes n^3 of them.
constexpr std::int64_t cube(std::int64_t n) { return n * n * n; }

/// The work of the largest square matrices that OpenBLAS 0.3.21 is faster for on one thread than on
/// two.
constexpr std::int64_t work_of_one_thread = cube(400);

/// Calls body(s, workspace) for each matrix of a stack. The body returns LAPACK's info. Threads
/// share the matrices of a stack; a single large matrix has BLAS' threads.
///
/// \param work    rows times columns times the fewer of both, or the columns of a right-hand side
/// \param passes  how many multiplications and additions the algorithm takes for each of `work`
/// \returns the first matrix whose info isn't 0
template <class T, class Body>
Failure for_each_matrix(Host const& exec, std::int64_t stack, std::int64_t work,
                        std::int64_t passes, Body const& body) {
  std::int64_t const shares = threads_worth_starting(exec, stack * work * passes, stack);
  std::vector<Failure> failures(static_cast<std::size_t>(std::max<std::int64_t>(shares, 1)));
  Failure* const failed = failures.data();
  auto const work_on = [&](std::int64_t share) {
    Workspace<T> workspace;
    for (std::int64_t s = stack * share / shares; s < stack * (share + 1) / shares; ++s) {
      int const info = body(s, workspace);
      if (info != 0 && failed[share].info == 0) failed[share] = {s, info};
    }
  };
  if (shares == 1) {
    OneBlasThread const one(work <= work_of_one_thread);
    work_on(0);
  } else
    for_each_task("coir::linalg::lapack", exec, shares, work_on);
  for (Failure const& failure : failures)
    if (failure.info != 0) return failure;
  return {};
}

/// Calls body(first, end) for parts of `count` rows or columns, each on a thread with BLAS' calls
/// of its own, unless the caller is in a parallel region or the work is too little.
///
/// \param work  multiplications and additions of a row or column
template <class Body>
void in_parts(Host const& exec, std::int64_t count, std::int64_t work, Body const& body) {
  constexpr std::int64_t narrowest = 48, least = 64 * 64 * 64;
  std::int64_t const parts =
      count * work >= least ? std::min<std::int64_t>(most_tasks_at_once(exec), count / narrowest)
                            : 1;
  if (parts < 2) return body(0, count);
  for_each_task("coir::linalg::lapack/parts", exec, parts,
                [=](std::int64_t part) { body(count * part / parts, count * (part + 1) / parts); });
}

/// Inverts a column-major upper triangle without zeros on its diagonal, by LAPACK if it is small.
/// Otherwise the upper right block is solved for, and the halves of the diagonal are inverted, by
/// two threads if they are worth starting.
template <class T>
void invert_upper(Host const& exec, std::int64_t size, T* a, std::int64_t stride) {
  constexpr std::int64_t least = 64, least_of_threads = 192;
  int const n = static_cast<int>(size), lda = static_cast<int>(stride);
  if (size < least) {
    int info = 0;
    trtri_of(T())("U", "N", &n, a, &lda, &info);
    return;
  }
  std::int64_t const half = size / 2, rest = size - half;
  T *const right = a + half * stride, *const corner = right + half;
  int const k = static_cast<int>(half), l = static_cast<int>(rest);
  in_parts(exec, rest, half * half, [=](std::int64_t first, std::int64_t end) {
    T const minus_one(-1);
    int const columns = static_cast<int>(end - first);
    trsm_of(T())("L", "U", "N", "N", &k, &columns, &minus_one, a, &lda, right + first * stride,
                 &lda);
  });
  in_parts(exec, half, rest * rest, [=](std::int64_t first, std::int64_t end) {
    T const one(1);
    int const rows = static_cast<int>(end - first);
    trsm_of(T())("R", "U", "N", "N", &rows, &l, &one, corner, &lda, right + first, &lda);
  });
  auto const invert = [=](std::int64_t first, std::int64_t end) {
    if (first == 0) invert_upper(exec, half, a, stride);
    if (end == 2) invert_upper(exec, rest, corner, stride);
  };
  if (size < least_of_threads || most_tasks_at_once(exec) < 2) return invert(0, 2);
  for_each_task("coir::linalg::lapack/halves", exec, 2,
                [=](std::int64_t part) { invert(part, part + 1); });
}

/// x = x l^-1 for column-major x of some rows, and a unit lower triangle l with the same stride.
/// Products of halves, which BLAS computes faster than it solves, take most of the time.
template <class T>
void divide_by_lower(int rows, int size, T const* l, T* x, int stride) {
  constexpr int least = 32;
  T const one(1), minus_one(-1);
  if (size < least) {
    trsm_of(T())("R", "L", "N", "U", &rows, &size, &one, l, &stride, x, &stride);
    return;
  }
  int const half = size / 2, rest = size - half;
  std::int64_t const behind = std::int64_t(half) * stride;
  divide_by_lower(rows, rest, l + behind + half, x + behind, stride);
  gemm_of(T())("N", "N", &rows, &half, &rest, &minus_one, x + behind, &stride, l + half, &stride,
               &one, x, &stride);
  divide_by_lower(rows, half, l, x, stride);
}

/// Exchanges elements [first, end) of a column with those that LAPACK's pivots name, in turn.
template <class T>
void exchange(T* column, int const* pivots, std::int64_t first, std::int64_t end) {
  for (std::int64_t i = first; i < end; ++i) std::swap(column[i], column[pivots[i] - 1]);
}

/// Factors a column-major matrix as LAPACK's getrf, and by it if the matrix is small, or so large
/// that BLAS' threads are worth starting. Otherwise it factors panels of columns, and threads share
/// out the columns behind each panel. Returns LAPACK's info: behind a pivot 0 nothing is factored.
template <class T>
int factor_square(Host const& exec, std::int64_t size, T* a, int* pivots) {
  constexpr std::int64_t least = 192, width = 48;
  int const n = static_cast<int>(size);
  int info = 0;
  if (size < least || cube(size) > work_of_one_thread) {
    getrf_of(T())(&n, &n, a, &n, pivots, &info);
    return info;
  }
  for (std::int64_t k = 0; k < size; k += width) {
    std::int64_t const end = std::min(k + width, size);
    T* const panel = a + k * (size + 1);
    int const rows = static_cast<int>(size - k), columns = static_cast<int>(end - k);
    getrf_of(T())(&rows, &columns, panel, &n, pivots + k, &info);
    if (info != 0) return info + static_cast<int>(k);
    for (std::int64_t i = k; i < end; ++i) pivots[i] += static_cast<int>(k);
    in_parts(exec, size - end, columns * (size - k), [=](std::int64_t from, std::int64_t to) {
      T const one(1), minus_one(-1);
      T* const right = a + (end + from) * size;
      for (std::int64_t c = 0; c < to - from; ++c) exchange(right + c * size, pivots, k, end);
      int const count = static_cast<int>(to - from), below = rows - columns;
      trsm_of(T())("L", "L", "N", "U", &columns, &count, &one, panel, &n, right + k, &n);
      gemm_of(T())("N", "N", &below, &count, &columns, &minus_one, panel + columns, &n, right + k,
                   &n, &one, right + end, &n);
    });
  }
  in_parts(exec, size, size, [=](std::int64_t from, std::int64_t to) {
    for (std::int64_t c = from; c < to; ++c)
      exchange(a + c * size, pivots, std::min((c / width + 1) * width, size), size);
  });
  return 0;
}

/// Factors a column-major matrix u^T u, by LAPACK if it is small. Otherwise the first half is
/// factored, the columns behind it are solved for, and what is left is factored in turn: threads
/// share the columns out.
template <class T>
int factor_symmetric(Host const& exec, std::int64_t size, T* a, std::int64_t stride) {
  constexpr std::int64_t least = 192;
  int const n = static_cast<int>(size), lda = static_cast<int>(stride);
  int info = 0;
  if (is_complex<T> || size < least || cube(size) > work_of_one_thread) {
    potrf_of(T())("U", &n, a, &lda, &info);
    return info;
  }
  std::int64_t const half = size / 2, rest = size - half, middle = (rest + 1) / 2;
  info = factor_symmetric(exec, half, a, stride);
  if (info != 0) return info;
  T *const right = a + half * stride, *const corner = right + half;
  int const k = static_cast<int>(half);
  in_parts(exec, rest, half * half, [=](std::int64_t first, std::int64_t end) {
    T const one(1);
    int const columns = static_cast<int>(end - first);
    trsm_of(T())("L", "U", "T", "N", &k, &columns, &one, a, &lda, right + first * stride, &lda);
  });
  // Columns [first, end) above the diagonal. Each part has some on the left, and as many on the
  // right, which are longer.
  auto const subtract = [=](std::int64_t first, std::int64_t end) {
    T const one(1), minus_one(-1);
    T const* const factor = right + first * stride;
    T* const columns = corner + first * stride;
    int const above = static_cast<int>(first), count = static_cast<int>(end - first);
    syrk_of(T())("U", "T", &count, &k, &minus_one, factor, &lda, &one, columns + first, &lda);
    gemm_of(T())("T", "N", &above, &count, &k, &minus_one, right, &lda, factor, &lda, &one, columns,
                 &lda);
  };
  in_parts(exec, middle, rest * half, [=](std::int64_t first, std::int64_t end) {
    subtract(first, end);
    subtract(std::max(rest - end, middle), rest - first);
  });
  info = factor_symmetric(exec, rest, corner, stride);
  return info == 0 ? 0 : info + k;
}

/// Solves the systems of a stack by lanes, if they are many and small. Returns whether it has.
template <class T>
bool solve_by_lanes(Host const& exec, std::int64_t stack, std::int64_t size, std::int64_t columns,
                    T const* a, T* b) {
  std::int64_t const lanes = simd::lanes_of_vector<T>(), groups = (stack + lanes - 1) / lanes;
  if (stack < lanes || !suits_lane_solve(size) || columns > size) return false;
  std::int64_t const shares = threads_worth_starting(exec, stack * cube(size), groups);
  std::vector<Failure> failures(static_cast<std::size_t>(groups));
  Failure* const failed = failures.data();
  for_each_task("coir::linalg::lapack/lanes", exec, shares, [=](std::int64_t share) {
    constexpr std::size_t line = 64;  // a vector, or several
    std::vector<T> memory(static_cast<std::size_t>(lane_solve_work<T>(size, columns)) +
                          line / sizeof(T));
    auto const begin = reinterpret_cast<std::uintptr_t>(memory.data());
    auto* const work = reinterpret_cast<T*>((begin + line - 1) / line * line);
    for (std::int64_t g = groups * share / shares; g < groups * (share + 1) / shares; ++g) {
      std::int64_t const first = g * lanes, count = std::min(lanes, stack - first);
      auto const [s, info] = lane_solve(size, columns, count, a + first * size * size,
                                        b + first * columns * size, work);
      failed[g] = {first + s, info};
    }
  });
  for (Failure const& failure : failures)
    if (failure.info != 0) expects_regular(failure, stack);
  return true;
}

}  // namespace

template <class T>
void lapack_solve(Host const& exec, std::int64_t stack, std::int64_t size, std::int64_t columns,
                  T* a, T* b) {
  int const n = extent(size), count = extent(columns), lda = leading(n);
  if (n == 0 || count == 0) return;
  if constexpr (!is_complex<T>)
    if (solve_by_lanes(exec, stack, size, columns, a, b)) return;
  expects_regular(for_each_matrix<T>(exec, stack, cube(size), 1,
                                     [=](std::int64_t s, auto& workspace) {
                                       int* const pivots = workspace.integers(n);
                                       T* const matrix = a + s * size * size;
                                       int info = factor_square(exec, size, matrix, pivots);
                                       if (info == 0)
                                         getrs_of(T())("T", &n, &count, matrix, &lda, pivots,
                                                       b + s * columns * size, &lda, &info);
                                       return info;
                                     }),
                  stack);
}

template <class T>
void lapack_factor(Host const& exec, std::int64_t stack, std::int64_t size, T* a, int* pivots) {
  if (extent(size) == 0) return;
  auto const factor = [=](std::int64_t s, auto&) {
    return factor_square(exec, size, a + s * size * size, pivots + s * size);
  };
  expects_regular(for_each_matrix<T>(exec, stack, cube(size), 1, factor), stack);
}

template <class T>
void lapack_solve_by_factors(Host const& exec, std::int64_t stack, std::int64_t size,
                             std::int64_t columns, T const* factors, int const* pivots,
                             bool transposed, T* b) {
  int const n = extent(size), count = extent(columns), lda = leading(n);
  if (n == 0 || count == 0) return;
  char const* const operation = transposed ? "N" : "T";  // LAPACK sees transposes
  for_each_matrix<T>(exec, stack, size * size * columns, 1, [=](std::int64_t s, auto&) {
    int info = 0;
    getrs_of(T())(operation, &n, &count, factors + s * size * size, &lda, pivots + s * size,
                  b + s * columns * size, &lda, &info);
    return info;
  });
}

template <class T>
void lapack_inverse(Host const& exec, std::int64_t stack, std::int64_t size, T* a) {
  int const n = extent(size);
  if (n == 0) return;
  // As a whole before threads start, each of which takes memory for a matrix.
  std::int64_t const bytes = std::min<std::int64_t>(stack, most_tasks_at_once(exec)) * size * size *
                             std::int64_t(sizeof(T));
  constexpr std::int64_t worth_asking = std::int64_t(1) << 28;
  if (bytes > worth_asking) expects_memory<Kokkos::HostSpace>(bytes, "the factors of inverses");
  auto const invert = [=](std::int64_t s, auto& workspace) {
    int* const pivots = workspace.integers(n);
    T* const matrix = a + s * size * size;
    int const info = factor_square(exec, size, matrix, pivots);
    if (info != 0) return info;
    invert_upper(exec, size, matrix, size);
    // x l = u^-1 for each row of x, whose columns are then exchanged: LAPACK's getri, which no
    // threads share out.
    T* const lower = workspace.factors(size * size);
    for (std::int64_t j = 0; j < size; ++j) {
      T* const column = matrix + j * size;
      std::copy(column + j + 1, column + size, lower + j * (size + 1) + 1);
      std::fill(column + j + 1, column + size, T(0));
    }
    in_parts(exec, size, size * size, [=](std::int64_t first, std::int64_t end) {
      divide_by_lower(static_cast<int>(end - first), n, lower, matrix + first, n);
    });
    for (std::int64_t j = size - 1; j >= 0; --j)
      if (std::int64_t const other = pivots[j] - 1; other != j)
        std::swap_ranges(matrix + j * size, matrix + (j + 1) * size, matrix + other * size);
    return 0;
  };
  expects_regular(for_each_matrix<T>(exec, stack, cube(size), 2, invert), stack);
}

template <class T>
void lapack_determinant(Host const& exec, std::int64_t stack, std::int64_t size, T* a, T* result) {
  int const n = extent(size);
  for_each_matrix<T>(exec, stack, cube(size), 1, [=](std::int64_t s, auto& workspace) {
    int* const pivots = workspace.integers(n);
    T* const matrix = a + s * size * size;
    int const info = n > 0 ? factor_square(exec, size, matrix, pivots) : 0;
    T product(info > 0 ? 0 : 1);
    for (int i = 0; i < n && info == 0; ++i) {
      product *= matrix[static_cast<std::int64_t>(i) * (n + 1)];
      if (pivots[i] != i + 1) product = -product;
    }
    result[s] = product;
    return 0;
  });
}

template <class T>
void lapack_cholesky(Host const& exec, std::int64_t stack, std::int64_t size, T* a) {
  if (extent(size) == 0) return;
  auto const factor = [=](std::int64_t s, auto&) {
    T* const matrix = a + s * size * size;
    int const info = factor_symmetric(exec, size, matrix, size);  // LAPACK sees the transpose
    for (std::int64_t i = 0; i < size; ++i)
      std::fill(matrix + i * size + i + 1, matrix + (i + 1) * size, T(0));
    return info;
  };
  expects_positive_definite(for_each_matrix<T>(exec, stack, cube(size), 1, factor), stack);
}

template <class T>
void lapack_between_inverses(Host const& exec, std::int64_t stack, std::int64_t size, T* factor,
                             T* a) {
  int const n = extent(size), lda = leading(n);
  if (n == 0) return;
  for_each_matrix<T>(exec, stack, cube(size), 1, [=](std::int64_t s, auto&) {
    T const one(1);
    T const* const upper = factor + s * size * size;  // for BLAS, which sees transposes
    T* const matrix = a + s * size * size;
    trsm_of(T())("L", "U", "N", "N", &n, &n, &one, upper, &lda, matrix, &lda);
    trsm_of(T())("R", "U", "T", "N", &n, &n, &one, upper, &lda, matrix, &lda);
    return 0;
  });
}

template <class T>
void lapack_eigh(Host const& exec, std::int64_t stack, std::int64_t size, T* a, real_t<T>* values,
                 bool vectors) {
  using R = real_t<T>;
  int const n = extent(size), lda = leading(n);
  if (n == 0) return;
  char const* const job = vectors ? "V" : "N";
  Failure const failure =
      for_each_matrix<T>(exec, stack, cube(size), 9, [=](std::int64_t s, auto& workspace) {
        int info = 0;
        auto const call = [&](T* work, int lwork, R* rwork, int lrwork, int* iwork, int liwork) {
          T* const matrix = a + s * size * size;
          R* const w = values + s * size;
          if constexpr (is_complex<T>)
            heevd_of(T())(job, "U", &n, matrix, &lda, w, work, &lwork, rwork, &lrwork, iwork,
                          &liwork, &info);
          else
            heevd_of(T())(job, "U", &n, matrix, &lda, w, work, &lwork, iwork, &liwork, &info);
        };
        T answer(0);
        R real_answer(0);
        int whole_answer = 0;
        call(&answer, -1, &real_answer, -1, &whole_answer, -1);
        int const lwork = length(answer), lrwork = length(real_answer);
        call(workspace.work(lwork), lwork, workspace.reals(lrwork), lrwork,
             workspace.integers(whole_answer), whole_answer);
        return info;
      });
  expects_reached(failure, "the eigenvalues didn't converge");
}

template <class T>
void lapack_svd(Host const& exec, std::int64_t stack, std::int64_t rows, std::int64_t columns, T* a,
                real_t<T>* s, T* u, T* vh, bool full) {
  using R = real_t<T>;
  // LAPACK reads row-major a as its transpose. So it returns the transposes of vh and u in the
  // places of u and vh.
  int const m = extent(columns), n = extent(rows);
  int const least = std::min(m, n), most = std::max(m, n);
  if (least == 0) {  // no singular values: any orthonormal rows will do
    auto const set_identity = [=](T* matrices, int side) {
      if (matrices == nullptr || !full) return;
      for (std::int64_t k = 0; k < stack; ++k, matrices += static_cast<std::int64_t>(side) * side)
        for (std::int64_t i = 0; i < side; ++i)
          for (std::int64_t j = 0; j < side; ++j) matrices[i * side + j] = T(i == j ? 1 : 0);
    };
    set_identity(vh, m);
    set_identity(u, n);
    return;
  }
  char const* const job = u == nullptr ? "N" : full ? "A" : "S";
  int const lda = m, ldu = m, ldvt = full ? n : least;
  std::int64_t const u_size = rows * ldvt, vh_size = (full ? columns : least) * columns;
  Failure const failure = for_each_matrix<T>(
      exec, stack, rows * columns * least, 9, [=](std::int64_t k, auto& workspace) {
        R* const rwork = workspace.reals(
            is_complex<T> ? least * std::max(5 * least + 7, 2 * (most + least) + 1) : 1);
        int* const iwork = workspace.integers(8 * least);
        int info = 0;
        auto const call = [&](T* work, int lwork) {
          T* const matrix = a + k * rows * columns;
          T* const left = vh == nullptr ? vh : vh + k * vh_size;
          T* const right = u == nullptr ? u : u + k * u_size;
          if constexpr (is_complex<T>)
            gesdd_of(T())(job, &m, &n, matrix, &lda, s + k * least, left, &ldu, right, &ldvt, work,
                          &lwork, rwork, iwork, &info);
          else
            gesdd_of(T())(job, &m, &n, matrix, &lda, s + k * least, left, &ldu, right, &ldvt, work,
                          &lwork, iwork, &info);
        };
        T answer(0);
        call(&answer, -1);
        int const lwork = length(answer);
        call(workspace.work(lwork), lwork);
        return info;
      });
  expects_reached(failure, "the singular values didn't converge");
}

template <class T>
void lapack_qr(Host const& exec, std::int64_t stack, std::int64_t rows, std::int64_t columns, T* a,
               T* q, T* r) {
  // The transpose, which LAPACK sees, is l p with orthonormal rows of p: a = p^T l^T.
  int const m = extent(columns), n = extent(rows), lda = leading(m);
  int const k = std::min(m, n);
  if (k == 0) return;
  for_each_matrix<T>(exec, stack, rows * columns * k, 2, [=](std::int64_t s, auto& workspace) {
    T* const matrix = a + s * rows * columns;
    T* const left = q + s * rows * k;
    T* const right = r + s * k * columns;
    T* const tau = workspace.factors(k);
    int const ask = -1;
    int info = 0;
    T answer(0);
    gelqf_of(T())(&m, &n, matrix, &lda, tau, &answer, &ask, &info);
    int lwork = length(answer);
    gelqf_of(T())(&m, &n, matrix, &lda, tau, workspace.work(lwork), &lwork, &info);
    for (std::int64_t j = 0; j < k; ++j)
      for (std::int64_t i = 0; i < m; ++i) right[j * m + i] = i < j ? T(0) : matrix[j * m + i];
    unglq_of(T())(&k, &n, &k, matrix, &lda, tau, &answer, &ask, &info);
    lwork = length(answer);
    unglq_of(T())(&k, &n, &k, matrix, &lda, tau, workspace.work(lwork), &lwork, &info);
    for (std::int64_t j = 0; j < n; ++j)
      std::copy(matrix + j * m, matrix + j * m + k, left + j * k);
    return 0;  // info names wrong arguments alone
  });
}

template <class T>
int lapack_least_squares(Host const&, std::int64_t rows, std::int64_t columns, std::int64_t sides,
                         T* a, T* b, real_t<T>* s, real_t<T> smallest) {
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
  OneBlasThread const one(rows * columns * std::min(rows, columns) <= work_of_one_thread);
  call(&answer, -1, &real_answer, &whole_answer);
  Workspace<T> workspace;
  int const lwork = length(answer);
  call(workspace.work(lwork), lwork, workspace.reals(length(real_answer)),
       workspace.integers(whole_answer));
  expects_reached({0, info}, "the singular values didn't converge");
  return rank;
}

#define COIR_INSTANTIATE(T) COIR_INSTANTIATE_LAPACK(Host, T)
COIR_INSTANTIATE(float)
COIR_INSTANTIATE(double)
COIR_INSTANTIATE(Kokkos::complex<float>)
COIR_INSTANTIATE(Kokkos::complex<double>)
#undef COIR_INSTANTIATE

}  // namespace coir::detail
