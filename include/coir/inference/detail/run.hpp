#pragma once

/// Runs chains: keys, warm-up, rounds between two reports, what is kept of draws.

#include <coir/core/tasks.hpp>
#include <coir/inference/chains.hpp>
#include <coir/inference/detail/adaptation.hpp>
#include <coir/inference/detail/state.hpp>

#include <Kokkos_Timer.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace coir::inference::detail {

inline void check(Options const& options) {
  // Numbers of draws are kept as doubles in states.
  constexpr auto most = std::int64_t(1) << 52;
  expects(options.warmup >= 0 && options.warmup <= most,
          "warmup must be 0 draws or more, and at most 2^52", options.warmup);
  expects(options.draws >= 1 && options.draws <= most, "draws must be 1 or more, and at most 2^52",
          options.draws);
  expects(options.thin >= 1 && options.thin <= most / options.draws,
          "thin must be 1 or more, and draws times thin at most 2^52", options.thin);
  expects(options.acceptance > 0 && options.acceptance < 1, "acceptance must lie in (0, 1)",
          options.acceptance);
  expects(options.step >= 0 && options.step < infinity, "the step must be finite and 0 or more",
          options.step);
  expects(options.depth >= 1 && options.depth <= 30, "depth must be 1 to 30", options.depth);
  expects(options.length > 0 && options.length < infinity, "length must be above 0 and finite",
          options.length);
  expects(options.jitter >= 0 && options.jitter < 1, "jitter must lie in [0, 1)", options.jitter);
  expects(options.most_steps >= 1, "most_steps must be 1 or more", options.most_steps);
  expects(options.energy_error > 0, "energy_error must be above 0", options.energy_error);
  expects(options.told_every >= 1, "told_every must be 1 or more", options.told_every);
}

[[noreturn]] inline void fail_at_start(std::int64_t chain) {
  throw NumericalError("chain " + std::to_string(chain) +
                       " starts where the log density isn't finite: choose a start inside the "
                       "prior, and see whether the target returns NaN there");
}

/// Where the draws of a chain go: a row for each kept draw. The statistics of options.thin draws
/// are gathered in one row.
struct Record {
  double *draws, *statistics;
};

/// A chain. Its sampler, Move, makes draws, and Move::Step fits the step.
template <ExecutionSpace Exec, class Move>
class Chain {
 public:
  Chain(Exec const& exec, random::Key const& key, std::int64_t n, Options const& options)
      : exec_(exec),
        key_(key),
        options_(options),
        windows_(options.warmup),
        here_(n),
        scale_(options.mass, n),
        estimate_(options.mass, n),
        step_(options),
        move_(exec, n, options) {}

  /// The start, unless it is read from a state.
  Vector<Exec> const& theta() const { return here_.theta; }
  template <class T>
  bool evaluate(T const& target) {
    here_.evaluate(exec_, target);
    return here_.log_density > -infinity;
  }

  /// Makes draws until `end` are done.
  template <class T>
  void advance(T const& target, std::int64_t end, Record record) {
    for (; done_ < end; ++done_) {
      auto const key = random::fold_in(key_, static_cast<std::uint64_t>(done_));
      bool const warming = done_ < options_.warmup;
      if (done_ == 0 || (warming && windows_.ends(done_ - 1)))
        step_.restart(done_ == 0 && options_.step > 0
                          ? options_.step
                          : move_.first_step(target, scale_, random::split<2>(key)[1], here_));
      Transition const draw =
          move_.draw(target, random::split<2>(key)[0], step_.step(), scale_, here_);
      if (warming)
        fit(draw);
      else
        keep(draw, record);
    }
  }

  template <class Archive>
  void visit(Archive& archive) {
    archive(done_);
    archive(here_.theta);
    scale_.visit(archive);
    estimate_.visit(archive);
    step_.visit(archive);
    move_.visit(archive);
  }

 private:
  void fit(Transition const& draw) {
    step_.update(draw);
    if (windows_.holds(done_)) {
      estimate_.add(exec_, here_.theta);
      if (windows_.ends(done_)) estimate_.hand_over(exec_, scale_);
    }
    if (done_ + 1 == options_.warmup) step_.finish();
  }

  void keep(Transition const& draw, Record& record) {
    std::int64_t const n = length(here_.theta), after = done_ - options_.warmup;
    double* const row = record.statistics + after / options_.thin * Chains::statistics_of_a_draw;
    row[Chains::log_density] = draw.log_density;
    row[Chains::energy] = draw.energy;
    row[Chains::acceptance] += draw.acceptance / double(options_.thin);
    row[Chains::steps] += draw.steps;
    row[Chains::diverged] += draw.diverged;
    if ((after + 1) % options_.thin != 0) return;
    double* const to = record.draws + after / options_.thin * n;
    if constexpr (runs_on_host<Exec>)
      std::copy_n(here_.theta.data(), n, to);
    else
      copy_bytes<Kokkos::HostSpace, typename Exec::memory_space>(
          to, here_.theta.data(), n * static_cast<std::int64_t>(sizeof(double)));
  }

