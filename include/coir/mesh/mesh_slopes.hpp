#pragma once

/// \file
/// The negative gradient of a mesh at a particle, by finite differences: the weighted mean, over
/// the cells that the particle touches, of differences between their neighbours. To rounding it
/// equals the value of a mesh of such differences, without the memory for that mesh.

#include <coir/core/math.hpp>
#include <coir/mesh/assignment.hpp>
#include <coir/mesh/cells.hpp>
#include <coir/mesh/detail/cell_map.hpp>
#include <coir/mesh/detail/difference_weights.hpp>
#include <coir/mesh/detail/lanes.hpp>
#include <coir/mesh/read_out.hpp>

#include <cstdint>

namespace coir::mesh {

/// A reader for read_out().
///
/// For each axis the mesh is averaged over the cells that the particle touches along the two other
/// axes, which leaves a line of means. Differences are taken in the three lines.
///
/// \tparam Support  cells that a particle touches along an axis, see with_support()
/// \tparam Points   of the differences, 2 or 4
template <int Support, int Points, class T>
class MeshSlopes {
  static constexpr int reach = Points / 2, wide = Support + Points;

 public:
  static constexpr int components = 3;
  /// Teams of 256 threads that a multiprocessor of a device has room for: floats have 64 registers
  /// with cic, and 128 with more cells, which would spill.
  static constexpr int teams_at_a_time = (Support == 2 ? 16 : 8) / static_cast<int>(sizeof(T));
  using Block = detail::ParticleBlock<Support, T, reach>;

  /// \param cells  all planes, or those that particles touch and Points / 2 before and after them
  MeshSlopes(CellsWindow<T const> const& cells, double box)
      : cells_(cells.with_margin(reach)), map_(cells_, box) {
    auto const per_cell = cells.template inverse_spacing<double>(box);
    for (int d = 0; d < 3; ++d) difference_[d] = {Points, per_cell[d]};
  }
  MeshSlopes(Cells<T const> const& cells, double box) : MeshSlopes(whole_window(cells), box) {}

  template <class Position>
  void locate(Block& block, int count, Position const& position) const {
    detail::locate<1>(block, count, position, cells_, map_.per_cell);
  }

  [[gnu::always_inline]] void prefetch(Block const& block, int p) const {
    for (int a = 0; a < wide; ++a) {
      T const* const plane = cells_.data + block.plane[a][p] * cells_.plane + block.column[0][p];
      for (int b = 0; b < wide; ++b)
        if (touches(a) || touches(b)) __builtin_prefetch(plane + block.row[b][p]);
    }
  }

  /// \param to  three numbers
  void read(Block const& block, int p, T* to) const {
    T w[3][Support];
    for (int o = 0; o < Support; ++o)
      for (int d = 0; d < 3; ++d) w[d][o] = block.weight[d][o][p];
    if constexpr (Support == 2) {
      // Not if the cells continue at the row's other end, or if eight numbers reach beyond the row.
      std::int32_t const first = block.column[0][p];
      if (first + wide <= cells_.extent[2] && first + 8 <= cells_.row)
        return read_pairs(block, p, w, to);
    }
    std::int32_t place[3][wide];
    for (int c = 0; c < wide; ++c) {
      place[0][c] = block.plane[c][p];
      place[1][c] = block.row[c][p];
      place[2][c] = block.column[c][p];
    }
    auto const slope = slope_at(place, w);
    for (int d = 0; d < 3; ++d) to[d] = slope.component[d];
  }

  KOKKOS_FUNCTION Value<T, 3> operator()(T const* position) const {
    T weight[3][Support];
    std::int32_t place[3][wide];
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) {
      std::int32_t const held = static_cast<std::int32_t>(cells_.held(d));
      auto const t = map_(position[d], d);
      std::int32_t const stride = d == 1 ? static_cast<std::int32_t>(cells_.row) : 1;
      COIR_UNROLL
      for (int o = 0; o < Support; ++o) weight[d][o] = t.weight[o];
      std::int32_t cell = t.first;
      COIR_UNROLL
      for (int c = 0; c < reach; ++c) cell = cell == 0 ? held - 1 : cell - 1;
      COIR_UNROLL
      for (int c = 0; c < wide; ++c) {
        place[d][c] = cell * stride;
        cell = cell + 1 == held ? 0 : cell + 1;
      }
    }
    return slope_at(place, weight);
  }

