#pragma once

/// The sweeps of coir/poisson/over_ranks.hpp: those of one rank on the rank's rows with halos.

#include "jacobi_impl.hpp"
#include "red_black_impl.hpp"
#include "rows_of_rank.hpp"
#include "shared_multigrid.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/profiling.hpp>
#include <coir/distributed/cartesian.hpp>
#include <coir/distributed/together.hpp>
#include <coir/poisson/over_ranks.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace coir::poisson::detail {

/// Checks that all ranks have the same limits.
inline void expects_alike_limits(distributed::Group const& group, IterationLimits const& limits,
                                 int sweeps_per_exchange) {
  distributed::expects_alike(group, {{"sweeps", limits.sweeps},
                                     {"tolerance", limits.tolerance},
                                     {"check_every", limits.check_every},
                                     {"monitor", static_cast<bool>(limits.monitor)},
                                     {"sweeps_per_exchange", sweeps_per_exchange}});
}

/// A rank's monitor, whose exceptions wait until all ranks can throw them: until then the monitor
/// wants to stop.
class OwnMonitor {
 public:
  explicit OwnMonitor(poisson::Monitor const& monitor) : monitor_(monitor) {}

  bool operator()(poisson::Progress const& progress) {
    try {
      return monitor_(progress);
    } catch (...) {
      thrown_ = std::current_exception();
      return false;
    }
  }
  /// Throws on all ranks what a monitor, or `error`, was on any. Collective.
  void agree(distributed::Group const& group, std::exception_ptr const& error = nullptr) const {
    distributed::agree(group, thrown_ ? thrown_ : error);
  }

 private:
  poisson::Monitor const& monitor_;
  std::exception_ptr thrown_;
};

/// The sweeps between two exchanges.
///
/// \param wish     0: `best`, or fewer if the smallest part has fewer rows than their halo
/// \param fitting  the most sweeps whose halo fits in the rank with the fewest rows
inline std::int64_t sweeps_at_once(SharedRows const& shared, int wish, std::int64_t best,
                                   std::int64_t fitting) {
  expects(wish >= 0, "sweeps_per_exchange must be 1 or more, or 0 for a suitable number", wish);
  bool const is_alone = shared.smallest == shared.total;
  if (wish == 0 || is_alone) return std::clamp<std::int64_t>(fitting, 1, best);
  expects(fitting >= 1,
          "the rank with the fewest rows has no room for the halo of a sweep: use fewer ranks",
          shared.smallest);
  expects(wish <= fitting,
          "sweeps_per_exchange must be at most " + std::to_string(fitting) +
              ", for the rank with the fewest rows has no larger halo: make it smaller, or use "
              "fewer ranks",
          wish);
  return wish;
}

/// iterate_fields() with a sweeper for a rank's rows. Where there are halos, they are filled before
/// each `at_once` sweeps.
///
/// \param make   returns a pointer to the sweeper
/// \param field  returns the current field of a sweeper, with halos
template <class Exec, class T, int Rank, class Make, class Field>
Result iterate_over_ranks(Exec const& exec, distributed::Group const& group,
                          RowsOfRank<Exec, T, Rank>& rows, Make const& make, Field const& field_of,
                          std::int64_t at_once, std::int64_t cells, IterationLimits const& limits) {
  auto const over_ranks = [&](double own) { return std::sqrt(group.sum(own * own)); };
  double const source =
      over_ranks(source_norm<Exec, T, Rank>(exec, rows.own_source(), rows.own(rows.unknown())));
  // A sweeper copies the ring's columns to its second field, with those of the halos.
  if (rows.has_halos()) rows.fill(rows.unknown());
  bool is_filled = true;
  auto const sweeper = distributed::together(group, make);
  auto const field = [&] { return field_of(*sweeper); };
  auto const fill = [&] {
    if (rows.has_halos() && !std::exchange(is_filled, true)) rows.fill(field());
  };
  if (!rows.has_halos()) at_once = std::numeric_limits<std::int64_t>::max();
  Sweeps const sweeps{
      [&](std::int64_t count) {
        for (std::int64_t now = 0; count > 0; count -= now) {
          now = std::min(count, at_once);
          std::int64_t swept = 0;
          if constexpr (requires { sweeper->advance_around(0, 0, fill); })
            if (rows.has_halos() && !is_filled) {
              rows.begin_fill(field());
              sweeper->advance_around(rows.before(), rows.behind(), [&] { rows.finish_fill(); });
              is_filled = true;
              swept = 1;
            }
          fill();
          sweeper->advance(now - swept);
          is_filled = false;
        }
      },
      [&] { exec.fence(); },
      [&] {
        fill();
        return over_ranks(residual_norm<Exec, T, Rank>(exec, rows.own_source(), rows.own(field())));
      },
      [&](double own) { return group.max(own); }};
  OwnMonitor monitor(limits.monitor);
  IterationLimits asking = limits;
  if (limits.monitor) asking.monitor = std::ref(monitor);
  Result const result = iterate(sweeps, source, cells, asking);
  monitor.agree(group);
  rows.finish(field());
  exec.fence();
  return result;
}

