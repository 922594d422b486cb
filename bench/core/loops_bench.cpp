// for_each and reduce against loops written by hand, from the L1 cache to memory. On a host the
// counter "ours/raw" must stay below 1.05; on a device, where raw host loops mean nothing, only
// rates are given.

#include "raw_loops.hpp"

#include <support/timing.hpp>

#include <coir/core/loops.hpp>

#include <cstdint>

namespace coir::bench {

// Views that own nothing, as in the solvers' kernels: copying one into a kernel counts no
// references.
template <class Pointers>
using Unmanaged =
    Kokkos::View<Pointers, Kokkos::LayoutRight, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class T>
using Rank1 = Unmanaged<T*>;
template <class T>
using Rank2 = Unmanaged<T**>;
template <class T>
using Rank3 = Unmanaged<T***>;

// Views of rank 3 compute offsets of ints in 32 bits before Kokkos 5, which compilers don't
// vectorise.
using Long = std::int64_t;
template <class T>
Box<3, Long> whole(Rank3<T> const& x) {
  return box<3, Long>({Long(x.extent(0)), Long(x.extent(1)), Long(x.extent(2))});
}

// The kernels stand in functions of their own: nvcc takes no device lambdas from within generic
// ones.

template <class T>
void copy(Space const& exec, Rank1<T> const& from, Rank1<T> const& to) {
  for_each(
      "coir::bench::copy", exec, box<1, std::int64_t>({std::int64_t(to.extent(0))}),
      KOKKOS_LAMBDA(std::int64_t i) { to(i) = from(i); });
}

template <class T>
void copy(Space const& exec, Rank2<T> const& from, Rank2<T> const& to) {
  for_each(
      "coir::bench::copy", exec, box({int(to.extent(0)), int(to.extent(1))}),
      KOKKOS_LAMBDA(int i, int j) { to(i, j) = from(i, j); });
}

template <class T>
void copy(Space const& exec, Rank3<T> const& from, Rank3<T> const& to) {
  for_each(
      "coir::bench::copy", exec, whole(to),
      KOKKOS_LAMBDA(Long i, Long j, Long k) { to(i, j, k) = from(i, j, k); });
}

template <class T>
void stencil(Space const& exec, Rank2<T> const& u, Rank2<T> const& v) {
  for_each(
      "coir::bench::stencil", exec, box({1, 1}, {int(u.extent(0)) - 1, int(u.extent(1)) - 1}),
      KOKKOS_LAMBDA(int i, int j) {
        v(i, j) = T(0.25) * (((u(i - 1, j) + u(i + 1, j)) + u(i, j - 1)) + u(i, j + 1));
      });
}

template <class T>
void stencil(Space const& exec, Rank3<T> const& u, Rank3<T> const& v) {
  auto interior = whole(v);
  for (int d = 0; d < 3; ++d) ++interior.lower[d], --interior.upper[d];
  for_each(
      "coir::bench::stencil", exec, interior, KOKKOS_LAMBDA(Long i, Long j, Long k) {
        v(i, j, k) =
            T(1.0 / 6) * (((((u(i - 1, j, k) + u(i + 1, j, k)) + u(i, j - 1, k)) + u(i, j + 1, k)) +
                           u(i, j, k - 1)) +
                          u(i, j, k + 1));
      });
}

template <class T>
T sum(Space const& exec, Rank1<T> const& x) {
  T result = 0;
  reduce(
      "coir::bench::sum", exec, box<1, std::int64_t>({std::int64_t(x.extent(0))}),
      KOKKOS_LAMBDA(std::int64_t i, T& value) { value += x(i); }, Kokkos::Sum<T>(result));
  return result;
}

template <class T>
T sum(Space const& exec, Rank2<T> const& x) {
  T result = 0;
  reduce(
      "coir::bench::sum", exec, box({int(x.extent(0)), int(x.extent(1))}),
      KOKKOS_LAMBDA(int i, int j, T& value) { value += x(i, j); }, Kokkos::Sum<T>(result));
  return result;
}

template <class T>
T sum(Space const& exec, Rank3<T> const& x) {
  T result = 0;
  reduce(
      "coir::bench::sum", exec, whole(x),
      KOKKOS_LAMBDA(Long i, Long j, Long k, T & value) { value += x(i, j, k); },
      Kokkos::Sum<T>(result));
  return result;
}

/// Arrays of zeros whose extents are the benchmark's arguments.
template <class T, int Rank>
class Arrays {
 public:
  Arrays(benchmark::State const& state, int count)
      : state_(state), memory_("arrays", count, size() + apart) {}

