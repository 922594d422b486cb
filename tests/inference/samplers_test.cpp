#include <coir/array/creation.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/random.hpp>
#include <coir/array/reductions.hpp>
#include <coir/inference/diagnostics.hpp>
#include <coir/inference/hmc.hpp>
#include <coir/inference/nuts.hpp>
#include <coir/inference/transforms.hpp>

#include <support/folder.hpp>
#include <support/message_of.hpp>
#include <support/spaces.hpp>

#include "targets.hpp"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <numbers>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace coir::inference;
using namespace coir::testing;
using coir::random::key;
using Starts = coir::Array<double, 2, Kokkos::HostSpace>;

namespace {

Starts zeros(std::int64_t chains, std::int64_t n) {
  return coir::to_host(coir::zeros<double>(chains, n));
}

}  // namespace

TEST(Hmc, HasTheMomentsOfAGaussian) {
  for (auto const mass : {Mass::unit, Mass::diagonal, Mass::dense})
    expects_moments(
        hmc(Host(), key(1), Gaussian{}, zeros(4, 5), {.warmup = 300, .draws = 1000, .mass = mass}));
  expects_moments(hmc(Host(), key(2), Gaussian{}, zeros(2, 5),
                      {.warmup = 300, .draws = 1000, .thin = 3, .jitter = 0}));
}

TEST(Nuts, HasTheMomentsOfAGaussian) {
  for (auto const mass : {Mass::unit, Mass::diagonal, Mass::dense})
    expects_moments(nuts(Host(), key(1), Gaussian{}, zeros(4, 5),
                         {.warmup = 300, .draws = 1000, .mass = mass}));
}

// Depth 1 has trees of one leaf; the chains are long and slow, and their moments the same.
TEST(Nuts, HasTheMomentsAtTheLeastDepth) {
  expects_moments(nuts(Host(), key(3), Gaussian{}, zeros(4, 2),
                       {.warmup = 300, .draws = 20000, .mass = Mass::dense, .depth = 1}));
}

TEST(Samplers, WithoutWarmupKeepTheStepThatIsGiven) {
  auto const chains = hmc(Host(), key(4), Gaussian{}, zeros(1, 3),
                          {.warmup = 0, .draws = 50, .step = 0.1, .jitter = 0});
  for (std::int64_t d = 0; d < 50; ++d)
    EXPECT_EQ(chains.statistics(0, d, Chains::steps), 16);  // round(pi / 2 / 0.1)
}

// ---- bits ----

namespace {

Options const brief{.warmup = 60, .draws = 40, .mass = Mass::dense, .told_every = 7};

template <class Sampler>
void expects_bits_that_depend_on_the_chain_alone(Sampler const& sample) {
  Starts const starts = coir::to_host(coir::random::normal(key(9), {5, 3}));
  auto const five = sample(starts, brief, OnProgress{});
  Starts const first_three = starts(coir::range(0, 3), coir::range());
  auto const three = sample(first_three, brief, OnProgress{});
  EXPECT_TRUE(
      coir::all(five.draws(coir::range(0, 3), coir::range(), coir::range()) == three.draws));
  auto in_turns = brief;
  in_turns.a_chain_a_thread = false;
  auto const one_thread = sample(starts, in_turns, OnProgress{});
  EXPECT_TRUE(coir::all(five.draws == one_thread.draws));
  auto const told = sample(starts, brief, [](Progress const&) { return true; });
  EXPECT_TRUE(coir::all(five.draws == told.draws));
  EXPECT_TRUE(five.state == told.state);
}

/// Stops in warm-up, saves, reads, goes on, stops among the draws, and goes on.
template <class Sampler, class GoOn>
void expects_the_same_bits_after_interruptions(Sampler const& sample, GoOn const& go_on) {
  TemporaryFolder const folder;
  Starts const starts = coir::to_host(coir::random::normal(key(9), {2, 3}));
  auto const whole = sample(starts, brief, OnProgress{});
  auto chains = sample(starts, brief, [](Progress const& p) { return p.done < 20; });
  EXPECT_EQ(chains.draws.shape()[1], 0);
  save(folder.path(), chains);
  chains = go_on(read_chains(folder.path()), brief, [](Progress const& p) { return p.done < 70; });
  EXPECT_EQ(chains.draws.shape()[1], 10);
  save(folder.path(), chains);
  chains = go_on(read_chains(folder.path()), brief, OnProgress{});
  EXPECT_TRUE(coir::all(chains.draws == whole.draws));
  EXPECT_TRUE(coir::all(chains.statistics == whole.statistics));
  EXPECT_TRUE(chains.state == whole.state);
  EXPECT_EQ(chains.biased, whole.biased);
}

auto by_nuts = [](auto const& starts, Options const& options, OnProgress const& tell) {
  return nuts(Host(), key(5), Gaussian{}, starts, options, tell);
};
auto by_hmc = [](auto const& starts, Options const& options, OnProgress const& tell) {
  return hmc(Host(), key(5), Gaussian{}, starts, options, tell);
};

}  // namespace