/// The cells of a grid of which this rank has a part.
template <class T, int Rank>
std::array<double, Rank> extents_of(Strided<T const, Rank> const& b, SharedRows const& shared) {
  std::array<double, Rank> extents;
  for (std::size_t d = 0; d < Rank; ++d) extents[d] = static_cast<double>(b.extents[d]);
  extents[0] = static_cast<double>(shared.total);
  return extents;
}

template <std::size_t Rank>
std::int64_t product_of(std::array<double, Rank> const& extents) {
  double cells = 1;
  for (double const extent : extents) cells *= extent;
  return static_cast<std::int64_t>(cells);
}

template <CompiledSpace Exec, class T, int Rank>
JacobiResult jacobi(Exec const& exec, distributed::Group const& group,
                    Strided<T const, Rank> const& b, Strided<T, Rank> const& u,
                    JacobiOptions const& options, int sweeps_per_exchange) {
  SharedRows const shared(group, b, u);
  auto const limits = distributed::together(group, [&] { return limits_of(options, Rank); });
  expects_alike_limits(group, limits, sweeps_per_exchange);
  distributed::expects_alike(group, {{"scheme", name_of(options.scheme)}});
  ProfilingRegion const region("coir::poisson::over_ranks/jacobi");
  auto const extents = extents_of(b, shared);
  bool const blocked = Rank == 2 && takes_blocked(options, shared.total, b.extents[1]);
  std::int64_t const at_once =
      sweeps_at_once(shared, sweeps_per_exchange, blocked ? 16 : 1, shared.smallest);
  RowsOfRank<Exec, T, Rank> rows(exec, distributed::Cartesian<1>(group), b, u,
                                 static_cast<int>(at_once));
  auto const run = [&](auto const& make) {
    return iterate_over_ranks<Exec, T, Rank>(
        exec, group, rows, make, [](auto& sweeper) { return sweeper.current(); }, at_once,
        product_of(extents), limits);
  };
  if constexpr (Rank == 2) {
    if (blocked) {
      return {run([&] {
                return std::make_unique<BlockedJacobi<Exec, T>>(exec, rows.source(), rows.unknown(),
                                                                rows.has_halos());
              }),
              JacobiScheme::blocked};
    }
  }
  return {run([&] {
            return std::make_unique<PlainJacobi<Exec, T, Rank>>(exec, rows.source(), rows.unknown(),
                                                                rows.has_halos());
          }),
          JacobiScheme::plain};
}

