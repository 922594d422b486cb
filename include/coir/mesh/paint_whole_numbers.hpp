#pragma once

/// \file
/// Painting in whole numbers of 64 bits, whose sum doesn't depend on the order of additions.

#include <coir/core/concepts.hpp>
#include <coir/mesh/assignment.hpp>
#include <coir/mesh/cells.hpp>

#include <cstdint>

namespace coir::mesh {

/// Paints one component of a vector of each particle,
///
///   cells(g) = sum_p W(x_p - x_g) rint(scale vector(p)),
///
/// with each particle's whole number cut into parts that add up to it. Bits are the same for any
/// number of threads and any order of particles.
///
/// \param position   (particles, 3), row-major
/// \param component  of the first particle's vector; the next one is three numbers further, and so
///   on
/// \param scale      vectors times this, and their sums in a cell, must be below 2^63 in size; NaN
///   counts as 0
/// \param cells      out: the planes that these particles touch, which of a whole mesh are all
template <CompiledSpace Exec, Real T>
void paint_whole_numbers(Exec const& exec, T const* position, std::int64_t particles, double box,
                         T const* component, double scale, CellsWindow<std::int64_t> const& cells,
                         Assignment assignment);

}  // namespace coir::mesh
