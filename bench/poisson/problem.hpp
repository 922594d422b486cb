#pragma once

/// The grid that the solvers' benchmarks work on.

#include <support/memory.hpp>
#include <support/timing.hpp>

#include <coir/core/buffers.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/views.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

namespace coir::bench {

template <class T, int Rank = 2>
using Grid = Kokkos::View<view_data_t<T, Rank>, Kokkos::LayoutRight, Memory>;

template <class Field, class T>
void fill(Space const& exec, Field const& field, T value) {
  T* const all = field.data();
  for_each(
      "coir::bench::fill", exec, box<1, std::int64_t>({std::int64_t(field.size())}),
      KOKKOS_LAMBDA(std::int64_t i) { all[i] = value; });
}

/// A source with structure at every scale, bounded and without a pattern that suits any grid.
template <class B>
  requires(B::rank == 2)
void fill_source(Space const& exec, B const& b) {
  using T = typename B::value_type;
  for_each(
      "coir::bench::fill_source", exec, box({int(b.extent(0)), int(b.extent(1))}),
      KOKKOS_LAMBDA(int i, int j) {
        std::uint32_t const mixed = (i * 2654435761u) ^ (j * 2246822519u);
        b(i, j) = T((mixed * 3266489917u) >> 16) / T(65536) - T(0.5);
      });
}
template <class B>
  requires(B::rank == 3)
void fill_source(Space const& exec, B const& b) {
  using T = typename B::value_type;
  auto const extent = [&](int d) { return std::int64_t(b.extent(d)); };
  for_each(
      "coir::bench::fill_source", exec, box<3, std::int64_t>({extent(0), extent(1), extent(2)}),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, std::int64_t k) {
        std::uint32_t const mixed = (std::uint32_t(i) * 2654435761u) ^
                                    (std::uint32_t(j) * 2246822519u) ^
                                    (std::uint32_t(k) * 3266489917u);
        b(i, j, k) = T((mixed * 668265263u) >> 16) / T(65536) - T(0.5);
      });
}

/// L u = b on as many rows and columns as the benchmark's arguments say, or in a box on as many
/// cells along each axis.
template <class T, int Rank = 2>
struct Problem {
  Grid<T, Rank> source;
  Grid<T, Rank> unknown;

  /// The grids lie in large pages on hosts, as coir's arrays and those that measure the memory.
  Problem(Space const& exec, benchmark::State const& state) {
    auto const extent = [&](int d, std::int64_t ring) {
      return std::size_t(state.range(d) + ring);
    };
    auto const add = [&](Buffers& all, Grid<T, Rank>& grid, char const* name, std::int64_t ring) {
      if constexpr (Rank == 2)
        all.add(grid, name, extent(0, ring), extent(1, ring));
      else
        all.add(grid, name, extent(0, ring), extent(1, ring), extent(2, ring));
    };
    Buffers all;
    add(all, source, "source", 0);
    add(all, unknown, "unknown", 2);
    all.make<Memory>("a benchmark's grid");
    fill_source(exec, source);
    fill(exec, unknown, T(0));
  }

  /// What passes over the grid do, each reading the source and the unknown and writing the unknown.
  Work work_of(std::int64_t passes) const {
    double const cells = double(source.size()) * double(passes);
    return {cells, cells * 3 * double(sizeof(T))};
  }
};

/// Whether a box's problem and one more field of it fit into memory. If they don't, the benchmark
/// is skipped.
template <class T, int Rank>
bool problem_fits(benchmark::State& state) {
  if (Rank == 2) return true;
  double const cells = double(state.range(0)) * double(state.range(1)) * double(state.range(2));
  return fits(state, 3.2 * double(sizeof(T)) * cells);
}

/// 400 x 266, and squares from what the innermost cache holds to far beyond the last one.
inline void sizes(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Unit(benchmark::kMillisecond)->Args({400, 266});
  for (std::int64_t side = 64; side <= 8192; side *= 2) bench->Args({side, side});
}

/// Boxes: cubes of even and odd sides.
inline void boxes(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Unit(benchmark::kMillisecond);
  for (std::int64_t side : {64, 96, 127, 192, 255, 256, 384, 512}) bench->Args({side, side, side});
}

/// 1500^2, beyond the cores' own caches: to compare one thread (OMP_NUM_THREADS=1) with several.
inline void size_for_threads(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Unit(benchmark::kMillisecond)->Args({1500, 1500});
}

/// Sweeps a call: few enough that a call is short, enough that what a call costs besides vanishes.
template <class T, int Rank>
std::int64_t sweeps_for(Problem<T, Rank> const& problem) {
  if (problem.source.size() < 1'000'000 || (Rank == 3 && !runs_on_host<Space>)) return 1000;
  return problem.source.size() < 100'000'000 ? 128 : 48;
}

}  // namespace coir::bench
