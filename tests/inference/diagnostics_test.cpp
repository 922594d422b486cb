#include <coir/inference/diagnostics.hpp>

#include <support/folder.hpp>
#include <support/message_of.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace coir::inference;
using namespace coir::testing;

namespace {

/// x = r x + (a random number of a linear congruential generator) in each chain, shifted.
std::vector<double> chains_of(int chains, int draws, double shift, double r) {
  std::vector<double> result;
  std::uint32_t state = 12345;
  for (int c = 0; c < chains; ++c) {
    double x = 0;
    for (int d = 0; d < draws; ++d) {
      state = 1664525u * state + 1013904223u;
      x = r * x + (double(state) * 0x1p-32 - 0.5);
      result.push_back(x + shift * c);
    }
  }
  return result;
}

/// What ArviZ 0.23.4 gives for the same numbers. It sums autocovariances by Fourier transforms.
void expects_arviz(std::vector<double> const& x, int chains, double r, double bulk, double tail) {
  EXPECT_NEAR(r_hat(x, chains), r, 1e-9 * r);
  EXPECT_NEAR(ess_bulk(x, chains), bulk, 1e-9 * bulk);
  EXPECT_NEAR(ess_tail(x, chains), tail, 1e-9 * tail);
}

}  // namespace

TEST(Diagnostics, AreThoseOfArviz) {
  expects_arviz(chains_of(4, 250, 0, 0.7), 4, 1.0275709509503006, 110.24233991042574,
                372.86578439490665);
  expects_arviz(chains_of(4, 251, 0.3, 0.7), 4, 1.36020938748795, 9.934606825643057,
                63.953939984772845);
  expects_arviz(chains_of(1, 400, 0, 0.9), 1, 1.0313657033695036, 18.173962806919143,
                14.562989498303976);
  expects_arviz(chains_of(3, 100, 0, -0.5), 3, 1.000542632965909, 743.1363764158988,
                253.11474145452664);
  auto with_ties = chains_of(2, 300, 0, 0.7);
  for (double& x : with_ties) x = std::nearbyint(4 * x) / 4;
  expects_arviz(with_ties, 2, 1.0484403512606562, 57.68136075953235, 116.807995650964);
}

TEST(Diagnostics, EnergiesAreThoseOfArviz) {
  Chains chains;
  auto const energies = chains_of(1, 500, 0, 0.7);
  chains.draws = coir::Array<double, 3, Kokkos::HostSpace>({1, 500, 1});
  chains.statistics = coir::Array<double, 3, Kokkos::HostSpace>({1, 500, 5});
  std::fill_n(chains.statistics.data(), chains.statistics.size(), 0.0);
  for (std::int64_t d = 0; d < 500; ++d) {
    chains.draws(0, d, 0) = energies[static_cast<std::size_t>(d)] + double(d / 250);
    chains.statistics(0, d, Chains::energy) = energies[static_cast<std::size_t>(d)];
  }
  chains.statistics(0, 7, Chains::diverged) = 1;
  auto const summary = summarise(chains);
  EXPECT_NEAR(summary.energy[0], 0.7499205766642976, 1e-12);
  EXPECT_EQ(summary.divergences, 1);
  auto const text = to_text(summary, {"speed"});
  EXPECT_NE(text.find("speed"), std::string::npos);
  EXPECT_NE(text.find("1 divergence,"), std::string::npos);
  EXPECT_NE(text.find("not converged: R-hat"), std::string::npos);
  EXPECT_EQ(text.find("Metropolis"), std::string::npos);
}

TEST(Diagnostics, ChainsOfOneValueAndShortOnesAreNoReasonToFail) {
  std::vector<double> const constant(100, 2.5), three(3, 1.0);
  EXPECT_EQ(ess_bulk(constant, 2), 100);
  EXPECT_TRUE(std::isnan(r_hat(constant, 2)));
  EXPECT_TRUE(std::isnan(r_hat(three, 1)));
  EXPECT_TRUE(std::isnan(ess_tail(three, 1)));
  auto broken = chains_of(2, 50, 0, 0.5);
  broken[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(ess_bulk(broken, 2)));
  std::vector<double> const five{5, 1, 4, 2, 3};
  EXPECT_EQ(quantile_of(five, 0.5), 3);
  EXPECT_DOUBLE_EQ(quantile_of(five, 0.9), 4.6);
  EXPECT_EQ(quantile_of(five, 1), 5);
  for (double const q : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_NE(message_of([&] { quantile_of(five, q); }).find("must lie in [0, 1], not"),
              std::string::npos);
  Chains empty;
  empty.draws = coir::Array<double, 3, Kokkos::HostSpace>({1, 3, 1});
  EXPECT_NE(message_of([&] { summarise(empty); }).find("4 draws or more, not 3"),
            std::string::npos);
}

TEST(Diagnostics, TextSaysNothingOfEnergiesThatAreNaN) {
  Summary summary;
  EXPECT_EQ(to_text(summary).find("E-BFMI"), std::string::npos);
  summary.energy = {std::numeric_limits<double>::quiet_NaN(), 0.5};
  EXPECT_EQ(to_text(summary).find("E-BFMI"), std::string::npos);
  summary.energy.push_back(0.2);
  EXPECT_NE(to_text(summary).find("E-BFMI 0.20"), std::string::npos);
}