  Exec exec_;
  random::Key key_;
  Options options_;
  Windows windows_;
  std::int64_t done_ = 0;
  Place<Exec> here_;
  Scale<Exec> scale_;
  Estimate<Exec> estimate_;
  typename Move::Step step_;
  Move move_;
};

/// Calls each(chain) for every chain, on hosts at the same time. Throws what the first of the
/// chains that failed has thrown.
template <ExecutionSpace Exec, class Each>
void for_each_chain(std::int64_t chains, bool at_once, Each const& each) {
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(chains));
  auto const guarded = [&](std::int64_t chain) {
    try {
      each(chain);
    } catch (...) {
      failures[static_cast<std::size_t>(chain)] = std::current_exception();
    }
  };
  if constexpr (runs_on_host<Exec>) {
    if (at_once) {
      for_each_task("coir::inference::run/chains", Exec(), chains, guarded);
    } else {
      for (std::int64_t chain = 0; chain < chains; ++chain) guarded(chain);
    }
  } else {
    for (std::int64_t chain = 0; chain < chains; ++chain) guarded(chain);
  }
  for (auto const& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

/// Draws and statistics of a whole run, begun with those that are there.
inline void make_room(Chains& chains, StateHead const& head, std::int64_t draws) {
  std::int64_t const there = chains.draws.size() > 0 ? chains.draws.shape()[1] : 0;
  expects(there <= draws, "the chains have more draws than are asked for, " + std::to_string(there),
          draws);
  auto const grown = [&](auto& array, std::int64_t width) {
    Array<double, 3, Kokkos::HostSpace> longer({head.chains, draws, width});
    std::fill_n(longer.data(), longer.size(), 0.0);
    for (std::int64_t chain = 0; chain < (there > 0 ? head.chains : 0); ++chain)
      std::copy_n(array.data() + chain * there * width, there * width,
                  longer.data() + chain * draws * width);
    array = std::move(longer);
  };
  grown(chains.draws, head.parameters);
  grown(chains.statistics, Chains::statistics_of_a_draw);
}

/// Cuts off the rows that a run which was stopped hasn't filled.
inline void cut(Chains& chains, std::int64_t draws) {
  if (draws == chains.draws.shape()[1]) return;
  using All = Array<double, 3, Kokkos::HostSpace>;
  All const kept = chains.draws(range(), range(0, draws), range());
  All const told = chains.statistics(range(), range(0, draws), range());
  chains.draws = kept;
  chains.statistics = told;
}

/// The draws of all chains up to options.draws, in rounds of told_every. `advance(end)` makes them.
template <class Advance>
std::int64_t in_rounds(Chains& chains, StateHead const& head, Options const& options,
                       OnProgress const& on_progress, Advance const& advance) {
  std::int64_t const total = options.warmup + options.draws * options.thin;
  std::int64_t done = head.done;
  Kokkos::Timer const timer;
  while (done < total) {
    std::int64_t round = total - done;
    if (on_progress) {
      round = std::min(round, options.told_every);
      // A round ends with a kept draw, so that no kept draw is cut in parts.
      std::int64_t const over = std::max<std::int64_t>(0, done + round - options.warmup);
      round = std::min(total - done, round + (options.thin - over % options.thin) % options.thin);
    }
    advance(done + round);
    done += round;
    if (!on_progress) continue;
    double const seconds = std::max(timer.seconds(), 1e-9);
    Progress progress{done, total, done < options.warmup, 0, 0, 0};
    double const* const statistics = chains.statistics.data();
    for (std::int64_t row = 0; row < head.chains * options.draws; ++row)
      progress.divergences += static_cast<std::int64_t>(
          statistics[row * Chains::statistics_of_a_draw + Chains::diverged]);
    progress.draws_per_second = double(head.chains) * double(done - head.done) / seconds;
    progress.seconds_left = seconds * double(total - done) / double(done - head.done);
    if (!on_progress(progress)) break;
  }
  return done;
}

/// \throws NumericalError if all draws of a chain diverged
inline void expects_draws(Chains const& chains, Options const& options) {
  std::int64_t const draws = chains.statistics.shape()[1];
  for (std::int64_t chain = 0; chain < chains.statistics.shape()[0]; ++chain) {
    double diverged = 0;
    for (std::int64_t draw = 0; draw < draws; ++draw)
      diverged += chains.statistics(chain, draw, Chains::diverged);
    if (draws > 0 && diverged == double(draws * options.thin))
      throw NumericalError("all " + std::to_string(draws) + " draws of chain " +
                           std::to_string(chain) +
                           " diverged: see whether the target returns NaN beside its start, or "
                           "raise the acceptance");
  }
}

/// What a run returns: draws that were made, and the state after them.
///
/// \param visit  hands what is kept to a StateWriter
template <class Visit>
void finish(Chains& chains, StateHead head, Options const& options, Visit const& visit) {
  cut(chains, std::max<std::int64_t>(0, head.done - options.warmup) / options.thin);
  // A run that was stopped early keeps its draws, so that it can go on.
  if (head.done == options.warmup + options.draws * options.thin) expects_draws(chains, options);
  chains.state.clear();
  StateWriter writer(chains.state);
  head.visit(writer);
  visit(writer);
  chains.biased = head.sampler < 0;
}

/// Runs chains, or goes on with them if they have a state.
template <ExecutionSpace Exec, class Move, Target<Exec> T>
Chains run(Exec const& exec, StateHead head, T const& target, double const* starts, Chains chains,
           Options const& options, OnProgress const& on_progress) {
  std::vector<Chain<Exec, Move>> all;
  all.reserve(static_cast<std::size_t>(head.chains));
  for (std::int64_t chain = 0; chain < head.chains; ++chain)
    all.emplace_back(exec, random::fold_in(head.key, static_cast<std::uint64_t>(chain)),
                     head.parameters, options);
  if (starts) {
    for (std::int64_t chain = 0; chain < head.chains; ++chain)
      set_elements(all[static_cast<std::size_t>(chain)].theta(), starts + chain * head.parameters);
  } else {
    StateReader reader(chains.state);
    head.visit(reader);
    for (auto& chain : all) chain.visit(reader);
    reader.expects_end();
  }
  bool const at_once = options.a_chain_a_thread && !one_at_a_time<T>;
  for_each_chain<Exec>(head.chains, at_once, [&](std::int64_t chain) {
    if (!all[static_cast<std::size_t>(chain)].evaluate(target)) fail_at_start(chain);
  });
  make_room(chains, head, options.draws);
  std::int64_t const done = in_rounds(chains, head, options, on_progress, [&](std::int64_t end) {
    for_each_chain<Exec>(head.chains, at_once, [&](std::int64_t chain) {
      std::int64_t const row = chain * options.draws;
      all[static_cast<std::size_t>(chain)].advance(
          target, end,
          {chains.draws.data() + row * head.parameters,
           chains.statistics.data() + row * Chains::statistics_of_a_draw});
    });
  });
  head.done = done;
  finish(chains, head, options, [&](auto& writer) {
    for (auto& chain : all) chain.visit(writer);
  });
  return chains;
}

inline StateHead head_of(double sampler, random::Key const& key,
                         std::array<std::int64_t, 2> const& shape, Options const& options) {
  check(options);
  expects(shape[0] > 0 && shape[1] > 0, "starts must have at least one chain and one parameter");
  return {sampler,        key,          shape[0], shape[1],
          options.warmup, options.thin, 0,        static_cast<int>(options.mass)};
}

inline StateHead head_of_state(double sampler, Chains const& chains, Options const& options) {
  check(options);
  StateReader reader(chains.state);
  StateHead head;
  head.visit(reader);
  expects_same(head, sampler, options);
  auto const shape = chains.draws.shape();
  std::int64_t const draws = std::max<std::int64_t>(0, head.done - head.warmup) / head.thin;
  if (shape != std::array{head.chains, draws, head.parameters})
    throw PreconditionError("the state is of draws of shape " +
                            in_words(std::array{head.chains, draws, head.parameters}) + ", not " +
                            in_words(shape) + ": take both from one run");
  return head;
}

/// Runs new chains from an array of starts, (chain, parameter).
template <ExecutionSpace Exec, class Move, class T, class Starts>
Chains begin(Exec const& exec, random::Key const& key, T const& target, Starts const& starts,
             Options const& options, OnProgress const& on_progress) {
  auto const host = to_host(starts);
  return run<Exec, Move>(exec, head_of(Move::sampler, key, host.shape(), options), target,
                         host.data(), Chains{}, options, on_progress);
}

/// Goes on with chains.
template <ExecutionSpace Exec, class Move, class T>
Chains go_on(Exec const& exec, T const& target, Chains chains, Options const& options,
             OnProgress const& on_progress) {
  auto const head = head_of_state(Move::sampler, chains, options);
  return run<Exec, Move>(exec, head, target, nullptr, std::move(chains), options, on_progress);
}

}  // namespace coir::inference::detail