template <CompiledSpace Exec, class T, int Rank>
Result red_black(Exec const& exec, distributed::Group const& group, Strided<T const, Rank> const& b,
                 Strided<T, Rank> const& u, RedBlackOptions const& options,
                 int sweeps_per_exchange) {
  SharedRows const shared(group, b, u);
  auto const extents = extents_of(b, shared);
  // nvcc doesn't take RedBlackPlan(extents, options) here.
  RedBlackPlan const plan =
      distributed::together(group, [&]() -> RedBlackPlan { return {extents, options}; });
  expects_alike_limits(group, plan.limits, sweeps_per_exchange);
  distributed::expects_alike(group, {{"omega", plan.omega}});
  ProfilingRegion const region("coir::poisson::over_ranks/red_black");
  std::int64_t const at_once =
      sweeps_at_once(shared, sweeps_per_exchange, 8, (shared.smallest - 1) / 2);
  // A sweep reaches two rows. One row more lets the sweeper begin with a row of even number, so
  // that its first cell has the first colour of the whole grid.
  int const width = static_cast<int>(2 * at_once + 1);
  distributed::Cartesian<1> const ranks(group);
  RowsOfRank<Exec, T, Rank> rows(exec, ranks, b, u, width);
  std::int64_t const skipped = ranks.neighbour(0, -1) >= 0 ? shared.first % 2 : 0;
  auto const rest = [&](auto const& field) {
    return rows_of(field, skipped, static_cast<std::int64_t>(field.extent(0)) - skipped);
  };
  return iterate_over_ranks<Exec, T, Rank>(
      exec, group, rows,
      [&] {
        return std::make_unique<RedBlackSweeper<Exec, T, Rank>>(
            exec, rest(rows.source()), rest(rows.unknown()), static_cast<T>(plan.omega));
      },
      [&](auto& sweeper) {
        sweeper.finish();
        return rows.unknown();
      },
      at_once, product_of(extents), plan.limits);
}

/// Lets the first rank solve, and asks the monitors of all ranks whenever the solver asks its own.
/// What a rank throws all throw. Collective.
template <class Solve>
Result ask_all_ranks(distributed::Group const& group, MultigridOptions const& options,
                     Solve const& solve) {
  struct Question {
    bool is_asked = false;
    poisson::Progress progress{};
  };
  auto const tell = [&](Question question) {
    group.broadcast(&question, sizeof question);
    return question;
  };
  OwnMonitor monitor(options.monitor);
  bool const is_asked = static_cast<bool>(options.monitor);
  Result result;
  std::exception_ptr error;
  if (group.is_first()) {
    MultigridOptions asking = options;
    if (is_asked)
      asking.monitor = [&](poisson::Progress const& progress) {
        tell({true, progress});
        return group.all(monitor(progress));
      };
    try {
      result = solve(asking);
    } catch (...) {
      error = std::current_exception();
    }
    if (is_asked) tell({});
  } else if (is_asked) {
    for (Question told = tell({}); told.is_asked; told = tell({}))
      group.all(monitor(told.progress));
  }
  monitor.agree(group, error);
  return result;
}

/// Multigrid of the whole grid by the first rank.
template <class Exec, class T, int Rank>
Result multigrid_on_first(Exec const& exec, distributed::Group const& group,
                          Strided<T const, Rank> const& b, Strided<T, Rank> const& u,
                          SharedRows const& shared, MultigridOptions const& options) {
  using Field =
      Kokkos::View<view_data_t<T, Rank>, Kokkos::LayoutRight, typename Exec::memory_space>;
  Field source, unknown;
  distributed::together(group, [&] {
    if (!group.is_first()) return;
    Buffers all;
    auto const add = [&](Field& field, std::int64_t ring) {
      std::string const label = "coir::poisson::over_ranks/whole";
      if constexpr (Rank == 2)
        all.add(field, label, shared.total + ring, b.extents[1] + ring);
      else
        all.add(field, label, shared.total + ring, b.extents[1] + ring, b.extents[2] + ring);
    };
    add(source, 0);
    add(unknown, 2);
    all.template make<typename Exec::memory_space>("the grid of all ranks");
  });
  auto const rows = [](auto at, std::int64_t first, std::int64_t count) {
    at.data += first * at.strides[0];
    at.extents[0] = count;
    return at;
  };
  auto const last = shared.borders.size() - 2;
  auto const own = static_cast<std::size_t>(group.rank());
  distributed::ViewExchange exchange(exec, group, "poisson/multigrid");
  constexpr int of_source = 0, of_unknown = 1;
  exchange.send(0, b, of_source);
  std::int64_t const from = own == 0 ? 0 : 1, to = shared.own + (own == last ? 2 : 1);
  exchange.send(0, rows(u, from, to - from), of_unknown);
  for (std::size_t r = 0; group.is_first() && r <= last; ++r) {
    std::int64_t const first = shared.borders[r], count = shared.borders[r + 1] - first;
    std::int64_t const begin = r == 0 ? 0 : 1, end = count + (r == last ? 2 : 1);
    exchange.receive(static_cast<int>(r), rows(strided(source), first, count), of_source);
    exchange.receive(static_cast<int>(r), rows(strided(unknown), first + begin, end - begin),
                     of_unknown);
  }
  exchange.run();
  Result result = ask_all_ranks(group, options, [&](MultigridOptions const& asking) {
    return multigrid<Exec, T, Rank>(exec, source, unknown, asking);
  });
  group.broadcast(&result, sizeof result);
  exchange.receive(0, u);
  for (std::size_t r = 0; group.is_first() && r <= last; ++r)
    exchange.send(static_cast<int>(r), rows(strided(unknown), shared.borders[r],
                                            shared.borders[r + 1] - shared.borders[r] + 2));
  exchange.run();
  exec.fence();
  return result;
}

