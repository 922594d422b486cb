#pragma once

/// Painting on hosts. Threads never add to the same cell, because atomic additions are slow.

#include "deposit.hpp"

#include <coir/core/kokkos.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/tasks.hpp>
#include <coir/mesh/detail/lanes.hpp>
#include <coir/mesh/detail/particle_block.hpp>
#include <coir/mesh/paint.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace coir::mesh::detail {

/// The planes [begin, end) of a mesh, which one thread paints. Particles there touch the next few
/// planes, too: `planes` ends with ghosts of these, which are added to the next part afterwards.
template <class Cell>
struct Part {
  std::int64_t begin = 0, end = 0;
  std::vector<Cell*> planes;
};

/// The particles that one thread has found in the parts of other threads.
struct Elsewhere {
  std::vector<std::int64_t>* of_part =
      nullptr;  ///< a list for each part, or null if there are no others
  int const* part_of_plane = nullptr;

  void add(std::int32_t plane, std::int64_t particle) const {
    of_part[part_of_plane[plane]].push_back(particle);
  }
};

/// Adds a mass of 1 to four rows, two neighbouring cells at a time.
template <class T>
void add_pairs(T* const (&row)[2][2], std::int32_t column, T const (&wx)[2], T const (&wy)[2],
               T const (&wz)[2]) {
  using Pair = typename Lanes<T>::two;
  Pair const along{wz[0], wz[1]};
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b)
      *reinterpret_cast<Pair*>(row[a][b] + column) += (wx[a] * wy[b]) * along;
}

/// Adds a vector to four rows, two neighbouring cells at a time. Eight lanes hold both vectors and
/// two numbers of the next cell, to which 0 is added. The order of products is that of
/// DepositNumbers.
template <class T>
void add_pairs_of_vectors(T* const (&row)[2][2], std::int32_t column, T const (&wx)[2],
                          T const (&wy)[2], T const (&wz)[2], T const* v) {
  using Eight = typename Lanes<T>::eight;
  Eight const along{wz[0], wz[0], wz[0], wz[1], wz[1], wz[1], 0, 0};
  Eight const value{v[0], v[1], v[2], v[0], v[1], v[2], 0, 0};
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b)
      *reinterpret_cast<Eight*>(row[a][b] + column) += ((wx[a] * wy[b]) * along) * value;
}

/// Adds the particles number(0) to number(count - 1) to a part of the mesh. Particles in other
/// parts are listed in `elsewhere`. It is one long function because compilers inline it best so.
template <int Support, int Components, class T, class Deposit, class Number>
void paint_part(Painted<T> const& painted, std::int64_t count, Number const& number, double box,
                CellsWindow<typename Deposit::Cell> const& cells,
                Part<typename Deposit::Cell> const& part, Deposit const& deposit,
                Elsewhere const& elsewhere) {
  using Block = ParticleBlock<Support, T>;
  using Cell = typename Deposit::Cell;
  constexpr int step = Components == 3 ? 3 : 1;
  auto const per_cell = cells.template inverse_spacing<T>(box);
  Block blocks[2] = {};
  auto const size_from = [count](std::int64_t begin) {
    return static_cast<int>(std::clamp<std::int64_t>(count - begin, 0, Block::size));
  };
  auto const locate_from = [&](std::int64_t begin, Block& block) {
    locate<step>(
        block, size_from(begin), [&](int p) { return painted.position + 3 * number(begin + p); },
        cells, per_cell);
  };
  auto const is_own = [begin = static_cast<std::int32_t>(part.begin),
                       planes = static_cast<std::uint32_t>(part.end - part.begin)](
                          Block const& block, int p) {
    return static_cast<std::uint32_t>(block.plane[0][p] - begin) < planes;
  };
  locate_from(0, blocks[0]);
  int which = 0;
  for (std::int64_t begin = 0; begin < count; begin += Block::size, which = 1 - which) {
    int const size = size_from(begin), ahead = size_from(begin + size);
    Block const& block = blocks[which];
    Block& next = blocks[1 - which];
    locate_from(begin + size, next);
    auto const add = [&](int p) {
      // Cells that scattered particles touch aren't in the first-level cache.
      if (p < ahead && is_own(next, p)) {
        Cell* const* const planes = part.planes.data() + (next.plane[0][p] - part.begin);
        for (int a = 0; a < Support; ++a)
          for (int b = 0; b < Support; ++b)
            __builtin_prefetch(planes[a] + next.row[b][p] + next.column[0][p], 1);
      }
      if (!is_own(block, p)) return elsewhere.add(block.plane[0][p], number(begin + p));
      Cell* const* const planes = part.planes.data() + (block.plane[0][p] - part.begin);
      T w[3][Support];
      Cell* row[Support][Support];
      std::int32_t column[Support];
      for (int o = 0; o < Support; ++o) {
        for (int d = 0; d < 3; ++d) w[d][o] = block.weight[d][o][p];
        column[o] = block.column[o][p];
        for (int b = 0; b < Support; ++b) row[o][b] = planes[o] + block.row[b][p];
      }
      if constexpr (Support == 2 && std::is_same_v<Deposit, DepositNumbers<2, 0, T>>)
        if (column[1] != 0) return add_pairs(row, column[0], w[0], w[1], w[2]);
      if constexpr (Support == 2 && std::is_same_v<Deposit, DepositNumbers<2, 3, T>>)
        if (column[0] + 8 <= 3 * cells.extent[2])
          return add_pairs_of_vectors(row, column[0], w[0], w[1], w[2],
                                      deposit.value + 3 * number(begin + p));
      deposit(number(begin + p), w[0], w[1], w[2],
              [&](int a, int b, int c, int v, Cell const amount) {
                add_to(row[a][b][column[c] + v], amount);
              });
    };
    // Neighbouring particles touch the same cells, and loads would wait for the stores just before.
    for (int p = 0; p < size; p += 2) add(p);
    for (int p = 1; p < size; p += 2) add(p);
  }
}

