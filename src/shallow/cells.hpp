#pragma once

/// The kernels of a step, for one rank's rows.

#include <coir/core/loops.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace coir::shallow::detail {

/// A rank's rows of a field, with `halo` rows of its neighbours on either side and two columns. Row
/// 0 and column 0 are its own first ones.
struct Part {
  static constexpr int side = 2;  // columns beyond either end

  int rows, columns, halo;
  std::int64_t first_row, all_rows, pitch;
  bool wall_south, wall_north;  ///< at this rank's end
  bool wall_x;
  bool wraps;  ///< its last row is its first one's neighbour

  /// Rows beyond its own for which the rank itself finds what viscosity reads.
  int south() const { return wall_south ? 0 : halo - 1; }
  int north() const { return wall_north ? 0 : halo - 1; }
  /// Whether v lies on a wall in a row.
  KOKKOS_FUNCTION bool is_wall(int j) const {
    return (wall_south && j < 0) || (wall_north && j == rows - 1);
  }
  KOKKOS_FUNCTION std::int64_t at(int j, int i) const { return (j + halo) * pitch + i + side; }
  KOKKOS_FUNCTION std::int64_t global_row(int j) const {
    std::int64_t const row = first_row + j;
    return row < 0 ? row + all_rows : row < all_rows ? row : row - all_rows;
  }
  /// Whether no row or column elsewhere stands for cells of rows j to j + count - 1, and no wall
  /// touches them.
  KOKKOS_FUNCTION bool is_inner(int j, int i, int count = 1) const {
    return j >= halo && j + count <= rows - halo && i >= side && i < columns - side;
  }
};

enum class Kind { h, u, v };

/// Copies cells of a row to the columns beyond its ends that stand for them.
template <class T>
KOKKOS_FUNCTION void copy_to_sides(Part const& part, T* row, int begin, int end, Kind kind) {
  int const n = part.columns;
  if (part.wall_x) {
    if (begin == 0 && kind != Kind::u) row[-1] = row[0];  // u there lies on the wall, and stays 0
    if (end == n && kind != Kind::u) row[n] = row[n - 1];
  } else {
    for (int i = begin; i < end && i < Part::side; ++i) row[n + i] = row[i];
    for (int i = begin > n - Part::side ? begin : n - Part::side; i < end; ++i) row[i - n] = row[i];
  }
}

/// Puts walls into cells of a row that were just written, and copies these to where rows and
/// columns beyond the rank's own stand for them.
///
/// \param wraps  whether other rows of a rank alone along a periodic axis are among these
template <class T>
KOKKOS_FUNCTION void finish_cells(Part const& part, T* field, int j, int begin, int end, Kind kind,
                                  bool wraps, bool keeps_wall = false) {
  T* const row = field + part.at(j, 0);
  if (kind == Kind::u && part.wall_x && end == part.columns) row[part.columns - 1] = 0;
  if (kind == Kind::v && part.wall_north && j == part.rows - 1 && !keeps_wall)
    for (int i = begin; i < end; ++i) row[i] = 0;
  copy_to_sides(part, row, begin, end, kind);
  auto const copy_to_row = [&](int other) {
    T* const target = field + part.at(other, 0);
    for (int i = begin; i < end; ++i) target[i] = row[i];
    copy_to_sides(part, target, begin, end, kind);
  };
  if (wraps && j < part.halo) copy_to_row(part.rows + j);
  if (wraps && j >= part.rows - part.halo) copy_to_row(j - part.rows);
  if (kind == Kind::v) return;
  if (part.wall_south && j == 0) copy_to_row(-1);
  if (part.wall_north && j == part.rows - 1) copy_to_row(part.rows);
}

/// The neighbours of a row of a field.
template <class T>
struct Rows {
  T const *south, *here, *north;

  KOKKOS_FUNCTION Rows(T const* south_, T const* here_, T const* north_)
      : south(south_), here(here_), north(north_) {}
  KOKKOS_FUNCTION Rows(Part const& part, T const* field, int j)
      : south(field + part.at(j - 1, 0)),
        here(field + part.at(j, 0)),
        north(field + part.at(j + 1, 0)) {}
};

