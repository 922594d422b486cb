#pragma once

/// \file
/// Painting, for one execution space: the schemes are in paint_host.hpp and paint_device.hpp.

#include "deposit.hpp"
#include "paint_device.hpp"
#include "paint_host.hpp"

#include <coir/core/loops.hpp>

namespace coir::mesh::detail {

template <class T>
struct SumOfParts {
  Cells<Fixed<T>> cells;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k,
                                  std::int64_t& sum) const {
    sum += cells.data[i * cells.plane + j * cells.row + k];
  }
};

template <class T>
struct PartsToNumbers {
  Cells<Fixed<T>> cells;
  T* data;
  T per_part;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    std::int64_t const c = i * cells.plane + j * cells.row + k;
    data[c] = static_cast<T>(cells.data[c]) * per_part;
  }
};

/// Painting in whole numbers, in the mesh's own memory. A cell that overflows loses 2^32 or 2^64 parts, which shows in
/// the sum of all; then masses are cut into fewer parts.
template <int Order, class Exec, class T>
void paint_parts(Exec const& exec, Painted<T> const& painted, double box, Cells<T> const& cells,
                 PaintScheme scheme) {
  using Whole = Fixed<T>;
  Cells<Whole> parts{reinterpret_cast<Whole*>(cells.data), {}, cells.plane, cells.row};
  for (int d = 0; d < 3; ++d) parts.extent[d] = cells.extent[d];
  auto const all = coir::box<3, std::int64_t>({cells.extent[0], cells.extent[1], cells.extent[2]});
  int bits = sizeof(T) == 4 ? 18 : 40;
  for (;; bits -= 4) {
    Whole const whole = Whole(1) << bits;
    paint_with<Order, 0>(exec, painted, box, parts, DepositParts<Order, T>{whole}, scheme);
    std::int64_t sum = 0;
    reduce("coir::mesh::paint/sum", exec, all, SumOfParts<T>{parts},
           Kokkos::Sum<std::int64_t>(sum));
    if (sum == painted.particles * static_cast<std::int64_t>(whole) || bits < 4) break;
  }
  for_each("coir::mesh::paint/numbers", exec, all,
           PartsToNumbers<T>{parts, cells.data, T(1) / static_cast<T>(Whole(1) << bits)});
}

template <int Order, class Exec, class T>
void paint_order(Exec const& exec, Painted<T> const& painted, double box, Cells<T> const& cells,
                 PaintOptions const& options) {
  if (options.deterministic)
    paint_parts<Order>(exec, painted, box, cells, options.scheme);
  else if (painted.components == 0)
    paint_with<Order, 0>(exec, painted, box, cells, DepositNumbers<Order, 0, T>{nullptr},
                         options.scheme);
  else if (painted.components == 1)
    paint_with<Order, 1>(exec, painted, box, cells, DepositNumbers<Order, 1, T>{painted.value},
                         options.scheme);
  else
    paint_with<Order, 3>(exec, painted, box, cells, DepositNumbers<Order, 3, T>{painted.value},
                         options.scheme);
}

template <class Exec, class T>
void paint(Exec const& exec, Painted<T> const& painted, double box, Cells<T> const& cells,
           PaintOptions const& options) {
  with_order(options.assignment, [&]<int Order>(std::integral_constant<int, Order>) {
    paint_order<Order>(exec, painted, box, cells, options);
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
