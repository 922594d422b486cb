#pragma once

/// \file
/// Painting on devices.

#include "deposit.hpp"

#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/core/scratch_atomics.hpp>
#include <coir/mesh/assignment.hpp>
#include <coir/mesh/paint.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace coir::mesh::detail {

/// The cells in memory that a particle touches along the three axes, and their weights.
template <int Support, class T>
struct Located {
  Touched<Support, T> axis[3];

  template <class Mesh>
  KOKKOS_FORCEINLINE_FUNCTION Located(T const* position, PerAxis<T> const& per_cell,
                                      Mesh const& cells) {
    COIR_UNROLL
    for (int d = 0; d < 3; ++d)
      axis[d] = touched<Support, T>(position[d], per_cell[d], static_cast<T>(cells.extent[d]));
    axis[0].first = cells.places(Support)(axis[0].first);
  }

  /// False if a coordinate is NaN or infinite.
  KOKKOS_FORCEINLINE_FUNCTION bool is_number() const {
    T const sum = axis[0].weight[0] + axis[1].weight[0] + axis[2].weight[0];
    return sum == sum;
  }
};

/// Adds a particle's deposit to the mesh by atomics, cell by cell.
///
/// \tparam I  counts the mesh's elements: in 32 bits where these are enough, which is faster
template <class I, int Components, int Support, class T, class Mesh, class Deposit>
KOKKOS_FORCEINLINE_FUNCTION void add_to_mesh(Mesh const& cells, Located<Support, T> const& at,
                                             std::int64_t particle, Deposit const& deposit) {
  using Cell = typename Deposit::Cell;
  constexpr int step = Components == 3 ? 3 : 1;
  I place[3][Support];
  COIR_UNROLL
  for (int d = 0; d < 3; ++d) {
    I const stride = d == 0   ? static_cast<I>(cells.plane)
                     : d == 1 ? static_cast<I>(cells.row)
                              : I(step);
    std::int32_t cell = at.axis[d].first;
    COIR_UNROLL
    for (int o = 0; o < Support; ++o) {
      place[d][o] = static_cast<I>(cell) * stride;
      cell = cell + 1 == static_cast<std::int32_t>(cells.held(d)) ? 0 : cell + 1;
    }
  }
  Cell* const data = cells.data;
  deposit(particle, at.axis[0].weight, at.axis[1].weight, at.axis[2].weight,
          [&](int a, int b, int c, int v, Cell const amount) {
            Kokkos::atomic_add(data + (place[0][a] + place[1][b] + place[2][c] + v), amount);
          });
}

/// Paints with a thread per particle.
template <int Support, int Components, class T, class Mesh, class Deposit>
struct PaintAtomics {
  Painted<T> painted;
  Mesh cells;
  PerAxis<T> per_cell;
  Deposit deposit;
  bool narrow;

  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    Located<Support, T> const at(painted.position + 3 * p, per_cell, cells);
    if (narrow)
      add_to_mesh<std::int32_t, Components>(cells, at, p, deposit);
    else
      add_to_mesh<std::int64_t, Components>(cells, at, p, deposit);
  }
};

/// The ranges of three whole numbers.
struct Range3 {
  std::int32_t least[3], greatest[3];
};
/// A reducer: the smallest range that contains the ranges of all threads of a team.
struct JoinRanges {
  using reducer = JoinRanges;
  using value_type = Range3;
  using result_view_type =
      Kokkos::View<Range3, Kokkos::AnonymousSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Range3* range;

  KOKKOS_FUNCTION void join(Range3& to, Range3 const& from) const {
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) {
      to.least[d] = from.least[d] < to.least[d] ? from.least[d] : to.least[d];
      to.greatest[d] = from.greatest[d] > to.greatest[d] ? from.greatest[d] : to.greatest[d];
    }
  }
  KOKKOS_FUNCTION void init(Range3& value) const {
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) {
      value.least[d] = INT32_MAX;
      value.greatest[d] = INT32_MIN;
    }
  }
  KOKKOS_FUNCTION Range3& reference() const { return *range; }
  KOKKOS_FUNCTION result_view_type view() const { return result_view_type(range); }
  KOKKOS_FUNCTION bool references_scalar() const { return true; }
};