/// Time derivatives of h, u and v, and the step that they make.
template <class T>
struct Advance {
  /// Fewer registers a thread than nvcc would take: more threads wait for memory at a time.
  static constexpr int blocks_at_a_time = sizeof(T) == 4 ? 4 : 3;
  Part part;
  T const *h, *u, *v;
  T const* bottom;    ///< null: flat
  T *dh, *du, *dv;    ///< inout; of the step before
  T *h1, *u1, *v1;    ///< out
  std::int64_t* dry;  ///< the earliest step times all cells, plus the first cell, that lacks water
  std::int64_t step;
  bool is_last;  ///< no viscosity follows
  double f0, beta_dy;
  T corner;       ///< how far above the middle of a cell f is taken, in cells
  T now, before;  ///< weights of the derivatives, times dt
  T by_dx, by_dy, gravity, drag;

  /// What a row's cells have in common.
  struct Row {
    Rows<T> h, u, v;
    T f, f_south;
    T open, open_south;  ///< 0 where v lies on a wall, otherwise 1
  };

  KOKKOS_FUNCTION T coriolis(int j) const {
    return static_cast<T>(
        f0 + beta_dy * (static_cast<double>(part.global_row(j)) + static_cast<double>(corner)));
  }
  KOKKOS_FUNCTION Row row(int j) const { return row(j, {part, h, j}, {part, u, j}, {part, v, j}); }
  KOKKOS_FORCEINLINE_FUNCTION Row row(int j, Rows<T> const& h_, Rows<T> const& u_,
                                      Rows<T> const& v_) const {
    return {h_,
            u_,
            v_,
            coriolis(j),
            coriolis(j - 1),
            part.is_wall(j) ? T(0) : T(1),
            part.is_wall(j - 1) ? T(0) : T(1)};
  }

  /// Flux through the eastern face of a cell.
  KOKKOS_FORCEINLINE_FUNCTION static T east(T const* h, T const* u, int i) {
    return T(0.5) * (h[i] + h[i + 1]) * u[i];
  }
  /// Flux through the northern face of a cell.
  KOKKOS_FORCEINLINE_FUNCTION static T north(T const* h, T const* h_north, T const* v, T open,
                                             int i) {
    return T(0.5) * (h[i] + h_north[i]) * (open * v[i]);
  }
  KOKKOS_FORCEINLINE_FUNCTION static T kinetic(T const* u, T const* v, T const* v_south, int i) {
    return T(0.25) * (u[i] * u[i] + u[i - 1] * u[i - 1] + (v[i] * v[i] + v_south[i] * v_south[i]));
  }
  /// Potential vorticity at the north-eastern corner of a cell.
  KOKKOS_FORCEINLINE_FUNCTION T vorticity(T const* h, T const* h_north, T const* u,
                                          T const* u_north, T const* v, T f, int i) const {
    T const zeta = (v[i + 1] - v[i]) * by_dx - (u_north[i] - u[i]) * by_dy;
    return (f + zeta) / (T(0.25) * (h[i] + h[i + 1] + (h_north[i] + h_north[i + 1])));
  }

  template <bool has_bottom>
  KOKKOS_FORCEINLINE_FUNCTION T level(T depth, std::int64_t at) const {
    if constexpr (has_bottom) return depth + bottom[at];
    return depth;
  }

  /// What a cell's northern neighbour also needs, once that is one row further: the fluxes through
  /// the cell's eastern and western face, its head, and of the faces at the south of the cell and
  /// its eastern neighbour the fluxes, of the corner between these the potential vorticity.
  struct Common {
    T fe, fe_west, head, fn_south, fn_south_east, q_south;
  };
  template <bool has_bottom>
  KOKKOS_FORCEINLINE_FUNCTION Common common(Row const& row, std::int64_t at, int i) const {
    auto const& [h, u, v, f, f_south, open, open_south] = row;
    return {east(h.here, u.here, i),
            east(h.here, u.here, i - 1),
            gravity * level<has_bottom>(h.here[i], at) + kinetic(u.here, v.here, v.south, i),
            north(h.south, h.here, v.south, open_south, i),
            north(h.south, h.here, v.south, open_south, i + 1),
            vorticity(h.south, h.here, u.south, u.here, v.south, f_south, i)};
  }