template <class Exec, class Share>
void for_threads(Exec const& exec, char const* label, int threads, Share const& share) {
  for_each_task(label, exec, threads, [&](std::int64_t t) { share(static_cast<int>(t)); });
}

/// Numbers of a cell.
template <int Components>
constexpr int numbers_of_cell = Components == 3 ? 3 : 1;

/// Elements from the first to the last of a plane, with the gaps between its rows.
template <int Components, class Cell>
std::int64_t span_of_plane(Cells<Cell> const& cells) {
  return (cells.extent[1] - 1) * cells.row + cells.extent[2] * numbers_of_cell<Components>;
}

/// Calls body(first, count) for the elements [begin, end) of a plane without the gaps between rows,
/// which are the caller's.
template <int Components, class Cell, class Body>
void for_rows(Cells<Cell> const& cells, std::int64_t begin, std::int64_t end, Body const& body) {
  std::int64_t const length = cells.extent[2] * numbers_of_cell<Components>;
  if (cells.extent[1] == 1 || cells.row == length) return body(begin, end - begin);
  for (std::int64_t row = begin / cells.row * cells.row; row < end; row += cells.row) {
    std::int64_t const first = std::max(begin, row), last = std::min(end, row + length);
    if (first < last) body(first, last - first);
  }
}

template <int Components, class Cell>
void clear_plane(Cells<Cell> const& cells, Cell* plane) {
  for_rows<Components>(
      cells, 0, span_of_plane<Components>(cells),
      [=](std::int64_t first, std::int64_t count) { std::fill_n(plane + first, count, Cell(0)); });
}

/// Bytes below which free memory isn't looked up, because that would take long beside painting.
inline constexpr std::int64_t worth_asking = std::int64_t(1) << 20;

/// A mesh in slabs, one for each thread that paints.
template <class Cell>
struct Slabs {
  std::vector<Part<Cell>> parts;
  std::vector<int> part_of_plane;
  std::unique_ptr<Cell[]> ghost_cells;  ///< the ghost planes of all slabs; null if there is one
};

/// The planes where slabs begin, and the end of the last one. There are about as many particles in
/// each slab, by a sample. If particles are sorted by their planes, a thread's share of them lies
/// mostly in its own slab.
template <int Support, class T, class Cell>
std::vector<std::int64_t> bounds_of_slabs(Painted<T> const& painted, double box,
                                          CellsWindow<Cell> const& cells, int threads) {
  constexpr std::int64_t of_a_slab = 128;
  std::int64_t const planes = cells.held(0),
                     samples = std::min(painted.particles, of_a_slab * threads);
  auto const per_cell = cells.template inverse_spacing<T>(box);
  std::vector<std::int64_t> in_plane(static_cast<std::size_t>(planes), 0);
  ParticleBlock<Support, T> block = {};
  for (std::int64_t begin = 0; begin < samples; begin += block.size) {
    int const count = static_cast<int>(std::min<std::int64_t>(samples - begin, block.size));
    locate<1>(
        block, count,
        [&](int p) {
          return painted.position + 3 * (painted.particles * (2 * (begin + p) + 1) / (2 * samples));
        },
        cells, per_cell);
    for (int p = 0; p < count; ++p) ++in_plane[static_cast<std::size_t>(block.plane[0][p])];
  }
  std::vector<std::int64_t> bounds(static_cast<std::size_t>(threads) + 1, planes);
  bounds[0] = 0;
  std::int64_t before = 0, plane = 0;
  for (int t = 1; t < threads; ++t) {
    // Each slab has a plane at least.
    std::int64_t const first = bounds[static_cast<std::size_t>(t) - 1] + 1,
                       last = planes - (threads - t), wanted = samples * t;
    for (; plane < last; ++plane) {
      std::int64_t const here = in_plane[static_cast<std::size_t>(plane)];
      if (plane >= first && (2 * before + here) * threads >= 2 * wanted) break;
      before += here;
    }
    bounds[static_cast<std::size_t>(t)] = plane;
  }
  return bounds;
}