template <CompiledSpace Exec, class T, int Rank>
Result multigrid(Exec const& exec, distributed::Group const& group, Strided<T const, Rank> const& b,
                 Strided<T, Rank> const& u, MultigridOptions const& options) {
  using Solver = MultigridSolver<Exec, T, Rank>;
  SharedRows const shared(group, b, u);
  auto const cells = product_of(extents_of(b, shared));
  std::array<int, Rank> extents;
  distributed::together(group, [&] {
    for (std::size_t d = 0; d < Rank; ++d)
      extents[d] = static_cast<int>(d == 0 ? shared.total : b.extents[d]);
    if (cells > 0) Solver::check(extents, options);
  });
  distributed::expects_alike(group, {{"max_cycles", options.max_cycles},
                                     {"tolerance", options.tolerance},
                                     {"pre_sweeps", options.pre_sweeps},
                                     {"post_sweeps", options.post_sweeps},
                                     {"smoother", static_cast<int>(options.smoother)},
                                     {"omega", options.omega},
                                     {"full_multigrid", options.full_multigrid},
                                     {"monitor", static_cast<bool>(options.monitor)}});
  if (cells == 0) return {.converged = true, .stopped_by = StoppedBy::tolerance};
  distributed::Cartesian<1> const ranks(group);
  if (shared.smallest == shared.total) {  // there is one rank
    RowsOfRank<Exec, T, Rank> rows(exec, ranks, b, u, 1);
    auto const result = multigrid<Exec, T, Rank>(exec, rows.source(), rows.unknown(), options);
    rows.finish(rows.unknown());
    exec.fence();
    return result;
  }
  using Shared = SharedMultigrid<Exec, T, Rank>;
  auto const shapes = level_shapes<Rank>(extents);
  int const grids = Shared::shared_grids(shapes, shared.borders, options);
  if (grids == 0) return multigrid_on_first<Exec, T, Rank>(exec, group, b, u, shared, options);
  ProfilingRegion const region("coir::poisson::over_ranks/multigrid");
  OwnMonitor monitor(options.monitor);
  MultigridOptions agreed = options;
  if (options.monitor)
    agreed.monitor = [&](poisson::Progress const& progress) {
      return group.all(monitor(progress));
    };
  Result const result = Shared(exec, ranks, shapes, shared.borders, grids, b, u, agreed).solve();
  monitor.agree(group);
  return result;
}

}  // namespace coir::poisson::detail

#define COIR_OVER_RANKS(Exec, T, Rank)                                                             \
  template JacobiResult jacobi<Exec, T, Rank>(Exec const&, distributed::Group const&,              \
                                              Strided<T const, Rank> const&,                       \
                                              Strided<T, Rank> const&, JacobiOptions const&, int); \
  template Result red_black<Exec, T, Rank>(Exec const&, distributed::Group const&,                 \
                                           Strided<T const, Rank> const&, Strided<T, Rank> const&, \
                                           RedBlackOptions const&, int);                           \
  template Result multigrid<Exec, T, Rank>(Exec const&, distributed::Group const&,                 \
                                           Strided<T const, Rank> const&, Strided<T, Rank> const&, \
                                           MultigridOptions const&);
#define COIR_INSTANTIATE_OVER_RANKS(Exec) \
  namespace coir::poisson::detail {       \
  COIR_OVER_RANKS(Exec, float, 2)         \
  COIR_OVER_RANKS(Exec, float, 3)         \
  COIR_OVER_RANKS(Exec, double, 2)        \
  COIR_OVER_RANKS(Exec, double, 3)        \
  }