TEST(Samplers, BitsDependOnTheChainAlone) {
  expects_bits_that_depend_on_the_chain_alone(by_nuts);
  expects_bits_that_depend_on_the_chain_alone(by_hmc);
}

namespace {

/// The dense precision of a likelihood of 21 parameters, and which threads evaluate it.
struct Watched {
  std::mutex* mutex;
  std::set<std::thread::id>* threads;

  double operator()(Kokkos::View<double const*, Kokkos::HostSpace> const& x,
                    Kokkos::View<double*, Kokkos::HostSpace> const& slope) const {
    {
      std::lock_guard const guard(*mutex);
      threads->insert(std::this_thread::get_id());
    }
    double value = 0;
    for (int i = 0; i < 21; ++i) {
      double sum = 0;
      for (int j = 0; j < 21; ++j) sum += (std::pow(0.5, std::abs(i - j)) + (i == j)) * x(j);
      slope(i) = -sum;
      value -= 0.5 * x(i) * sum;
    }
    return value;
  }
};

}  // namespace

TEST(Nuts, UsesTheThreadsThereAreAndHasTheBitsOfOne) {
  std::mutex mutex;
  std::set<std::thread::id> several, one;
  Options options{.warmup = 50, .draws = 50};
  auto const of_all = nuts(Host(), key(12), Watched{&mutex, &several}, zeros(4, 21), options);
  options.a_chain_a_thread = false;
  auto const in_turns = nuts(Host(), key(12), Watched{&mutex, &one}, zeros(4, 21), options);
  EXPECT_EQ(several.size(), static_cast<std::size_t>(std::min(4, Host().concurrency())));
  EXPECT_EQ(one.size(), 1u);
  EXPECT_TRUE(coir::all(of_all.draws == in_turns.draws));
  EXPECT_TRUE(of_all.state == in_turns.state);
}

TEST(Samplers, GoOnWithTheSameBits) {
  expects_the_same_bits_after_interruptions(
      by_nuts, [](Chains chains, Options const& options, OnProgress const& tell) {
        return nuts(Host(), Gaussian{}, std::move(chains), options, tell);
      });
  expects_the_same_bits_after_interruptions(
      by_hmc, [](Chains chains, Options const& options, OnProgress const& tell) {
        return hmc(Host(), Gaussian{}, std::move(chains), options, tell);
      });
}

TEST(Samplers, TellHowFarTheyAre) {
  std::vector<Progress> told;
  nuts(Host(), key(5), Gaussian{}, zeros(2, 3),
       {.warmup = 30, .draws = 25, .thin = 4, .told_every = 20}, [&](Progress const& p) {
         told.push_back(p);
         return true;
       });
  ASSERT_FALSE(told.empty());
  EXPECT_TRUE(told.front().warming);
  EXPECT_EQ(told.front().done, 20);
  EXPECT_EQ(told.back().done, 130);
  EXPECT_EQ(told.back().seconds_left, 0);
  EXPECT_FALSE(told.back().warming);
  for (auto const& p : told) {
    EXPECT_EQ(p.total, 130);
    EXPECT_GT(p.draws_per_second, 0);
    EXPECT_TRUE(p.done <= 30 || (p.done - 30) % 4 == 0) << "cuts a kept draw in parts";
  }
}

