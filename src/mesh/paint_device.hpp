#pragma once

#include "deposit.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/core/scratch_atomics.hpp>
#include <coir/mesh/assignment.hpp>
#include <coir/mesh/detail/cell_map.hpp>
#include <coir/mesh/paint.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace coir::mesh::detail {

/// The cells in memory that a particle touches along the three axes, and their weights.
template <int Support, class T>
struct Located {
  Touched<Support, T> axis[3];

  KOKKOS_FORCEINLINE_FUNCTION Located(T const* position, CellMap<Support, T> const& map) {
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) axis[d] = map(position[d], d);
  }

  /// False if a coordinate is NaN or infinite.
  KOKKOS_FORCEINLINE_FUNCTION bool is_number() const {
    T const sum = axis[0].weight[0] + axis[1].weight[0] + axis[2].weight[0];
    return sum == sum;
  }
};

/// Adds a particle's deposit to the mesh by atomics, cell by cell.
///
/// \tparam I  the type of offsets: 32 bits are faster where they are enough
template <class I, int Components, int Support, class T, class Deposit>
KOKKOS_FORCEINLINE_FUNCTION void add_to_mesh(CellsWindow<typename Deposit::Cell> const& cells,
                                             Located<Support, T> const& at, std::int64_t particle,
                                             Deposit const& deposit) {
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
template <int Support, int Components, class T, class Deposit>
struct PaintAtomics {
  static constexpr int blocks_at_a_time = blocks_of_particles<T>;
  Painted<T> painted;
  CellsWindow<typename Deposit::Cell> cells;
  CellMap<Support, T> map;
  Deposit deposit;
  bool narrow;

  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    Located<Support, T> const at(painted.position + 3 * p, map);
    if (narrow)
      add_to_mesh<std::int32_t, Components>(cells, at, p, deposit);
    else
      add_to_mesh<std::int64_t, Components>(cells, at, p, deposit);
  }
};

/// Several numbers.
template <class N, int Count>
struct Several {
  N number[Count];
};
/// A reducer: the sums over all threads of a team. All threads get the same sums of whole numbers;
/// other sums may differ between threads in the last bits.
template <class N, int Count>
struct SumOfSeveral {
  using reducer = SumOfSeveral;
  using value_type = Several<N, Count>;
  using result_view_type =
      Kokkos::View<value_type, Kokkos::AnonymousSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  value_type* sums;

  KOKKOS_FUNCTION void join(value_type& to, value_type const& from) const {
    COIR_UNROLL
    for (int n = 0; n < Count; ++n) to.number[n] += from.number[n];
  }
  KOKKOS_FUNCTION void init(value_type& value) const {
    COIR_UNROLL
    for (int n = 0; n < Count; ++n) value.number[n] = 0;
  }
  KOKKOS_FUNCTION value_type& reference() const { return *sums; }
  KOKKOS_FUNCTION result_view_type view() const { return result_view_type(sums); }
  KOKKOS_FUNCTION bool references_scalar() const { return true; }
};

/// Paints with a team per chunk of consecutive particles. Deposits are added up in scratch memory,
/// in a tile around most of the particles, and in whole numbers, which have fast atomics there.
/// Then the tile is added to the mesh row by row. Particles that reach out of the tile, or have a
/// NaN position, are listed and added to the mesh directly. So are all particles of a chunk whose
/// values have no common scale, see find_parts().
template <int Support, int Components, class T, class Deposit>
struct PaintTiles {
  static constexpr int team = 256;
  static constexpr int samples =
      Components == 3 ? 2 : 4;        // per thread, which the tile is fitted to
  static constexpr int longest = 64;  // side of a tile
  static constexpr float widened = Components == 3 ? 1.3f : 1.0f;
  static constexpr int most_listed = 255;
  static constexpr int apart = Components == 3 ? 3 : 1;  // numbers from a cell to the next
  // A team has 48 KiB on CUDA, of which Kokkos takes kokkos_bytes. Tiles fit into the rest.
  static constexpr int most_cells =
      (Components == 3 ? 3800 : 9216) * 4 / static_cast<int>(sizeof(T));
  static constexpr int cells_per_chunk = Components == 3 ? 1024 : 4096;
  static constexpr int least_particles = Components == 3 ? 256 : 1024;

