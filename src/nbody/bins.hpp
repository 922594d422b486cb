#pragma once

/// Sorts particles into bins of neighbouring cells of a mesh, so that painting and readout find
/// cells in cache: on hosts stretches of the mesh's rows, on devices pencils.

#include <coir/core/contiguous.hpp>
#include <coir/core/kept_views.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/core/tasks.hpp>
#include <coir/mesh/cells.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace coir::nbody::detail {

/// Bins for hosts: stretches of `stretch` cells of the mesh's rows, one after the other.
template <class T>
struct RowBins {
  T per_cell;
  std::int32_t side, stretch, stretches;

  RowBins(std::int64_t cells, double box, std::int32_t cells_per_bin)
      : per_cell(static_cast<T>(mesh::inverse_spacing(cells, box))),
        side(static_cast<std::int32_t>(cells)),
        stretch(cells_per_bin),
        stretches(static_cast<std::int32_t>((cells + cells_per_bin - 1) / cells_per_bin)) {}

  std::int64_t count() const { return std::int64_t(side) * side * stretches; }

  KOKKOS_FORCEINLINE_FUNCTION std::int32_t cell(T x) const {
    T const at =
        x * per_cell;  // NaN gives the first cell, positions outside of the box the nearest one
    return at >= T(1) ? (at < static_cast<T>(side) ? static_cast<std::int32_t>(at) : side - 1) : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t operator()(T const* x) const {
    return (std::int64_t(cell(x[0])) * side + cell(x[1])) * stretches + cell(x[2]) / stretch;
  }
};

/// Bins for devices: blocks of across^2 x 16 cells. Blocks follow each other row by row in cubes of
/// 16^3 cells, and cubes along the last axis. So consecutive particles fill a compact part of a
/// pencil of cubes.
template <class T>
struct PencilBins {
  static constexpr std::int32_t cube = 16;
  RowBins<T> cells;
  std::int32_t across, blocks, cubes;

  PencilBins(std::int64_t side, double box, std::int64_t particles)
      : cells(side, box, 1),
        across(side * side * side <= 2 * particles ? 1 : 2),  // so that a bin has some particles
        blocks(cube / across),
        cubes(static_cast<std::int32_t>((side + cube - 1) / cube)) {}

  std::int64_t count() const { return std::int64_t(cubes) * cubes * cubes * blocks * blocks; }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t operator()(T const* x) const {
    std::int32_t const i = cells.cell(x[0]), j = cells.cell(x[1]), k = cells.cell(x[2]);
    std::int64_t const which = (std::int64_t(i / cube) * cubes + j / cube) * cubes + k / cube;
    return (which * blocks + i % cube / across) * blocks + j % cube / across;
  }
};

/// The number of cells of a mesh's row in a bin on hosts: so few that the cells that their
/// particles touch fit the first-level cache. Each thread has bins of its own to count in. For up
/// to most_threads_with_bins() threads they take together at most a byte per cell of the mesh.
inline std::int32_t cells_per_bin(std::int64_t threads, std::int64_t mesh_side) {
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(std::uint32_t));
  std::int64_t const per_row = std::max<std::int64_t>(1, mesh_side / (bytes * threads));
  std::int64_t const cells = (mesh_side + per_row - 1) / per_row;
  return static_cast<std::int32_t>(std::min(mesh_side, std::max<std::int64_t>(32, cells)));
}

/// The number of threads whose bins take a byte per cell of the mesh; at least one.
template <class T>
std::int64_t most_threads_with_bins(RowBins<T> const& bins) {
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(std::uint32_t));
  return std::max<std::int64_t>(1, bins.side / (bytes * bins.stretches));
}

/// Computes the permutation of hosts: particle p goes to place[p]. Meanwhile place[p] holds the
/// particle's bin. Particles of a bin keep their order, for any number of threads.
template <class Exec, class T>
  requires runs_on_host<Exec>
