#include <coir/core/contiguous.hpp>
#include <coir/cosmology/likelihood_batch.hpp>

#include <gtest/gtest.h>

#include <support/message_of.hpp>
#include <support/spaces.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace coir::cosmology;

constexpr int most = 12;
using D = coir::Dual<double, most>;
using N = RedshiftDistribution<D>;
using Theta = std::vector<double>;

/// A survey whose variables have the values of theta, in the order in which they are asked for, or
/// those given here.
struct Survey {
  Theta theta;
  Theta fiducial{};
  Parameters<D> p{};
  std::vector<Tracer<D>> tracers{};

  D variable(double value) {
    std::size_t const k = fiducial.size();
    fiducial.push_back(value);
    return D::variable(theta.empty() ? value : theta[k], static_cast<int>(k));
  }
};

/// Both kinds of tracers and all of n(z), in a curved universe. 12 parameters, six of them of the
/// cosmology.
Survey whole_survey(Theta const& theta = {}) {
  Survey s{.theta = theta};
  s.p = {.omega_m = s.variable(0.3),
         .omega_b = s.variable(0.05),
         .h = s.variable(0.7),
         .n_s = D(0.96),
         .sigma8 = s.variable(0.8),
         .omega_k = s.variable(0.01),
         .w0 = s.variable(-0.95),
         .wa = D(0.1)};
  D const alignment = s.variable(0.5), eta = s.variable(0.3);
  double const z[] = {0.1, 0.3, 0.5, 0.8}, n[] = {0, 1, 0.7, 0};
  s.tracers.push_back(
      NumberCounts<D>{.n = N::gaussian(D(0.5), D(0.06)), .bias = s.variable(1.5), .density = 0.02});
  s.tracers.push_back(NumberCounts<D>{.n = N::table(z, n).shifted(s.variable(0.01)),
                                      .bias = D(1.2),
                                      .evolution = BiasEvolution::inverse_growth,
                                      .density = 0.02});
  s.tracers.push_back(WeakLensing<D>{.n = N::smail(D(2), D(1.5), D(0.3)).shifted(s.variable(0.02)),
                                     .m = s.variable(0.01),
                                     .alignment = alignment,
                                     .eta = eta,
                                     .density = 1.5});
  s.tracers.push_back(WeakLensing<D>{
      .n = N::gaussian(D(1), D(0.2)), .alignment = alignment, .eta = eta, .density = 1.5});
  return s;
}

/// P by A_s, radiation, and one bin of counts.
Survey small_survey(Theta const& theta = {}) {
  Survey s{.theta = theta};
  s.p = {.omega_m = s.variable(0.3),
         .omega_b = D(0.05),
         .h = D(0.7),
         .n_s = D(0.96),
         .A_s = D(2e-9),
         .omega_r = D(9e-5)};
  s.tracers.push_back(
      NumberCounts<D>{.n = N::gaussian(D(0.5), D(0.1)), .bias = s.variable(1.5), .density = 0.02});
  return s;
}

/// A survey, and its likelihood with data that are those of other parameters.
struct Case {
  std::function<Survey(Theta const&)> survey;
  AngularPowerOptions options;
  GaussianLikelihood likelihood;

  Case(std::function<Survey(Theta const&)> of, MatterPower matter)
      : survey(std::move(of)), options(with(matter)), likelihood(likelihood_of(survey, options)) {}

  int parameters() const { return static_cast<int>(survey({}).fiducial.size()); }

  /// ln L and its gradient by angular_power.
  D on_host(Theta const& theta) const {
    Survey const s = survey(theta);
    return likelihood(angular_power(s.p, s.tracers, likelihood.data().l(), options));
  }

  template <class Exec>
  LikelihoodBatch<Exec> batch() const {
    Survey const s = survey({});
    return LikelihoodBatch<Exec>(Exec(), s.p, s.tracers, likelihood, options, parameters());
  }

  /// The parameters of so many chains, within 5 % or 0.05.
  std::vector<Theta> chains(std::size_t count) const {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> off(-0.05, 0.05);
    std::vector<Theta> result;
    for (std::size_t c = 0; c < count; ++c) {
      result.push_back(survey({}).fiducial);
      for (double& x : result.back()) x += off(random) * (x == 0 ? 1 : std::abs(x));
    }
    return result;
  }

 private:
  static AngularPowerOptions with(MatterPower matter) {
    AngularPowerOptions options;
    options.matter = matter;
    options.panels = 3;  // what is compared are the sums
    return options;
  }

  static GaussianLikelihood likelihood_of(std::function<Survey(Theta const&)> const& survey,
                                          AngularPowerOptions const& options) {
    Survey const s = survey({});
    std::vector<double> const l = {12, 80, 300.5}, width = {5, 30, 100};
    auto const spectra = angular_power(s.p, s.tracers, l, options);
    auto const noisy = with_noise(spectra, s.tracers);
    AngularSpectra<> data(s.tracers.size(), l), total = data;
    for (std::size_t i = 0; i < data.values().size(); ++i) {
      data.values()[i] = 1.1 * spectra.values()[i].value;
      total.values()[i] = noisy.values()[i].value;
    }
    return {data, total, modes(l, width, 0.1)};
  }
};