  using Cell = typename Deposit::Cell;
  using Whole = Fixed<T>;
  static constexpr int tile_bytes = apart * most_cells * static_cast<int>(sizeof(Whole));
  static constexpr int list_bytes = (1 + most_listed) * static_cast<int>(sizeof(int));
  static constexpr int parts_bytes = apart * static_cast<int>(sizeof(T));
  static constexpr int scratch_bytes = tile_bytes + list_bytes + parts_bytes;
  static constexpr int spare_bytes = 128;  // asked for in addition
  // Kokkos takes a double for each thread and two more, and four values of up to 24 bytes for each
  // kind of team_reduce().
  static constexpr int kokkos_bytes = 8 * (team + 2) + 2 * 4 * 24;
  static_assert(scratch_bytes + spare_bytes + kokkos_bytes <= 48 * 1024);
  Painted<T> painted;
  CellsWindow<typename Deposit::Cell> cells;
  CellMap<Support, T> map;
  int chunk;
  Deposit deposit;
  T whole;  // parts: of each mass of 1, or of the sum of the sizes of a chunk's values

  /// A box of cells: the first cell, and the number of cells along each axis.
  struct Tile {
    std::int32_t origin[3], side[3];
  };
  /// Particles of a chunk that aren't in its tile.
  struct Listed {
    int* count;
    int* particle;
  };

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    std::int64_t const begin = std::int64_t(member.league_rank()) * chunk,
                       rest = painted.particles - begin;
    int const count = rest < chunk ? static_cast<int>(rest) : chunk;
    auto* const sum = static_cast<Whole*>(member.team_shmem().get_shmem(+tile_bytes));
    auto* const list = static_cast<int*>(member.team_shmem().get_shmem(+list_bytes));
    Listed const listed{list, list + 1};
    auto* const shared_parts = static_cast<T*>(member.team_shmem().get_shmem(+parts_bytes));
    find_parts(member, begin, count, shared_parts);
    Tile const tile = tile_around(member, painted.position + 3 * begin, count);
    int const size = apart * tile.side[0] * tile.side[1] * tile.side[2];
    for (int c = member.team_rank(); c < size; c += team) sum[c] = 0;
    if (member.team_rank() == 0) *listed.count = 0;
    member.team_barrier();
    T parts[apart];
    bool have_parts = true;
    COIR_UNROLL
    for (int v = 0; v < apart; ++v) {
      parts[v] = shared_parts[v];
      have_parts = have_parts && parts[v] > 0;
    }
    if (!have_parts) {
      for (int p = member.team_rank(); p < count; p += team) add_directly(begin + p);
      return;
    }
    for (int p = member.team_rank(); p < count; p += team)
      if (!add(tile, sum, begin + p, parts)) list_or_add(listed, begin, p);
    member.team_barrier();
    add_to_mesh_by_rows(member, tile, sum, parts);
    int const left = *listed.count < most_listed ? *listed.count : most_listed;
    for (int n = member.team_rank(); n < left; n += team) add_directly(begin + listed.particle[n]);
  }

 private:
  /// Cells in memory along an axis. A window may be taken for periodic, because no particle touches
  /// both of its ends.
  KOKKOS_FORCEINLINE_FUNCTION std::int32_t extent(int d) const {
    return static_cast<std::int32_t>(cells.held(d));
  }

  /// \param parts  out, written by the first thread: the number of parts of 1; 0 if a value isn't
  ///   finite or all are tiny
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void find_parts(Member const& member, std::int64_t begin, int count,
                                              T* parts) const {
    if constexpr (Components == 0) {
      if (member.team_rank() == 0) parts[0] = whole;
    } else {
      // The inverse of a larger scale would underflow.
      constexpr T largest_scale = sizeof(T) == 4 ? T(0x1p120) : static_cast<T>(0x1p1000);
      constexpr T largest = std::numeric_limits<T>::max();
      T const least = whole / largest_scale;
      Several<T, apart> sizes;
      SumOfSeveral<T, apart> const sum{&sizes};
      sum.init(sizes);
      T const* const value = painted.value + begin * apart;
      for (int p = member.team_rank(); p < count; p += team) {
        COIR_UNROLL
        for (int v = 0; v < apart; ++v) sizes.number[v] += math::abs(value[p * apart + v]);
      }
      member.team_reduce(sum);
      if (member.team_rank() > 0) return;
      COIR_UNROLL
      for (int v = 0; v < apart; ++v) {
        T const size = sizes.number[v];
        parts[v] = size == 0 ? T(1) : size >= least && size <= largest ? whole / size : T(0);
      }
    }
  }

  /// The tile around the mean of a sample of the particles. It is `widened` times as wide as an
  /// even distribution of their variance, or as wide as scratch memory allows.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION Tile tile_around(Member const& member, T const* position,
                                               int count) const {
    Located<Support, T> const middle(position + 3 * (count / 2), map);
    Several<std::int32_t, 6> moments;  // sums along the axes, and of squares
    SumOfSeveral<std::int32_t, 6> const sum{&moments};
    sum.init(moments);
    COIR_UNROLL
    for (int s = 0; s < samples; ++s) {
      int const p = static_cast<int>((std::int64_t(s) * team + member.team_rank()) * count /
                                     (samples * team));
      Located<Support, T> const at(position + 3 * p, map);
      COIR_UNROLL
      for (int d = 0; d < 3; ++d) {
        // The distance by the shorter way around the periodic axis, cut at two tiles, so that its
        // square doesn't overflow.
        std::int32_t const n = extent(d), straight = at.axis[d].first - middle.axis[d].first;
        std::int32_t away = straight < -(n / 2)     ? straight + n
                            : straight >= n - n / 2 ? straight - n
                                                    : straight;
        away = away < -2 * longest ? -2 * longest : away > 2 * longest ? 2 * longest : away;
        moments.number[d] += away;
        moments.number[3 + d] += away * away;
      }
    }
    member.team_reduce(sum);
    Tile tile;
    float mean[3];
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) {
      constexpr float per_sample = 1.0f / (samples * team);
      mean[d] = static_cast<float>(moments.number[d]) * per_sample;
      float const variance =
          static_cast<float>(moments.number[3 + d]) * per_sample - mean[d] * mean[d];
      // N cells side by side have the variance (N^2 - 1) / 12.
      float const width = math::sqrt(12.0f * (variance > 0 ? variance : 0) + 1.0f);
      int const wanted = static_cast<int>(widened * width + 0.5f) + Support;
      int const most = longest < extent(d) ? longest : extent(d);
      tile.side[d] = wanted < most ? wanted : most;
    }
    while (tile.side[0] * tile.side[1] * tile.side[2] >
           most_cells) {  // the longest side becomes shorter
      int const d = tile.side[0] > tile.side[1] ? (tile.side[0] > tile.side[2] ? 0 : 2)
                                                : (tile.side[1] > tile.side[2] ? 1 : 2);
      COIR_UNROLL
      for (int e = 0; e < 3; ++e) tile.side[e] -= e == d ? 1 + tile.side[e] / 16 : 0;
    }
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) {
      float const half = 0.5f * static_cast<float>(tile.side[d] - Support);
      int start = middle.axis[d].first + static_cast<int>(math::floor(mean[d] - half + 0.5f));
      start = start < 0 ? start + extent(d) : start >= extent(d) ? start - extent(d) : start;
      tile.origin[d] = start;
    }
    return tile;
  }

  KOKKOS_FORCEINLINE_FUNCTION void add_directly(std::int64_t particle) const {
    Located<Support, T> const at(painted.position + 3 * particle, map);
    add_to_mesh<std::int64_t, Components>(cells, at, particle, deposit);
  }

  /// Lists a particle; if the list is full it is added at once.
  KOKKOS_FORCEINLINE_FUNCTION void list_or_add(Listed const& listed, std::int64_t begin,
                                               int particle) const {
    int const place = Kokkos::atomic_fetch_add(listed.count, 1);
    if (place < most_listed)
      listed.particle[place] = particle;
    else
      add_directly(begin + particle);
  }

  /// \return  false if the particle isn't in the tile
  KOKKOS_FORCEINLINE_FUNCTION bool add(Tile const& tile, Whole* sum, std::int64_t particle,
                                       T const (&parts)[apart]) const {
    Located<Support, T> const at(painted.position + 3 * particle, map);
    bool inside = at.is_number();
    std::int32_t local[3];
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) {
      local[d] = at.axis[d].first - tile.origin[d];
      local[d] = local[d] < 0 ? local[d] + extent(d) : local[d];
      inside = inside && local[d] + Support <= tile.side[d];
    }
    if (!inside) return false;
    int const row = apart * tile.side[2], plane = tile.side[1] * row;
    Whole* const first = sum + local[0] * plane + local[1] * row + apart * local[2];
    auto const& w = at.axis;
    if constexpr (Components == 0) {
      deposit(particle, w[0].weight, w[1].weight, w[2].weight,
              [&](int a, int b, int c, int, Cell const amount) {
                Whole whole_amount;
                if constexpr (std::is_same_v<Cell, Whole>)
                  whole_amount = amount;
                else
                  whole_amount = static_cast<Whole>(amount * parts[0] + T(0.5));
                coir::add_in_scratch(first + (a * plane + b * row + c), whole_amount);
              });
    } else {
      T value[apart];
      COIR_UNROLL
      for (int v = 0; v < apart; ++v) value[v] = parts[v] * painted.value[particle * apart + v];
      DepositNumbers<Support, 0, T>{nullptr}(particle, w[0].weight, w[1].weight, w[2].weight,
                                             [&](int a, int b, int c, int, T const weight) {
                                               COIR_UNROLL
                                               for (int v = 0; v < apart; ++v)
                                                 coir::add_in_scratch(
                                                     first + (a * plane + b * row + c * apart + v),
                                                     math::nearest<Whole>(weight * value[v]));
                                             });
    }
    return true;
  }

  /// Adds the tile to the mesh, half a warp or a warp per row.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void add_to_mesh_by_rows(Member const& member, Tile const& tile,
                                                       Whole const* sum,
                                                       T const (&parts)[apart]) const {
    int const row = apart * tile.side[2];
    int const lanes = row <= 16 ? 16 : 32, step = team / lanes;
    int const lane = member.team_rank() % lanes;
    T per_part[apart];
    COIR_UNROLL
    for (int v = 0; v < apart; ++v) per_part[v] = T(1) / parts[v];
    int const first = apart * tile.origin[2], numbers = apart * extent(2);  // of the mesh's rows
    std::int32_t x = 0, y = member.team_rank() / lanes;
    for (;; y += step) {
      while (y >= tile.side[1]) {
        y -= tile.side[1];
        ++x;
      }
      if (x >= tile.side[0]) return;
      Whole const* const from = sum + (x * tile.side[1] + y) * row;
      Cell* const to =
          cells.data + around(tile, x, 0) * cells.plane + around(tile, y, 1) * cells.row;
      for (int e = lane; e < row; e += lanes) {
        Whole const amount = from[e];
        if (amount == 0) continue;
        int const at = first + e;
        Cell* const cell = to + (at < numbers ? at : at - numbers);
        if constexpr (std::is_same_v<Cell, Whole>)
          Kokkos::atomic_add(cell, amount);
        else
          Kokkos::atomic_add(cell, static_cast<T>(amount) * component(per_part, e % apart));
      }
    }
  }

  /// number[v], for numbers that stay in registers.
  KOKKOS_FORCEINLINE_FUNCTION static T component(T const (&number)[apart], int v) {
    T result = number[0];
    COIR_UNROLL
    for (int o = 1; o < apart; ++o) result = v == o ? number[o] : result;
    return result;
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t around(Tile const& tile, std::int32_t local,
                                                  int d) const {
    std::int32_t const cell = tile.origin[d] + local;
    return cell < extent(d) ? cell : cell - extent(d);
  }
};

