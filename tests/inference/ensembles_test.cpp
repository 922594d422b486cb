#include <coir/inference/array_target.hpp>
#include <coir/inference/chees.hpp>
#include <coir/inference/diagnostics.hpp>
#include <coir/inference/microcanonical.hpp>

#include <support/folder.hpp>
#include <support/message_of.hpp>
#include <support/spaces.hpp>

#include "targets.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace coir::inference;
using namespace coir::testing;
using coir::random::key;
using Starts = coir::Array<double, 2, Kokkos::HostSpace>;

namespace {

/// Two correlated numbers for kernels: x has the variance 4, y given x the mean x and the
/// variance 1.
struct Pair {
  template <class X>
  KOKKOS_FUNCTION X operator()(X const& x, X const& y) const {
    return -0.125 * x * x - 0.5 * (y - x) * (y - x);
  }
};

Starts starts_of(std::int64_t chains, std::int64_t n) {
  return coir::to_host(coir::random::normal(key(3), {chains, n}));
}

}  // namespace

TEST(Chees, HasTheMomentsOfAGaussian) {
  for (auto const mass : {Mass::unit, Mass::diagonal}) {
    auto const chains = chees(Host(), key(1), BatchOf<Gaussian>{}, starts_of(64, 5),
                              {.warmup = 300, .draws = 100, .mass = mass});
    expects_moments(chains);
    EXPECT_GT(summarise(chains).parameters[0].ess_bulk, 800);
  }
}

template <class Exec>
struct CheesOn : ::testing::Test {};
TYPED_TEST_SUITE(CheesOn, Spaces, SpaceName);

TYPED_TEST(CheesOn, FunctionsOfNumbersHaveTheirMoments) {
  auto const chains = chees(TypeParam(), key(2), number_batch<2>(Pair{}), starts_of(100, 2),
                            {.warmup = 200, .draws = 60});
  auto const summary = summarise(chains);
  for (int k : {0, 1}) {
    auto const& found = summary.parameters[static_cast<std::size_t>(k)];
    double const s = k == 0 ? 2 : std::sqrt(5.0);
    EXPECT_NEAR(found.mean, 0, 4 * s / std::sqrt(found.ess_bulk));
    EXPECT_NEAR(found.deviation, s, 4 * s / std::sqrt(2 * found.ess_tail));
  }
}

TEST(Chees, GoesOnWithTheSameBits) {
  TemporaryFolder const folder;
  Options const brief{.warmup = 60, .draws = 20, .thin = 2, .told_every = 7};
  BatchOf<Gaussian> const target;
  auto const starts = starts_of(10, 3);
  auto const whole = chees(Host(), key(1), target, starts, brief);
  auto chains =
      chees(Host(), key(1), target, starts, brief, [](Progress const& p) { return p.done < 20; });
  save(folder.path(), chains);
  chains = chees(Host(), target, read_chains(folder.path()), brief,
                 [](Progress const& p) { return p.done < 70; });
  EXPECT_EQ(chains.draws.shape()[1],
            6);  // 72 done: the first multiple of 7 from 70 on, with whole kept draws
  chains = chees(Host(), target, std::move(chains), brief);
  EXPECT_TRUE(coir::all(chains.draws == whole.draws));
  EXPECT_TRUE(coir::all(chains.statistics == whole.statistics));
  EXPECT_TRUE(chains.state == whole.state);
}

namespace {

/// Two unit normal numbers, with a cliff that throws chains beyond 2 as far as 1e200.
struct Cliff {
  double operator()(Kokkos::View<double const*, Kokkos::HostSpace> const& x,
                    Kokkos::View<double*, Kokkos::HostSpace> const& slope) const {
    for (int i : {0, 1}) slope(i) = -x(i);
    if (x(0) > 2) slope(0) = 1e200;
    return x(0) > 2 ? -1e6 : -0.5 * (x(0) * x(0) + x(1) * x(1));
  }
};

}  // namespace

TEST(Chees, LearnsNothingFromChainsThatDiverged) {
  Starts starts({16, 2});
  starts = 0.1;
  auto const chains = chees(Host(), key(4), BatchOf<Cliff>{}, starts, {.warmup = 100, .draws = 50});
  auto const summary = summarise(chains);
  EXPECT_GT(summary.divergences, 0);
  for (double const number : chains.state) ASSERT_TRUE(std::isfinite(number));
  EXPECT_GE(summary.steps, 1);
  EXPECT_LT(summary.steps, 100);
}

TEST(Chees, SaysWhatItCannotDo) {
  auto const run = [](auto const& target, std::int64_t n, Options const& options) {
    chees(Host(), key(1), target, starts_of(4, n), options);
  };
  BatchOf<Gaussian> const target;
  EXPECT_NE(message_of([&] { run(target, 2, {.mass = Mass::dense}); }).find("no dense mass"),
            std::string::npos);
  EXPECT_NE(message_of([&] { run(target, 2, {.draws = 0}); }).find("draws must be 1"),
            std::string::npos);
  EXPECT_NE(message_of([&] { run(number_batch<2>(Pair{}), 3, {}); }).find("of 2 numbers"),
            std::string::npos);
  auto const nowhere = number_batch<1>([](auto x) { return log(x - 100); });
  EXPECT_NE(message_of<coir::NumericalError>([&] { run(nowhere, 1, {}); }).find("chain 0 starts"),
            std::string::npos);
}

