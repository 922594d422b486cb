#pragma once

/// \file
/// Derivatives of the value that a particle reads from a mesh, with respect to its position. The
/// adjoints of painting and of readout consist of them.

#include <coir/mesh/assignment.hpp>
#include <coir/mesh/cells.hpp>
#include <coir/mesh/detail/cell_map.hpp>
#include <coir/mesh/detail/lanes.hpp>
#include <coir/mesh/detail/particle_block.hpp>
#include <coir/mesh/mesh_values.hpp>
#include <coir/mesh/read_out.hpp>

#include <cstdint>
#include <utility>

namespace coir::mesh {

namespace detail {

/// The weight_slopes() of a block's particles along one axis.
template <int Support, class T, int Size, int... o>
void find_weight_slopes(T const (&x)[Size], int count, T per_cell, T (&slope)[Support][Size],
                        std::integer_sequence<int, o...>) {
  COIR_INDEPENDENT_ITERATIONS
  for (int p = 0; p < count; ++p) {
    T of_particle[Support];
    weight_slopes<Support, T>(x[p], per_cell, of_particle);
    ((slope[o][p] = of_particle[o]), ...);
  }
}

/// The weight_slopes() of a block's particles along all three axes.
template <int Support, class T, class Position>
void find_weight_slopes(T (&slope)[3][Support][particles_per_block], int count,
                        Position const& position, PerAxis<T> const& per_cell) {
  T x[3][particles_per_block];
  for (int p = 0; p < count; ++p) {
    T const* const at = position(p);
    for (int d = 0; d < 3; ++d) x[d][p] = at[d];
  }
  for (int d = 0; d < 3; ++d)
    find_weight_slopes<Support>(x[d], count, per_cell[d], slope[d],
                                std::make_integer_sequence<int, Support>{});
}

/// The cells that one particle touches, with their weights and weight_slopes(), for devices.
template <int Support, int Components, class T>
struct TouchedSlopes {
  T weight[3][Support], slope[3][Support];
  std::int64_t place[3][Support];

  KOKKOS_FORCEINLINE_FUNCTION TouchedSlopes(T const* position, CellsWindow<T const> const& cells,
                                            CellMap<Support, T> const& map) {
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) {
      auto const t = map(position[d], d);
      weight_slopes<Support, T>(position[d], map.per_cell[d], slope[d]);
      std::int64_t const stride = d == 0 ? cells.plane : d == 1 ? cells.row : Components;
      std::int32_t cell = t.first;
      COIR_UNROLL
      for (int o = 0; o < Support; ++o) {
        weight[d][o] = t.weight[o];
        place[d][o] = cell * stride;
        cell = cell + 1 == static_cast<std::int32_t>(cells.held(d)) ? 0 : cell + 1;
      }
    }
  }
};

/// Adds the gradient of sum_abc w_a w_b w_c cell(a, b, c) along the three axes, in cells. `s` holds
/// the slopes of the weights.
template <int Support, class T, class Cell>
KOKKOS_FORCEINLINE_FUNCTION void add_slopes(T const (&w)[3][Support], T const (&s)[3][Support],
                                            Cell const& cell, T (&sum)[3]) {
  COIR_UNROLL
  for (int a = 0; a < Support; ++a) {
    COIR_UNROLL
    for (int b = 0; b < Support; ++b) {
      T straight = 0, sloped = 0;
      COIR_UNROLL
      for (int c = 0; c < Support; ++c) {
        T const here = cell(a, b, c);
        straight += w[2][c] * here;
        sloped += s[2][c] * here;
      }
      sum[0] += s[0][a] * w[1][b] * straight;
      sum[1] += w[0][a] * s[1][b] * straight;
      sum[2] += w[0][a] * w[1][b] * sloped;
    }
  }
}

}  // namespace detail

/// A reader for read_out(): the derivatives of MeshValues' value with respect to the particle's
/// position,
///
///   component[3 v + d] = sum_g dW(x - x_g) / dx_d mesh(g, v).
///
/// \tparam Support     cells that a particle touches along an axis, see with_support()
/// \tparam Components  1 for a mesh of numbers, 3 for one of vectors
template <int Support, int Components, class T>
class InterpolationSlopes {
 public:
  static constexpr int components = 3 * Components;

