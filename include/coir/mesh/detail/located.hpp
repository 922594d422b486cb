#pragma once

/// \file
/// The cells that one particle touches, for devices, where each thread has a particle. Hosts have blocks of particles, see
/// particle_block.hpp.

#include <coir/mesh/assignment.hpp>
#include <coir/mesh/cells.hpp>

#include <cstdint>

namespace coir::mesh::detail {

/// The first cells in memory that a particle touches along the three axes, and the weights of these and of the next ones.
template <int Support, class T>
struct Located {
  std::int32_t first[3];
  T weight[3][Support];

  /// \param per_cell  Cells::inverse_spacing()
  /// \param cells     whole, or with the planes that the particle touches
  template <class Cell>
  KOKKOS_FORCEINLINE_FUNCTION Located(T const* position, PerAxis<T> const& per_cell,
                                      CellsWindow<Cell> const& cells) {
    T extent[3];
    bool is_outside = false;
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) {
      extent[d] = static_cast<T>(static_cast<std::int32_t>(cells.extent[d]));
      at_[d] = in_cells<Support>(position[d], per_cell[d]);
      is_outside = is_outside | (at_[d].first < T(0)) | (at_[d].first >= extent[d]);
    }
    // One test for the three axes: with a test for each, a thread would wait for one coordinate after the other.
    if (is_outside) {
      COIR_UNROLL
      for (int d = 0; d < 3; ++d) at_[d].first = wrapped(at_[d].first, extent[d]);
    }
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) {
      auto const t = touched<Support>(at_[d], extent[d]);
      first[d] = d == 0 ? cells.places(Support)(t.first) : t.first;
      COIR_UNROLL
      for (int o = 0; o < Support; ++o) weight[d][o] = t.weight[o];
    }
  }

  /// False if a coordinate is NaN or infinite.
  KOKKOS_FORCEINLINE_FUNCTION bool is_number() const {
    T const sum = weight[0][0] + weight[1][0] + weight[2][0];
    return sum == sum;
  }

  /// See weight_slopes().
  KOKKOS_FORCEINLINE_FUNCTION void find_slopes(T (&slope)[3][Support]) const {
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) weight_slopes(at_[d], slope[d]);
  }

 private:
  InCells<T> at_[3];
};

/// The offsets of planes, of rows in a plane and of cells in a row: of `Count` cells along each axis, from `Reach` cells before
/// the first one on that a particle touches. A plane has fewer than 2^31 elements, see cells_of().
template <int Count, int Components, int Reach = 0>
struct CellOffsets {
  std::int64_t plane[Count];
  std::int32_t row[Count], column[Count];

  /// \param first  Located::first
  template <class Cell>
  KOKKOS_FORCEINLINE_FUNCTION CellOffsets(std::int32_t const (&first)[3],
                                          CellsWindow<Cell> const& cells) {
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) {
      auto const held = static_cast<std::int32_t>(cells.held(d));
      std::int32_t cell = first[d];
      COIR_UNROLL
      for (int c = 0; c < Reach; ++c) cell = cell == 0 ? held - 1 : cell - 1;
      COIR_UNROLL
      for (int c = 0; c < Count; ++c) {
        if (d == 0)
          plane[c] = cell * cells.plane;
        else if (d == 1)
          row[c] = cell * static_cast<std::int32_t>(cells.row);
        else
          column[c] = cell * Components;
        cell = cell + 1 == held ? 0 : cell + 1;
      }
    }
  }
};

}  // namespace coir::mesh::detail