 private:
  /// Whether the particle touches the c-th of the cells along an axis.
  static constexpr KOKKOS_FUNCTION bool touches(int c) { return c >= reach && c < reach + Support; }

  /// The weighted mean of the differences in a line.
  KOKKOS_FORCEINLINE_FUNCTION T along(T const (&line)[wide], T const (&w)[Support],
                                      detail::DifferenceWeights<T> const& difference) const {
    T sum = 0;
    COIR_UNROLL
    for (int o = 0; o < Support; ++o) {
      int const c = o + reach;
      T slope = difference.near * (line[c - 1] - line[c + 1]);
      if constexpr (Points == 4) slope += difference.far * (line[c - 2] - line[c + 2]);
      sum += w[o] * slope;
    }
    return sum;
  }

  /// \param place  the places of planes, of rows in a plane, and of cells in a row
  KOKKOS_FORCEINLINE_FUNCTION Value<T, 3> slope_at(std::int32_t const (&place)[3][wide],
                                                   T const (&w)[3][Support]) const {
    T line[3][wide] = {};
    COIR_UNROLL
    for (int a = 0; a < wide; ++a) {
      COIR_UNROLL
      for (int b = 0; b < wide; ++b) {
        if (!touches(a) && !touches(b)) continue;
        T const* const row = cells_.data + (place[0][a] * cells_.plane + place[1][b]);
        COIR_UNROLL
        for (int c = 0; c < wide; ++c) {
          if (touches(a) + touches(b) + touches(c) < 2) continue;
          T const here = row[place[2][c]];
          if (touches(b) && touches(c)) line[0][a] += w[1][b - reach] * w[2][c - reach] * here;
          if (touches(a) && touches(c)) line[1][b] += w[0][a - reach] * w[2][c - reach] * here;
          if (touches(a) && touches(b)) line[2][c] += w[0][a - reach] * w[1][b - reach] * here;
        }
      }
    }
    return {along(line[0], w[0], difference_[0]), along(line[1], w[1], difference_[1]),
            along(line[2], w[2], difference_[2])};
  }

  /// read() for cells that lie side by side in their rows. Means along the last axis take two cells
  /// at a time, and the line along the last axis is eight lanes.
  void read_pairs(Block const& block, int p, T const (&w)[3][2], T* to) const {
    using Two = typename detail::Lanes<T>::two;
    using Eight = typename detail::Lanes<T>::eight;
    auto const row = [&](int a, int b) {
      return cells_.data + block.plane[a][p] * cells_.plane +
             (block.row[b][p] + block.column[0][p]);
    };
    auto const pair = [](T const* from) { return *reinterpret_cast<Two const*>(from + reach); };
    auto const eight = [](T const* from) { return *reinterpret_cast<Eight const*>(from); };
    constexpr int o = reach, e = reach + 1;  // the cells that the particle touches
    Two const along_z{w[2][0], w[2][1]};
    T x[wide], y[wide], z[wide];
    for (int c = 0; c < wide; ++c) {
      Two const a = along_z * (w[1][0] * pair(row(c, o)) + w[1][1] * pair(row(c, e)));
      Two const b = along_z * (w[0][0] * pair(row(o, c)) + w[0][1] * pair(row(e, c)));
      x[c] = a[0] + a[1];
      y[c] = b[0] + b[1];
    }
    Eight const rows = w[0][0] * (w[1][0] * eight(row(o, o)) + w[1][1] * eight(row(o, e))) +
                       w[0][1] * (w[1][0] * eight(row(e, o)) + w[1][1] * eight(row(e, e)));
    for (int c = 0; c < wide; ++c) z[c] = rows[c];
    to[0] = along(x, w[0], difference_[0]);
    to[1] = along(y, w[1], difference_[1]);
    to[2] = along(z, w[2], difference_[2]);
  }

  CellsWindow<T const> cells_;
  detail::CellMap<Support, T> map_;
  detail::DifferenceWeights<T> difference_[3];
};

}  // namespace coir::mesh
