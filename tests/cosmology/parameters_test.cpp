#include <coir/cosmology/parameters.hpp>

#include <support/message_of.hpp>

#include "sets.hpp"

#include <limits>
#include <string>

using namespace coir::cosmology;
using coir::testing::message_of;

namespace {

double const nan_value = std::numeric_limits<double>::quiet_NaN();
double const infinity = std::numeric_limits<double>::infinity();

/// The error of expects_parameters for planck15 with one parameter changed.
std::string message_with(double Parameters<>::* parameter, double value) {
  auto p = planck15();
  p.*parameter = value;
  return message_of([&p] { expects_parameters(p); });
}

void expect_named(std::string const& message, char const* name, char const* value) {
  EXPECT_NE(message.find(name), std::string::npos) << message;
  EXPECT_NE(message.find(value), std::string::npos) << message;
}

}  // namespace

TEST(Parameters, OfTheNamedSetsAreAccepted) {
  EXPECT_NO_THROW(expects_parameters(planck15()));
  EXPECT_NO_THROW(expects_parameters(planck18()));
  EXPECT_NO_THROW(expects_parameters(simple_lcdm()));
  EXPECT_NO_THROW(expects_parameters(planck15<float>()));
  EXPECT_NO_THROW(expects_parameters(coir::testing::ccl_tests()));
  EXPECT_NO_THROW(expects_parameters(coir::testing::curved_with_changing_dark_energy()));
}

TEST(Parameters, LeaveTheRestToDarkEnergy) {
  Parameters<> const p{.omega_m = 0.25, .omega_k = 0.125, .omega_r = 0.0625};
  EXPECT_EQ(p.omega_de(), 0.5625);
}

TEST(Parameters, AreTheSameInAnotherType) {
  auto p = coir::testing::curved_with_changing_dark_energy();
  p.k_pivot = 0.002;
  p.t_cmb = 2.7;
  p.omega_r = 1e-4;
  p.A_s = 3;
  auto const q = parameters_as<float>(p);
  EXPECT_EQ(q.omega_m, 0.31F);
  EXPECT_EQ(q.omega_b, 0.05F);
  EXPECT_EQ(q.h, 0.7F);
  EXPECT_EQ(q.n_s, 0.96F);
  EXPECT_EQ(q.sigma8, 0.8F);
  EXPECT_EQ(q.A_s, 3.0F);
  EXPECT_EQ(q.omega_k, 0.08F);
  EXPECT_EQ(q.omega_r, 1e-4F);
  EXPECT_EQ(q.w0, -0.9F);
  EXPECT_EQ(q.wa, 0.25F);
  EXPECT_EQ(q.t_cmb, 2.7F);
  EXPECT_EQ(q.k_pivot, 0.002);
}

TEST(Parameters, ThatWereNotSetAreNamed) {
  expect_named(message_of([] { expects_parameters(Parameters<>{}); }), "omega_m", "nan");
  expect_named(message_with(&Parameters<>::omega_b, Parameters<>::unset), "omega_b", "nan");
  expect_named(message_with(&Parameters<>::h, Parameters<>::unset), "set h,", "nan");
  expect_named(message_with(&Parameters<>::n_s, Parameters<>::unset), "n_s", "nan");
}

TEST(Parameters, OutOfRangeAreNamedWithTheirValue) {
  using P = Parameters<>;
  expect_named(message_with(&P::omega_m, -0.5), "omega_m", "-0.5");
  expect_named(message_with(&P::omega_m, infinity), "omega_m", "inf");
  expect_named(message_with(&P::omega_b, 0), "omega_b", "not 0");
  expect_named(message_with(&P::omega_b, 0.5), "below omega_m", "0.5");
  expect_named(message_with(&P::h, -0.7), "set h,", "-0.7");
  expect_named(message_with(&P::h, 67.74), "set h,", "67.74");
  expect_named(message_with(&P::n_s, infinity), "n_s", "inf");
  expect_named(message_with(&P::omega_k, nan_value), "omega_k", "nan");
  expect_named(message_with(&P::omega_r, -1e-5), "omega_r", "-1e-05");
  expect_named(message_with(&P::omega_r, nan_value), "omega_r", "nan");
  expect_named(message_with(&P::w0, infinity), "w0", "inf");
  expect_named(message_with(&P::wa, nan_value), "wa", "nan");
  expect_named(message_with(&P::wa, 1.5), "w0 + wa", "0.5");
  expect_named(message_with(&P::t_cmb, 0), "t_cmb", "not 0");
  expect_named(message_with(&P::sigma8, -0.8), "sigma8", "-0.8");
  expect_named(message_with(&P::sigma8, nan_value), "sigma8", "nan");
  expect_named(message_with(&P::A_s, -2e-9), "A_s", "-2e-09");
  expect_named(message_with(&P::k_pivot, 0), "k_pivot", "not 0");
}

TEST(Parameters, GiveTheAmplitudeOnce) {
  expect_named(message_with(&Parameters<>::A_s, 2e-9), "sigma8 = 0.8159", "A_s = 2e-09");
  expect_named(message_with(&Parameters<>::sigma8, 0), "sigma8 = 0", "A_s = 0");
}

TEST(Parameters, OfAUniverseThatBouncesAreRefused) {
  // E^2 = 0.1 a^-3 - 0.9 a^-2 + 1.8 is below 0 from a = 0.12 to 0.63
  Parameters<> const p{.omega_m = 0.1, .omega_k = -0.9};
  expect_named(message_of([&p] { expects_background(p); }), "E^2", "omega_k");
  // and here it turns around in the future alone
  Parameters<> const closed{.omega_m = 1.5, .omega_k = -0.5};
  EXPECT_NO_THROW(expects_background(closed));
  expect_named(message_of([&closed] { expects_background(closed, 5); }), "a = 5", "E^2");
}

TEST(Parameters, AreCheckedForWhatIsAsked) {
  EXPECT_NO_THROW(expects_background(coir::testing::einstein_de_sitter()));
  EXPECT_NO_THROW(expects_transfer(Parameters<>{.omega_m = 0.3, .omega_b = 0.05, .h = 0.7}));
  EXPECT_THROW(expects_transfer(coir::testing::einstein_de_sitter()), coir::PreconditionError);
  EXPECT_THROW(expects_background(planck15(), 0), coir::PreconditionError);
}