// ---- fields ----

namespace {

/// The posterior of a field of unit white noise w, seen as sqrt(S) w with noise of the variance N,
/// both varying from cell to cell. A third of the cells are masked: 1 / N is 0. The means and the
/// variances are those of the Wiener filter:
///
///   mean sqrt(S) d / (S + N),  variance N / (S + N)
template <class Exec>
struct Field {
  using Numbers = Kokkos::View<double*, typename Exec::memory_space>;
  Numbers amplitude, data, weight;

  static double signal(std::int64_t i) { return 0.2 + double(i % 17) / 4; }
  static double inverse_noise(std::int64_t i) { return i % 3 == 0 ? 0 : 0.5 + double(i % 11); }
  static double seen(std::int64_t i) { return 2 * std::sin(0.7 * double(i)); }

  explicit Field(std::int64_t n)
      : amplitude("amplitude", static_cast<std::size_t>(n)),
        data("data", static_cast<std::size_t>(n)),
        weight("weight", static_cast<std::size_t>(n)) {
    auto const a = Kokkos::create_mirror_view(amplitude);
    auto const d = Kokkos::create_mirror_view(data);
    auto const w = Kokkos::create_mirror_view(weight);
    for (std::int64_t i = 0; i < n; ++i) {
      a(i) = std::sqrt(signal(i));
      d(i) = seen(i);
      w(i) = inverse_noise(i);
    }
    Kokkos::deep_copy(amplitude, a);
    Kokkos::deep_copy(data, d);
    Kokkos::deep_copy(weight, w);
  }

  double operator()(Kokkos::View<double const*, typename Exec::memory_space> const& white,
                    Numbers const& slope) const {
    double value = 0;
    auto const a = amplitude, d = data, w = weight;
    auto const n = static_cast<std::int64_t>(white.extent(0));
    coir::reduce(
        "coir::tests::field", Exec(), coir::box<1, std::int64_t>({n}),
        KOKKOS_LAMBDA(std::int64_t i, double& sum) {
          double const residual = d(i) - a(i) * white(i);
          slope(i) = -white(i) + a(i) * w(i) * residual;
          sum -= 0.5 * (white(i) * white(i) + w(i) * residual * residual);
        },
        Kokkos::Sum<double>(value));
    return value;
  }
};

/// What the Wiener filter says of each cell.
void expects_wiener_filter(Chains const& chains) {
  std::vector<double> means, variances;
  for (std::int64_t k = 0; k < chains.draws.shape()[2]; ++k) {
    double const signal = Field<Host>::signal(k), inverse_noise = Field<Host>::inverse_noise(k);
    variances.push_back(1 / (1 + signal * inverse_noise));
    means.push_back(variances.back() * std::sqrt(signal) * inverse_noise * Field<Host>::seen(k));
  }
  expects_gaussians(chains, means, variances);
}

}  // namespace

template <class Exec>
struct FieldOn : ::testing::Test {};
TYPED_TEST_SUITE(FieldOn, Spaces, SpaceName);

TYPED_TEST(FieldOn, HasTheMomentsOfTheWienerFilter) {
  using Exec = TypeParam;
  std::int64_t const n = 512;
  Field<Exec> const field(n);
  Options const options{.warmup = 300, .draws = 600};
  auto const starts = starts_of(2, n);
  expects_wiener_filter(hmc(Exec(), key(1), field, starts, options));
  expects_wiener_filter(microcanonical(Exec(), key(1), field, starts, options));
}

TEST(Microcanonical, HasTheMomentsOfAGaussian) {
  Options const options{.warmup = 500, .draws = 2000, .mass = Mass::dense, .acceptance = 0.9};
  auto const chains = microcanonical(Host(), key(5), Gaussian{}, starts_of(4, 5), options);
  expects_moments(chains);
  EXPECT_FALSE(chains.biased);
  auto const summary = summarise(chains);
  for (double const energy : summary.energy) EXPECT_TRUE(std::isnan(energy));
  EXPECT_EQ(to_text(summary).find("E-BFMI"), std::string::npos);
}

TEST(Microcanonical, ATrajectoryThatDivergedIsNotAccepted) {
  auto const cliff = [](Kokkos::View<double const*, Kokkos::HostSpace> const& x,
                        Kokkos::View<double*, Kokkos::HostSpace> const& slope) {
    slope(0) = slope(1) = 0;
    return x(0) == 0 ? 0.0 : 2000.0;  // the energy falls by more than a step may change it
  };
  detail::MicrocanonicalMove<Host, true> move(Host(), 2, {});
  detail::Place<Host> here(2);
  here.evaluate(Host(), cliff);
  auto const told = move.draw(cliff, key(1), 0.1, detail::Scale<Host>(Mass::unit, 2), here);
  EXPECT_TRUE(told.diverged);
  EXPECT_EQ(told.acceptance, 0);
  EXPECT_EQ(here.theta(0), 0);
}