  /// The derivatives of a cell at the step before.
  struct Before {
    T dh, du, dv;
  };
  /// A cell after the step, and the derivatives that it was found by.
  struct Next {
    T h, u, v, dh, du, dv;
  };
  /// \param own  inout: common() of the cell, and then that of its northern neighbour
  template <bool has_bottom>
  KOKKOS_FORCEINLINE_FUNCTION Next next(Row const& row, std::int64_t at, int i, Before const& last,
                                        Common& own) const {
    auto const& [h, u, v, f, f_south, open, open_south] = row;
    T const fe_north = east(h.north, u.north, i), fe_north_west = east(h.north, u.north, i - 1);
    T const fn = north(h.here, h.north, v.here, open, i);
    T const fn_east = north(h.here, h.north, v.here, open, i + 1);
    T const q = vorticity(h.here, h.north, u.here, u.north, v.here, f, i);
    T const q_west = vorticity(h.here, h.north, u.here, u.north, v.here, f, i - 1);
    T const head_east = gravity * level<has_bottom>(h.here[i + 1], at + 1) +
                        kinetic(u.here, v.here, v.south, i + 1);
    T const head_north = gravity * level<has_bottom>(h.north[i], at + part.pitch) +
                         kinetic(u.north, v.north, v.here, i);

    T const slope_u =
        T(0.25) * (q * (fn + fn_east) + own.q_south * (own.fn_south + own.fn_south_east)) -
        (head_east - own.head) * by_dx - drag * u.here[i];
    T const slope_v =
        T(-0.25) * (q * (own.fe + fe_north) + q_west * (own.fe_west + fe_north_west)) -
        (head_north - own.head) * by_dy - drag * v.here[i];
    T const slope_h = -(own.fe - own.fe_west) * by_dx - (fn - own.fn_south) * by_dy;
    own = {fe_north, fe_north_west, head_north, fn, fn_east, q};
    return {h.here[i] + (now * slope_h + before * last.dh),
            u.here[i] + (now * slope_u + before * last.du),
            v.here[i] + (now * slope_v + before * last.dv),
            slope_h,
            slope_u,
            slope_v};
  }
  template <bool has_bottom>
  KOKKOS_FORCEINLINE_FUNCTION Next next(Row const& row, std::int64_t at, int i) const {
    Common own = common<has_bottom>(row, at, i);
    return next<has_bottom>(row, at, i, {dh[at], du[at], dv[at]}, own);
  }

  /// \tparam is_own  whether the row is one of the rank's own, rather than one of those beside it
  ///   for which it finds what viscosity reads
  template <bool is_own>
  KOKKOS_FORCEINLINE_FUNCTION void store(Next const& after, std::int64_t at) const {
    u1[at] = after.u;
    v1[at] = after.v;
    du[at] = after.du;
    dv[at] = after.dv;
    if constexpr (is_own) {
      h1[at] = after.h;
      dh[at] = after.dh;
    }
  }

  KOKKOS_FUNCTION bool is_own(int j) const { return j >= 0 && j < part.rows; }

  KOKKOS_FUNCTION void finish(int j, int begin, int end) const {
    if (is_own(j)) {
      finish_cells(part, h1, j, begin, end, Kind::h, part.wraps);
      finish_cells(part, u1, j, begin, end, Kind::u, part.wraps && is_last);
      finish_cells(part, v1, j, begin, end, Kind::v, part.wraps && is_last);
    } else {
      if (part.wall_x && end == part.columns) u1[part.at(j, end - 1)] = 0;
      copy_to_sides(part, u1 + part.at(j, 0), begin, end, Kind::u);
      copy_to_sides(part, v1 + part.at(j, 0), begin, end, Kind::v);
    }
  }