void find_places(Exec const& exec, T const* position, std::int64_t particles,
                 RowBins<T> const& bins, std::uint32_t* place) {
  std::int64_t const threads =
      std::min(threads_worth_starting(exec, particles), most_threads_with_bins(bins));
  std::int64_t const count = bins.count();
  Kokkos::View<std::uint32_t*, Kokkos::HostSpace> const bins_of_threads(
      "coir::nbody::bins", static_cast<std::size_t>(count * threads));
  std::uint32_t* const next = bins_of_threads.data();
  auto const first_of = [=](std::int64_t t) { return particles * t / threads; };
  for_each_task("coir::nbody::bins/count", exec, threads, [&](std::int64_t t) {
    std::uint32_t* const number = next + t * count;
    for (std::int64_t p = first_of(t); p < first_of(t + 1); ++p)
      ++number[place[p] = static_cast<std::uint32_t>(bins(position + 3 * p))];
  });
  // Each number becomes that of the particles before: those of earlier bins, and of the same bin in
  // earlier threads. Each thread takes a share of the bins.
  auto const bins_of = [=](std::int64_t t) { return count * t / threads; };
  std::vector<std::uint32_t> before(static_cast<std::size_t>(threads), 0);
  for_each_task("coir::nbody::bins/add", exec, threads, [&](std::int64_t share) {
    std::uint32_t sum = 0;
    for (std::int64_t t = 0; t < threads; ++t)
      for (std::int64_t b = bins_of(share); b < bins_of(share + 1); ++b) sum += next[t * count + b];
    before[static_cast<std::size_t>(share)] = sum;
  });
  std::exclusive_scan(before.begin(), before.end(), before.begin(), 0u);
  for_each_task("coir::nbody::bins/scan", exec, threads, [&](std::int64_t share) {
    std::uint32_t sum = before[static_cast<std::size_t>(share)];
    for (std::int64_t b = bins_of(share); b < bins_of(share + 1); ++b)
      for (std::int64_t t = 0; t < threads; ++t) sum += std::exchange(next[t * count + b], sum);
  });
  for_each_task("coir::nbody::bins/place", exec, threads, [&](std::int64_t t) {
    std::uint32_t* const number = next + t * count;
    for (std::int64_t p = first_of(t); p < first_of(t + 1); ++p) place[p] = number[place[p]]++;
  });
}

/// Counts the particles of each bin, and stores for each particle the count of its bin before it.
template <class Bins, class T>
struct CountBin {
  T const* position;
  Bins bins;
  std::uint32_t* numbers;
  std::uint32_t* rank;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    rank[p] = Kokkos::atomic_fetch_add(numbers + bins(position + 3 * p), 1u);
  }
};
/// Replaces the number of particles in each bin by the number in all bins before it, `stretch` bins
/// per thread.
struct SumBins {
  static constexpr std::int64_t stretch = 16;
  std::uint32_t* numbers;
  std::int64_t count;
  KOKKOS_FUNCTION void operator()(std::int64_t s, std::uint32_t& sum, bool last) const {
    std::int64_t const begin = s * stretch, end = begin + stretch < count ? begin + stretch : count;
    for (std::int64_t b = begin; b < end; ++b) {
      std::uint32_t const here = numbers[b];
      if (last) numbers[b] = sum;
      sum += here;
    }
  }
};
/// source[first place of the particle's bin + its rank in the bin] = particle.
template <class Bins, class T>
struct PutInBin {
  T const* position;
  Bins bins;
  std::uint32_t const* numbers;
  std::uint32_t const* rank;
  std::uint32_t* source;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    source[numbers[bins(position + 3 * p)] + rank[p]] = static_cast<std::uint32_t>(p);
  }
};

/// Computes the permutation of devices: particle source[p] goes to place p. Particles of a bin come
/// in any order.
///
/// \param rank  scratch, a number per particle
template <class Exec, class T>
  requires(!runs_on_host<Exec>)
void find_sources(Exec const& exec, T const* position, std::int64_t particles,
                  PencilBins<T> const& bins, std::uint32_t* rank, std::uint32_t* source) {
  auto const numbers = kept_view<Kokkos::View<std::uint32_t*, typename Exec::memory_space>>(
      exec, "coir::nbody::bins", bins.count());
  set_to_zero(exec, numbers);
  auto const all = coir::box<1, std::int64_t>({particles});
  for_each("coir::nbody::bins/count", exec, all,
           CountBin<PencilBins<T>, T>{position, bins, numbers.data(), rank});
  Kokkos::parallel_scan("coir::nbody::bins/sum",
                        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                            exec, 0, (bins.count() + SumBins::stretch - 1) / SumBins::stretch),
                        SumBins{numbers.data(), bins.count()});
  for_each("coir::nbody::bins/place", exec, all,
           PutInBin<PencilBins<T>, T>{position, bins, numbers.data(), rank, source});
}

}  // namespace coir::nbody::detail
