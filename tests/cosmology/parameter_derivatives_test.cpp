#include <coir/core/dual.hpp>
#include <coir/cosmology/growth.hpp>
#include <coir/cosmology/parameter_derivatives.hpp>
#include <coir/cosmology/power.hpp>

#include <support/message_of.hpp>

#include <gtest/gtest.h>

#include <vector>

using namespace coir;
using namespace coir::cosmology;
using D = Dual<double, varied_parameters>;

TEST(ParameterDerivatives, OfEachParameterIsOneInItsPlace) {
  auto p = planck18();
  p.A_s = 2e-9, p.omega_k = 0.01, p.omega_r = 9e-5, p.wa = 0.1;
  auto const v = variables<D>(p);
  double Parameters<>::* const members[] = {
      &Parameters<>::omega_m, &Parameters<>::omega_b, &Parameters<>::h,
      &Parameters<>::n_s,     &Parameters<>::sigma8,  &Parameters<>::A_s,
      &Parameters<>::omega_k, &Parameters<>::omega_r, &Parameters<>::w0,
      &Parameters<>::wa,      &Parameters<>::t_cmb};
  D Parameters<D>::* const duals[] = {
      &Parameters<D>::omega_m, &Parameters<D>::omega_b, &Parameters<D>::h,
      &Parameters<D>::n_s,     &Parameters<D>::sigma8,  &Parameters<D>::A_s,
      &Parameters<D>::omega_k, &Parameters<D>::omega_r, &Parameters<D>::w0,
      &Parameters<D>::wa,      &Parameters<D>::t_cmb};
  for (int m = 0; m < varied_parameters; ++m) {
    EXPECT_EQ((v.*duals[m]).value, p.*members[m]);
    auto const slope = derivatives(v.*duals[m]);
    for (int n = 0; n < varied_parameters; ++n) EXPECT_EQ(slope.*members[n], n == m ? 1 : 0);
  }
  EXPECT_EQ(v.k_pivot, p.k_pivot);
  EXPECT_EQ(derivatives(v.h).k_pivot, 0);
}

TEST(ParameterDerivatives, AreZeroBeforeAnyAreAdded) {
  auto const none = no_derivatives<float>();
  for (auto const member : varied_members<float>) EXPECT_EQ(none.*member, 0);
  EXPECT_EQ(none.k_pivot, 0);
}

TEST(ParameterDerivatives, OfWhatIsNotGivenAreZero) {
  auto const v = variables<D>(simple_lcdm());  // by A_s, without radiation
  EXPECT_EQ(derivatives(v.sigma8).sigma8, 0);
  EXPECT_EQ(derivatives(v.omega_r).omega_r, 0);
  EXPECT_EQ(derivatives(v.A_s).A_s, 1);
  EXPECT_EQ(derivatives(v.omega_k).omega_k, 1);  // 0 is a value of curvature like others
}

TEST(ParameterDerivatives, OfPowerKeepItsTransferFunctionAndGrowth) {
  for (auto const transfer : {TransferFunction::eisenstein_hu, TransferFunction::no_wiggle}) {
    LinearPower<> const power(Growth<>(planck18(), 0.3, 2), transfer);
    auto const varied = power.with_parameters(variables<D>(planck18()));
    for (double const k : {0.01, 0.1, 1.0}) {
      // exp, log and pow of duals are those of their values.
      EXPECT_NEAR(varied(D(k)).value, power(k), 1e-13 * power(k));
      EXPECT_NEAR(derivatives(varied(D(k))).sigma8, 2 * power(k) / planck18().sigma8,
                  1e-12 * power(k));
    }
    EXPECT_EQ(varied.growth().a_min(), 0.3);
    EXPECT_EQ(varied.growth().a_max(), 2);
    EXPECT_FALSE(power.is_table());
  }
}

TEST(ParameterDerivatives, OfATableAreRefused) {
  std::vector<double> const k{0.06, 0.1, 0.5, 1}, p{1000, 900, 300, 50};
  LinearPower<> const table(planck18(), {k, p, "table.txt"});
  EXPECT_TRUE(table.is_table());
  EXPECT_EQ(coir::testing::message_of([&] { table.with_parameters(variables<D>(planck18())); }),
            "table.txt: a table of P(k) isn't one of other parameters: make the spectrum of a "
            "transfer function");
}
