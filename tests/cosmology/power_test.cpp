#include <coir/cosmology/power.hpp>

#include <support/message_of.hpp>

#include "sets.hpp"

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

using namespace coir::cosmology;
using namespace coir::testing;

namespace {

/// What a Boltzmann code would write, of `power` itself.
PowerTable tabulated(LinearPower<> const& power, double k_min, double k_max, int rows) {
  std::vector<double> k, p;
  for (int i = 0; i < rows; ++i) {
    k.push_back(k_min * std::pow(k_max / k_min, double(i) / (rows - 1)));
    p.push_back(power(k.back()));
  }
  return {k, p};
}

}  // namespace

TEST(TopHat, IsOneAtZeroAndKeepsItsFormula) {
  EXPECT_EQ(w_tophat(0.0), 1);
  for (double const x : {0.3, 0.7, 3.0, 30.0}) {
    // cancellation of 3 / x^3 against the result
    double const exact = 3 * (std::sin(x) - x * std::cos(x)) / (x * x * x);
    EXPECT_NEAR(w_tophat(x), exact, 1e-15 * (1 + 30 / (x * x))) << x;
  }
  EXPECT_NEAR(w_tophat(4.493409457909064), 0, 1e-16);  // tan x = x
}

TEST(TopHat, IsContinuousWhereTheSeriesEnds) {
  // the derivative there is -0.1, the step 2e-9
  EXPECT_NEAR(w_tophat(0.5 - 1e-9) - w_tophat(0.5 + 1e-9), 0.2e-9, 1e-11);
  // single precision cancels 3 eps / x^2
  EXPECT_NEAR(w_tophat(0.51F), w_tophat(0.51), 1e-6);
}

TEST(LinearPower, ByPrimordialAmplitudeHasTheReferenceValues) {
  LinearPower<> const power(simple_lcdm());
  // P to eight digits
  EXPECT_CLOSE(power(0.01), 22634.846, 3e-8);
  EXPECT_CLOSE(power(0.1), 5613.8663, 2e-8);
  EXPECT_CLOSE(power(1), 65.155388, 1e-8);
  EXPECT_CLOSE(power.sigma(8), 0.8121139683320571, 1e-5);  // pmwd's, by its own integral
  EXPECT_CLOSE(power.sigma(8), 0.81211176, 2e-6);
  EXPECT_CLOSE(LinearPower<float>(simple_lcdm<float>())(0.1F), 5613.8663, 5e-5);
}

TEST(LinearPower, BySigma8HasTheReferenceValues) {
  LinearPower<> const planck(planck15_at_2_726());
  EXPECT_CLOSE(planck(0.1), 5673.4337, 1e-5);
  EXPECT_CLOSE(planck(1), 66.878322, 1e-5);
  LinearPower<> const ccl(ccl_tests());
  EXPECT_CLOSE(ccl(0.1), 5361.4058, 1e-5);
}

TEST(LinearPower, HasTheVarianceItWasNormalisedTo) {
  EXPECT_CLOSE(LinearPower<>(planck15()).sigma(8), 0.8159, 1e-14);
  EXPECT_CLOSE(LinearPower<>(planck15(), TransferFunction::no_wiggle).sigma(8), 0.8159, 1e-14);
  EXPECT_NEAR(LinearPower<float>(planck15<float>()).sigma(8), 0.8159F, 1e-6);
}

TEST(LinearPower, IsTheSameByEitherAmplitude) {
  LinearPower<> const by_amplitude(simple_lcdm());
  auto p = simple_lcdm();
  p.A_s = 0;
  p.sigma8 = by_amplitude.sigma(8);
  LinearPower<> const by_sigma8(p);
  for (double const k : {1e-4, 0.05, 3.0}) EXPECT_CLOSE(by_sigma8(k), by_amplitude(k), 1e-13) << k;
}

TEST(LinearPower, IsTheProductItIsSaidToBe) {
  auto const p = simple_lcdm();
  LinearPower<> const power(p), smooth(p, TransferFunction::no_wiggle);
  Growth<> const growth(p);
  for (double const k : {0.003, 0.2}) {
    double const potential = 4.0 / 25 * p.A_s * std::pow(k * p.h / 0.05, p.n_s - 1) *
                             std::pow(k * hubble_distance, 4) / (p.omega_m * p.omega_m);
    double const d1 = growth.d1(0.4);
    double const factor =
        2 * std::numbers::pi * std::numbers::pi / (k * k * k) * potential * d1 * d1;
    double const transfer = EisensteinHu<>(p)(k), no_wiggle = NoWiggle<>(p)(k);
    EXPECT_CLOSE(power(k, 0.4), factor * transfer * transfer, 1e-13);
    EXPECT_CLOSE(smooth(k, 0.4), factor * no_wiggle * no_wiggle, 1e-13);
  }
}

