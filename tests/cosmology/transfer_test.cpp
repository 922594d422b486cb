#include <coir/cosmology/transfer.hpp>

#include <gtest/gtest.h>

#include "sets.hpp"

#include <cmath>
#include <limits>

using namespace coir::cosmology;

namespace {

/// Ten digits are given.
constexpr double tolerance = 3e-10;

double power_law(double k, double slope) { return std::pow(k, slope); }

}  // namespace

TEST(TransferScales, HaveTheReferenceValues) {
  auto const s = transfer_scales(simple_lcdm());
  EXPECT_CLOSE(s.sound_horizon, 148.00504, 4e-8);  // eight or nine digits
  EXPECT_CLOSE(s.z_eq, 3539.38377, 2e-9);
  EXPECT_CLOSE(s.z_drag, 1025.56001, 5e-9);
  EXPECT_CLOSE(s.k_silk, 0.095688611, 6e-9);
}

TEST(TransferScales, AreThoseOfTheirDefinitions) {
  // R = 31.5 omega_b h^2 (T/2.7)^-4 (1000/z), and k_eq = 0.0746 omega_m h^2 (T/2.7)^-2
  auto p = simple_lcdm();
  p.t_cmb = 2.7;
  auto const s = transfer_scales(p);
  EXPECT_DOUBLE_EQ(s.k_eq, 0.0746 * 0.147);
  EXPECT_DOUBLE_EQ(s.r_drag * s.z_drag, 31500 * 0.0245);
  EXPECT_DOUBLE_EQ(s.r_eq * s.z_eq, 31500 * 0.0245);
}

TEST(EisensteinHu, HasTheReferenceValues) {
  EisensteinHu<> const transfer(simple_lcdm());
  EXPECT_CLOSE(transfer(0.01), 0.7798740158, tolerance);
  EXPECT_CLOSE(transfer(0.1), 0.1286076219, tolerance);
  EXPECT_CLOSE(transfer(1), 4.587867257e-3, tolerance);
  EXPECT_CLOSE(transfer(10), 8.776769571e-5, tolerance);
  EXPECT_EQ(transfer.scales().z_eq, transfer_scales(simple_lcdm()).z_eq);
}

TEST(EisensteinHu, DependsOnTheTemperature) {
  auto p = simple_lcdm();
  double const before = EisensteinHu<>(p)(0.1);
  p.t_cmb = 2.726;
  EXPECT_NEAR(EisensteinHu<>(p)(0.1) / before - 1, -4.1e-4, 5e-6);  // two digits are given
}

TEST(EisensteinHu, WorksInSinglePrecision) {
  EisensteinHu<float> const transfer(simple_lcdm<float>());
  EXPECT_CLOSE(transfer(0.1F), 0.1286076219F, 1e-5F);
}

TEST(NoWiggle, HasTheReferenceValues) {
  NoWiggle<> const transfer(simple_lcdm());
  EXPECT_CLOSE(transfer(0.01), 0.7861642547, tolerance);
  EXPECT_CLOSE(transfer(0.1), 0.1312569766, tolerance);
  EXPECT_CLOSE(transfer(1), 4.556065927e-3, tolerance);
  EXPECT_CLOSE(transfer.sound_horizon(), 148.00504, 4e-8);
}

TEST(NoWiggle, TakesTheFittedHorizonOnDemand) {
  NoWiggle<> const fitted(simple_lcdm(), SoundHorizon::fitted), exact(simple_lcdm());
  double const s = 44.5 * std::log(9.83 / 0.147) / std::sqrt(1 + 10 * std::pow(0.0245, 0.75));
  EXPECT_DOUBLE_EQ(fitted.sound_horizon(), s);
  // "to better than 2 %", says the paper
  EXPECT_CLOSE(fitted.sound_horizon(), exact.sound_horizon(), 0.02);
  EXPECT_NE(fitted(0.05), exact(0.05));
  EXPECT_CLOSE(fitted(0.05), exact(0.05), 0.01);
}

TEST(Bbks, HasTheReferenceValues) {
  // By NumPy, from the formula
  Bbks<> const transfer(simple_lcdm());
  EXPECT_CLOSE(transfer(0.01), 7.572091565e-01, tolerance);
  EXPECT_CLOSE(transfer(0.1), 1.344629208e-01, tolerance);
  EXPECT_CLOSE(transfer(1), 4.507962217e-03, tolerance);
  EXPECT_EQ(transfer(0), 1);
  EXPECT_CLOSE(transfer(1e-7), 1, 1e-5);
  EXPECT_THROW((void)transfer(-1), coir::PreconditionError);
  EXPECT_THROW(Bbks<>(Parameters<>{.omega_m = 0.3}), coir::PreconditionError);
}

TEST(TransferFunctions, StartAtOneAndFall) {
  EisensteinHu<> const full(simple_lcdm());
  NoWiggle<> const smooth(simple_lcdm());
  EXPECT_EQ(full(0), 1);
  EXPECT_EQ(smooth(0), 1);
  // 1 - T is of order (k / k_eq)^2 times a logarithm
  for (double const k : {1e-30, 1e-8, 1e-6}) {
    EXPECT_NEAR(full(k), 1, 1e-6) << k;
    EXPECT_NEAR(smooth(k), 1, 1e-6) << k;
  }
  // and ln(k) / k^2 at the other end
  for (double const k : {1e2, 1e4}) {
    double const slope = -2 + 1 / std::log(k * 0.7 / (13.41 * full.scales().k_eq));
    EXPECT_NEAR(full(2 * k) / full(k), power_law(2, slope), 0.005) << k;
    EXPECT_NEAR(smooth(2 * k) / smooth(k), power_law(2, slope), 0.005) << k;
  }
}

TEST(TransferFunctions, WithFewBaryonsAgree) {
  auto p = simple_lcdm();
  p.omega_b = 1e-6;
  EisensteinHu<> const full(p);
  NoWiggle<> const smooth(p);
  // their fits of cold dark matter alone differ by up to 2 %
  for (double const k : {1e-3, 0.02, 0.1, 1.0, 10.0}) EXPECT_CLOSE(full(k), smooth(k), 0.02) << k;
}

TEST(TransferFunctions, NeedPhysicalParametersAndWaveNumbers) {
  EXPECT_THROW(transfer_scales(Parameters<>{}), coir::PreconditionError);
  EXPECT_THROW(EisensteinHu<>(Parameters<>{.omega_m = 0.3}), coir::PreconditionError);
  EXPECT_THROW(NoWiggle<>(Parameters<>{.omega_m = 0.3}), coir::PreconditionError);
  double const nan_value = std::numeric_limits<double>::quiet_NaN();
  for (double const k : {-0.1, nan_value}) {
    EXPECT_THROW((void)EisensteinHu<>(simple_lcdm())(k), coir::PreconditionError);
    EXPECT_THROW((void)NoWiggle<>(simple_lcdm())(k), coir::PreconditionError);
  }
}
