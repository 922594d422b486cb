#pragma once

#include "cells.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/tasks.hpp>
#include <coir/shallow/model.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coir::shallow {

namespace detail {

/// A step on a host: bands of rows, one for each thread. Viscosity follows a row behind, while the
/// row is in the cache, except on rows that other bands still read.
template <class T>
struct Band {
  Advance<T> advance;
  Diffuse<T> diffuse;
  std::int64_t bands;
  int first, count;  ///< rows in all, perhaps with some beside the rank's own
  bool leaves_ends;  ///< no viscosity on rows that are being sent, or that others are copies of

  int begin(std::int64_t band) const { return first + static_cast<int>(count * band / bands); }
  bool follows(std::int64_t band, int j) const {
    Part const& part = advance.part;
    int const reach = part.halo - 1;
    bool const is_left = leaves_ends && (j < part.halo || j >= part.rows - part.halo);
    return j >= std::max(begin(band) + reach, 0) && j < begin(band + 1) - 1 && j < part.rows &&
           !is_left;
  }
  void operator()(std::int64_t band) const {
    int const columns = advance.part.columns;
    for (int j = begin(band); j < begin(band + 1); ++j) {
      advance.stretch(j, 0, columns);
      if (!advance.is_last && follows(band, j - 1)) diffuse.stretch(j - 1, 0, columns);
    }
  }
};

/// The rows that bands left out.
template <class T>
struct RestOfBand {
  Band<T> band;

  void operator()(std::int64_t n) const {
    Part const& part = band.advance.part;
    int const end = n + 1 < band.bands ? std::min(band.begin(n + 1), part.rows) : part.rows;
    for (int j = n > 0 ? std::max(band.begin(n), 0) : 0; j < end; ++j)
      if (!band.follows(n, j)) band.diffuse.stretch(j, 0, part.columns);
  }
};

/// Rows at both ends of a rank's part: `south` rows from `first` on, and then, after `between` rows
/// that are left out, the others.
template <class Body>
struct Ends {
  Body body;
  int first, south, between;

  KOKKOS_FUNCTION int row(int n) const { return first + n + (n < south ? 0 : between); }
  KOKKOS_FUNCTION void operator()(int n, int i) const { body(row(n), i); }
  void operator()(std::int64_t n) const {
    body.stretch(row(static_cast<int>(n)), 0, body.part.columns);
  }
};

/// Calls a body for `count` rows at the ends of a part, by whole rows on hosts.
template <class Exec, class Body>
void for_ends(std::string_view label, Exec const& exec, int count, Ends<Body> const& ends) {
  if constexpr (runs_on_host<Exec>)
    for_each_task(label, exec, count, ends);
  else
    for_each(label, exec, box({count, ends.body.part.columns}), ends);
}

/// Walls, and copies of cells, in a row that was written to.
template <class T>
struct FinishRow {
  Part part;
  T* field;
  Kind kind;
  bool keeps_wall;

  KOKKOS_FUNCTION void operator()(std::int64_t j) const {
    finish_cells(part, field, static_cast<int>(j), 0, part.columns, kind, part.wraps, keeps_wall);
  }
};

/// What Totals are made of.
struct RowTotals {
  double mass, energy, enstrophy, largest_depth, smallest_depth, largest_speed;
};

template <class T>
struct TotalsOfRow {
  Advance<T> model;
  RowTotals* rows;

  KOKKOS_FUNCTION void operator()(std::int64_t n) const {
    int const j = static_cast<int>(n);
    auto const row = model.row(j);
    T const* const h = row.h.here;
    T const* const bottom = model.bottom == nullptr ? nullptr : model.bottom + model.part.at(j, 0);
    constexpr double most = std::numeric_limits<double>::max();
    RowTotals sums{0, 0, 0, 0, most, 0};
    auto const square = [](double x) { return x * x; };
    for (int i = 0; i < model.part.columns; ++i) {
      double const depth = h[i], u = row.u.here[i], v = row.v.here[i];
      double const east = 0.5 * (depth + h[i + 1]), north = 0.5 * (depth + row.h.north[i]);
      double const b = bottom == nullptr ? 0.0 : static_cast<double>(bottom[i]);
      double const q =
          model.vorticity(h, row.h.north, row.u.here, row.u.north, row.v.here, row.f, i);
      double const corner = 0.5 * (east + 0.5 * (row.h.north[i] + row.h.north[i + 1]));
      sums.mass += depth;
      sums.energy +=
          0.5 * (east * square(u) + north * square(v)) + model.gravity * depth * (0.5 * depth + b);
      sums.enstrophy += 0.5 * corner * square(q);
      sums.largest_depth = depth > sums.largest_depth ? depth : sums.largest_depth;
      sums.smallest_depth = depth < sums.smallest_depth ? depth : sums.smallest_depth;
      double const speed_u = u < 0 ? -u : u, speed_v = v < 0 ? -v : v;
      double const speed = speed_u > speed_v ? speed_u : speed_v;
      sums.largest_speed = speed > sums.largest_speed ? speed : sums.largest_speed;
    }
    rows[n] = sums;
  }
};

template <class T>
struct Corners {
  Advance<T> model;
  T* out;
  bool potential;

