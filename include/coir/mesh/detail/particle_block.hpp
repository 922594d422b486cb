#pragma once

/// \file
/// Blocks of particles, for hosts. Cells and weights of a whole block are computed first, in loops
/// that vectorise. Then cells are visited particle by particle, while cells of the next block are
/// prefetched.

#include <coir/core/loops.hpp>
#include <coir/mesh/assignment.hpp>
#include <coir/mesh/cells.hpp>

#include <cstdint>
#include <utility>

namespace coir::mesh::detail {

constexpr int particles_per_block = 32;

/// The cells that the particles of a block touch, and their weights.
///
/// \tparam Reach  also this many cells before and after those that a particle touches
template <int Support, class T, int Reach = 0>
struct ParticleBlock {
  static constexpr int size = particles_per_block, cells = Support + 2 * Reach;
  std::int32_t plane[cells][size];   ///< the planes
  std::int32_t row[cells][size];     ///< offsets of the rows in a plane
  std::int32_t column[cells][size];  ///< offsets of the cells in a row
  T weight[3][Support][size];
};

/// Finds the cells and weights of a block's particles along one axis. Offsets are cells times
/// `step`.
///
/// \param extent  cells along the axis
/// \param places  maps a cell to its place in memory
/// \tparam o, c  0 to Support - 1, and 0 to Support + 2 Reach - 1: the loop vectorises only if it
///   has no inner loops
template <int Support, int Reach, class T, int Size, class Places, int... o, int... c>
void locate_along(T const (&x)[Size], int count, T per_cell, std::int64_t extent,
                  Places const places, std::int32_t step, T (&weight)[Support][Size],
                  std::int32_t (&offset)[Support + 2 * Reach][Size],
                  std::integer_sequence<int, o...>, std::integer_sequence<int, c...>) {
  T const cells = static_cast<T>(extent);
  std::int32_t const end = places.held(static_cast<std::int32_t>(extent)) * step;
  COIR_INDEPENDENT_ITERATIONS
  for (int p = 0; p < count; ++p) {
    Touched<Support, T> const t = touched<Support, T>(x[p], per_cell, cells);
    ((weight[o][p] = t.weight[o]), ...);
    std::int32_t at = places(t.first) * step;
    for (int cell = 0; cell < Reach; ++cell) at = at == 0 ? end - step : at - step;
    ((offset[c][p] = at, at = at + step == end ? 0 : at + step), ...);
  }
}

/// Finds the cells and weights of `count` particles; position(p) points to the coordinates of the
/// p-th.
///
/// \tparam Components  numbers per cell
/// \param cells        whole, or with a margin of at least Reach
/// \param per_cell     Cells::inverse_spacing()
template <int Components, int Support, int Reach, class T, class Cell, class Position>
void locate(ParticleBlock<Support, T, Reach>& block, int count, Position const& position,
            CellsWindow<Cell> const& cells, PerAxis<T> const& per_cell) {
  T x[3][particles_per_block];
  for (int p = 0; p < count; ++p) {
    T const* const at = position(p);
    for (int d = 0; d < 3; ++d) x[d][p] = at[d];
  }
  constexpr auto each = std::make_integer_sequence<int, Support>{};
  constexpr auto all = std::make_integer_sequence<int, Support + 2 * Reach>{};
  auto const along_planes = [&](auto const& places) {
    locate_along<Support, Reach>(x[0], count, per_cell[0], cells.extent[0], places, 1,
                                 block.weight[0], block.plane, each, all);
  };
  if (cells.whole)  // each plane's place is its number: HeldPlanes' additions aren't needed
    along_planes(AllPlanes{});
  else
    along_planes(cells.places(Support));
  locate_along<Support, Reach>(x[1], count, per_cell[1], cells.extent[1], AllPlanes{},
                               static_cast<std::int32_t>(cells.row), block.weight[1], block.row,
                               each, all);
  locate_along<Support, Reach>(x[2], count, per_cell[2], cells.extent[2], AllPlanes{}, Components,
                               block.weight[2], block.column, each, all);
}

}  // namespace coir::mesh::detail