TEST(LinearPower, GrowsWithTheSquareOfD1AndIsZeroAtZero) {
  LinearPower<> const power(planck15());
  double const d = power.growth().d1(0.25) / power.growth().d1(1);
  EXPECT_CLOSE(power(0.1, 0.25), power(0.1) * d * d, 1e-15);
  EXPECT_EQ(power(0.1, 1), power(0.1));
  EXPECT_EQ(power(0), 0);
  EXPECT_EQ(power.parameters().sigma8, 0.8159);
}

TEST(LinearPower, VarianceDoesNotDependOnThePanels) {
  // a plain Simpson rule with steps of 2e-4 in ln k, far beyond where it matters
  LinearPower<> const power(simple_lcdm());
  for (double const r : {0.5, 8.0, 100.0}) {
    int const n = 100000;
    double const from = std::log(1e-6), h = (std::log(400 / r) - from) / n;
    double sum = 0;
    for (int i = 0; i <= n; ++i) {
      double const k = std::exp(from + i * h), w = w_tophat(k * r);
      sum += (i == 0 || i == n ? 1 : i % 2 == 1 ? 4 : 2) * k * k * k * power(k) * w * w;
    }
    double const variance = sum * h / 3 / (2 * std::numbers::pi * std::numbers::pi);
    EXPECT_CLOSE(power.sigma(r), std::sqrt(variance), 1e-7) << r;
  }
}

// Simpson's rule in ln k with 50 steps a period of the top hat, up to waves that nothing is left
// of.
TEST(LinearPower, VarianceInLargeSpheresHasTheWavesAtThePeakOfTheSpectrum) {
  LinearPower<> const power(simple_lcdm());
  for (double const r : {300.0, 1000.0, 5000.0}) {
    double sum = 0;
    auto const integrand = [&](double k) {
      double const w = w_tophat(k * r);
      return k * k * power(k) * w * w;
    };
    auto const add = [&](double from, double to, double step, auto const& at, auto const& by) {
      auto const n = 2 * static_cast<int>(std::ceil((to - from) / step / 2));
      double const h = (to - from) / n;
      for (int i = 0; i <= n; ++i)
        sum += (i == 0 || i == n ? 1
                : i % 2 == 1     ? 4
                                 : 2) *
               h / 3 * integrand(at(from + i * h)) * by(from + i * h);
    };
    auto const exp = [](double x) { return std::exp(x); };
    auto const same = [](double x) { return x; };
    auto const one = [](double) { return 1.0; };
    add(std::log(1e-8), std::log(1 / r), 1e-3, exp, exp);
    add(1 / r, 5, 0.06 / r, same, one);
    double const variance = sum / (2 * std::numbers::pi * std::numbers::pi);
    EXPECT_CLOSE(power.sigma(r), std::sqrt(variance), 1e-7) << r;
  }
}

TEST(LinearPower, OfATableInLargeSpheresNeedsThePeak) {
  LinearPower<> const power(planck15());
  LinearPower<> const table(planck15(), tabulated(power, 1e-6, 2, 600));
  EXPECT_CLOSE(table.sigma(3000), power.sigma(3000), 1e-4);
  LinearPower<> const cut(planck15(), tabulated(power, 1e-6, 0.1, 500));
  auto const message = message_of([&] { (void)cut.sigma(3000); });
  EXPECT_NE(message.find(", 1] h/Mpc is needed"), std::string::npos) << message;
}

TEST(LinearPower, OfATableIsTheTable) {
  LinearPower<> const power(planck15());
  LinearPower<> const again(Parameters<>{.omega_m = 0.3075}, tabulated(power, 1e-4, 20, 400));
  for (double const k : {2e-4, 0.011, 0.1, 7.0}) {
    EXPECT_CLOSE(again(k), power(k), 1e-4) << k;  // cubic, through ten rows per acoustic period
    EXPECT_CLOSE(again(k, 0.3) / again(k), power(k, 0.3) / power(k), 1e-14) << k;
  }
  EXPECT_CLOSE(again.sigma(8), 0.8159, 2e-5);  // what is beyond 20 h/Mpc, and the above
}