  KOKKOS_FUNCTION void note_if_dry(int j, int i) const {
    if (h1[part.at(j, i)] > 0) return;  // nor is NaN
    Kokkos::atomic_fetch_min(dry, (step * part.all_rows + part.first_row + j) * part.columns + i);
  }

  template <bool has_bottom>
  KOKKOS_FUNCTION void one(int j, int i) const {
    std::int64_t const at = part.at(j, i);
    Next const after = next<has_bottom>(row(j), at, i);
    is_own(j) ? store<true>(after, at) : store<false>(after, at);
  }
  KOKKOS_FUNCTION void operator()(int j, int i) const {
    if (bottom != nullptr)
      one<true>(j, i);
    else
      one<false>(j, i);
    if (is_own(j)) note_if_dry(j, i);
    if (!part.is_inner(j, i)) finish(j, i, i + 1);
  }

  /// Cells of a column on devices. All that they read but the bottom is loaded before the first
  /// one is found, so that a thread waits once.
  template <bool has_bottom, int Count>
  KOKKOS_FORCEINLINE_FUNCTION void several(int j, int i) const {
    T near_h[Count + 2][3], near_u[Count + 2][3], near_v[Count + 2][3];
    COIR_UNROLL
    for (int r = 0; r < Count + 2; ++r) {
      std::int64_t const west = part.at(j + r - 1, i - 1);
      COIR_UNROLL
      for (int k = 0; k < 3; ++k) {
        near_h[r][k] = h[west + k];
        near_u[r][k] = u[west + k];
        near_v[r][k] = v[west + k];
      }
    }
    Before last[Count];
    COIR_UNROLL
    for (int c = 0; c < Count; ++c) {
      std::int64_t const at = part.at(j + c, i);
      last[c] = {dh[at], du[at], dv[at]};
    }
    auto const row_of = [&](int c) {
      auto const rows = [c](T const(&near)[Count + 2][3]) {
        return Rows<T>(near[c] + 1, near[c + 1] + 1, near[c + 2] + 1);
      };
      return row(j + c, rows(near_h), rows(near_u), rows(near_v));
    };
    Next after[Count];
    Common own = common<has_bottom>(row_of(0), part.at(j, i), 0);
    COIR_UNROLL
    for (int c = 0; c < Count; ++c)
      after[c] = next<has_bottom>(row_of(c), part.at(j + c, i), 0, last[c], own);
    COIR_UNROLL
    for (int c = 0; c < Count; ++c) store<true>(after[c], part.at(j + c, i));
    COIR_UNROLL
    for (int c = 0; c < Count; ++c)
      if (!(after[c].h > 0)) note_if_dry(j + c, i);
  }
  template <int Count>
  KOKKOS_FORCEINLINE_FUNCTION void column(int j, int i) const {
    if (!part.is_inner(j, i, Count)) {
      COIR_NO_UNROLL
      for (int c = 0; c < Count; ++c) (*this)(j + c, i);
    } else if (bottom != nullptr) {
      several<true, Count>(j, i);
    } else {
      several<false, Count>(j, i);
    }
  }

  template <bool has_bottom, bool is_own>
  void cells(int j, int begin, int end) const {
    Row const shared = row(j);
    std::int64_t const at = part.at(j, 0);
    Advance const self = *this;
    COIR_INDEPENDENT_ITERATIONS
    for (int i = begin; i < end; ++i)
      self.template store<is_own>(self.template next<has_bottom>(shared, at + i, i), at + i);
  }

  void stretch(int j, int begin, int end) const {
    if (is_own(j))
      bottom != nullptr ? cells<true, true>(j, begin, end) : cells<false, true>(j, begin, end);
    else
      bottom != nullptr ? cells<true, false>(j, begin, end) : cells<false, false>(j, begin, end);
    if (is_own(j)) note_dry_cells(j, begin, end);
    finish(j, begin, end);
  }

