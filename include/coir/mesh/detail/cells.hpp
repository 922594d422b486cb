#pragma once

/// \file
/// Meshes and particles as the kernels see them.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/overlap.hpp>
#include <coir/core/strided.hpp>

#include <cstdint>
#include <limits>
#include <string>

namespace coir::mesh {

/// Positions or vectors of particles: (N, 3), of any layout. Kernels want the numbers of a particle side by side, one
/// particle behind the other, as LayoutRight has them; they get a copy of Views in which they lie otherwise.
template <class V>
concept VectorsOfParticles = RealViewOfRank<V, 2> && StridedView<V>;

namespace detail {

/// A mesh of one or three numbers per cell. Rows lie contiguously; planes and rows may be padded.
template <class T>
struct Cells {
  T* data;
  std::int64_t extent[3];
  std::int64_t plane;  ///< elements from one plane of constant first index to the next
  std::int64_t row;    ///< elements from one row to the next

  std::int64_t count() const { return extent[0] * extent[1] * extent[2]; }
};

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

/// A mesh with contiguous rows.
///
/// \throws PreconditionError if there are no cells, or an axis or a plane is longer than the kernels can count
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

/// Whether planes, and rows within them, follow each other: writing kernels ask for that.
template <class T, int Rank>
bool is_in_order(Strided<T, Rank> const& mesh) {
  std::int64_t const row = mesh.extents[2] * (Rank == 4 ? mesh.extents[3] : 1);
  std::int64_t const plane = (mesh.extents[1] - 1) * mesh.strides[1] + row;
  return (mesh.extents[1] == 1 || mesh.strides[1] >= row) &&
         (mesh.extents[0] == 1 || mesh.strides[0] >= plane);
}

/// A caller's mesh, or a copy in C order if its rows aren't contiguous, or are to be written and don't follow each other.
template <class Exec, StridedView Mesh>
auto staged_mesh(Exec const& exec, Mesh const& mesh, Access access) {
  auto const at = strided(mesh);
  if (access != Access::read) expects_distinct_elements(at.extents, at.strides, "a mesh");
  return Staged(exec, at, has_contiguous_rows(at) && (access == Access::read || is_in_order(at)),
                access, "a copy of the mesh in C order");
}

/// A caller's numbers or vectors of particles, or a copy in C order without gaps.
template <class Exec, StridedView Particles>
auto staged_particles(Exec const& exec, Particles const& particles, Access access) {
  auto const at = strided(particles);
  if (access != Access::read) expects_distinct_elements(at.extents, at.strides, "a View of values");
  return Staged(exec, at, is_c_order(at), access, "a copy of particles in C order");
}

/// \throws PreconditionError unless positions and what belongs to them have three components and the same length
template <class Vectors>
void expects_vectors(Vectors const& vectors, std::string const& what, std::int64_t particles) {
  expects(static_cast<std::int64_t>(vectors.extent(0)) == particles,
          what + " must be " + std::to_string(particles) + ", one for each particle",
          static_cast<std::int64_t>(vectors.extent(0)));
  expects(vectors.extent(1) == 3, what + " must have 3 components",
          static_cast<std::int64_t>(vectors.extent(1)));
}

/// \throws PreconditionError unless values and a mesh fit: a number for each particle and a mesh of numbers, or a vector
///   for each and a mesh of vectors
template <class Values, class Mesh>
void expects_values(Values const& values, Mesh const& mesh, std::int64_t particles) {
  if constexpr (ViewOfRank<Values, 2>) {
    expects_vectors(values, "vectors", particles);
    expects(mesh.extent(3) == 3, "a mesh of vectors must have 3 components",
            static_cast<std::int64_t>(mesh.extent(3)));
  } else {
    expects(static_cast<std::int64_t>(values.extent(0)) == particles,
            "values must be " + std::to_string(particles) + ", one for each particle",
            static_cast<std::int64_t>(values.extent(0)));
  }
}

inline void expects_box(double box) {
  expects(box > 0 && box <= std::numeric_limits<double>::max(),
          "the box length must be positive and finite", box);
}

}  // namespace detail

}  // namespace coir::mesh