// ---- posteriors ----

/// Neal's funnel, non-centred: v = 3 a, x = exp(v / 2) b with unit normal a and b. So v has the
/// deviation 3, and log |x| the mean v / 2 + E log |b| = -(gamma + log 2) / 2 and the variance
/// 9 / 4 + pi^2 / 8.
TEST(Nuts, HasTheMomentsOfTheFunnel) {
  auto const target = number_target<2>([](auto a, auto b) { return -0.5 * (a * a + b * b); });
  auto const chains = nuts(Host(), key(6), target, zeros(4, 2), {.warmup = 300, .draws = 2000});
  double mean = 0, square = 0;
  std::vector<double> logs;
  for (std::int64_t c = 0; c < 4; ++c)
    for (std::int64_t d = 0; d < 2000; ++d)
      logs.push_back(1.5 * chains.draws(c, d, 0) + std::log(std::abs(chains.draws(c, d, 1))));
  for (double const x : logs) mean += x / double(logs.size());
  for (double const x : logs) square += (x - mean) * (x - mean) / double(logs.size());
  double const size = ess_bulk(logs, 4), variance = 2.25 + std::numbers::pi * std::numbers::pi / 8;
  EXPECT_NEAR(mean, -0.5 * (std::numbers::egamma + std::numbers::ln2),
              4 * std::sqrt(variance / size));
  // The fourth central moment of log |b| is pi^4 / 16 + 3 (pi^2 / 8)^2, of a Gaussian 3 variance^2.
  double const quartic = 3 * variance * variance + std::pow(std::numbers::pi, 4) / 16;
  EXPECT_NEAR(square, variance, 4 * std::sqrt((quartic - variance * variance) / size));
}

/// The funnel itself, x of one dimension: v unit normal times 3, x normal with the variance e^v.
/// Its mouth has no step that suits it: trajectories diverge there, and are counted.
TEST(Nuts, CountsDivergencesInTheFunnel) {
  auto const target = number_target<4>([](auto v, auto x, auto y, auto z) {
    return -v * v / 18 - 1.5 * v - 0.5 * exp(-v) * (x * x + y * y + z * z);
  });
  auto const chains = nuts(Host(), key(7), target, zeros(2, 4), {.warmup = 300, .draws = 500});
  EXPECT_GT(summarise(chains).divergences, 0);
}

/// Rubin's eight schools, non-centred. Moments by quadrature over tau, with mu and theta integrated
/// analytically, which agree with the reference draws of posteriordb (mean of mu 4.41, of
/// tau 3.60).
struct EightSchools {
  template <class X>
  auto operator()(X const& x) const {  // mu, tau, eta_1 ... eta_8
    constexpr double y[] = {28, 8, -3, 7, -1, 1, 18, 12};
    constexpr double sigma[] = {15, 10, 16, 11, 9, 11, 10, 18};
    auto const off = x[0] / 5, scale = x[1] / 5;
    auto sum = -0.5 * off * off - log1p(scale * scale);
    for (int j = 0; j < 8; ++j) {
      auto const residual = (y[j] - x[0] - x[1] * x[j + 2]) / sigma[j];
      sum -= 0.5 * (x[j + 2] * x[j + 2] + residual * residual);
    }
    return sum;
  }
};