  KOKKOS_FUNCTION void operator()(int j, int i) const {
    auto const row = model.row(j);
    T const q =
        model.vorticity(row.h.here, row.h.north, row.u.here, row.u.north, row.v.here, row.f, i);
    T const depth =
        T(0.25) * (row.h.here[i] + row.h.here[i + 1] + (row.h.north[i] + row.h.north[i + 1]));
    out[static_cast<std::int64_t>(j) * model.part.columns + i] = potential ? q : q * depth - row.f;
  }
};

inline Part part_of(Parameters const& parameters, distributed::Share const& share) {
  bool const walls = !parameters.periodic_y;
  return {static_cast<int>(share.count),
          parameters.columns,
          parameters.halo(),
          share.first,
          parameters.rows,
          parameters.columns + 2 * Part::side,
          walls && share.first == 0,
          walls && share.end() == parameters.rows,
          !parameters.periodic_x,
          !walls && share.count == parameters.rows};
}

inline constexpr std::int64_t no_dry_cell = std::numeric_limits<std::int64_t>::max();

}  // namespace detail

template <CompiledSpace Exec, class T>
Model<Exec, T>::Model(Exec exec, distributed::Group group, Parameters const& parameters)
    : exec_(exec),
      parameters_(parameters),
      grid_(group, {}, {parameters.periodic_y}),
      share_(grid_.share(0, parameters.rows)),
      halos_(exec, grid_, {parameters.halo()}) {
  auto const& p = parameters;
  distributed::expects_alike(group, {{"rows of a shallow-water model", p.rows},
                                     {"columns of a shallow-water model", p.columns},
                                     {"dx of a shallow-water model", p.dx},
                                     {"dy of a shallow-water model", p.dy},
                                     {"dt of a shallow-water model", p.dt},
                                     {"gravity of a shallow-water model", p.gravity},
                                     {"f0 of a shallow-water model", p.f0},
                                     {"beta of a shallow-water model", p.beta},
                                     {"viscosity of a shallow-water model", p.viscosity},
                                     {"drag of a shallow-water model", p.drag},
                                     {"epsilon of a shallow-water model", p.epsilon},
                                     {"period in x of a shallow-water model", p.periodic_x},
                                     {"compatibility of a shallow-water model", p.compatible}});
  distributed::together(group, [&] {
    expects_good(parameters);
    expects(!parameters.compatible || (parameters.periodic_x && !parameters.periodic_y),
            "a compatible shallow-water model must be periodic in x and have walls in y, as the "
            "demo has");
    expects(share_.count >= parameters.halo(),
            "use fewer ranks: each must have " + std::to_string(parameters.halo()) +
                " rows of a shallow-water model or more, as many as its halo has",
            share_.count);
    expects_memory<typename Exec::memory_space>(bytes(group, parameters),
                                                "the shallow-water model");
    for (auto const& [field, name] :
         {std::pair(&h_, "h"), std::pair(&u_, "u"), std::pair(&v_, "v"), std::pair(&h1_, "next_h"),
          std::pair(&u1_, "next_u"), std::pair(&v1_, "next_v"), std::pair(&dh_, "dh"),
          std::pair(&du_, "du"), std::pair(&dv_, "dv")})
      *field = new_field(name);
    dry_ = decltype(dry_)("coir::shallow::model/dry", 1);
  });
}

template <CompiledSpace Exec, class T>
std::int64_t Model<Exec, T>::bytes(distributed::Group const& group, Parameters const& parameters,
                                   bool has_bottom) {
  auto const rows = distributed::share_of(parameters.rows, group.rank(), group.size()).count;
  return (has_bottom ? 10 : 9) * static_cast<std::int64_t>(sizeof(T)) *
         (rows + 2 * parameters.halo()) * (parameters.columns + 2 * detail::Part::side);
}

