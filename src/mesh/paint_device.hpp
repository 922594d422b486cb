#pragma once

/// \file
/// Painting on devices.

#include <coir/core/loops.hpp>
#include <coir/mesh/assignment.hpp>
#include <coir/mesh/paint.hpp>

#include <cstdint>
#include <limits>

namespace coir::mesh::detail {

/// A thread per particle.
template <int Order, int Components, class T, class Deposit>
struct PaintAtomics {
  using Cell = typename Deposit::Cell;
  Painted<T> painted;
  Cells<Cell> cells;
  T per_cell[3];
  Deposit deposit;
  bool narrow;

  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    if (narrow)
      paint_at<std::int32_t>(p);
    else
      paint_at<std::int64_t>(p);
  }

 private:
  /// \tparam I  counts the mesh's elements: in 32 bits where these are enough, which is faster
  template <class I>
  KOKKOS_FORCEINLINE_FUNCTION void paint_at(std::int64_t p) const {
    constexpr int step = Components == 3 ? 3 : 1;
    T weight[3][Order];
    I place[3][Order];
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) {
      auto const t = touched<Order, T>(painted.position[3 * p + d], per_cell[d],
                                       static_cast<T>(cells.extent[d]));
      I const stride = d == 0   ? static_cast<I>(cells.plane)
                       : d == 1 ? static_cast<I>(cells.row)
                                : I(step);
      std::int32_t cell = t.first;
      COIR_UNROLL
      for (int o = 0; o < Order; ++o) {
        weight[d][o] = t.weight[o];
        place[d][o] = static_cast<I>(cell) * stride;
        cell = cell + 1 == static_cast<std::int32_t>(cells.extent[d]) ? 0 : cell + 1;
      }
    }
    Cell* const data = cells.data;
    deposit(p, weight[0], weight[1], weight[2], [&](int a, int b, int c, int v, Cell const amount) {
      Kokkos::atomic_add(data + (place[0][a] + place[1][b] + place[2][c] + v), amount);
    });
  }
};

template <int Order, int Components, class Exec, class T, class Deposit>
  requires(!runs_on_host<Exec>)
void paint_with(Exec const& exec, Painted<T> const& painted, double box,
                Cells<typename Deposit::Cell> const& cells, Deposit const& deposit,
                PaintScheme scheme) {
  expects(scheme == PaintScheme::automatic || scheme == PaintScheme::atomics,
          "on devices the scheme must be atomics", name_of(scheme));
  using Cell = typename Deposit::Cell;
  Kokkos::deep_copy(
      exec,
      Kokkos::View<Cell*, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
          cells.data, static_cast<std::size_t>(cells.extent[0] * cells.plane)),
      Cell(0));
  PaintAtomics<Order, Components, T, Deposit> body{
      painted,
      cells,
      {},
      deposit,
      cells.extent[0] * cells.plane <= std::numeric_limits<std::int32_t>::max()};
  for (int d = 0; d < 3; ++d)
    body.per_cell[d] = static_cast<T>(static_cast<double>(cells.extent[d]) / box);
  for_each("coir::mesh::paint/atomics", exec, coir::box<1, std::int64_t>({painted.particles}),
           body);
}

}  // namespace coir::mesh::detail
