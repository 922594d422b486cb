#pragma once

#include "deposit.hpp"
#include "paint_device.hpp"
#include "paint_host.hpp"

#include <coir/core/borrowed.hpp>
#include <coir/core/loops.hpp>
#include <coir/mesh/paint_whole_numbers.hpp>

#include <cstdint>
#include <new>

namespace coir::mesh::detail {

/// Replaces each cell's whole number by a number in the same memory, and adds up the whole numbers.
template <class T>
struct PartsToNumbers {
  Cells<Fixed<T>> parts;
  T* data;
  T per_part;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k,
                                  std::int64_t& sum) const {
    std::int64_t const c = i * parts.plane + j * parts.row + k;
    Fixed<T> const part = parts.data[c];
    sum += part;
    ::new (static_cast<void*>(data + c)) T(static_cast<T>(part) * per_part);
  }
};

/// The own planes of a rank, without ghosts.
template <class Exec, class Cell>
Cells<Cell> own_planes(GhostPlanes<Exec> const& ghosts, CellsWindow<Cell> const& cells) {
  Cells<Cell> own = cells;
  own.data += ghosts.widths().below * cells.plane;
  own.extent[0] = ghosts.own().count;
  return own;
}

/// Adds ghosts to the planes that they stand for.
template <int Components, class Exec, class Cell>
void add_ghosts(Exec const& exec, GhostPlanes<Exec>& ghosts, CellsWindow<Cell> const& cells) {
  ghosts.add(exec, cells.data, cells.plane, span_of_plane<Components>(cells));
}

/// The memory of a mesh of numbers, as a mesh of whole numbers.
template <class T>
Cells<Fixed<T>> parts_in(Cells<T> const& cells) {
  return {reinterpret_cast<Fixed<T>*>(cells.data),
          {cells.extent[0], cells.extent[1], cells.extent[2]},
          cells.plane,
          cells.row};
}
template <class T>
CellsWindow<Fixed<T>> parts_in(CellsWindow<T> const& cells) {
  return {parts_in(static_cast<Cells<T> const&>(cells)), cells.planes, cells.start, cells.margin,
          cells.whole};
}

/// Paints in whole numbers, in the mesh's own memory. A cell that overflows loses 2^32 or 2^64
/// parts, which the sum of all cells tells. Masses are then cut into fewer parts.
template <int Support, class Exec, class T>
void paint_parts(Exec const& exec, Painted<T> const& painted, double box,
                 CellsWindow<T> const& cells, PaintScheme scheme, GhostPlanes<Exec>& ghosts) {
  using Whole = Fixed<T>;
  auto const parts = parts_in(cells);
  // Ghosts are in the sums of the planes that they stand for.
  auto const own = own_planes(ghosts, parts);
  auto const numbers = own_planes(ghosts, cells);
  auto const all = coir::box<3, std::int64_t>({own.extent[0], own.extent[1], own.extent[2]});
  std::int64_t const particles = ghosts.group().sum(painted.particles);
  int bits = sizeof(T) == 4 ? 18 : 40;
  for (;; bits -= 4) {
    // Row by row, without the gaps, which are the caller's. Compilers remove these loops.
    for (std::int64_t i = 0; i < cells.held(0); ++i)
      for (std::int64_t j = 0; j < cells.extent[1]; ++j)
        begin_lifetimes<Whole>(cells.data + i * cells.plane + j * cells.row, cells.extent[2]);
    Whole const whole = Whole(1) << bits;
    paint_with<Support, 0>(exec, painted, box, parts, DepositParts<Support, T>{whole}, scheme);
    add_ghosts<0>(exec, ghosts, parts);
    std::int64_t sum = 0;
    reduce("coir::mesh::paint/numbers", exec, all,
           PartsToNumbers<T>{own, numbers.data, T(1) / static_cast<T>(whole)},
           Kokkos::Sum<std::int64_t>(sum));
    if (ghosts.group().sum(sum) == particles * static_cast<std::int64_t>(whole) || bits < 4) return;
  }
}

/// \tparam Components  see DepositNumbers
template <int Support, int Components, class Exec, class T>
void paint_numbers(Exec const& exec, Painted<T> const& painted, double box,
                   CellsWindow<T> const& cells, PaintOptions const& options,
                   GhostPlanes<Exec>& ghosts) {
  paint_with<Support, Components>(exec, painted, box, cells,
                                  DepositNumbers<Support, Components, T>{painted.value},
                                  options.scheme);
  if (options.add_ghosts) add_ghosts<Components>(exec, ghosts, cells);
}