TEST(Nuts, HasTheMomentsOfEightSchools) {
  std::vector<Interval> intervals(10);
  intervals[1].low = 0;
  Bounds const bounds(intervals);
  auto const target = inside_bounds(bounds, number_target<10>(EightSchools{}));
  Starts const start = coir::to_host(coir::full<double>({4, 10}, 1.0));
  auto chains = nuts(Host(), key(8), target, bounds.unbounded(start),
                     {.warmup = 500, .draws = 2500, .acceptance = 0.9});
  chains.draws = bounds.bounded(chains.draws);
  auto const summary = summarise(chains);
  auto const expects_close = [&](ParameterSummary const& found, double mean, double deviation) {
    EXPECT_NEAR(found.mean, mean, 4 * deviation / std::sqrt(found.ess_bulk));
    // Their tails are heavier than a Gaussian's, for which the factor would be 1/2.
    EXPECT_NEAR(found.deviation / deviation, 1, 4 * 1.5 / std::sqrt(found.ess_tail));
  };
  expects_close(summary.parameters[0], 4.396820713833, 3.317704463140);
  expects_close(summary.parameters[1], 3.597705517, 3.219958378);
  for (auto& chain : {0, 1, 2, 3})
    for (std::int64_t d = 0; d < 2500; ++d)
      chains.draws(chain, d, 2) =
          chains.draws(chain, d, 0) + chains.draws(chain, d, 1) * chains.draws(chain, d, 2);
  expects_close(summarise(chains).parameters[2], 6.211884204056, 5.593126195331);
}

/// A scale and a mean drawn from their priors, three data drawn given these: ranks of the true
/// numbers among posterior draws are spread evenly (Talts et al., arXiv:1804.06788).
TEST(Nuts, RanksOfPriorDrawsAreSpreadEvenly) {
  constexpr int runs = 320, draws = 15;
  std::vector<int> ranks(2 * (draws + 1));
  for (std::uint64_t run = 0; run < runs; ++run) {
    Starts const z =
        coir::to_host(coir::random::normal(coir::random::fold_in(key(10), run), {1, 5}));
    double const a = 0.5 * z(0, 0), m = z(0, 1);
    double data[3];
    for (int i = 0; i < 3; ++i) data[i] = m + std::exp(a) * z(0, 2 + i);
    auto const target = number_target<2>([&](auto scale, auto mean) {
      auto sum = -2 * scale * scale - 0.5 * mean * mean - 3 * scale;
      for (double const y : data) sum -= 0.5 * (y - mean) * (y - mean) * exp(-2 * scale);
      return sum;
    });
    auto const chains = nuts(Host(), coir::random::fold_in(key(11), run), target, zeros(1, 2),
                             {.warmup = 100, .draws = draws, .thin = 4});
    int below_a = 0, below_m = 0;
    for (int d = 0; d < draws; ++d) {
      below_a += chains.draws(0, d, 0) < a;
      below_m += chains.draws(0, d, 1) < m;
    }
    ++ranks[static_cast<std::size_t>(below_a)];
    ++ranks[static_cast<std::size_t>(draws + 1 + below_m)];
  }
  for (int k = 0; k < 2; ++k) {
    double chi2 = 0;
    double const wanted = double(runs) / (draws + 1);
    for (int bin = 0; bin <= draws; ++bin) {
      double const off = ranks[static_cast<std::size_t>(k * (draws + 1) + bin)] - wanted;
      chi2 += off * off / wanted;
    }
    EXPECT_LT(chi2, 37.7) << k;  // exceeded once in 1000 times with 15 degrees of freedom
  }
}

TEST(Targets, OfNumbersHaveTheGradientsOfTheirFormula) {
  auto const by_names = number_target<2>([](auto x, auto y) { return x * x * y; });
  auto const by_index = number_target<2>([](auto const& x) { return x[0] * x[0] * x[1]; });
  Kokkos::View<double*, Kokkos::HostSpace> const x("x", 2), slope("slope", 2);
  x(0) = 3;
  x(1) = 5;
  for (double const value : {by_names(x, slope), by_index(x, slope)}) {
    EXPECT_EQ(value, 45);
    EXPECT_EQ(slope(0), 30);
    EXPECT_EQ(slope(1), 9);
  }
  Kokkos::View<double*, Kokkos::HostSpace> const three("three", 3);
  EXPECT_NE(message_of([&] { by_names(three, three); }).find("of 2 numbers, and the chains have 3"),
            std::string::npos);
}

