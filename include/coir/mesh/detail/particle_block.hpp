#pragma once

/// \file
/// On hosts particles are taken in blocks: where they lie and their weights are computed for a whole block first, which
/// vectorises; then cells are visited particle by particle. While those of one block are, memory is asked for what the next
/// block needs.

#include <coir/core/loops.hpp>
#include <coir/mesh/assignment.hpp>
#include <coir/mesh/detail/cells.hpp>

#include <cstdint>
#include <utility>

namespace coir::mesh::detail {

/// \tparam Reach  how many cells before and after those that a particle touches are known, too
template <int Order, class T, int Reach = 0>
struct ParticleBlock {
  static constexpr int size = 32, cells = Order + 2 * Reach;
  std::int32_t plane[cells][size];   ///< the planes
  std::int32_t row[cells][size];     ///< offsets of the rows in a plane
  std::int32_t column[cells][size];  ///< offsets of the cells in a row
  T weight[3][Order][size];
};

/// Where the particles of a block lie along one axis: weights, and the cells, times `step`.
///
/// \tparam o, c  0 to Order - 1, and to Order + 2 Reach - 1: without inner loops this one vectorises
template <int Order, int Reach, class T, int Size, int... o, int... c>
void locate_along(T const (&x)[Size], int count, T per_cell, std::int64_t extent, std::int32_t step,
                  T (&weight)[Order][Size], std::int32_t (&offset)[Order + 2 * Reach][Size],
                  std::integer_sequence<int, o...>, std::integer_sequence<int, c...>) {
  T const cells = static_cast<T>(extent);
  std::int32_t const end = static_cast<std::int32_t>(extent) * step;
  COIR_INDEPENDENT_ITERATIONS
  for (int p = 0; p < count; ++p) {
    Touched<Order, T> const t = touched<Order, T>(x[p], per_cell, cells);
    ((weight[o][p] = t.weight[o]), ...);
    std::int32_t at = t.first * step;
    for (int cell = 0; cell < Reach; ++cell) at = at == 0 ? end - step : at - step;
    ((offset[c][p] = at, at = at + step == end ? 0 : at + step), ...);
  }
}

/// Locates `count` particles; position(p) points to the coordinates of the p-th.
///
/// \tparam Components  of a cell
/// \param per_cell  1 / h along each axis
template <int Components, int Order, int Reach, class T, class Cell, class Position>
void locate(ParticleBlock<Order, T, Reach>& block, int count, Position const& position,
            Cells<Cell> const& cells, T const (&per_cell)[3]) {
  constexpr int size = ParticleBlock<Order, T>::size;
  T x[3][size];
  for (int p = 0; p < count; ++p) {
    T const* const at = position(p);
    for (int d = 0; d < 3; ++d) x[d][p] = at[d];
  }
  constexpr auto each = std::make_integer_sequence<int, Order>{};
  constexpr auto all = std::make_integer_sequence<int, Order + 2 * Reach>{};
  locate_along<Order, Reach>(x[0], count, per_cell[0], cells.extent[0], 1, block.weight[0],
                             block.plane, each, all);
  locate_along<Order, Reach>(x[1], count, per_cell[1], cells.extent[1],
                             static_cast<std::int32_t>(cells.row), block.weight[1], block.row, each,
                             all);
  locate_along<Order, Reach>(x[2], count, per_cell[2], cells.extent[2], Components, block.weight[2],
                             block.column, each, all);
}

}  // namespace coir::mesh::detail
