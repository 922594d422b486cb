#pragma once

/// \file
/// Calls a function with what a mesh holds at each particle.

#include <coir/core/loops.hpp>
#include <coir/mesh/assignment.hpp>
#include <coir/mesh/detail/cells.hpp>
#include <coir/mesh/detail/lanes.hpp>
#include <coir/mesh/detail/particle_block.hpp>

#include <algorithm>
#include <cstdint>

namespace coir::mesh::detail {

/// A mesh's value, or the vector, at a particle.
template <class T, int Components>
struct Value {
  T component[Components];
};

/// The vectors of the two cells that follow each other in a row, added up for the four rows that a particle touches.
/// Eight lanes hold both and two numbers of the cell after these, which count nothing.
///
/// \param to  the vector, and one number after it that is overwritten
template <class T>
void read_pairs(T const* const (&row)[2][2], T const (&wx)[2], T const (&wy)[2], T const (&wz)[2],
                T* to) {
  using Eight = typename Lanes<T>::eight;
  using Four = typename Lanes<T>::four;
  auto const at = [](T const* from) { return *reinterpret_cast<Eight const*>(from); };
  Eight const along{wz[0], wz[0], wz[0], wz[1], wz[1], wz[1], 0, 0};
  Eight const sum = along * (wx[0] * (wy[0] * at(row[0][0]) + wy[1] * at(row[0][1])) +
                             wx[1] * (wy[0] * at(row[1][0]) + wy[1] * at(row[1][1])));
  *reinterpret_cast<Four*>(to) =
      __builtin_shufflevector(sum, sum, 0, 1, 2, 6) + __builtin_shufflevector(sum, sum, 3, 4, 5, 7);
}

/// body(p, value) for the particles [begin, end), on one thread of a host; or, if there is such a function,
/// body.stretch(p, count, values) for particles that follow each other, which may vectorise.
template <int Order, int Components, class T, class Body>
void read_out_share(T const* position, std::int64_t begin, std::int64_t end, double box,
                    Cells<T const> const& cells, Body const& body) {
  using Block = ParticleBlock<Order, T>;
  Block blocks[2] = {};
  std::int64_t starts[2][Order][Order][Block::size] = {};  // of the rows, where the first cell is
  Value<T, Components> values[Block::size + 1];
  auto const count_from = [end](std::int64_t first) {
    return static_cast<int>(std::clamp<std::int64_t>(end - first, 0, Block::size));
  };
  auto const locate_from = [&](std::int64_t first, int turn) {
    Block& block = blocks[turn];
    int const count = count_from(first);
    locate<Order, Components>(
        block, count, [=](int p) { return position + 3 * (first + p); }, cells, box);
    for (int a = 0; a < Order; ++a)
      for (int b = 0; b < Order; ++b) {
        auto& start = starts[turn][a][b];
        COIR_INDEPENDENT_ITERATIONS
        for (int p = 0; p < count; ++p)
          start[p] = block.plane[a][p] * cells.plane + (block.row[b][p] + block.column[0][p]);
      }
  };
  locate_from(begin, 0);
  int turn = 0;
  for (std::int64_t first = begin; first < end; first += Block::size, turn = 1 - turn) {
    int const count = count_from(first), ahead = count_from(first + count);
    Block const& block = blocks[turn];
    locate_from(first + count, 1 - turn);
    for (int p = 0; p < count; ++p) {
      // What evolved particles touch isn't in the nearest cache.
      if (p < ahead)
        for (int a = 0; a < Order; ++a)
          for (int b = 0; b < Order; ++b)
            __builtin_prefetch(cells.data + starts[1 - turn][a][b][p]);
      T w[3][Order];
      T const* row[Order][Order];
      for (int o = 0; o < Order; ++o) {
        for (int d = 0; d < 3; ++d) w[d][o] = block.weight[d][o][p];
        for (int b = 0; b < Order; ++b) row[o][b] = cells.data + starts[turn][o][b][p];
      }
      if constexpr (Order == 2 && Components == 3) {
        std::int32_t const column = block.column[0][p];
        if (column + 8 <=
            Components * cells.extent[2]) {  // neither goes on at 0 nor reads beyond the row
          read_pairs(row, w[0], w[1], w[2], values[p].component);
          continue;
        }
      }
      std::int32_t away[Order];
      for (int c = 0; c < Order; ++c) away[c] = block.column[c][p] - block.column[0][p];
      Value<T, Components> sum{};
      for (int a = 0; a < Order; ++a)
        for (int b = 0; b < Order; ++b)
          for (int c = 0; c < Order; ++c)
            for (int v = 0; v < Components; ++v)
              sum.component[v] += w[0][a] * w[1][b] * w[2][c] * row[a][b][away[c] + v];
      values[p] = sum;
    }
    if constexpr (requires { body.stretch(first, count, values); })
      body.stretch(first, count, values);
    else
      for (int p = 0; p < count; ++p) body(first + p, values[p]);
  }
}

/// The same for a single particle of a device.
template <int Order, int Components, class T, class Body>
struct ReadOutParticle {
  T const* position;
  Cells<T const> cells;
  T per_cell[3];
  Body body;

  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    T weight[3][Order];
    std::int64_t place[3][Order];
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) {
      auto const t =
          touched<Order, T>(position[3 * p + d], per_cell[d], static_cast<T>(cells.extent[d]));
      std::int64_t const stride = d == 0 ? cells.plane : d == 1 ? cells.row : Components;
      std::int32_t cell = t.first;
      COIR_UNROLL
      for (int o = 0; o < Order; ++o) {
        weight[d][o] = t.weight[o];
        place[d][o] = cell * stride;
        cell = cell + 1 == static_cast<std::int32_t>(cells.extent[d]) ? 0 : cell + 1;
      }
    }
    Value<T, Components> sum{};
    COIR_UNROLL
    for (int a = 0; a < Order; ++a) {
      COIR_UNROLL
      for (int b = 0; b < Order; ++b) {
        T const w = weight[0][a] * weight[1][b];
        T const* const row = cells.data + place[0][a] + place[1][b];
        COIR_UNROLL
        for (int c = 0; c < Order; ++c) {
          COIR_UNROLL
          for (int v = 0; v < Components; ++v)
            sum.component[v] += w * weight[2][c] * row[place[2][c] + v];
        }
      }
    }
    body(p, sum);
  }
};

/// Calls body(p, value) for each particle p, in one kernel. The body may move the particle.
template <int Order, int Components, class Exec, class T, class Body>
void read_out(std::string_view label, Exec const& exec, T const* position, std::int64_t particles,
              double box, Cells<T const> const& cells, Body const& body) {
  if (particles == 0) return;
  if constexpr (runs_on_host<Exec>) {
    std::int64_t const shares = std::clamp<std::int64_t>(particles / 512, 1, exec.concurrency());
    Kokkos::parallel_for(
        std::string(label),
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, shares),
        [&](std::int64_t s) {
          read_out_share<Order, Components>(position, particles * s / shares,
                                            particles * (s + 1) / shares, box, cells, body);
        });
  } else {
    ReadOutParticle<Order, Components, T, Body> each{position, cells, {}, body};
    for (int d = 0; d < 3; ++d)
      each.per_cell[d] = static_cast<T>(static_cast<double>(cells.extent[d]) / box);
    for_each(label, exec, coir::box<1, std::int64_t>({particles}), each);
  }
}

}  // namespace coir::mesh::detail