/// Values go to and fro, and the density has the integral of the bounded one: by differences.
TEST(Bounds, TransformWithTheirJacobian) {
  Bounds const bounds({{-1, 2}, {.low = 3}, {.high = 4}, {}});
  for (double const y : {-40.0, -3.0, -0.1, 0.0, 0.7, 5.0, 40.0})
    for (std::size_t k = 0; k < 4; ++k) {
      auto const at = [&](double z) {
        return coir::inference::detail::inside(bounds[k].low, bounds[k].high, z);
      };
      auto const here = at(y);
      double const h = 1e-5, size = std::abs(here.x) + std::abs(here.slope);
      EXPECT_NEAR((at(y + h).x - at(y - h).x) / (2 * h), here.slope, 1e-9 * size) << y << " " << k;
      EXPECT_NEAR(std::log(std::abs(here.slope)), here.log_slope, 1e-12 * (1 + std::abs(y)));
      EXPECT_NEAR((at(y + h).log_slope - at(y - h).log_slope) / (2 * h), here.slope_of_log, 1e-8);
      EXPECT_GE(here.x, bounds[k].low);
      EXPECT_LE(here.x, bounds[k].high);
    }
  Starts const x = coir::inference::starts({{0.5, 3.25, -7, 11}, {1.999, 1e6, 3.5, -2}});
  auto const there_and_back = bounds.bounded(bounds.unbounded(x));
  EXPECT_TRUE(coir::all(coir::abs(there_and_back - x) <= 1e-12 * coir::abs(x)));
}

// ---- bad input ----

namespace {

bool says(std::string const& message, char const* words) {
  bool const found = message.find(words) != std::string::npos;
  if (!found) ADD_FAILURE() << message << "\ndoesn't say: " << words;
  return found;
}

}  // namespace

TEST(BadInput, OfPriors) {
  says(message_of([] { Bounds({{0, 1}, {2, 1}}); }),
       "parameter 1 must have low < high, not 2 and 1");
  Bounds const bounds({{0, 1}});
  says(message_of([&] { bounds.unbounded(coir::inference::starts({{1.5}})); }),
       "parameter 0 must start inside (0, 1), not at 1.5");
  auto const target = inside_bounds(bounds, number_target<1>([](auto x) { return -x; }));
  says(message_of([&] { nuts(Host(), key(1), target, zeros(1, 2)); }),
       "as many parameters as the chains have, 2, not 1");
  auto const above_1 = number_target<1>([](auto x) { return log(x - 1); });
  says(message_of<coir::NumericalError>([&] { hmc(Host(), key(1), above_1, zeros(2, 1)); }),
       "chain 0 starts where the log density isn't finite");
}

TEST(BadInput, TargetsThatReturnNaN) {
  auto const half = number_target<1>([](auto x) { return x > 0.5 ? x * NAN : -0.5 * x * x; });
  auto const chains = nuts(Host(), key(1), half, zeros(2, 1), {.warmup = 100, .draws = 200});
  EXPECT_GT(summarise(chains).divergences, 0);
  EXPECT_TRUE(coir::all(chains.draws <= 0.5));
  auto const all = number_target<1>([](auto x) { return x == 0 ? 0 * x : x * NAN; });
  Options const without_search{.warmup = 0, .draws = 20, .step = 0.5};
  auto const expects_failure = [&](auto const& sample) {
    says(message_of<coir::NumericalError>(sample), "all 20 draws of chain 0 diverged");
  };
  expects_failure([&] { nuts(Host(), key(1), all, zeros(1, 1), without_search); });
  expects_failure([&] { hmc(Host(), key(1), all, zeros(1, 1), without_search); });
  auto stopping = without_search;
  stopping.told_every = 5;
  auto const stopped =
      hmc(Host(), key(1), all, zeros(1, 1), stopping, [](Progress const& p) { return p.done < 5; });
  ASSERT_EQ(stopped.draws.shape()[1], 5);
  EXPECT_EQ(summarise(stopped).divergences, 5);
  expects_failure([&] { hmc(Host(), all, stopped, stopping); });
  says(message_of<coir::NumericalError>([&] { nuts(Host(), key(1), all, zeros(1, 1)); }),
       "no step");
  auto const refusing = number_target<1>([](auto x) {
    if (x != 0) throw coir::PreconditionError("the target refuses");
    return x;
  });
  says(message_of([&] { nuts(Host(), key(1), refusing, zeros(2, 1)); }), "the target refuses");
}

