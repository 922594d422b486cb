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

/// Positions or vectors of particles: (N, 3), of any layout. Kernels need LayoutRight without gaps;
/// other Views are copied for them.
template <class V>
concept VectorsOfParticles = RealViewOfRank<V, 2> && StridedView<V>;

/// 1 / h along an axis, with the size h of a cell.
inline double inverse_spacing(std::int64_t cells, double box) {
  return static_cast<double>(cells) / box;
}

/// A number for each axis.
template <class T>
using PerAxis = Kokkos::Array<T, 3>;

/// The `blocks_at_a_time` of painting by atomics and of MeshValues, see for_each(): 64 registers
/// for floats, 128 for doubles.
template <class T>
inline constexpr int blocks_of_particles = 32 / static_cast<int>(sizeof(T));

/// The places of cells in memory along an axis that is whole: each cell's place is its number.
struct AllPlanes {
  static std::int32_t held(std::int32_t extent) { return extent; }
  KOKKOS_FORCEINLINE_FUNCTION std::int32_t operator()(std::int32_t cell) const { return cell; }
};

/// The places of planes in memory that holds some of them: see CellsWindow.
struct HeldPlanes {
  std::int32_t extent, start, margin, last, planes;

  std::int32_t held(std::int32_t /*extent*/) const { return planes; }
  /// \param plane  the first plane that a particle touches
  /// \return  its place. If the particle touches planes that aren't held: the last place from which
  ///   all planes are held
  KOKKOS_FORCEINLINE_FUNCTION std::int32_t operator()(std::int32_t plane) const {
    std::int32_t place = plane - start;
    place = place < 0 ? place + extent : place;
    return margin + (place < last ? place : last);
  }
};

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

/// Some planes of a periodic mesh, one behind the other: a rank's own, and ghosts before and after
/// them. `extent` is that of the whole mesh. A window may hold a plane of a small mesh more than
/// once. Nothing wraps around in memory, unless the window is the whole mesh. Kernels take every
/// mesh as a window, so that one kernel serves one rank and several.
template <class T>
struct CellsWindow : Cells<T> {
  std::int32_t planes;  ///< held
  std::int32_t
      start;  ///< the plane of the mesh, from 0 on, that lies `margin` planes behind the first one
  std::int32_t margin = 0;  ///< planes at either end that particles don't touch
  bool whole = false;       ///< all planes, once each

  /// Cells in memory along an axis.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t held(int d) const {
    return d == 0 ? planes : this->extent[d];
  }
  /// The places of the first planes that particles of this support touch.
  HeldPlanes places(int support) const {
    std::int32_t const last = whole ? planes - 1 : planes - support - 2 * margin;
    return HeldPlanes{static_cast<std::int32_t>(this->extent[0]), start, margin,
                      last < 0 ? 0 : last, planes};
  }
  /// The window for readers that need `more` planes before and after those that a particle touches.
  CellsWindow with_margin(int more) const {
    CellsWindow window = *this;
    if (whole) return window;
    window.start = static_cast<std::int32_t>((start + more) % this->extent[0]);
    window.margin = margin + more;
    return window;
  }
};

/// A mesh for kernels that only read it.
template <class T>
Cells<T const> read_only(Cells<T> const& cells) {
  return {cells.data, {cells.extent[0], cells.extent[1], cells.extent[2]}, cells.plane, cells.row};
}

template <class T>
CellsWindow<T const> read_only(CellsWindow<T> const& window) {
  return {read_only(static_cast<Cells<T> const&>(window)), window.planes, window.start,
          window.margin, window.whole};
}

/// The whole mesh, as a window.
template <class T>
CellsWindow<T> whole_window(Cells<T> const& cells) {
  return {cells, static_cast<std::int32_t>(cells.extent[0]), 0, 0, true};
}
template <class T>
CellsWindow<T> whole_window(CellsWindow<T> const&) = delete;  // a window may hold a part of a mesh

/// Whether the numbers of a mesh's row lie side by side. The mesh has 3 axes, or 4 with the
/// components of vectors last.
template <class T, int Rank>
bool has_contiguous_rows(Strided<T, Rank> const& mesh) {
  std::int64_t const components = Rank == 4 ? mesh.extents[3] : 1;
  return (Rank == 3 || mesh.strides[Rank - 1] == 1 || components == 1) &&
         (mesh.extents[2] == 1 || mesh.strides[2] == components);
}

/// The cells of a mesh of rank 3, or of rank 4 with the components of vectors last.
///
/// \throws PreconditionError if there are no cells, the rows aren't contiguous, or an axis or a
///   plane has more cells than kernels can count
template <class T, int Rank>
Cells<T> cells_of(Strided<T, Rank> const& mesh) {
  Cells<T> cells{mesh.data, {}, mesh.strides[0], mesh.strides[1]};
  for (int d = 0; d < 3; ++d) {
    cells.extent[d] = mesh.extents[d];
    expects(
        cells.extent[d] >= 1,
        [&] { return "a mesh must have at least one cell along axis " + std::to_string(d); },
        cells.extent[d]);
    // A float must hold the numbers of cells along an axis exactly.
    expects(
        cells.extent[d] <= 1 << 24,
        [&] { return "a mesh must have at most 2^24 cells along axis " + std::to_string(d); },
        cells.extent[d]);
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

/// The cells of some planes of a mesh.
///
/// \param held    (planes held, n_1, n_2), or with the components of vectors last: a View, or its
///   Strided
/// \param first   number of the first plane held; may be below 0 or beyond the last plane, as the
///   axis is periodic
/// \param planes  of the whole mesh
/// \throws PreconditionError as cells_of
template <class Held>
auto window_of(Held const& held, std::int64_t first, std::int64_t planes) {
  auto cells = cells_of(held);
  expects(planes >= 1 && planes <= 1 << 24, "a mesh must have from 1 to 2^24 cells along axis 0",
          planes);
  CellsWindow<std::remove_pointer_t<decltype(cells.data)>> window{
      cells, static_cast<std::int32_t>(cells.extent[0]),
      static_cast<std::int32_t>((first % planes + planes) % planes), 0};
  window.extent[0] = planes;
  return window;
}

}  // namespace coir::mesh