// The direction after a search for the step is the next draw's own, not that of the search.
TEST(Microcanonical, TakesANewDirectionAfterTheSearchForAStep) {
  auto const moved = [](coir::random::Key const& for_draw) {
    detail::MicrocanonicalMove<Host, false> move(Host(), 3, {.most_steps = 1});
    detail::Scale<Host> const scale(Mass::unit, 3);
    detail::Place<Host> here(3);
    here.evaluate(Host(), Gaussian{});
    move.draw(Gaussian{}, key(1), 0.1, scale, here);
    move.first_step(Gaussian{}, scale, key(2), here);
    move.draw(Gaussian{}, for_draw, 0.1, scale, here);
    return here.theta(0);
  };
  EXPECT_NE(moved(key(3)), moved(key(4)));
}

/// The Gaussian again as an array program: the same values and slopes, and chains that take turns.
TEST(Targets, OfArraysHaveTheGradientsOfTheirProgram) {
  std::int64_t const n = 5;
  coir::Array<double, 1, Kokkos::HostSpace> deviation({n}), mean({n});
  for (std::int64_t i = 0; i < n; ++i) {
    deviation(i) = Gaussian::deviation(i);
    mean(i) = double(i);
  }
  auto const program = [&](auto x) {
    using coir::range, coir::end;
    auto const y = evaluate((x - mean) / deviation);
    auto const off = y(range(1, end)) - 0.6 * y(range(0, -1));
    return -0.5 * (y(0) * y(0) + sum(square(off)) / 0.64);
  };
  using Numbers = Kokkos::View<double*, Kokkos::HostSpace>;
  Numbers const x("x", n), slope("slope", n), wanted("wanted", n);
  for (std::int64_t i = 0; i < n; ++i) x(i) = std::sin(double(3 * i));
  double const value = Gaussian{}(x, wanted);
  EXPECT_NEAR(array_target(program)(Kokkos::View<double const*, Kokkos::HostSpace>(x), slope),
              value, 1e-13 * std::abs(value));
  for (std::int64_t i = 0; i < n; ++i) EXPECT_NEAR(slope(i), wanted(i), 1e-13 * 10);
  auto const chains =
      hmc(Host(), key(2), array_target(program), starts_of(2, n), {.warmup = 20, .draws = 20});
  EXPECT_TRUE(coir::all(coir::isfinite(chains.draws)));
}

// The bias of the variances falls with the step: 1 % and 7 %, with errors of 0.3 %.
TEST(Microcanonical, UnadjustedIsBiasedByTheStep) {
  auto const excess = [](double energy_error) {
    std::int64_t const n = 512;
    auto const chains =
        microcanonical_unadjusted(Host(), key(6), Field<Host>(n), starts_of(2, n),
                                  {.warmup = 300, .draws = 300, .energy_error = energy_error});
    EXPECT_TRUE(chains.biased);
    auto const summary = summarise(chains);
    EXPECT_NE(to_text(summary).find("no Metropolis test"), std::string::npos);
    double ratio = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      double const variance = 1 / (1 + Field<Host>::signal(k) * Field<Host>::inverse_noise(k));
      ratio +=
          std::pow(summary.parameters[static_cast<std::size_t>(k)].deviation, 2) / variance / n;
    }
    return ratio - 1;
  };
  double const fine = excess(1e-5), coarse = excess(1e-1);
  EXPECT_LT(std::abs(fine), 0.02);
  EXPECT_GT(std::abs(coarse), 2 * std::abs(fine));
}

TEST(Microcanonical, GoesOnWithTheSameBits) {
  Options const brief{.warmup = 60, .draws = 20, .told_every = 7};
  auto const starts = starts_of(2, 3);
  auto const whole = microcanonical_unadjusted(Host(), key(1), Gaussian{}, starts, brief);
  auto chains = microcanonical_unadjusted(Host(), key(1), Gaussian{}, starts, brief,
                                          [](Progress const& p) { return p.done < 65; });
  TemporaryFolder const folder;
  save(folder.path(), chains);
  chains = read_chains(folder.path());
  EXPECT_TRUE(chains.biased);
  chains = microcanonical_unadjusted(Host(), Gaussian{}, std::move(chains), brief);
  EXPECT_TRUE(coir::all(chains.draws == whole.draws));
  EXPECT_TRUE(chains.state == whole.state);
  EXPECT_NE(message_of([&] {
              microcanonical(Host(), key(1), Gaussian{}, starts_of(1, 1));
            }).find("2 parameters or more, not 1"),
            std::string::npos);
}
