#pragma once

/// \file
/// What a mesh of numbers or vectors holds at a particle: the mean over the cells that it touches, by their weights.

#include <coir/mesh/assignment.hpp>
#include <coir/mesh/detail/cells.hpp>
#include <coir/mesh/detail/lanes.hpp>
#include <coir/mesh/read_out.hpp>

#include <cstdint>

namespace coir::mesh::detail {

/// The vectors of the two cells that follow each other in a row, added up for the four rows that a particle touches.
/// Eight lanes hold both and two numbers of the cell after these, which count nothing.
///
/// \param to  the vector, and one number after it that is overwritten
template <class T>
void read_pairs(T const* const (&row)[2][2], T const (&wx)[2], T const (&wy)[2], T const (&wz)[2],
                T* to) {
  using Eight = typename Lanes<T>::eight;
  using Four = typename Lanes<T>::four;
  auto const at = [](T const* from) { return *reinterpret_cast<Eight const*>(from); };
  Eight const along{wz[0], wz[0], wz[0], wz[1], wz[1], wz[1], 0, 0};
  Eight const sum = along * (wx[0] * (wy[0] * at(row[0][0]) + wy[1] * at(row[0][1])) +
                             wx[1] * (wy[0] * at(row[1][0]) + wy[1] * at(row[1][1])));
  *reinterpret_cast<Four*>(to) =
      __builtin_shufflevector(sum, sum, 0, 1, 2, 6) + __builtin_shufflevector(sum, sum, 3, 4, 5, 7);
}

/// A reader for read_out.
template <int Order, int Components, class T>
class MeshValues {
 public:
  static constexpr int components = Components;

  struct Block {
    ParticleBlock<Order, T> particles;
    std::int64_t start[Order][Order]
                      [ParticleBlock<Order, T>::size];  ///< of the first cells of rows
  };

  MeshValues(Cells<T const> const& cells, double box) : cells_(cells) {
    for (int d = 0; d < 3; ++d)
      per_cell_[d] = static_cast<T>(static_cast<double>(cells.extent[d]) / box);
  }

  template <class Position>
  void locate(Block& block, int count, Position const& position) const {
    auto& at = block.particles;
    detail::locate<Components>(at, count, position, cells_, per_cell_);
    for (int a = 0; a < Order; ++a)
      for (int b = 0; b < Order; ++b) {
        auto& start = block.start[a][b];
        COIR_INDEPENDENT_ITERATIONS
        for (int p = 0; p < count; ++p)
          start[p] = at.plane[a][p] * cells_.plane + (at.row[b][p] + at.column[0][p]);
      }
  }

  void prefetch(Block const& block, int p) const {
    for (int a = 0; a < Order; ++a)
      for (int b = 0; b < Order; ++b) __builtin_prefetch(cells_.data + block.start[a][b][p]);
  }

  /// \param to  `components` numbers, and one after them that may be overwritten
  void read(Block const& block, int p, T* to) const {
    auto const& column = block.particles.column;
    T w[3][Order];
    T const* row[Order][Order];
    for (int o = 0; o < Order; ++o) {
      for (int d = 0; d < 3; ++d) w[d][o] = block.particles.weight[d][o][p];
      for (int b = 0; b < Order; ++b) row[o][b] = cells_.data + block.start[o][b][p];
    }
    if constexpr (Order == 2 && Components == 3) {
      // Neither goes on at 0 nor reads beyond the row.
      if (column[0][p] + 8 <= Components * cells_.extent[2])
        return read_pairs(row, w[0], w[1], w[2], to);
    }
    std::int32_t away[Order];
    for (int c = 0; c < Order; ++c) away[c] = column[c][p] - column[0][p];
    T sum[Components] = {};
    for (int a = 0; a < Order; ++a)
      for (int b = 0; b < Order; ++b)
        for (int c = 0; c < Order; ++c)
          for (int v = 0; v < Components; ++v)
            sum[v] += w[0][a] * w[1][b] * w[2][c] * row[a][b][away[c] + v];
    for (int v = 0; v < Components; ++v) to[v] = sum[v];
  }

  KOKKOS_FUNCTION Value<T, Components> operator()(T const* position) const {
    T weight[3][Order];
    std::int64_t place[3][Order];
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) {
      auto const t = touched<Order, T>(position[d], per_cell_[d], static_cast<T>(cells_.extent[d]));
      std::int64_t const stride = d == 0 ? cells_.plane : d == 1 ? cells_.row : Components;
      std::int32_t cell = t.first;
      COIR_UNROLL
      for (int o = 0; o < Order; ++o) {
        weight[d][o] = t.weight[o];
        place[d][o] = cell * stride;
        cell = cell + 1 == static_cast<std::int32_t>(cells_.extent[d]) ? 0 : cell + 1;
      }
    }
    Value<T, Components> sum{};
    COIR_UNROLL
    for (int a = 0; a < Order; ++a) {
      COIR_UNROLL
      for (int b = 0; b < Order; ++b) {
        T const w = weight[0][a] * weight[1][b];
        T const* const row = cells_.data + place[0][a] + place[1][b];
        COIR_UNROLL
        for (int c = 0; c < Order; ++c) {
          COIR_UNROLL
          for (int v = 0; v < Components; ++v)
            sum.component[v] += w * weight[2][c] * row[place[2][c] + v];
        }
      }
    }
    return sum;
  }

 private:
  Cells<T const> cells_;
  T per_cell_[3];
};

}  // namespace coir::mesh::detail