  auto operator[](int index) const {
    T* const data = memory_.data() + index * (size() + apart);
    if constexpr (Rank == 1)
      return Rank1<T>(data, state_.range(0));
    else if constexpr (Rank == 2)
      return Rank2<T>(data, state_.range(0), state_.range(1));
    else
      return Rank3<T>(data, state_.range(0), state_.range(1), state_.range(2));
  }

 private:
  static constexpr std::int64_t apart =
      256;  // so that arrays of 2^n don't meet in the cache's sets

  std::int64_t size() const {
    std::int64_t product = 1;
    for (int d = 0; d < Rank; ++d) product *= state_.range(d);
    return product;
  }

  benchmark::State const& state_;
  Kokkos::View<T**, Kokkos::LayoutRight, Memory> memory_;
};

/// Calls function(extents...).
template <class View, class Function>
auto with_extents(View const& view, Function const& function) {
  int const n[] = {int(view.extent(0)), int(view.extent(1)), int(view.extent(2))};
  if constexpr (View::rank == 1)
    return function(n[0]);
  else if constexpr (View::rank == 2)
    return function(n[0], n[1]);
  else
    return function(n[0], n[1], n[2]);
}

/// Times ours, on a host against raw; `arrays` is how many arrays like `view` the kernel passes
/// over.
template <class View, class Ours, class Raw>
void run(benchmark::State& state, Space const& exec, View const& view, int arrays, Ours const& ours,
         Raw const& raw) {
  double const cells = static_cast<double>(view.size());
  Work const work{cells, cells * arrays * static_cast<double>(sizeof(typename View::value_type))};
  if constexpr (runs_on_host<Space>)
    compare_kernels(state, exec, work, ours, [&] { with_extents(view, raw); });
  else
    time_kernel(state, exec, work, ours);
}

template <class T, int Rank>
void bench_copy(benchmark::State& state) {
  Space const exec;
  Arrays<T, Rank> const arrays(state, 2);
  auto const from = arrays[0], to = arrays[1];
  run(
      state, exec, to, 2, [&] { copy(exec, from, to); },
      [&](auto... n) { raw::copy(n..., from.data(), to.data()); });
}

template <class T, int Rank>
void bench_stencil(benchmark::State& state) {
  Space const exec;
  Arrays<T, Rank> const arrays(state, 2);
  auto const u = arrays[0], v = arrays[1];
  run(
      state, exec, v, 2, [&] { stencil(exec, u, v); },
      [&](auto... n) { raw::stencil(n..., u.data(), v.data()); });
}

template <class T, int Rank>
void bench_sum(benchmark::State& state) {
  Space const exec;
  Arrays<T, Rank> const arrays(state, 1);
  auto const x = arrays[0];
  run(
      state, exec, x, 1, [&] { benchmark::DoNotOptimize(sum(exec, x)); },
      [&](auto... n) { benchmark::DoNotOptimize(raw::sum(n..., x.data())); });
}

// From L1 to memory, in numbers of cells: 2 Ki, 64 Ki, 1 Mi, 32 Mi.
void rank_1(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Arg(2048)->Arg(65536)->Arg(1 << 20)->Arg(1 << 25);
}

void rank_2(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()
      ->Args({32, 64})
      ->Args({400, 266})
      ->Args({1024, 1024})
      ->Args({4096, 8192})
      ->Args({1 << 20, 32});
}

void rank_3(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()
      ->Args({8, 16, 16})
      ->Args({32, 32, 64})
      ->Args({64, 128, 128})
      ->Args({256, 256, 512});
}

BENCHMARK_TEMPLATE(bench_copy, float, 1)->Apply(rank_1);
BENCHMARK_TEMPLATE(bench_copy, double, 1)->Apply(rank_1);
BENCHMARK_TEMPLATE(bench_copy, float, 2)->Apply(rank_2);
BENCHMARK_TEMPLATE(bench_copy, float, 3)->Apply(rank_3);
BENCHMARK_TEMPLATE(bench_stencil, float, 2)->Apply(rank_2);
BENCHMARK_TEMPLATE(bench_stencil, double, 2)->Apply(rank_2);
BENCHMARK_TEMPLATE(bench_stencil, float, 3)->Apply(rank_3);
BENCHMARK_TEMPLATE(bench_sum, float, 1)->Apply(rank_1);
BENCHMARK_TEMPLATE(bench_sum, double, 1)->Apply(rank_1);
BENCHMARK_TEMPLATE(bench_sum, float, 2)->Apply(rank_2);
BENCHMARK_TEMPLATE(bench_sum, float, 3)->Apply(rank_3);

}  // namespace coir::bench
