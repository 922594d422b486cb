#pragma once

/// \file
/// The value of a mesh of numbers or vectors at a particle: the weighted mean over the cells that
/// the particle touches.

#include <coir/mesh/assignment.hpp>
#include <coir/mesh/cells.hpp>
#include <coir/mesh/detail/cell_map.hpp>
#include <coir/mesh/detail/lanes.hpp>
#include <coir/mesh/read_out.hpp>

#include <cstdint>

namespace coir::mesh {

namespace detail {

/// Adds a weight times a cell's numbers, on devices. Readers that add cells in the same order get
/// the same bits.
template <int Components, class T>
KOKKOS_FORCEINLINE_FUNCTION void add_cell(T weight, T const* cell, T (&sum)[Components]) {
  COIR_UNROLL
  for (int v = 0; v < Components; ++v) sum[v] += weight * cell[v];
}

}  // namespace detail

/// A reader for read_out().
///
/// \tparam Support     cells that a particle touches along an axis, see with_support()
/// \tparam Components  1 for numbers, 3 for vectors
template <int Support, int Components, class T>
class MeshValues {
 public:
  static constexpr int components = Components;
  static constexpr int blocks_at_a_time = blocks_of_particles<T>;
  static constexpr int particles_per_thread =
      Support == 4 ? 2 : 4;  // by measurement of floats on an H100

  struct Block {
    detail::ParticleBlock<Support, T> particles;
    /// Offsets of the first cells that are touched in each row.
    std::int64_t start[Support][Support][detail::ParticleBlock<Support, T>::size];
  };

  /// \param cells  all planes, or those that particles touch
  MeshValues(CellsWindow<T const> const& cells, double box) : cells_(cells), map_(cells, box) {}
  MeshValues(Cells<T const> const& cells, double box) : MeshValues(whole_window(cells), box) {}

  template <class Position>
  void locate(Block& block, int count, Position const& position) const {
    auto& at = block.particles;
    detail::locate<Components>(at, count, position, cells_, map_.per_cell);
    for (int a = 0; a < Support; ++a) {
      std::int64_t plane[detail::particles_per_block];
      COIR_INDEPENDENT_ITERATIONS
      for (int p = 0; p < count; ++p) plane[p] = at.plane[a][p] * cells_.plane;
      for (int b = 0; b < Support; ++b) {
        auto& start = block.start[a][b];
        COIR_INDEPENDENT_ITERATIONS
        for (int p = 0; p < count; ++p) start[p] = plane[p] + (at.row[b][p] + at.column[0][p]);
      }
    }
  }

  void prefetch(Block const& block, int p) const {
    for (int a = 0; a < Support; ++a)
      for (int b = 0; b < Support; ++b) __builtin_prefetch(cells_.data + block.start[a][b][p]);
  }

  /// \param to  `components` numbers, and one after them that may be overwritten
  void read(Block const& block, int p, T* to) const {
    if constexpr (Support == 2 && Components == 3) {
      // Not if the two cells are the row's last and first one, or if eight numbers reach beyond the
      // row.
      if (block.particles.column[0][p] + 8 > Components * cells_.extent[2])
        return read_at_end(block, p, to);
      return read_pairs(block, p, to);
    }
    read_cells(block, p, to);
  }

  KOKKOS_FUNCTION Value<T, Components> operator()(T const* position) const {
    T weight[3][Support];
    std::int64_t place[3][Support];
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) {
      auto const t = map_(position[d], d);
      std::int64_t const stride = d == 0 ? cells_.plane : d == 1 ? cells_.row : Components;
      std::int32_t cell = t.first;
      COIR_UNROLL
      for (int o = 0; o < Support; ++o) {
        weight[d][o] = t.weight[o];
        place[d][o] = cell * stride;
        cell = cell + 1 == static_cast<std::int32_t>(cells_.held(d)) ? 0 : cell + 1;
      }
    }
    Value<T, Components> sum{};
    COIR_UNROLL
    for (int a = 0; a < Support; ++a) {
      COIR_UNROLL
      for (int b = 0; b < Support; ++b) {
        T const w = weight[0][a] * weight[1][b];
        T const* const row = cells_.data + place[0][a] + place[1][b];
        COIR_UNROLL
        for (int c = 0; c < Support; ++c)
          detail::add_cell<Components>(w * weight[2][c], row + place[2][c], sum.component);
      }
    }
    return sum;
  }

 private:
  /// The weighted sum of the vectors of two neighbouring cells of a row, over the four rows that a
  /// particle touches. Eight lanes hold both vectors, and two numbers of the next cell.
  void read_pairs(Block const& block, int p, T* to) const {
    using Eight = typename detail::Lanes<T>::eight;
    using Four = typename detail::Lanes<T>::four;
    auto const& [x, y, z] = block.particles.weight;
    auto const row = [&](int a, int b) {
      return *reinterpret_cast<Eight const*>(cells_.data + block.start[a][b][p]);
    };
    Eight const sum = x[0][p] * (y[0][p] * row(0, 0) + y[1][p] * row(0, 1)) +
                      x[1][p] * (y[0][p] * row(1, 0) + y[1][p] * row(1, 1));
    Four const first = __builtin_shufflevector(sum, sum, 0, 1, 2, 3),
               second = __builtin_shufflevector(sum, sum, 3, 4, 5, 6);
    *reinterpret_cast<Four*>(to) = z[0][p] * first + z[1][p] * second;
  }

  /// read_cells(), out of the way of read_pairs(): a compiler that sees both loads weights as
  /// numbers, for both, and copies them to lanes afterwards.
  [[gnu::noinline]] void read_at_end(Block const& block, int p, T* to) const {
    read_cells(block, p, to);
  }

  void read_cells(Block const& block, int p, T* to) const {
    auto const& column = block.particles.column;
    std::int32_t away[Support];
    for (int c = 0; c < Support; ++c) away[c] = column[c][p] - column[0][p];
    auto const& [x, y, z] = block.particles.weight;
    T sum[Components] = {};
    for (int a = 0; a < Support; ++a)
      for (int b = 0; b < Support; ++b) {
        T const* const row = cells_.data + block.start[a][b][p];
        for (int c = 0; c < Support; ++c)
          for (int v = 0; v < Components; ++v)
            sum[v] += x[a][p] * y[b][p] * z[c][p] * row[away[c] + v];
      }
    for (int v = 0; v < Components; ++v) to[v] = sum[v];
  }

  CellsWindow<T const> cells_;
  detail::CellMap<Support, T> map_;
};

}  // namespace coir::mesh