template <class Exec, class T>
void paint(Exec const& exec, GhostPlanes<Exec>& ghosts, Painted<T> const& painted, double box,
           CellsWindow<T> const& cells, PaintOptions const& options) {
  with_support(options.assignment, [&]<int Support>(std::integral_constant<int, Support>) {
    if (options.deterministic)
      paint_parts<Support>(exec, painted, box, cells, options.scheme, ghosts);
    else if (painted.components == 0)
      paint_numbers<Support, 0>(exec, painted, box, cells, options, ghosts);
    else if (painted.components == 1)
      paint_numbers<Support, 1>(exec, painted, box, cells, options, ghosts);
    else
      paint_numbers<Support, 3>(exec, painted, box, cells, options, ghosts);
  });
}

/// Counts the particles that touch planes which aren't held.
template <int Support, class T>
struct CountBeyond {
  T const* position;
  T per_cell, cells;
  HeldPlanes places;
  KOKKOS_FUNCTION void operator()(std::int64_t p, std::int64_t& count) const {
    auto const first = touched<Support, T>(position[3 * p], per_cell, cells).first;
    std::int32_t place = first - places.start;
    place = place < 0 ? place + places.extent : place;
    count += place > places.last;
  }
};

template <class Exec, class T>
std::int64_t particles_beyond(Exec const& exec, Painted<T> const& painted, double box,
                              CellsWindow<T> const& cells, Assignment assignment) {
  std::int64_t count = 0;
  if (painted.particles == 0) return 0;
  with_support(assignment, [&]<int Support>(std::integral_constant<int, Support>) {
    CountBeyond<Support, T> const body{painted.position, cells.template inverse_spacing<T>(box)[0],
                                       static_cast<T>(cells.extent[0]), cells.places(Support)};
    reduce("coir::mesh::paint/beyond", exec, coir::box<1, std::int64_t>({painted.particles}), body,
           Kokkos::Sum<std::int64_t>(count));
  });
  return cells.planes < static_cast<int>(assignment) ? painted.particles : count;
}

/// The lowest particle with a coordinate that isn't finite.
template <class T>
struct FirstNotFinite {
  T const* position;
  KOKKOS_FUNCTION void operator()(std::int64_t n, std::int64_t& first) const {
    if (!math::isfinite(position[n]) && n / 3 < first) first = n / 3;
  }
};

template <class Exec, class T>
std::int64_t first_not_finite(Exec const& exec, T const* position, std::int64_t particles) {
  std::int64_t first = particles;
  if (particles > 0)
    reduce("coir::mesh::paint/finite", exec, coir::box<1, std::int64_t>({3 * particles}),
           FirstNotFinite<T>{position}, Kokkos::Min<std::int64_t>(first));
  return first < particles ? first : -1;
}

}  // namespace coir::mesh::detail

namespace coir::mesh {

template <CompiledSpace Exec, Real T>
void paint_whole_numbers(Exec const& exec, T const* position, std::int64_t particles, double box,
                         T const* component, double scale, CellsWindow<std::int64_t> const& cells,
                         Assignment assignment) {
  with_support(assignment, [&]<int Support>(std::integral_constant<int, Support>) {
    detail::paint_with<Support, 0>(exec, detail::Painted<T>{position, particles, nullptr, 0}, box,
                                   cells, detail::DepositWholeNumbers<Support, T>{component, scale},
                                   PaintScheme::automatic);
  });
}

}  // namespace coir::mesh

#define COIR_INSTANTIATE_PAINT_OF(Exec, T)                                                 \
  template void paint<Exec, T>(Exec const&, GhostPlanes<Exec>&, Painted<T> const&, double, \
                               CellsWindow<T> const&, PaintOptions const&);                \
  template std::int64_t particles_beyond<Exec, T>(Exec const&, Painted<T> const&, double,  \
                                                  CellsWindow<T> const&, Assignment);      \
  template std::int64_t first_not_finite<Exec, T>(Exec const&, T const*, std::int64_t);
#define COIR_INSTANTIATE_PAINT_WHOLE_OF(Exec, T)                                                 \
  template void paint_whole_numbers<Exec, T>(Exec const&, T const*, std::int64_t, double,        \
                                             T const*, double, CellsWindow<std::int64_t> const&, \
                                             Assignment);
#define COIR_INSTANTIATE_PAINT(Exec)            \
  namespace coir::mesh::detail {                \
  COIR_INSTANTIATE_PAINT_OF(Exec, float)        \
  COIR_INSTANTIATE_PAINT_OF(Exec, double)       \
  }                                             \
  namespace coir::mesh {                        \
  COIR_INSTANTIATE_PAINT_WHOLE_OF(Exec, float)  \
  COIR_INSTANTIATE_PAINT_WHOLE_OF(Exec, double) \
  }