template <CompiledSpace Exec, class T>
auto Model<Exec, T>::new_field(char const* name) const -> Field {
  detail::Part const part = detail::part_of(parameters_, share_);
  Field const field(std::string("coir::shallow::model/") + name,
                    static_cast<std::size_t>(part.rows + 2 * part.halo),
                    static_cast<std::size_t>(part.pitch));
  return field;
}

namespace detail {

template <class Field, class T>
Advance<T> advance_of(Parameters const& p, distributed::Share const& share, Field const& h,
                      Field const& u, Field const& v, Field const& bottom, T now, T before) {
  Advance<T> result{};
  result.part = part_of(p, share);
  result.h = h.data();
  result.u = u.data();
  result.v = v.data();
  result.bottom = bottom.size() == 0 ? nullptr : bottom.data();
  result.f0 = p.f0;
  result.beta_dy = p.beta * p.dy;
  result.corner = p.compatible ? T(0) : T(0.5);
  result.now = now;
  result.before = before;
  result.by_dx = static_cast<T>(1 / p.dx);
  result.by_dy = static_cast<T>(1 / p.dy);
  result.gravity = static_cast<T>(p.gravity);
  result.drag = static_cast<T>(p.drag);
  result.is_last = p.viscosity == 0;
  return result;
}

}  // namespace detail

template <CompiledSpace Exec, class T>
void Model<Exec, T>::step() {
  Parameters const& p = parameters_;
  bool const is_first = steps_ == 0;
  auto advance = detail::advance_of<Field, T>(
      p, share_, h_, u_, v_, bottom_, static_cast<T>(p.dt * (is_first ? 1 : 1.5 + p.epsilon)),
      static_cast<T>(is_first ? 0 : -p.dt * (0.5 + p.epsilon)));
  advance.dh = dh_.data();
  advance.du = du_.data();
  advance.dv = dv_.data();
  advance.h1 = h1_.data();
  advance.u1 = u1_.data();
  advance.v1 = v1_.data();
  advance.dry = dry_.data();
  advance.step = ++steps_;
  detail::Part const& part = advance.part;
  bool const viscous = !advance.is_last;
  detail::Diffuse<T> const diffuse{part,
                                   u1_.data(),
                                   v1_.data(),
                                   u_.data(),
                                   v_.data(),
                                   static_cast<T>(p.viscosity * p.dt / (p.dx * p.dx)),
                                   static_cast<T>(p.viscosity * p.dt / (p.dy * p.dy)),
                                   p.compatible};
  int const south = viscous ? part.south() : 0, north = viscous ? part.north() : 0;
  int const rows = part.rows, halo = part.halo;
  // While halos travel, rows come first that read none and that no halo holds.
  bool const waits = is_travelling_;
  int const begin = waits ? 1 : -south, end = waits ? rows - 1 : rows + north;
  auto const rest = [&] {  // of the first kernel's rows
    if (!waits) return;
    finish_halos();
    detail::for_ends("coir::shallow::model/step", exec_, south + 2 + north,
                     detail::Ends<detail::Advance<T>>{advance, -south, south + 1, rows - 2});
  };
  if constexpr (runs_on_host<Exec>) {
    int const count = end - begin;
    detail::Band<T> band{advance, diffuse, 1, begin, count, waits || part.wraps};
    band.bands = threads_worth_starting(exec_, std::int64_t(count) * part.columns, count);
    for_each_task("coir::shallow::model/step", exec_, band.bands, band);
    rest();
    if (viscous)
      for_each_task("coir::shallow::model/viscosity", exec_, band.bands,
                    detail::RestOfBand<T>{band});
  } else {
    for_each("coir::shallow::model/step", exec_, box({begin, 0}, {end, part.columns}), advance);
    int const first = waits ? std::min(halo, rows) : 0, last = std::max(first, rows - first);
    if (viscous)
      for_each("coir::shallow::model/viscosity", exec_, box({first, 0}, {last, part.columns}),
               diffuse);
    rest();
    if (viscous && waits)
      detail::for_ends("coir::shallow::model/viscosity", exec_, rows - (last - first),
                       detail::Ends<detail::Diffuse<T>>{diffuse, 0, first, last - first});
  }
  std::swap(h_, h1_);
  if (!viscous) {
    std::swap(u_, u1_);
    std::swap(v_, v1_);
  }
  if (rows == part.all_rows) return;
  halos_.begin(h_, u_, v_);
  is_travelling_ = true;
}