/// Paints with a team per chunk of consecutive particles. Their deposits are added up in scratch memory, in a tile around
/// most of them and in whole numbers, for which there are fast atomics; the tile is then added to the mesh row by row. Vectors
/// are painted one component after the other.
/// Particles that reach out of the tile, or whose position is NaN, are added to the mesh directly, and so are all of a chunk
/// whose values no scale fits.
template <int Support, int Components, class T, class Mesh, class Deposit>
struct PaintTiles {
  static constexpr int team = 256;
  static constexpr int samples = 4;   // particles per thread that the tile is fitted to
  static constexpr int longest = 64;  // side of a tile
  static constexpr int most_cells = 9216 * 4 / static_cast<int>(sizeof(T));
  static constexpr int most_particles = 4096;
  static constexpr int passes = Components == 0 ? 1 : Components;
  static constexpr int apart = passes;  // numbers from a cell of the mesh to the next

  using Cell = typename Deposit::Cell;
  using Whole = Fixed<T>;
  static constexpr int scratch_bytes = most_cells * static_cast<int>(sizeof(Whole));
  Painted<T> painted;
  Mesh cells;
  PerAxis<T> per_cell;
  int chunk;
  Deposit deposit;
  T whole;  // parts: of each mass of 1, or of the sum of the sizes of a chunk's values

