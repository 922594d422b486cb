// Ten thousand small systems of equations a x = b, each with a matrix of its own. coir has no function for stacks of them; these
// are the ways to write it, each in turns with KokkosBatched's LU, which doesn't pivot: the counter ours/raw is the time over that.
//
// Counted are 2/3 n^3 + 2 n^2 operations for each system, and the bytes of a, b and x once.

#include <support/memory.hpp>
#include <support/timing.hpp>

#include <coir/array/creation.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/random.hpp>
#include <coir/array/reductions.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/linalg/solve.hpp>

#include <KokkosBatched_LU_Decl.hpp>
#include <KokkosBatched_LU_Serial_Impl.hpp>
#include <KokkosBatched_SolveLU_Decl.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

extern "C" {
void sgesv_(int const* n, int const* columns, float* a, int const* lda, int* pivots, float* b,
            int const* ldb, int* info);
void dgesv_(int const* n, int const* columns, double* a, int const* lda, int* pivots, double* b,
            int const* ldb, int* info);
}

namespace coir::bench {

namespace {

constexpr std::int64_t count = 10'000;
constexpr int largest = 32;

/// The systems, and memory for copies of them, which are overwritten.
template <class T>
struct Systems {
  template <class U>
  using Stack = Kokkos::View<U***, Kokkos::LayoutRight, Memory>;
  Stack<T> given_a, given_b, a, x;

  explicit Systems(std::size_t n)
      : given_a("a", count, n, n),
        given_b("b", count, n, 1),
        a("factors", count, n, n),
        x("x", count, n, 1) {
    for_each("coir::bench::systems", Space{}, box({int(count), int(n), int(n)}), *this);
    Space{}.fence();
  }

  /// Symmetric, and its diagonal outweighs the rest of a row: LU needs no pivots, and LAPACK may see the transpose.
  KOKKOS_FUNCTION void operator()(int s, int i, int j) const {
    int const n = int(given_a.extent(1)), pair = (s * 31 + (i + j) * 17 + i * j) % 101;
    given_a(s, i, j) = i == j ? T(n) : T(pair) / T(101);
    given_b(s, i, 0) = T((s + 7 * i) % 13) - T(6);
  }
};

/// By KokkosBatched: a serial LU for each system.
template <class T>
struct ByKokkosBatched {
  Systems<T> systems;
  KOKKOS_FUNCTION void operator()(std::int64_t s) const {
    using namespace KokkosBatched;
    auto const all = Kokkos::ALL;
    auto const a = Kokkos::subview(systems.a, s, all, all),
               x = Kokkos::subview(systems.x, s, all, all);
    int const n = int(a.extent(0));
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) a(i, j) = systems.given_a(s, i, j);
      x(i, 0) = systems.given_b(s, i, 0);
    }
    SerialLU<Algo::LU::Unblocked>::invoke(a);
    SerialSolveLU<Trans::NoTranspose, Algo::Trsm::Unblocked>::invoke(a, x);
  }
};