template <CompiledSpace Exec, class T>
void Model<Exec, T>::finish_halos() {
  if (std::exchange(is_travelling_, false)) halos_.finish();
}

template <CompiledSpace Exec, class T>
void Model<Exec, T>::advance(std::int64_t steps) {
  expects(steps >= 0, "a shallow-water model makes 0 steps or more", steps);
  Kokkos::deep_copy(exec_, dry_, detail::no_dry_cell);
  for (std::int64_t n = 0; n < steps; ++n) step();
  finish_halos();
  expects_water();
}

template <CompiledSpace Exec, class T>
void Model<Exec, T>::expects_water() {
  std::int64_t const first = group().min(host_view_of(dry_)(0));
  if (first == detail::no_dry_cell) return;
  std::int64_t const cell = first / parameters_.columns, i = first % parameters_.columns;
  std::int64_t const step = cell / parameters_.rows, j = cell % parameters_.rows;
  throw NumericalError("no water is left at step " + std::to_string(step) + " in row " +
                       std::to_string(j) + ", column " + std::to_string(i) +
                       " (x = " + in_words(static_cast<double>(i) * parameters_.dx) +
                       ", y = " + in_words(static_cast<double>(j) * parameters_.dy) +
                       "): use deeper water, more viscosity, or a shorter time step");
}

template <CompiledSpace Exec, class T>
void Model<Exec, T>::changed() {
  detail::Part const part = detail::part_of(parameters_, share_);
  auto const finish = [&](Field const& field, detail::Kind kind) {
    for_each_task("coir::shallow::model/finish", exec_, part.rows,
                  detail::FinishRow<T>{part, field.data(), kind, parameters_.compatible});
  };
  if (steps_ == 0)
    for (auto const& field : {dh_, du_, dv_}) set_to_zero(exec_, field);
  finish(h_, detail::Kind::h);
  finish(u_, detail::Kind::u);
  finish(v_, detail::Kind::v);
  finish(dh_, detail::Kind::h);
  finish(du_, detail::Kind::u);
  finish(dv_, detail::Kind::v);
  bool const is_shared = part.rows < part.all_rows;
  if (is_shared) halos_.fill(h_, u_, v_, dh_, du_, dv_);
  if (bottom_.size() == 0) return;
  finish(bottom_, detail::Kind::h);
  if (is_shared) halos_.fill(bottom_);
}

template <CompiledSpace Exec, class T>
Totals Model<Exec, T>::totals() const {
  auto const rows = static_cast<std::size_t>(share_.count);
  Kokkos::View<detail::RowTotals*, typename Exec::memory_space> const of_rows(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::shallow::model/totals"), rows);
  for_each_task("coir::shallow::model/totals", exec_, share_.count,
                detail::TotalsOfRow<T>{detail::advance_of<Field, T>(parameters_, share_, h_, u_, v_,
                                                                    bottom_, T(0), T(0)),
                                       of_rows.data()});
  exec_.fence();
  auto const here = host_view_of(of_rows);
  Totals totals;
  totals.smallest_depth = std::numeric_limits<double>::max();
  for (auto const& row :
       group().gather_all(std::span<detail::RowTotals const>(here.data(), rows))) {
    totals.mass += row.mass;
    totals.energy += row.energy;
    totals.enstrophy += row.enstrophy;
    totals.largest_depth = std::max(totals.largest_depth, row.largest_depth);
    totals.smallest_depth = std::min(totals.smallest_depth, row.smallest_depth);
    totals.largest_speed = std::max(totals.largest_speed, row.largest_speed);
  }
  double const area = parameters_.dx * parameters_.dy;
  totals.mass *= area;
  totals.energy *= area;
  totals.enstrophy *= area;
  return totals;
}

template <CompiledSpace Exec, class T>
auto Model<Exec, T>::corners(bool potential) const -> Field {
  Field const out(Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::shallow::model/corners"),
                  static_cast<std::size_t>(share_.count),
                  static_cast<std::size_t>(parameters_.columns));
  for_each("coir::shallow::model/corners", exec_,
           box({static_cast<int>(share_.count), parameters_.columns}),
           detail::Corners<T>{
               detail::advance_of<Field, T>(parameters_, share_, h_, u_, v_, bottom_, T(0), T(0)),
               out.data(), potential});
  exec_.fence();
  return out;
}

}  // namespace coir::shallow

#define COIR_INSTANTIATE_MODEL(Exec)  \
  namespace coir::shallow {           \
  template class Model<Exec, float>;  \
  template class Model<Exec, double>; \
  }
