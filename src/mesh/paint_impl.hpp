#pragma once

/// \file
/// Painting, for one execution space: the schemes are in paint_host.hpp and paint_device.hpp.

#include "deposit.hpp"
#include "paint_device.hpp"
#include "paint_host.hpp"

#include <coir/core/borrowed.hpp>
#include <coir/core/loops.hpp>

#include <cstdint>
#include <new>

namespace coir::mesh::detail {

template <class T>
struct SumOfParts {
  Cells<Fixed<T>> cells;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k,
                                  std::int64_t& sum) const {
    sum += cells.data[i * cells.plane + j * cells.row + k];
  }
};

/// Each cell of whole numbers becomes a number, in the same memory.
template <class T>
struct PartsToNumbers {
  Cells<Fixed<T>> parts;
  T* data;
  T per_part;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    std::int64_t const c = i * parts.plane + j * parts.row + k;
    ::new (static_cast<void*>(data + c)) T(static_cast<T>(parts.data[c]) * per_part);
  }
};

/// Paints in whole numbers, in the mesh's own memory. A cell that overflows loses 2^32 or 2^64 parts, which shows in the
/// sum of all cells; then masses are cut into fewer parts.
template <int Support, class Exec, class T>
void paint_parts(Exec const& exec, Painted<T> const& painted, double box, Cells<T> const& cells,
                 PaintScheme scheme) {
  using Whole = Fixed<T>;
  Cells<Whole> const parts{reinterpret_cast<Whole*>(cells.data),
                           {cells.extent[0], cells.extent[1], cells.extent[2]},
                           cells.plane,
                           cells.row};
  // Row by row: the gaps between them are a caller's own. No instructions are left of it.
  for (std::int64_t i = 0; i < cells.extent[0]; ++i)
    for (std::int64_t j = 0; j < cells.extent[1]; ++j)
      begin_lifetimes<Whole>(cells.data + i * cells.plane + j * cells.row, cells.extent[2]);
  auto const all = coir::box<3, std::int64_t>({cells.extent[0], cells.extent[1], cells.extent[2]});
  int bits = sizeof(T) == 4 ? 18 : 40;
  for (;; bits -= 4) {
    Whole const whole = Whole(1) << bits;
    paint_with<Support, 0>(exec, painted, box, parts, DepositParts<Support, T>{whole}, scheme);
    std::int64_t sum = 0;
    reduce("coir::mesh::paint/sum", exec, all, SumOfParts<T>{parts},
           Kokkos::Sum<std::int64_t>(sum));
    if (sum == painted.particles * static_cast<std::int64_t>(whole) || bits < 4) break;
  }
  for_each("coir::mesh::paint/numbers", exec, all,
           PartsToNumbers<T>{parts, cells.data, T(1) / static_cast<T>(Whole(1) << bits)});
}

template <int Support, class Exec, class T>
void paint_with_support(Exec const& exec, Painted<T> const& painted, double box,
                        Cells<T> const& cells, PaintOptions const& options) {
  if (options.deterministic)
    paint_parts<Support>(exec, painted, box, cells, options.scheme);
  else if (painted.components == 0)
    paint_with<Support, 0>(exec, painted, box, cells, DepositNumbers<Support, 0, T>{nullptr},
                           options.scheme);
  else if (painted.components == 1)
    paint_with<Support, 1>(exec, painted, box, cells, DepositNumbers<Support, 1, T>{painted.value},
                           options.scheme);
  else
    paint_with<Support, 3>(exec, painted, box, cells, DepositNumbers<Support, 3, T>{painted.value},
                           options.scheme);
}

template <class Exec, class T>
void paint(Exec const& exec, Painted<T> const& painted, double box, Cells<T> const& cells,
           PaintOptions const& options) {
  with_support(options.assignment, [&]<int Support>(std::integral_constant<int, Support>) {
    paint_with_support<Support>(exec, painted, box, cells, options);
  });
}

}  // namespace coir::mesh::detail

#define COIR_INSTANTIATE_PAINT_OF(Exec, T)                                              \
  template void paint<Exec, T>(Exec const&, Painted<T> const&, double, Cells<T> const&, \
                               PaintOptions const&);
#define COIR_INSTANTIATE_PAINT(Exec)      \
  namespace coir::mesh::detail {          \
  COIR_INSTANTIATE_PAINT_OF(Exec, float)  \
  COIR_INSTANTIATE_PAINT_OF(Exec, double) \
  }