  struct Block {
    detail::ParticleBlock<Support, T> particles;
    T slope[3][Support][detail::particles_per_block];
  };

  /// \param cells  all planes, or those that particles touch
  InterpolationSlopes(CellsWindow<T const> const& cells, double box)
      : cells_(cells), map_(cells, box) {}

  template <class Position>
  void locate(Block& block, int count, Position const& position) const {
    detail::locate<Components>(block.particles, count, position, cells_, map_.per_cell);
    detail::find_weight_slopes<Support, T>(block.slope, count, position, map_.per_cell);
  }

  [[gnu::always_inline]] void prefetch(Block const& block, int p) const {
    auto const& at = block.particles;
    for (int a = 0; a < Support; ++a)
      for (int b = 0; b < Support; ++b)
        __builtin_prefetch(cells_.data + at.plane[a][p] * cells_.plane +
                           (at.row[b][p] + at.column[0][p]));
  }

  void read(Block const& block, int p, T* to) const {
    T w[3][Support], s[3][Support];
    std::int64_t place[3][Support];
    auto const& at = block.particles;
    for (int o = 0; o < Support; ++o) {
      for (int d = 0; d < 3; ++d) w[d][o] = at.weight[d][o][p], s[d][o] = block.slope[d][o][p];
      place[0][o] = at.plane[o][p] * cells_.plane;
      place[1][o] = at.row[o][p];
      place[2][o] = at.column[o][p];
    }
    slopes(w, s, place, to);
  }

  KOKKOS_FUNCTION Value<T, components> operator()(T const* position) const {
    detail::TouchedSlopes<Support, Components, T> const at(position, cells_, map_);
    Value<T, components> result;
    slopes(at.weight, at.slope, at.place, result.component);
    return result;
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void slopes(T const (&w)[3][Support], T const (&s)[3][Support],
                                          std::int64_t const (&place)[3][Support], T* to) const {
    COIR_UNROLL
    for (int v = 0; v < Components; ++v) {
      T sum[3] = {};
      T const* const data = cells_.data + v;
      detail::add_slopes<Support, T>(
          w, s, [&](int a, int b, int c) { return data[place[0][a] + place[1][b] + place[2][c]]; },
          sum);
      COIR_UNROLL
      for (int d = 0; d < 3; ++d) to[3 * v + d] = map_.per_cell[d] * sum[d];
    }
  }

  CellsWindow<T const> cells_;
  detail::CellMap<Support, T> map_;
};

/// A reader for read_out() that the adjoint of a kick needs. It reads a mesh of forces F and a mesh
/// of numbers psi, the potential of the adjoint. A particle with the vector c gets
///
///   component[d]     = sum_g W(x - x_g) F_g,d                   with the bits of MeshValues
///   component[3 + d] = sum_g dW(x - x_g) / dx_d [psi_g + factor sum_e c_e F_g,e]
template <int Support, class T>
class ForceAndSlopes {
  using Values = MeshValues<Support, 3, T>;

 public:
  static constexpr int components = 6;

  struct Block {
    typename Values::Block vectors;
    detail::ParticleBlock<Support, T> numbers;
    T slope[3][Support][detail::particles_per_block];
    T of_particle[detail::particles_per_block][3];  ///< factor c
  };

  /// \param vectors    F, three numbers per cell; all planes, or those that particles touch
  /// \param numbers    psi, in the same planes of a mesh of as many cells
  /// \param positions  of all particles; read_out() must be called with these
  /// \param c          a vector for each particle. On devices positions and c may be null, because
  ///   kernels pass those of each particle
  ForceAndSlopes(CellsWindow<T const> const& vectors, CellsWindow<T const> const& numbers,
                 double box, T const* positions, T const* c, double factor)
      : values_(vectors, box),
        vectors_(vectors),
        numbers_(numbers),
        map_(vectors, box),
        positions_(positions),
        c_(c),
        factor_(static_cast<T>(factor)) {}

