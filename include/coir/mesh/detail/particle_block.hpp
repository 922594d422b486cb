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

template <int Order, class T>
struct ParticleBlock {
  static constexpr int size = 32;
  std::int32_t plane[Order][size];   ///< the planes that are touched
  std::int32_t row[Order][size];     ///< offsets of the rows in a plane
  std::int32_t column[Order][size];  ///< offsets of the cells in a row
  T weight[3][Order][size];
};

/// Where the particles of a block lie along one axis: weights, and the cells that are touched, times `step`.
///
/// \tparam o  0 to Order - 1: without inner loops this one vectorises
template <int Order, class T, int Size, int... o>
void locate_along(T const (&x)[Size], int count, double box, std::int64_t extent, std::int32_t step,
                  T (&weight)[Order][Size], std::int32_t (&offset)[Order][Size],
                  std::integer_sequence<int, o...>) {
  T const cells = static_cast<T>(extent),
          per_cell = static_cast<T>(static_cast<double>(extent) / box);
  std::int32_t const end = static_cast<std::int32_t>(extent) * step;
  COIR_INDEPENDENT_ITERATIONS
  for (int p = 0; p < count; ++p) {
    Touched<Order, T> const t = touched<Order, T>(x[p], per_cell, cells);
    ((weight[o][p] = t.weight[o]), ...);
    std::int32_t at = t.first * step;
    ((offset[o][p] = at, at = at + step == end ? 0 : at + step), ...);
  }
}

/// Locates `count` particles; position(p) points to the coordinates of the p-th.
///
/// \tparam Components  of a cell
template <int Order, int Components, class T, class Cell, class Position>
void locate(ParticleBlock<Order, T>& block, int count, Position const& position,
            Cells<Cell> const& cells, double box) {
  constexpr int size = ParticleBlock<Order, T>::size;
  T x[3][size];
  for (int p = 0; p < count; ++p) {
    T const* const at = position(p);
    for (int d = 0; d < 3; ++d) x[d][p] = at[d];
  }
  constexpr auto each = std::make_integer_sequence<int, Order>{};
  locate_along<Order>(x[0], count, box, cells.extent[0], 1, block.weight[0], block.plane, each);
  locate_along<Order>(x[1], count, box, cells.extent[1], static_cast<std::int32_t>(cells.row),
                      block.weight[1], block.row, each);
  locate_along<Order>(x[2], count, box, cells.extent[2], Components, block.weight[2], block.column,
                      each);
}

}  // namespace coir::mesh::detail