/// The number of particles in a chunk: as many as `wanted` cells hold on average, but at least
/// `least`, so that a tile pays, and at most `wanted`.
inline int chunk_of(std::int64_t particles, std::int64_t cells, int wanted, int least) {
  std::int64_t const on_average = wanted * particles / cells;
  int chunk = least;
  while (chunk < on_average && chunk < wanted) chunk *= 2;
  return chunk;
}

/// Sets all numbers of a mesh to zero.
template <class Cell>
struct ClearCells {
  static constexpr bool reads_no_neighbours = true;
  Cells<Cell> cells;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    cells.data[i * cells.plane + j * cells.row + k] = Cell(0);
  }
};

/// \param cells  a window that holds all cells that particles touch
template <int Support, int Components, class Exec, class T, class Deposit>
  requires(!runs_on_host<Exec>)
void paint_with(Exec const& exec, Painted<T> const& painted, double box,
                CellsWindow<typename Deposit::Cell> const& cells, Deposit const& deposit,
                PaintScheme scheme) {
  expects(scheme == PaintScheme::automatic || scheme == PaintScheme::atomics ||
              scheme == PaintScheme::tiles,
          "on devices the scheme must be atomics or tiles", name_of(scheme));
  using Cell = typename Deposit::Cell;
  std::int64_t const row = cells.extent[2] * (Components == 3 ? 3 : 1);
  if (cells.row == row && cells.plane == cells.extent[1] * row) {
    clear_bytes(exec, cells.data,
                cells.held(0) * cells.plane * static_cast<std::int64_t>(sizeof(Cell)));
  } else {  // without the gaps between rows, which are the caller's
    for_each("coir::mesh::paint_device/clear", exec,
             coir::box<3, std::int64_t>({cells.held(0), cells.extent[1], row}),
             ClearCells<Cell>{cells});
  }
  if (painted.particles == 0) return;
  CellMap<Support, T> const map(cells, box);
  if (scheme == PaintScheme::tiles) {
    using Tiles = PaintTiles<Support, Components, T, Deposit>;
    int const chunk = chunk_of(painted.particles, cells.held(0) * cells.extent[1] * cells.extent[2],
                               Tiles::cells_per_chunk, Tiles::least_particles);
    // A cell must not overflow even if it gets all parts of a chunk.
    auto const most = static_cast<T>(std::int64_t(1) << (sizeof(T) == 4 ? 30 : 62));
    Tiles const body{painted, cells,   map,
                     chunk,   deposit, Components == 0 ? most / static_cast<T>(chunk) : most};
    std::int64_t const teams = (painted.particles + chunk - 1) / chunk;
    constexpr int at_a_time = Support > 2 ? 2 : Components == 0 ? 5 : 4;
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Tiles::team, at_a_time>>;
    Kokkos::parallel_for(
        "coir::mesh::paint_device/tiles",
        Policy(exec, static_cast<int>(teams), Tiles::team)
            .set_scratch_size(0, Kokkos::PerTeam(Tiles::scratch_bytes + Tiles::spare_bytes)),
        body);
    return;
  }
  PaintAtomics<Support, Components, T, Deposit> const body{
      painted, cells, map, deposit,
      cells.held(0) * cells.plane <= std::numeric_limits<std::int32_t>::max()};
  for_each("coir::mesh::paint_device/atomics", exec,
           coir::box<1, std::int64_t>({painted.particles}), body);
}

}  // namespace coir::mesh::detail