/// Cuts a mesh into slabs.
template <int Support, int Components, class Cell>
Slabs<Cell> cut_into_slabs(CellsWindow<Cell> const& cells,
                           std::vector<std::int64_t> const& bounds) {
  constexpr int ghosts = Support - 1;
  int const threads = static_cast<int>(bounds.size()) - 1;
  std::int64_t const planes = cells.held(0), span = span_of_plane<Components>(cells);
  Slabs<Cell> slabs;
  slabs.parts.resize(threads);
  slabs.part_of_plane.resize(planes);
  if (threads > 1) {
    std::int64_t const bytes = threads * ghosts * span * static_cast<std::int64_t>(sizeof(Cell));
    if (bytes > worth_asking)
      expects_memory<Kokkos::HostSpace>(bytes, "the ghost planes of painting");
    slabs.ghost_cells.reset(new Cell[static_cast<std::size_t>(threads * ghosts * span)]);
  }
  for (int t = 0; t < threads; ++t) {
    auto& part = slabs.parts[t];
    part.begin = bounds[t];
    part.end = bounds[t + 1];
    for (std::int64_t i = part.begin; i < part.end; ++i) {
      part.planes.push_back(cells.data + i * cells.plane);
      slabs.part_of_plane[i] = t;
    }
    for (int g = 0; g < ghosts; ++g)
      part.planes.push_back(threads > 1 ? slabs.ghost_cells.get() + (t * ghosts + g) * span
                                        : cells.data + (planes + g) % planes * cells.plane);
  }
  return slabs;
}

/// Adds the ghost planes of all slabs to the planes that they stand for. All threads share each
/// ghost plane, one after the other, because two of them may belong to one plane.
template <int Support, int Components, class Exec, class Cell>
void add_ghosts_of_slabs(Exec const& exec, CellsWindow<Cell> const& cells,
                         std::vector<Part<Cell>> const& parts) {
  std::int64_t const planes = cells.held(0), span = span_of_plane<Components>(cells);
  int const threads = static_cast<int>(parts.size());
  for_threads(exec, "coir::mesh::paint_host/ghosts", threads, [&](int t) {
    std::int64_t const begin = span * t / threads, end = span * (t + 1) / threads;
    for (auto const& part : parts)
      for (int g = 0; g < Support - 1; ++g) {
        Cell* const to = cells.data + (part.end + g) % planes * cells.plane;
        Cell const* const from = part.planes[part.end - part.begin + g];
        for_rows<Components>(cells, begin, end, [=](std::int64_t first, std::int64_t count) {
          for (std::int64_t c = first; c < first + count; ++c) add_to(to[c], from[c]);
        });
      }
  });
}

/// Each thread goes through its share of the particles and paints those in its own slab of the
/// mesh. Then it paints the particles that other threads have found in its slab.
template <int Support, int Components, class Exec, class T, class Deposit>
void paint_slabs(Exec const& exec, Painted<T> const& painted, double box,
                 CellsWindow<typename Deposit::Cell> const& cells, Deposit const& deposit,
                 int threads) {
  auto const slabs = cut_into_slabs<Support, Components>(
      cells, threads == 1 ? std::vector<std::int64_t>{0, cells.held(0)}
                          : bounds_of_slabs<Support>(painted, box, cells, threads));
  auto const& parts = slabs.parts;
  // elsewhere[t * threads + u]: the particles of thread t that lie in the slab of thread u.
  std::vector<std::vector<std::int64_t>> elsewhere(static_cast<std::size_t>(threads) * threads);

  for_threads(exec, "coir::mesh::paint_host/slabs", threads, [&](int t) {
    std::int64_t const own = parts[t].end - parts[t].begin, ghosts = threads > 1 ? Support - 1 : 0;
    for (std::int64_t i = 0; i < own + ghosts; ++i)
      clear_plane<Components>(cells, parts[t].planes[i]);
    std::int64_t const begin = painted.particles * t / threads,
                       end = painted.particles * (t + 1) / threads;
    paint_part<Support, Components>(
        painted, end - begin, [=](std::int64_t p) { return begin + p; }, box, cells, parts[t],
        deposit, {threads > 1 ? &elsewhere[t * threads] : nullptr, slabs.part_of_plane.data()});
  });
  if (threads == 1) return;
  for_threads(exec, "coir::mesh::paint_host/others", threads, [&](int t) {
    for (int from = 0; from < threads; ++from) {
      auto const& list = elsewhere[from * threads + t];
      paint_part<Support, Components>(painted, static_cast<std::int64_t>(list.size()),
                                      [&](std::int64_t p) { return list[p]; }, box, cells, parts[t],
                                      deposit, {});
    }
  });
  add_ghosts_of_slabs<Support, Components>(exec, cells, parts);
}