/// By Gaussian elimination that exchanges rows, written down as it stands in books.
template <class T>
struct ByPlainLoops {
  Systems<T> systems;
  KOKKOS_FUNCTION void operator()(std::int64_t s) const {
    int const n = int(systems.a.extent(1));
    T* const a = &systems.a(s, 0, 0);
    T* const x = &systems.x(s, 0, 0);
    T const* const given = &systems.given_a(s, 0, 0);
    for (int i = 0; i < n * n; ++i) a[i] = given[i];
    for (int i = 0; i < n; ++i) x[i] = systems.given_b(s, i, 0);
    for (int p = 0; p < n; ++p) {
      int pivot = p;
      for (int i = p + 1; i < n; ++i)
        if (math::abs(a[i * n + p]) > math::abs(a[pivot * n + p])) pivot = i;
      if (pivot != p) {
        for (int j = p; j < n; ++j) exchange(a[p * n + j], a[pivot * n + j]);
        exchange(x[p], x[pivot]);
      }
      T const inverse = 1 / a[p * n + p];
      for (int i = p + 1; i < n; ++i) {
        T const factor = a[i * n + p] * inverse;
        for (int j = p + 1; j < n; ++j) a[i * n + j] -= factor * a[p * n + j];
        x[i] -= factor * x[p];
      }
    }
    for (int i = n - 1; i >= 0; --i) {
      T sum = x[i];
      for (int j = i + 1; j < n; ++j) sum -= a[i * n + j] * x[j];
      x[i] = sum / a[i * n + i];
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION static void exchange(T& one, T& other) {
    T const kept = one;
    one = other;
    other = kept;
  }
};

/// By LAPACK, which pivots. For the host.
template <class T>
struct ByLapack {
  Systems<T> systems;
  void operator()(std::int64_t s) const {
    int const n = int(systems.a.extent(1)), one = 1;
    T* const a = &systems.a(s, 0, 0);
    T* const x = &systems.x(s, 0, 0);
    std::copy_n(&systems.given_a(s, 0, 0), n * n, a);
    std::copy_n(&systems.given_b(s, 0, 0), n, x);
    int pivots[largest], info = 0;
    if constexpr (std::is_same_v<T, float>)
      sgesv_(&n, &one, a, &n, pivots, x, &n, &info);
    else
      dgesv_(&n, &one, a, &n, pivots, x, &n, &info);
  }
};

template <class Body>
void for_each_system(Body const& body) {
  Kokkos::parallel_for("coir::bench::solve", Kokkos::RangePolicy<Space>(0, count), body);
}

/// coir's solve, a call for each system.
template <class T>
void by_calls_of_solve(Systems<T> const& systems) {
  std::int64_t const n = systems.a.extent(1);
  Array<T, 2, Memory> a(Shape<2>{n, n});
  Array<T, 1, Memory> b(Shape<1>{n});
  for (std::int64_t s = 0; s < count; ++s) {
    std::copy_n(&systems.given_a(s, 0, 0), n * n, a.data());
    std::copy_n(&systems.given_b(s, 0, 0), n, b.data());
    auto const x = coir::solve(a, b);
    std::copy_n(x.data(), n, &systems.x(s, 0, 0));
  }
}

/// The square root of the mean of |a x - b|^2.
template <class T>
struct SquaredError {
  Systems<T> systems;
  KOKKOS_FUNCTION void operator()(std::int64_t s, double& sum) const {
    int const n = int(systems.a.extent(1));
    for (int i = 0; i < n; ++i) {
      double error = -double(systems.given_b(s, i, 0));
      for (int j = 0; j < n; ++j)
        error += double(systems.given_a(s, i, j)) * double(systems.x(s, j, 0));
      sum += error * error;
    }
  }
};

template <class T>
bool solved(Systems<T> const& systems) {
  double sum = 0;
  Kokkos::parallel_reduce("coir::bench::check", Kokkos::RangePolicy<Space>(0, count),
                          SquaredError<T>{systems}, sum);
  return sum / double(count) < 1e-6;
}

enum class By { plain_loops, lapack, calls_of_solve };

template <class T, By by>
void solve_stack(benchmark::State& state) {
  auto const n = static_cast<std::size_t>(state.range(0));
  double const side = double(n), bytes = double(count) * side * (side + 2) * double(sizeof(T));
  if (!fits(state, 3 * bytes)) return;
  Systems<T> const systems(n);
  bool right = true;
  auto const ours = [&] {
    if constexpr (by == By::plain_loops)
      for_each_system(ByPlainLoops<T>{systems});
    else if constexpr (by == By::lapack)
      for_each_system(ByLapack<T>{systems});
    else
      by_calls_of_solve(systems);
  };
  auto const raw = [&] { for_each_system(ByKokkosBatched<T>{systems}); };
  raw();
  right = right && solved(systems);
  ours();
  right = right && solved(systems);
  compare_kernels(state, Space{}, {double(count), bytes, "systems"}, ours, raw);
  state.counters["flops"] = double(count) * (side * side * side * 2 / 3 + 2 * side * side) /
                            state.counters["seconds"].value;
  if (!right) state.SkipWithError("a x isn't b");
}
void sides(benchmark::internal::Benchmark* bench) {
  for (int const n : {3, 8, 16, largest}) bench->Arg(n);
  bench->UseManualTime();
}
BENCHMARK_TEMPLATE(solve_stack, float, By::plain_loops)
    ->Name("solve,stack,plain,float")
    ->Apply(sides);
BENCHMARK_TEMPLATE(solve_stack, double, By::plain_loops)
    ->Name("solve,stack,plain,double")
    ->Apply(sides);

/// Those of the host alone.
[[maybe_unused]] bool const of_host = [] {
  if constexpr (runs_on_host<Space>) {
    auto const add = [](char const* name, void (*run)(benchmark::State&)) {
      benchmark::RegisterBenchmark(name, run)->Apply(sides);
    };
    add("solve,stack,LAPACK,float", solve_stack<float, By::lapack>);
    add("solve,stack,LAPACK,double", solve_stack<double, By::lapack>);
    add("solve,stack,coir::solve,double", solve_stack<double, By::calls_of_solve>);
  }
  return true;
}();

}  // namespace

}  // namespace coir::bench