TEST(LinearPower, OfATableCanBeNormalisedToSigma8) {
  LinearPower<> const power(planck15());
  auto p = planck15();
  p.sigma8 = 0.4;
  auto const table = tabulated(power, 1e-4, 20, 400);
  LinearPower<> const halved(p, table, TableAmplitude::sigma8);
  EXPECT_CLOSE(halved.sigma(8), 0.4, 1e-14);
  EXPECT_CLOSE(halved(0.1), power(0.1) * 0.4 * 0.4 / (0.8159 * 0.8159), 1e-4);
  EXPECT_THROW(LinearPower<>(simple_lcdm(), table, TableAmplitude::sigma8),
               coir::PreconditionError);
}

TEST(LinearPower, OfAShortTableSaysWhatIsMissing) {
  LinearPower<> const power(planck15());
  LinearPower<> const cut(planck15(), tabulated(power, 0.01, 1, 50));
  auto const message = message_of([&] { (void)cut.sigma(8); });
  EXPECT_NE(message.find("[0.01, 1]"), std::string::npos) << message;
  EXPECT_NE(message.find("[0.0025, 3.75]"), std::string::npos) << message;
  EXPECT_THROW((void)cut(2), coir::PreconditionError);
  EXPECT_THROW((void)cut(0.001, 0.5), coir::PreconditionError);
  EXPECT_FALSE(cut.covers(0.02, 1.5));
  EXPECT_TRUE(cut.covers(0.02, 0.5));
  EXPECT_THROW(cut.expects_coverage(0.005, 0.5), coir::PreconditionError);
  EXPECT_THROW(LinearPower<>(planck15(), tabulated(power, 0.01, 1, 50), TableAmplitude::sigma8),
               coir::PreconditionError);
}

TEST(LinearPower, OfTransferFunctionsCoversAllWaveNumbers) {
  LinearPower<> const power(planck15());
  EXPECT_TRUE(power.covers(0, 1e6));
  EXPECT_FALSE(power.covers(-1, 1));
  EXPECT_NO_THROW(power.expects_coverage(0, 10));
  EXPECT_THROW(power.expects_coverage(2, 1), coir::PreconditionError);
}

TEST(LinearPower, NeedsAllParametersAndToday) {
  EXPECT_THROW(LinearPower<>(Parameters<>{}), coir::PreconditionError);
  auto p = planck15();
  p.sigma8 = 0;
  EXPECT_THROW(LinearPower<>{p}, coir::PreconditionError);
  EXPECT_THROW(LinearPower<>(Growth<>(planck15(), 0.01, 0.5)), coir::PreconditionError);
  LinearPower<> const power(planck15());
  EXPECT_THROW((void)power(-0.1), coir::PreconditionError);
  EXPECT_THROW((void)power(0.1, 1e-5), coir::PreconditionError);
  EXPECT_THROW((void)power.sigma(0), coir::PreconditionError);
}

TEST(LinearPower, OfATableOfAnotherTimeIsScaledByGrowth) {
  LinearPower<> const power(planck18());
  Growth<> const growth(planck18(), 1e-3, 1);
  for (double const a : {0.01, 0.1, 0.5, 1.0}) {
    std::vector<double> k, p;
    for (int i = 0; i < 50; ++i) {
      k.push_back(1e-3 * std::pow(1e4, i / 49.0));
      p.push_back(power(k.back(), a));
    }
    LinearPower<> const table(growth, {k, p}, TableAmplitude::as_given, a);
    for (double const at : {k[3], k[20], k[40]}) {
      EXPECT_NEAR(table(at, a), power(at, a), 1e-12 * power(at, a)) << a;
      EXPECT_NEAR(table(at), power(at), 1e-12 * power(at)) << a;
      EXPECT_NEAR(table(at, 0.3), table(at, a) * std::pow(growth.d1(0.3) / growth.d1(a), 2),
                  1e-12 * table(at, 0.3));
    }
  }
  EXPECT_NE(message_of([&] {
              LinearPower<> const out(growth, tabulated(power, 1e-3, 10, 50),
                                      TableAmplitude::as_given, 1e-4);
            }).find("0.0001"),
            std::string::npos);
}