TEST(BadInput, OfOptionsAndStarts) {
  auto const run = [](Options const& options) {
    nuts(Host(), key(1), Gaussian{}, zeros(1, 2), options);
  };
  says(message_of([&] { run({.draws = 0}); }), "draws must be 1 or more");
  says(message_of([&] { run({.warmup = -1}); }), "warmup must be 0");
  says(message_of([&] { run({.thin = 0}); }), "thin must be");
  says(message_of([&] { run({.acceptance = 1}); }), "acceptance must lie in (0, 1), not 1");
  says(message_of([&] { run({.step = -1}); }), "the step must be");
  says(message_of([&] { run({.depth = 31}); }), "depth must be 1 to 30, not 31");
  says(message_of([&] { run({.length = 0}); }), "length must be");
  says(message_of([&] { run({.jitter = 1}); }), "jitter must lie");
  says(message_of([&] { run({.most_steps = 0}); }), "most_steps must be");
  says(message_of([&] { run({.told_every = 0}); }), "told_every must be");
  says(message_of([&] { run({.energy_error = 0}); }), "energy_error must be");
  says(message_of([] { coir::inference::starts({{1, 2}, {3}}); }),
       "as many parameters as chain 0, 2, and chain 1 has 1");
  says(message_of([] { coir::inference::starts({}); }), "at least one chain");
  says(message_of([] { nuts(Host(), key(1), Gaussian{}, zeros(0, 2)); }), "at least one chain");
}

TEST(BadInput, OfStates) {
  auto const chains = nuts(Host(), key(1), Gaussian{}, zeros(2, 3), {.warmup = 10, .draws = 10});
  auto const go_on = [&](Chains const& from, Options const& options) {
    nuts(Host(), Gaussian{}, from, options);
  };
  says(message_of([&] { hmc(Host(), Gaussian{}, chains, {.warmup = 10}); }), "of another sampler");
  says(message_of([&] { go_on(chains, {.warmup = 20}); }), "another warmup, 10, not 20");
  says(message_of([&] { go_on(chains, {.warmup = 10, .thin = 2}); }), "another thin, 1, not 2");
  says(message_of([&] { go_on(chains, {.warmup = 10, .mass = Mass::dense}); }), "kind of mass");
  says(message_of([&] { go_on(chains, {.warmup = 10, .draws = 5}); }),
       "more draws than are asked for, 10, not 5");
  auto shorter = chains;
  shorter.state.pop_back();
  says(message_of([&] { go_on(shorter, {.warmup = 10}); }), "the state is of another number");
  auto broken = chains;
  broken.state[5] = 1e300;  // the number of chains
  says(message_of([&] { go_on(broken, {.warmup = 10}); }), "the state is of another number");
  for (double const word : {-5.0, 0x1p32}) {
    auto of_key = chains;
    of_key.state[1] = word;
    says(message_of([&] { go_on(of_key, {.warmup = 10}); }), "the state is of another number");
  }
  broken.state[5] = 1e9;
  says(message_of([&] { go_on(broken, {.warmup = 10}); }),
       "of shape (1000000000, 10, 3), not (2, 10, 3)");
  TemporaryFolder const folder;
  says(message_of<coir::InputError>([&] { read_chains(folder.path()); }), "draws.npy");
  save(folder.path(), chains);
  save(folder / "other",
       nuts(Host(), key(1), Gaussian{}, zeros(1, 3), {.warmup = 10, .draws = 10}));
  std::filesystem::copy_file(folder / "other" / "draws.npy", folder / "draws.npy",
                             std::filesystem::copy_options::overwrite_existing);
  says(message_of<coir::InputError>([&] { read_chains(folder.path()); }), "don't belong together");
}