  template <class Position>
  void locate(Block& block, int count, Position const& position) const {
    values_.locate(block.vectors, count, position);
    detail::locate<1>(block.numbers, count, position, numbers_, map_.per_cell);
    if constexpr (Support > 2)  // cic's slopes are -1 and 1
      detail::find_weight_slopes<Support, T>(block.slope, count, position, map_.per_cell);
    for (int p = 0; p < count; ++p) {
      T const* const c = c_ + (position(p) - positions_);
      for (int d = 0; d < 3; ++d) block.of_particle[p][d] = factor_ * c[d];
    }
  }

  [[gnu::always_inline]] void prefetch(Block const& block, int p) const {
    auto const& at = block.numbers;
    for (int a = 0; a < Support; ++a)
      for (int b = 0; b < Support; ++b) {
        __builtin_prefetch(vectors_.data + block.vectors.start[a][b][p]);
        __builtin_prefetch(numbers_.data + at.plane[a][p] * numbers_.plane +
                           (at.row[b][p] + at.column[0][p]));
      }
  }

  void read(Block const& block, int p, T* to) const {
    if constexpr (Support == 2) {
      // MeshValues chooses by the same condition, so that the force has its bits.
      if (block.vectors.particles.column[0][p] + 8 <= 3 * vectors_.extent[2])
        return read_pairs(block, p, to);
    }
    values_.read(block.vectors, p, to);  // may overwrite one number after the force
    T w[3][Support], s[3][Support];
    std::int64_t of_vectors[3][Support], of_numbers[3][Support];
    auto const& at = block.numbers;
    auto const& of = block.vectors.particles;
    for (int o = 0; o < Support; ++o) {
      for (int d = 0; d < 3; ++d) {
        w[d][o] = at.weight[d][o][p];
        s[d][o] = Support > 2 ? block.slope[d][o][p] : T(2 * o - 1);
      }
      of_numbers[0][o] = at.plane[o][p] * numbers_.plane;
      of_numbers[1][o] = at.row[o][p];
      of_numbers[2][o] = at.column[o][p];
      of_vectors[0][o] = at.plane[o][p] * vectors_.plane;
      of_vectors[1][o] = of.row[o][p];
      of_vectors[2][o] = of.column[o][p];
    }
    add(w, s, of_vectors, of_numbers, block.of_particle[p], to + 3);
  }

  /// For devices: loads each cell once, and reads neither `positions` nor the constructor's c.
  ///
  /// \param c  the particle's vector
  KOKKOS_FUNCTION Value<T, 6> operator()(T const* position, T const* c) const {
    detail::TouchedSlopes<Support, 3, T> const at(position, vectors_, map_);
    detail::TouchedSlopes<Support, 1, T> const of_number(position, numbers_, map_);
    T const c0 = factor_ * c[0], c1 = factor_ * c[1], c2 = factor_ * c[2];
    T force[3] = {}, sum[3] = {};
    COIR_UNROLL
    for (int i = 0; i < Support; ++i) {
      COIR_UNROLL
      for (int j = 0; j < Support; ++j) {
        T const w = at.weight[0][i] * at.weight[1][j];
        T const* const vectors = vectors_.data + at.place[0][i] + at.place[1][j];
        T const* const numbers = numbers_.data + of_number.place[0][i] + of_number.place[1][j];
        T straight = 0, sloped = 0;
        COIR_UNROLL
        for (int k = 0; k < Support; ++k) {
          T const* const f = vectors + at.place[2][k];
          detail::add_cell<3>(w * at.weight[2][k], f, force);
          T const here = numbers[of_number.place[2][k]] + (c0 * f[0] + c1 * f[1] + c2 * f[2]);
          straight += at.weight[2][k] * here;
          sloped += at.slope[2][k] * here;
        }
        sum[0] += at.slope[0][i] * at.weight[1][j] * straight;
        sum[1] += at.weight[0][i] * at.slope[1][j] * straight;
        sum[2] += w * sloped;
      }
    }
    Value<T, 6> result;
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) {
      result.component[d] = force[d];
      result.component[3 + d] = map_.per_cell[d] * sum[d];
    }
    return result;
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void add(T const (&w)[3][Support], T const (&s)[3][Support],
                                       std::int64_t const (&of_vectors)[3][Support],
                                       std::int64_t const (&of_numbers)[3][Support], T const* c,
                                       T* slopes) const {
    T const c0 = c[0], c1 = c[1], c2 = c[2];
    T sum[3] = {};
    detail::add_slopes<Support, T>(
        w, s,
        [&](int i, int j, int k) {
          T const* const f =
              vectors_.data + (of_vectors[0][i] + of_vectors[1][j] + of_vectors[2][k]);
          return numbers_.data[of_numbers[0][i] + of_numbers[1][j] + of_numbers[2][k]] +
                 (c0 * f[0] + c1 * f[1] + c2 * f[2]);
        },
        sum);
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) slopes[d] = map_.per_cell[d] * sum[d];
  }

