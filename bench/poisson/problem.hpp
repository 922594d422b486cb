#pragma once

/// \file
/// The grid that the solvers' benchmarks work on.

#include <support/timing.hpp>

#include <coir/core/loops.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>

namespace coir::bench {

template <class T>
using Grid = Kokkos::View<T**, Kokkos::LayoutRight, Memory>;

template <class T>
void fill(Space const& exec, Grid<T> const& field, T value) {
  for_each(
      "coir::bench::fill", exec, box({int(field.extent(0)), int(field.extent(1))}),
      KOKKOS_LAMBDA(int i, int j) { field(i, j) = value; });
}

/// A source with structure at every scale, bounded and without a pattern that suits any grid.
template <class T>
void fill_source(Space const& exec, Grid<T> const& b) {
  for_each(
      "coir::bench::fill_source", exec, box({int(b.extent(0)), int(b.extent(1))}),
      KOKKOS_LAMBDA(int i, int j) {
        std::uint32_t const mixed = (i * 2654435761u) ^ (j * 2246822519u);
        b(i, j) = T((mixed * 3266489917u) >> 16) / T(65536) - T(0.5);
      });
}

/// L u = b on as many rows and columns as the benchmark's arguments say.
template <class T>
struct Problem {
  Grid<T> source;
  Grid<T> unknown;

  Problem(Space const& exec, benchmark::State const& state)
      : source("source", state.range(0), state.range(1)),
        unknown("unknown", state.range(0) + 2, state.range(1) + 2) {
    fill_source(exec, source);
  }

  /// What passes over the grid do, each reading the source and the unknown and writing the unknown.
  Work work_of(std::int64_t passes) const {
    double const cells = double(source.size()) * double(passes);
    return {cells, cells * 3 * double(sizeof(T))};
  }
};

/// 400 x 266, and squares from what the innermost cache holds to far beyond the last one.
inline void sizes(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Unit(benchmark::kMillisecond)->Args({400, 266});
  for (std::int64_t side = 64; side <= 8192; side *= 2) bench->Args({side, side});
}

/// 1500^2, beyond the cores' own caches: to compare one thread (OMP_NUM_THREADS=1) with several.
inline void size_for_threads(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Unit(benchmark::kMillisecond)->Args({1500, 1500});
}

/// Sweeps a call: few enough that a call is short, enough that what a call costs besides vanishes.
template <class T>
std::int64_t sweeps_for(Problem<T> const& problem) {
  return problem.source.size() < 1'000'000 ? 1000 : 128;
}

}  // namespace coir::bench