  /// A box of cells: the first cell, and the number of cells along each axis.
  struct Tile {
    std::int32_t origin[3], side[3];
  };

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    std::int64_t const begin = std::int64_t(member.league_rank()) * chunk,
                       rest = painted.particles - begin;
    int const count = rest < chunk ? static_cast<int>(rest) : chunk;
    T parts[passes];  // that 1 is cut into
    if (!find_parts(member, begin, count, parts)) {
      for (int p = member.team_rank(); p < count; p += team) add_directly(begin + p);
      return;
    }
    auto* const sum = static_cast<Whole*>(member.team_shmem().get_shmem(+scratch_bytes));
    Tile const tile = tile_around(member, painted.position + 3 * begin, count);
    int const size = tile.side[0] * tile.side[1] * tile.side[2];
    for (int v = 0; v < passes; ++v) {
      if (v > 0) member.team_barrier();
      for (int c = member.team_rank(); c < size; c += team) sum[c] = 0;
      member.team_barrier();
      for (int p = member.team_rank(); p < count; p += team) add(tile, sum, begin + p, v, parts[v]);
      member.team_barrier();
      add_to_mesh_by_rows(member, tile, sum, v, T(1) / parts[v]);
    }
  }

 private:
  /// Cells in memory along an axis. A window may be taken for periodic, because no particle touches both of its ends.
  KOKKOS_FORCEINLINE_FUNCTION std::int32_t extent(int d) const {
    return static_cast<std::int32_t>(cells.held(d));
  }

  /// \return  false if there is no such number, because a value isn't finite or all are tiny
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION bool find_parts(Member const& member, std::int64_t begin, int count,
                                              T (&parts)[passes]) const {
    if constexpr (Components == 0) {
      parts[0] = whole;
    } else {
      // The inverse of a larger scale would underflow.
      constexpr T largest_scale = sizeof(T) == 4 ? T(0x1p120) : static_cast<T>(0x1p1000);
      constexpr T largest = std::numeric_limits<T>::max();
      T const least = whole / largest_scale;
      bool there_is = true;
      for (int v = 0; v < Components; ++v) {
        T sizes = 0;
        for (int p = member.team_rank(); p < count; p += team)
          sizes += math::abs(painted.value[(begin + p) * Components + v]);
        member.team_reduce(Kokkos::Sum<T>(sizes));
        there_is = there_is && (sizes == 0 || (sizes >= least && sizes <= largest));
        parts[v] = sizes == 0 ? T(1) : whole / sizes;
      }
      return there_is;
    }
    return true;
  }

  /// The tile that holds a sample of the particles; if that is too large, a part of it around the middle particle.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION Tile tile_around(Member const& member, T const* position,
                                               int count) const {
    Located<Support, T> const middle(position + 3 * (count / 2), per_cell, cells);
    Range3 range;
    JoinRanges const join{&range};
    join.init(range);
    COIR_UNROLL
    for (int s = 0; s < samples; ++s) {
      int const p = static_cast<int>((std::int64_t(s) * team + member.team_rank()) * count /
                                     (samples * team));
      Located<Support, T> const at(position + 3 * p, per_cell, cells);
      COIR_UNROLL
      for (int d = 0; d < 3; ++d) {
        // The distance by the shorter way around the periodic axis.
        std::int32_t const n = extent(d), straight = at.axis[d].first - middle.axis[d].first;
        std::int32_t const away = straight < -(n / 2)     ? straight + n
                                  : straight >= n - n / 2 ? straight - n
                                                          : straight;
        range.least[d] = away < range.least[d] ? away : range.least[d];
        range.greatest[d] = away > range.greatest[d] ? away : range.greatest[d];
      }
    }
    member.team_reduce(join);
    Tile tile;
    int area = 1;
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) {
      int const wanted = range.greatest[d] - range.least[d] + Support;
      int side = most_cells / area;
      side = side < longest ? side : longest;
      side = side < extent(d) ? side : extent(d);
      side = side < wanted ? side : wanted;
      int start = -side / 2, last = range.greatest[d] + Support - side;
      start = start < last ? start : last;
      start = start > range.least[d] ? start : range.least[d];
      start += middle.axis[d].first;
      start = start < 0 ? start + extent(d) : start >= extent(d) ? start - extent(d) : start;
      tile.origin[d] = start;
      tile.side[d] = side;
      area *= side;
    }
    return tile;
  }

  KOKKOS_FORCEINLINE_FUNCTION void add_directly(std::int64_t particle) const {
    Located<Support, T> const at(painted.position + 3 * particle, per_cell, cells);
    add_to_mesh<std::int64_t, Components>(cells, at, particle, deposit);
  }

  /// \param v      the component
  /// \param parts  that 1 is cut into
  KOKKOS_FORCEINLINE_FUNCTION void add(Tile const& tile, Whole* sum, std::int64_t particle, int v,
                                       T parts) const {
    Located<Support, T> const at(painted.position + 3 * particle, per_cell, cells);
    bool inside = at.is_number();
    std::int32_t local[3];
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) {
      local[d] = at.axis[d].first - tile.origin[d];
      local[d] = local[d] < 0 ? local[d] + extent(d) : local[d];
      inside = inside && local[d] + Support <= tile.side[d];
    }
    if (!inside) {
      if (v == 0) add_to_mesh<std::int64_t, Components>(cells, at, particle, deposit);
      return;
    }
    int const row = tile.side[2], plane = tile.side[1] * row;
    Whole* const first = sum + local[0] * plane + local[1] * row + local[2];
    auto const& w = at.axis;
    if constexpr (Components == 0) {
      deposit(particle, w[0].weight, w[1].weight, w[2].weight,
              [&](int a, int b, int c, int, Cell const amount) {
                Whole whole_amount;
                if constexpr (std::is_same_v<Cell, Whole>)
                  whole_amount = amount;
                else
                  whole_amount = static_cast<Whole>(amount * parts + T(0.5));
                coir::detail::add_in_scratch(first + (a * plane + b * row + c), whole_amount);
              });
    } else {
      T const value = parts * painted.value[particle * Components + v];
      DepositNumbers<Support, 0, T>{nullptr}(particle, w[0].weight, w[1].weight, w[2].weight,
                                             [&](int a, int b, int c, int, T const weight) {
                                               coir::detail::add_in_scratch(
                                                   first + (a * plane + b * row + c),
                                                   static_cast<Whole>(math::rint(weight * value)));
                                             });
    }
  }

  /// Adds the tile to the mesh, half a warp or a warp per row.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void add_to_mesh_by_rows(Member const& member, Tile const& tile,
                                                       Whole const* sum, int v, T per_part) const {
    int const lanes = tile.side[2] <= 16 ? 16 : 32, step = team / lanes;
    int const lane = member.team_rank() % lanes;
    std::int32_t x = 0, y = member.team_rank() / lanes;
    for (;; y += step) {
      while (y >= tile.side[1]) {
        y -= tile.side[1];
        ++x;
      }
      if (x >= tile.side[0]) return;
      Whole const* const from = sum + (x * tile.side[1] + y) * tile.side[2];
      Cell* const to =
          cells.data + around(tile, x, 0) * cells.plane + around(tile, y, 1) * cells.row + v;
      for (int z = lane; z < tile.side[2]; z += lanes) {
        Whole const amount = from[z];
        if (amount == 0) continue;
        if constexpr (std::is_same_v<Cell, Whole>)
          Kokkos::atomic_add(to + around(tile, z, 2) * apart, amount);
        else
          Kokkos::atomic_add(to + around(tile, z, 2) * apart, static_cast<T>(amount) * per_part);
      }
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t around(Tile const& tile, std::int32_t local,
                                                  int d) const {
    std::int32_t const cell = tile.origin[d] + local;
    return cell < extent(d) ? cell : cell - extent(d);
  }
};

/// The number of particles in a chunk: as many as 16^3 cells hold on average, but enough for a tile to pay.
inline int chunk_of(std::int64_t particles, std::int64_t cells, int most) {
  std::int64_t const wanted = 4096 * particles / cells;
  int chunk = 1024;
  while (chunk < wanted && chunk < most) chunk *= 2;
  return chunk;
}

/// Sets all numbers of a mesh to zero.
template <class Cell>
struct ClearCells {
  Cells<Cell> cells;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    cells.data[i * cells.plane + j * cells.row + k] = Cell(0);
  }
};