  /// read() for two neighbouring cells of a row at a time. Eight lanes hold both vectors F, and two
  /// numbers of the next cell with weight 0. The slopes of cic's weights are -1 and 1.
  void read_pairs(Block const& block, int p, T* to) const {
    using Four = typename detail::Lanes<T>::four;
    using Eight = typename detail::Lanes<T>::eight;
    auto const& at = block.numbers;
    T const x0 = at.weight[0][0][p], x1 = at.weight[0][1][p], y0 = at.weight[1][0][p],
            y1 = at.weight[1][1][p], z0 = at.weight[2][0][p], z1 = at.weight[2][1][p];
    auto const row = [&](int a, int b) {
      return *reinterpret_cast<Eight const*>(vectors_.data + block.vectors.start[a][b][p]);
    };
    Eight const r00 = row(0, 0), r01 = row(0, 1), r10 = row(1, 0), r11 = row(1, 1);
    Eight const along_y0 = y0 * r00 + y1 * r01, along_y1 = y0 * r10 + y1 * r11;
    Eight const mean = x0 * along_y0 + x1 * along_y1;
    Eight const slope_x = along_y1 - along_y0, slope_y = x0 * (r01 - r00) + x1 * (r11 - r10);
    Eight const along_z{z0, z0, z0, z1, z1, z1, 0, 0};
    Eight const signs_z{-1, -1, -1, 1, 1, 1, 0, 0};
    Four const force = detail::sum_of_vectors<T>(along_z * mean);
    Four const of_x = detail::sum_of_vectors<T>(along_z * slope_x),
               of_y = detail::sum_of_vectors<T>(along_z * slope_y),
               of_z = detail::sum_of_vectors<T>(signs_z * mean);
    *reinterpret_cast<Four*>(to) = force;
    // For the mesh of numbers: each row's mean and difference along z.
    T q[2][2], d[2][2];
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 2; ++b) {
        T const* const cells =
            numbers_.data + at.plane[a][p] * numbers_.plane + (at.row[b][p] + at.column[0][p]);
        q[a][b] = z0 * cells[0] + z1 * cells[1];
        d[a][b] = cells[1] - cells[0];
      }
    T const* const c = block.of_particle[p];
    auto const product = [c](Four const& of) { return c[0] * of[0] + c[1] * of[1] + c[2] * of[2]; };
    to[3] =
        map_.per_cell[0] * (product(of_x) + (y0 * (q[1][0] - q[0][0]) + y1 * (q[1][1] - q[0][1])));
    to[4] =
        map_.per_cell[1] * (product(of_y) + (x0 * (q[0][1] - q[0][0]) + x1 * (q[1][1] - q[1][0])));
    to[5] =
        map_.per_cell[2] *
        (product(of_z) + (x0 * (y0 * d[0][0] + y1 * d[0][1]) + x1 * (y0 * d[1][0] + y1 * d[1][1])));
  }

  Values values_;
  CellsWindow<T const> vectors_, numbers_;
  detail::CellMap<Support, T> map_;
  T const *positions_, *c_;
  T factor_;
};

}  // namespace coir::mesh
