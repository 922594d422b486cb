#pragma once

/// \file
/// Meshes and particles as kernels see them.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/strided.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace coir::mesh {

/// Positions or vectors of particles: (N, 3), of any layout. Kernels want the numbers of a particle side by side, one
/// particle behind the other, as LayoutRight has them; they get a copy of Views in which they lie otherwise.
template <class V>
concept VectorsOfParticles = RealViewOfRank<V, 2> && StridedView<V>;

/// 1 / h along an axis, h the size of a cell: multiplies positions to count them in cells.
inline double inverse_spacing(std::int64_t cells, double box) {
  return static_cast<double>(cells) / box;
}

/// A number for each axis.
template <class T>
using PerAxis = Kokkos::Array<T, 3>;

/// A mesh of one or three numbers per cell. Rows lie contiguously; planes and rows may be padded.
template <class T>
struct Cells {
  T* data;
  std::int64_t extent[3];
  std::int64_t plane;  ///< elements from one plane of constant first index to the next
  std::int64_t row;    ///< elements from one row to the next

  std::int64_t count() const { return extent[0] * extent[1] * extent[2]; }

  /// 1 / h along each axis of a cubic box.
  template <class U = std::remove_const_t<T>>
  PerAxis<U> inverse_spacing(double box) const {
    PerAxis<U> inverse{};
    for (int d = 0; d < 3; ++d) inverse[d] = static_cast<U>(mesh::inverse_spacing(extent[d], box));
    return inverse;
  }
};

/// A mesh as it is passed to kernels that only read it.
template <class T>
Cells<T const> read_only(Cells<T> const& cells) {
  return {cells.data, {cells.extent[0], cells.extent[1], cells.extent[2]}, cells.plane, cells.row};
}

/// Whether the numbers of a mesh's row lie side by side. The mesh has 3 axes, or 4 with the components of vectors last.
template <class T, int Rank>
bool has_contiguous_rows(Strided<T, Rank> const& mesh) {
  std::int64_t const components = Rank == 4 ? mesh.extents[3] : 1;
  return (Rank == 3 || mesh.strides[Rank - 1] == 1 || components == 1) &&
         (mesh.extents[2] == 1 || mesh.strides[2] == components);
}

/// The cells of a mesh of rank 3, or of rank 4 with the components of vectors last.
///
/// \throws PreconditionError if there are no cells, the rows aren't contiguous, or an axis or a plane is longer than the kernels can count
template <class T, int Rank>
Cells<T> cells_of(Strided<T, Rank> const& mesh) {
  Cells<T> cells{mesh.data, {}, mesh.strides[0], mesh.strides[1]};
  for (int d = 0; d < 3; ++d) {
    cells.extent[d] = mesh.extents[d];
    expects(cells.extent[d] >= 1,
            "a mesh must have at least one cell along axis " + std::to_string(d), cells.extent[d]);
    // Numbers of cells along an axis must be whole numbers in float.
    expects(cells.extent[d] <= 1 << 24,
            "a mesh must have at most 2^24 cells along axis " + std::to_string(d), cells.extent[d]);
  }
  expects(has_contiguous_rows(mesh), "the rows of a mesh must be contiguous");
  expects(cells.extent[1] * cells.row <= std::numeric_limits<std::int32_t>::max(),
          "a plane of a mesh must have fewer than 2^31 elements", cells.extent[1] * cells.row);
  return cells;
}
template <StridedView Mesh>
auto cells_of(Mesh const& mesh) {
  return cells_of(strided(mesh));
}

}  // namespace coir::mesh