  void note_dry_cells(int j, int begin, int end) const {
    T const* const depth = h1 + part.at(j, 0);
    int dry_ones = 0;
    for (int i = begin; i < end; ++i) dry_ones |= depth[i] > 0 ? 0 : 1;
    for (int i = begin; dry_ones != 0 && i < end; ++i) note_if_dry(j, i);
  }
};

/// Viscosity: Euler's step.
template <class T>
struct Diffuse {
  Part part;
  T const *u1, *v1;  ///< before
  T *u, *v;          ///< out
  T x, y;            ///< nu dt / dx^2 and nu dt / dy^2
  bool compatible;

  KOKKOS_FUNCTION static T spread(Rows<T> const& f, T x, T y, int i) {
    return f.here[i] + (x * ((f.here[i + 1] - f.here[i]) - (f.here[i] - f.here[i - 1])) +
                        y * ((f.north[i] - f.here[i]) - (f.here[i] - f.south[i])));
  }

  /// v as the demo has it, by fluxes from the new u.
  KOKKOS_FUNCTION T slipped(Rows<T> const& before_u, Rows<T> const& before_v, int j, int i) const {
    Rows<T> const below(part, u1, j - 1);
    T const here = spread(before_u, x, y, i);
    T const open = part.is_wall(j) ? T(0) : T(1), open_south = part.is_wall(j - 1) ? T(0) : T(1);
    T const to_west = before_v.here[i] - spread(before_u, x, y, i - 1);
    // Two rows below a wall nothing lies in memory; its flux is 0.
    T const to_south = open_south == 0 ? T(0) : before_v.here[i] - spread(below, x, y, i);
    return before_v.here[i] + (x * ((before_v.here[i + 1] - here) - to_west) +
                               y * (open * (before_v.north[i] - here) - open_south * to_south));
  }

  KOKKOS_FUNCTION void finish(int j, int begin, int end) const {
    finish_cells(part, u, j, begin, end, Kind::u, part.wraps);
    finish_cells(part, v, j, begin, end, Kind::v, part.wraps, compatible);
  }

  KOKKOS_FUNCTION void cell(Rows<T> const& before_u, Rows<T> const& before_v, int j, int i) const {
    std::int64_t const at = part.at(j, i);
    u[at] = spread(before_u, x, y, i);
    v[at] = compatible ? slipped(before_u, before_v, j, i) : spread(before_v, x, y, i);
  }
  KOKKOS_FUNCTION void operator()(int j, int i) const {
    cell({part, u1, j}, {part, v1, j}, j, i);
    if (!part.is_inner(j, i)) finish(j, i, i + 1);
  }
  template <int Count>
  KOKKOS_FORCEINLINE_FUNCTION void column(int j, int i) const {
    if (compatible || !part.is_inner(j, i, Count)) {
      COIR_NO_UNROLL
      for (int c = 0; c < Count; ++c) (*this)(j + c, i);
      return;
    }
    T after_u[Count], after_v[Count];
    COIR_UNROLL
    for (int c = 0; c < Count; ++c) {
      after_u[c] = spread({part, u1, j + c}, x, y, i);
      after_v[c] = spread({part, v1, j + c}, x, y, i);
    }
    COIR_UNROLL
    for (int c = 0; c < Count; ++c) {
      u[part.at(j + c, i)] = after_u[c];
      v[part.at(j + c, i)] = after_v[c];
    }
  }

  void stretch(int j, int begin, int end) const {
    Rows<T> const before_u(part, u1, j), before_v(part, v1, j);
    Diffuse const self = *this;
    if (compatible) {
      for (int i = begin; i < end; ++i) self.cell(before_u, before_v, j, i);
    } else {
      T* const to_u = u + part.at(j, 0);
      T* const to_v = v + part.at(j, 0);
      COIR_INDEPENDENT_ITERATIONS
      for (int i = begin; i < end; ++i) {
        to_u[i] = spread(before_u, self.x, self.y, i);
        to_v[i] = spread(before_v, self.x, self.y, i);
      }
    }
    finish(j, begin, end);
  }
};

}  // namespace coir::shallow::detail