/// Each thread paints its share of the particles on a mesh of its own. Then the meshes are added
/// up.
template <int Support, int Components, class Exec, class T, class Deposit>
void paint_private_meshes(Exec const& exec, Painted<T> const& painted, double box,
                          CellsWindow<typename Deposit::Cell> const& cells, Deposit const& deposit,
                          int threads) {
  using Cell = typename Deposit::Cell;
  std::int64_t const planes = cells.held(0), span = span_of_plane<Components>(cells);
  std::int64_t const size = planes * span;
  std::int64_t const bytes = (threads - 1) * size * static_cast<std::int64_t>(sizeof(Cell));
  if (bytes > worth_asking) expects_memory<Kokkos::HostSpace>(bytes, "painting on private meshes");
  std::unique_ptr<Cell[]> const others(new Cell[static_cast<std::size_t>((threads - 1) * size)]);

  for_threads(exec, "coir::mesh::paint_host/private", threads, [&](int t) {
    Part<Cell> part{0, planes, {}};
    Cell* const own = t == 0 ? cells.data : others.get() + (t - 1) * size;
    std::int64_t const plane = t == 0 ? cells.plane : span;
    for (std::int64_t i = 0; i < planes; ++i) clear_plane<Components>(cells, own + i * plane);
    for (std::int64_t i = 0; i < planes + Support - 1; ++i)
      part.planes.push_back(own + i % planes * plane);
    std::int64_t const begin = painted.particles * t / threads,
                       end = painted.particles * (t + 1) / threads;
    paint_part<Support, Components>(painted, end - begin, [=](std::int64_t p) { return begin + p; },
                                    box, cells, part, deposit, {});
  });
  for_threads(exec, "coir::mesh::paint_host/add", threads, [&](int t) {
    std::int64_t const begin = size * t / threads, end = size * (t + 1) / threads;
    for (std::int64_t i = begin / span; i * span < end; ++i)
      for (int from = 0; from < threads - 1; ++from) {
        Cell* const to = cells.data + i * cells.plane;
        Cell const* const other = others.get() + from * size + i * span;
        for_rows<Components>(cells, std::max<std::int64_t>(begin - i * span, 0),
                             std::min(end - i * span, span),
                             [=](std::int64_t first, std::int64_t count) {
                               for (std::int64_t c = first; c < first + count; ++c)
                                 add_to(to[c], other[c]);
                             });
      }
  });
}

/// \param cells  a window that holds all cells that particles touch
template <int Support, int Components, class Exec, class T, class Deposit>
  requires runs_on_host<Exec>
void paint_with(Exec const& exec, Painted<T> const& painted, double box,
                CellsWindow<typename Deposit::Cell> const& cells, Deposit const& deposit,
                PaintScheme scheme) {
  if (scheme == PaintScheme::automatic) scheme = PaintScheme::slabs;
  expects(scheme == PaintScheme::slabs || scheme == PaintScheme::private_meshes,
          "on hosts the scheme must be slabs or private_meshes", name_of(scheme));
  // At most a thread per plane, and no thread for fewer particles than starting it is worth.
  int const threads = static_cast<int>(std::clamp<std::int64_t>(
      painted.particles / 512, 1, std::min<std::int64_t>(exec.concurrency(), cells.held(0))));
  if (scheme == PaintScheme::slabs)
    paint_slabs<Support, Components>(exec, painted, box, cells, deposit, threads);
  else
    paint_private_meshes<Support, Components>(exec, painted, box, cells, deposit, threads);
}

}  // namespace coir::mesh::detail
