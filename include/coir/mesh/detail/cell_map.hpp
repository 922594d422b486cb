#pragma once

/// \file
/// From a particle's position to the cells that it touches, for threads of devices. Hosts take
/// blocks of particles, see particle_block.hpp.

#include <coir/core/kokkos.hpp>
#include <coir/mesh/assignment.hpp>
#include <coir/mesh/cells.hpp>

#include <cstddef>

namespace coir::mesh::detail {

/// Maps coordinates to cells in memory. It is made on the host, so that threads needn't convert the
/// mesh's extents to T and find the last plane held for each particle.
template <int Support, class T>
struct CellMap {
  PerAxis<T> per_cell;  ///< 1 / h
  PerAxis<T> extent;    ///< cells of the whole mesh
  HeldPlanes places;    ///< where the first plane that a particle touches lies in memory

  /// \param cells  all planes, or those that particles touch and `margin` more at either end
  template <class Cell>
  CellMap(CellsWindow<Cell> const& cells, double box)
      : per_cell(cells.template inverse_spacing<T>(box)), extent{}, places(cells.places(Support)) {
    for (std::size_t d = 0; d < 3; ++d) extent[d] = static_cast<T>(cells.extent[d]);
  }

  /// The cells along axis d, the first one by its place in memory, and their weights.
  KOKKOS_FORCEINLINE_FUNCTION Touched<Support, T> operator()(T coordinate, int d) const {
    auto cells = touched<Support, T>(coordinate, per_cell[d], extent[d]);
    if (d == 0) cells.first = places(cells.first);
    return cells;
  }
};

}  // namespace coir::mesh::detail
