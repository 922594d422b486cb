#pragma once

/// The particles that the benchmarks of meshes paint and read at, and their report.

#include <nbody/universe.hpp>
#include <support/memory.hpp>
#include <support/timing.hpp>

#include <coir/core/loops.hpp>
#include <coir/mesh/assignment.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace coir::bench {

using Real = float;
using Positions = nbody::Particles<Space, Real>::Vectors;
using Numbers = Kokkos::View<Real*, Kokkos::LayoutRight, Memory>;
using Mesh = Kokkos::View<Real***, Kokkos::LayoutRight, Memory>;
using MeshOfVectors = Kokkos::View<Real****, Kokkos::LayoutRight, Memory>;

/// Where particles lie, and in which order in memory.
enum class Layout {
  lattice,    ///< on the lattice, in its order: what neighbours in memory touch is close in memory,
              ///< too
  displaced,  ///< in the order of the lattice, displaced as today: by some cells, in clumps and
              ///< pancakes
  sorted,     ///< the same, in the order of the rows of a mesh as fine as the lattice
};

inline constexpr Layout layouts[]{Layout::lattice, Layout::displaced, Layout::sorted};
inline constexpr mesh::Assignment assignments[]{mesh::Assignment::cic, mesh::Assignment::tsc,
                                                mesh::Assignment::pcs};

constexpr char const* name_of(Layout layout) {
  return layout == Layout::lattice     ? "lattice"
         : layout == Layout::displaced ? "displaced"
                                       : "sorted";
}

/// Particles of a side in a box of as many units, and cells of the mesh per particle along a side.
struct Size {
  std::int64_t side, ratio;
  std::int64_t count() const { return side * side * side; }
  std::int64_t cells() const { return side * ratio; }
  std::string name() const { return "/" + std::to_string(side) + "/" + std::to_string(ratio); }
};

inline constexpr Size sizes[]{{32, 1},  {48, 1},  {64, 1},  {96, 1}, {128, 1},
                              {192, 1}, {256, 1}, {512, 1}, {64, 2}, {128, 2}};

/// What a case holds at most: the mesh, of so many numbers a cell, and so many numbers per
/// particle; or, before, what the particles are made from and, on the host, sorted by: three copies
/// of them, and three lists of indices.
inline double bytes_of(Space const& exec, Size const& size, Layout layout, int per_cell,
                       int per_particle) {
  double const cells = double(size.cells()) * double(size.cells()) * double(size.cells());
  double const held =
      double(sizeof(Real)) * (per_cell * cells + per_particle * double(size.count()));
  double const sorting = layout == Layout::sorted
                             ? double(size.count()) * 3 * (3 * sizeof(Real) + sizeof(std::int64_t))
                             : 0;
  return std::max(
      {held, sorting, double(nbody::initial_conditions_bytes<Space, Real>(exec, {}, size.side))});
}

inline Positions lattice(Space const& exec, std::int64_t side) {
  Positions const positions("positions", static_cast<std::size_t>(side * side * side));
  for_each(
      "coir::bench::lattice", exec, box<3, std::int64_t>({side, side, side}),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, std::int64_t k) {
        std::int64_t const p = (i * side + j) * side + k;
        positions(p, 0) = Real(i);
        positions(p, 1) = Real(j);
        positions(p, 2) = Real(k);
      });
  return positions;
}

/// The same positions in the order of rows; within one in the order that they had.
inline Positions sorted_by_rows(Positions const& positions, std::int64_t side) {
  auto const from = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, positions);
  std::vector<std::int64_t> row(from.extent(0)), order(from.extent(0));
  for (std::size_t p = 0; p < row.size(); ++p)
    row[p] = static_cast<std::int64_t>(from(p, 0)) * side + static_cast<std::int64_t>(from(p, 1));
  std::iota(order.begin(), order.end(), std::int64_t(0));
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return row[a] < row[b]; });
  Positions const result("sorted", from.extent(0));
  auto const to = Kokkos::create_mirror_view(result);
  for (std::size_t p = 0; p < order.size(); ++p)
    for (std::size_t d = 0; d < 3; ++d) to(p, d) = from(order[p], d);
  Kokkos::deep_copy(result, to);
  return result;
}

inline Positions positions_of(Space const& exec, std::int64_t side, Layout layout) {
  if (layout == Layout::lattice) return lattice(exec, side);
  auto const displaced = universe<Space, Real>(exec, side, /*a=*/1, /*order=*/1).position;
  return layout == Layout::sorted ? sorted_by_rows(displaced, side) : displaced;
}

/// What a benchmark was given last is kept, since the next one mostly wants the same.
inline Positions kept_positions(Space const& exec, std::int64_t side, Layout layout) {
  struct Kept {
    std::int64_t side = 0;
    Layout layout{};
    Positions positions{};
  };
  static Kept* const kept = [] {
    auto* const made = new Kept;
    Kokkos::push_finalize_hook([made] { delete made; });
    return made;
  }();
  if (kept->side != side || kept->layout != layout) {
    *kept = {};  // before the next one takes memory
    *kept = {side, layout, positions_of(exec, side, layout)};
  }
  return kept->positions;
}

/// Times a pass over all particles that also reads or writes `numbers` numbers, and adds
/// ns/particle.
template <class Pass>
void time_pass(benchmark::State& state, Space const& exec, Size const& size, double numbers,
               Pass const& pass) {
  double const particles = double(size.count());
  time_kernel(state, exec,
              {particles, double(sizeof(Real)) * (3 * particles + numbers), "particles"}, pass);
  state.counters["ns/particle"] = 1e9 * state.counters["seconds"].value / particles;
}

}  // namespace coir::bench