/// ln L and its gradient for all chains.
struct Values {
  std::vector<double> value;
  std::vector<Theta> slope;
};
template <class Exec>
Values values_of(LikelihoodBatch<Exec> const& batch, std::vector<Theta> const& chains) {
  using Batch = LikelihoodBatch<Exec>;
  std::size_t const n = chains.front().size();
  typename Batch::Table const theta("theta", chains.size(), n), slope("slope", chains.size(), n);
  typename Batch::Column const value("value", chains.size());
  auto const theta_h = Kokkos::create_mirror_view(theta);
  for (std::size_t c = 0; c < chains.size(); ++c)
    for (std::size_t k = 0; k < n; ++k) theta_h(c, k) = chains[c][k];
  coir::copy_contiguous(theta, theta_h);
  batch(Exec(), theta, slope, value);
  Values result;
  auto const slope_h = coir::host_view_of(slope);
  auto const value_h = coir::host_view_of(value);
  for (std::size_t c = 0; c < chains.size(); ++c) {
    result.value.push_back(value_h.data()[c]);
    result.slope.emplace_back(slope_h.data() + c * n, slope_h.data() + (c + 1) * n);
  }
  return result;
}

/// ln L changes by some units, and is compared with its own size: chi^2 is of about 100.
void expect_equal(Case const& of, std::vector<Theta> const& chains, Values const& values,
                  std::size_t step) {
  for (std::size_t c = 0; c < chains.size(); c += step) {
    D const expected = of.on_host(chains[c]);
    EXPECT_NEAR(values.value[c], expected.value, 1e-10 * std::abs(expected.value)) << c;
    for (std::size_t k = 0; k < chains[c].size(); ++k)
      EXPECT_NEAR(values.slope[c][k], expected.derivative[k],
                  1e-10 * (1 + std::abs(expected.derivative[k])))
          << "chain " << c << ", parameter " << k;
  }
}

template <class Exec>
class LikelihoodBatches : public testing::Test {};
TYPED_TEST_SUITE(LikelihoodBatches, coir::testing::Spaces, coir::testing::SpaceName);

}  // namespace

TYPED_TEST(LikelihoodBatches, AreTheHostsLikelihood) {
  for (auto const matter : {MatterPower::halofit, MatterPower::linear}) {
    Case const of(whole_survey, matter);
    auto const chains = of.chains(7);
    expect_equal(of, chains, values_of(of.batch<TypeParam>(), chains), 1);
  }
}

TYPED_TEST(LikelihoodBatches, OfAsManyChainsAsYouLike) {
  Case const of(small_survey, MatterPower::linear);
  auto const chains = of.chains(1000);
  auto const batch = of.batch<TypeParam>();
  auto const all = values_of(batch, chains);
  expect_equal(of, chains, all, 37);
  for (std::size_t const c : {0, 63, 64, 999}) {
    auto const alone = values_of(batch, {chains[c]});
    EXPECT_EQ(alone.value[0], all.value[c]) << c;
    EXPECT_EQ(alone.slope[0], all.slope[c]) << c;
  }
}

TYPED_TEST(LikelihoodBatches, HaveNoDensityWhereThereIsNoUniverse) {
  Case const of(whole_survey, MatterPower::halofit);
  auto const batch = of.batch<TypeParam>();
  auto chains = of.chains(9);
  double const nan = std::numeric_limits<double>::quiet_NaN();
  chains[1][0] = -0.1;  // omega_m
  chains[2][1] = 0.4;   // omega_b
  chains[3][5] = 0.5;   // w0
  chains[4][8] = nan;   // a bias
  chains[5][9] = -2;    // a shift that leaves no galaxies
  chains[6][3] = 40;    // sigma8, so that sigma is above 1 everywhere
  chains[7][4] = -30;   // space has closed
  auto const values = values_of(batch, chains);
  for (std::size_t c = 1; c < 8; ++c) {
    EXPECT_EQ(values.value[c], -std::numeric_limits<double>::infinity()) << c;
    EXPECT_EQ(values.slope[c], Theta(chains[c].size(), 0.0)) << c;
    EXPECT_THROW((void)of.on_host(chains[c]), coir::PreconditionError) << c;
  }
  // Beside them others are as they were.
  expect_equal(of, {chains[0], chains[8]},
               {{values.value[0], values.value[8]}, {values.slope[0], values.slope[8]}}, 1);
}

TEST(LikelihoodBatch, SaysWhatItDoesNotTake) {
  using Exec = Kokkos::DefaultHostExecutionSpace;
  Case const of(whole_survey, MatterPower::linear);
  Survey s = whole_survey();
  auto const message = [&](AngularPowerOptions const& options, int parameters) {
    return coir::testing::message_of<coir::PreconditionError>(
        [&] { LikelihoodBatch<Exec>(Exec(), s.p, s.tracers, of.likelihood, options, parameters); });
  };
  auto options = of.options;
  options.transfer = TransferFunction::bbks;
  EXPECT_NE(message(options, 12).find("Eisenstein and Hu"), std::string::npos);
  EXPECT_NE(message(of.options, 5).find("below the number of parameters, 5"), std::string::npos);
  s.p.h.derivative[2] = 0.5;
  EXPECT_NE(message(of.options, 12).find("a constant, or a variable"), std::string::npos);
  s = whole_survey();
  std::get<NumberCounts<D>>(s.tracers[0]).n = N::gaussian(D::variable(0.5, 3), D(0.1));
  EXPECT_NE(message(of.options, 12).find("only its shift may vary"), std::string::npos);
  s = whole_survey();
  s.tracers.pop_back();
  EXPECT_NE(message(of.options, 12).find("the tracers of the survey, 3"), std::string::npos);
  auto const batch = of.batch<Exec>();
  LikelihoodBatch<Exec>::Table const five("", 2, 5), twelve("", 2, 12);
  LikelihoodBatch<Exec>::Column const two("", 2), three("", 3);
  EXPECT_THROW(batch(Exec(), five, twelve, two), coir::PreconditionError);
  EXPECT_THROW(batch(Exec(), twelve, twelve, three), coir::PreconditionError);
}
