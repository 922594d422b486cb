#pragma once

/// \file
/// Meshes and particles as the kernels see them.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>

#include <cstdint>
#include <limits>
#include <string>

namespace coir::mesh {

/// Positions or vectors of particles: (N, 3), row-major.
template <class V>
concept VectorsOfParticles = RealViewOfRank<V, 2> && RowMajor<V>;

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

/// A View of rank 3, or of rank 4 with the components of vectors last.
///
/// \throws PreconditionError if there are no cells, a row's elements don't lie side by side, or an axis is longer than
///   the kernels can count
template <class Mesh>
auto cells_of(Mesh const& mesh) {
  constexpr int rank = static_cast<int>(Mesh::rank);
  std::int64_t const components = rank == 4 ? static_cast<std::int64_t>(mesh.extent(3)) : 1;
  Cells<typename Mesh::value_type> cells{mesh.data(), {}, 0, 0};
  for (int d = 0; d < 3; ++d) {
    cells.extent[d] = static_cast<std::int64_t>(mesh.extent(d));
    expects(cells.extent[d] >= 1,
            "a mesh must have at least one cell along axis " + std::to_string(d), cells.extent[d]);
    // Numbers of cells along an axis must be whole numbers in float.
    expects(cells.extent[d] <= 1 << 24,
            "a mesh must have at most 2^24 cells along axis " + std::to_string(d), cells.extent[d]);
  }
  expects((rank == 3 || mesh.stride(3) == 1 || components == 1) &&
              (cells.extent[2] == 1 || static_cast<std::int64_t>(mesh.stride(2)) == components),
          "the rows of a mesh must be contiguous");
  cells.plane = static_cast<std::int64_t>(mesh.stride(0));
  cells.row = static_cast<std::int64_t>(mesh.stride(1));
  expects(cells.extent[1] * cells.row <= std::numeric_limits<std::int32_t>::max(),
          "a plane of a mesh must have fewer than 2^31 elements", cells.extent[1] * cells.row);
  return cells;
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
    expects(particles < 2 || values.stride(0) == 1, "values must be contiguous");
  }
}

inline void expects_box(double box) {
  expects(box > 0 && box <= std::numeric_limits<double>::max(),
          "the box length must be positive and finite", box);
}

}  // namespace detail

}  // namespace coir::mesh