/// \param cells  a mesh, or a window that holds all cells that particles touch
template <int Support, int Components, class Exec, class T, class Mesh, class Deposit>
  requires(!runs_on_host<Exec>)
void paint_with(Exec const& exec, Painted<T> const& painted, double box, Mesh const& cells,
                Deposit const& deposit, PaintScheme scheme) {
  expects(scheme == PaintScheme::automatic || scheme == PaintScheme::atomics ||
              scheme == PaintScheme::tiles,
          "on devices the scheme must be atomics or tiles", name_of(scheme));
  using Cell = typename Deposit::Cell;
  std::int64_t const row = cells.extent[2] * (Components == 3 ? 3 : 1);
  if (cells.row == row && cells.plane == cells.extent[1] * row)
    Kokkos::deep_copy(
        exec,
        Kokkos::View<Cell*, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
            cells.data, static_cast<std::size_t>(cells.held(0) * cells.plane)),
        Cell(0));
  else  // not the gaps between rows, which a caller may use
    for_each("coir::mesh::paint/clear", exec,
             coir::box<3, std::int64_t>({cells.held(0), cells.extent[1], row}),
             ClearCells<Cell>{cells});
  if (painted.particles == 0) return;
  auto const per_cell = cells.template inverse_spacing<T>(box);
  if (scheme == PaintScheme::tiles) {
    using Tiles = PaintTiles<Support, Components, T, Mesh, Deposit>;
    int const chunk = chunk_of(painted.particles, cells.held(0) * cells.extent[1] * cells.extent[2],
                               Tiles::most_particles);
    // Few enough parts for all of a chunk in one cell not to overflow.
    auto const most = static_cast<T>(std::int64_t(1) << (sizeof(T) == 4 ? 30 : 62));
    Tiles const body{painted, cells,   per_cell,
                     chunk,   deposit, Components == 0 ? most / static_cast<T>(chunk) : most};
    std::int64_t const teams = (painted.particles + chunk - 1) / chunk;
    constexpr int at_a_time = Support > 2 ? 2 : Components == 0 ? 5 : 4;
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Tiles::team, at_a_time>>;
    Kokkos::parallel_for("coir::mesh::paint/tiles",
                         Policy(exec, static_cast<int>(teams), Tiles::team)
                             .set_scratch_size(0, Kokkos::PerTeam(Tiles::scratch_bytes + 64)),
                         body);
    return;
  }
  PaintAtomics<Support, Components, T, Mesh, Deposit> const body{
      painted, cells, per_cell, deposit,
      cells.held(0) * cells.plane <= std::numeric_limits<std::int32_t>::max()};
  for_each("coir::mesh::paint/atomics", exec, coir::box<1, std::int64_t>({painted.particles}),
           body);
}

}  // namespace coir::mesh::detail
