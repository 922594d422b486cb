#include <field/lbfgs.hpp>
#include <support/spaces.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace coir::apps::field;

template <class C>
using Numbers =
    Kokkos::View<typename C::Real*, Kokkos::LayoutRight, typename C::Exec::memory_space>;

constexpr auto ignore = [](LbfgsState const&) {};

/// A function on the host: value(x, gradient) of doubles, for numbers wherever they are.
template <class C, class Function>
auto on_host(Function const& function) {
  return [function](Numbers<C> const& x, Numbers<C> const& gradient) {
    auto const x_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, x);
    auto const gradient_h = Kokkos::create_mirror_view(gradient);
    std::vector<double> at(x_h.data(), x_h.data() + x_h.size()), slope(x_h.size());
    double const value = function(at, slope);
    for (std::size_t n = 0; n < slope.size(); ++n)
      gradient_h(n) = static_cast<typename C::Real>(slope[n]);
    Kokkos::deep_copy(gradient, gradient_h);
    return value;
  };
}

template <class C>
Numbers<C> numbers(std::vector<double> const& values) {
  Numbers<C> const x("x", values.size());
  auto const x_h = Kokkos::create_mirror_view(x);
  for (std::size_t n = 0; n < values.size(); ++n) x_h(n) = static_cast<typename C::Real>(values[n]);
  Kokkos::deep_copy(x, x_h);
  return x;
}

template <class C>
std::vector<double> values_of(Numbers<C> const& x) {
  auto const x_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, x);
  return {x_h.data(), x_h.data() + x_h.size()};
}

/// sum_n c_n (x_n - n)^2 / 2 with c_n from 1 to `largest`
auto quadratic(double largest) {
  return [=](std::vector<double> const& x, std::vector<double>& slope) {
    double value = 0;
    for (std::size_t n = 0; n < x.size(); ++n) {
      double const c = x.size() > 1 ? std::pow(largest, double(n) / double(x.size() - 1)) : largest;
      slope[n] = c * (x[n] - double(n));
      value += slope[n] * (x[n] - double(n)) / 2;
    }
    return value;
  };
}

/// Rosenbrock's valley: (1 - x)^2 + 100 (y - x^2)^2
double rosenbrock(std::vector<double> const& x, std::vector<double>& slope) {
  double const a = 1 - x[0], b = x[1] - x[0] * x[0];
  slope = {-2 * a - 400 * b * x[0], 200 * b};
  return a * a + 100 * b * b;
}

template <class C>
class Minimiser : public ::testing::Test {};
TYPED_TEST_SUITE(Minimiser, coir::testing::Cases, coir::testing::CaseName);

template <class C, class Function>
LbfgsResult minimise(Numbers<C> const& x, Function const& function,
                     LbfgsOptions const& options = {}) {
  return Lbfgs(typename C::Exec{}, x, options).minimise(x, on_host<C>(function), ignore);
}

}  // namespace

TYPED_TEST(Minimiser, FindsTheBottomOfQuadraticForms) {
  double const eps = std::numeric_limits<typename TypeParam::Real>::epsilon();
  for (std::size_t const size : {1U, 2U, 7U, 100U}) {
    auto const x = numbers<TypeParam>(std::vector<double>(size, 0.5));
    auto const result = minimise<TypeParam>(x, quadratic(10), {.iterations = 200});
    EXPECT_NE(result.stopped_by, StoppedBy::iterations) << size;
    auto const found = values_of<TypeParam>(x);
    // The value is a sum of squares that is known to the rounding of x: it ends where x_n - n is that.
    for (std::size_t n = 0; n < size; ++n)
      EXPECT_NEAR(found[n], double(n), 100 * eps * double(size)) << n;
  }
}

TYPED_TEST(Minimiser, FindsTheEndOfRosenbrocksValley) {
  double const eps = std::numeric_limits<typename TypeParam::Real>::epsilon();
  auto const x = numbers<TypeParam>({-1.2, 1});
  auto const result = minimise<TypeParam>(x, rosenbrock, {.iterations = 200});
  auto const found = values_of<TypeParam>(x);
  // y - x^2 is known to eps, so the value to 100 eps^2 and x, whose curvature along the valley is 0.4, to 20 eps or so.
  EXPECT_NEAR(found[0], 1, 100 * eps);
  EXPECT_NEAR(found[1], 1, 200 * eps);
  EXPECT_LT(result.state.iterations, 60);
  EXPECT_LT(result.state.evaluations, 90);
}

TYPED_TEST(Minimiser, EveryIterationGoesDown) {
  auto const x = numbers<TypeParam>({-1.2, 1});
  std::vector<LbfgsState> states;
  Lbfgs(typename TypeParam::Exec{}, x, {.iterations = 20})
      .minimise(x, on_host<TypeParam>(rosenbrock),
                [&](LbfgsState const& state) { states.push_back(state); });
  ASSERT_EQ(states.size(), 21U);
  EXPECT_EQ(states[0].evaluations, 1);
  EXPECT_NEAR(states[0].value, 24.2,
              1000 * std::numeric_limits<typename TypeParam::Real>::epsilon());
  for (std::size_t n = 1; n < states.size(); ++n) {
    EXPECT_EQ(states[n].iterations, int(n));
    EXPECT_GT(states[n].evaluations, states[n - 1].evaluations);
    EXPECT_LT(states[n].value, states[n - 1].value);
    EXPECT_GT(states[n].step_norm, 0);
  }
}

TYPED_TEST(Minimiser, WhatIsRememberedLeadsFurther) {
  auto const value_by = [](int pairs) {
    auto const x = numbers<TypeParam>(std::vector<double>(50, -1));
    return minimise<TypeParam>(x, quadratic(1000), {.iterations = 100, .pairs = pairs}).state.value;
  };
  EXPECT_LT(value_by(20), value_by(1) / 10);
}

TYPED_TEST(Minimiser, EndsAtKinksToo) {
  // |x| + 2 |y|, whose slope never becomes small.
  auto const kinks = [](std::vector<double> const& x, std::vector<double>& slope) {
    slope = {x[0] < 0 ? -1.0 : 1.0, x[1] < 0 ? -2.0 : 2.0};
    return std::abs(x[0]) + 2 * std::abs(x[1]);
  };
  auto const x = numbers<TypeParam>({0.7, -0.3});
  auto const result = minimise<TypeParam>(x, kinks, {.iterations = 200, .trials = 60});
  EXPECT_LT(result.state.value, 1e-4);
}

TYPED_TEST(Minimiser, SaysWhyItStopped) {
  auto const bottom = numbers<TypeParam>({0, 1, 2});
  auto const at_bottom = minimise<TypeParam>(bottom, quadratic(10));
  EXPECT_EQ(at_bottom.stopped_by, StoppedBy::no_slope);
  EXPECT_EQ(at_bottom.state.evaluations, 1);

  auto const x = numbers<TypeParam>({5, 5, 5});
  auto const few = minimise<TypeParam>(x, quadratic(10), {.iterations = 2});
  EXPECT_EQ(few.stopped_by, StoppedBy::iterations);
  EXPECT_EQ(few.state.iterations, 2);
  auto const none = minimise<TypeParam>(x, quadratic(10), {.iterations = 0});
  EXPECT_EQ(none.stopped_by, StoppedBy::iterations);
  EXPECT_EQ(none.state.value, few.state.value);

  auto const coarse =
      minimise<TypeParam>(x, quadratic(10), {.iterations = 100, .tolerance = 0.999999});
  EXPECT_EQ(coarse.stopped_by, StoppedBy::tolerance);
  EXPECT_EQ(coarse.state.iterations, 1);

  // A slope of the wrong sign.
  auto const uphill = [](std::vector<double> const& y, std::vector<double>& slope) {
    slope[0] = -2 * y[0];
    return y[0] * y[0];
  };
  auto const y = numbers<TypeParam>({3});
  auto const stuck = minimise<TypeParam>(y, uphill, {.trials = 5});
  EXPECT_EQ(stuck.stopped_by, StoppedBy::no_descent);
  EXPECT_EQ(stuck.state.evaluations, 6);
  EXPECT_EQ(values_of<TypeParam>(y), std::vector<double>{3});

  EXPECT_EQ(name_of(StoppedBy::iterations), "iterations");
  EXPECT_EQ(name_of(StoppedBy::tolerance), "tolerance");
  EXPECT_EQ(name_of(StoppedBy::no_slope), "no_slope");
  EXPECT_EQ(name_of(StoppedBy::no_descent), "no_descent");
}

TYPED_TEST(Minimiser, GoesRoundWhereTheFunctionIsNoNumber) {
  // x - ln x has its bottom at 1; from 0.1 a step of length 5 against the slope ends at 5.1, and from 3 at -2.
  auto const logarithm = [](std::vector<double> const& x, std::vector<double>& slope) {
    slope[0] = 1 - 1 / x[0];
    return x[0] - std::log(x[0]);
  };
  double const eps = std::numeric_limits<typename TypeParam::Real>::epsilon();
  for (double const start : {0.1, 3.0}) {
    auto const x = numbers<TypeParam>({start});
    minimise<TypeParam>(x, logarithm, {.first_step = 5});
    EXPECT_NEAR(values_of<TypeParam>(x)[0], 1, 10 * std::sqrt(eps)) << start;
  }
}

TYPED_TEST(Minimiser, GoesRoundWhereTheFunctionFails) {
  auto const below_two = [](std::vector<double> const& x, std::vector<double>& slope) {
    if (x[0] > 2) throw coir::NumericalError("too far");
    slope[0] = x[0] - 1;
    return slope[0] * slope[0] / 2;
  };
  double const eps = std::numeric_limits<typename TypeParam::Real>::epsilon();
  auto const x = numbers<TypeParam>({-1});
  minimise<TypeParam>(x, below_two, {.first_step = 50});
  EXPECT_NEAR(values_of<TypeParam>(x)[0], 1, 10 * eps);
  auto const beyond = numbers<TypeParam>({3});
  EXPECT_THROW(minimise<TypeParam>(beyond, below_two), coir::NumericalError);
}

TYPED_TEST(Minimiser, RefusesAStartThatIsNoNumber) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  auto const x = numbers<TypeParam>({1});
  auto const no_value = [](std::vector<double> const&, std::vector<double>& slope) {
    slope[0] = 1;
    return nan;
  };
  auto const no_slope = [](std::vector<double> const&, std::vector<double>& slope) {
    slope[0] = nan;
    return 1.0;
  };
  EXPECT_THROW(minimise<TypeParam>(x, no_value), coir::NumericalError);
  EXPECT_THROW(minimise<TypeParam>(x, no_slope), coir::NumericalError);
}

TYPED_TEST(Minimiser, WhoeverStopsItHasTheLowestPoint) {
  struct Stop : std::runtime_error {
    Stop() : std::runtime_error("stop") {}
  };
  auto const x = numbers<TypeParam>({-1.2, 1});
  double lowest = 0;
  auto const stop_at_five = [&](LbfgsState const& state) {
    lowest = state.value;
    if (state.iterations == 5) throw Stop();
  };
  Lbfgs search(typename TypeParam::Exec{}, x, {});
  EXPECT_THROW(search.minimise(x, on_host<TypeParam>(rosenbrock), stop_at_five), Stop);
  std::vector<double> slope;
  double const eps = std::numeric_limits<typename TypeParam::Real>::epsilon();
  EXPECT_NEAR(rosenbrock(values_of<TypeParam>(x), slope), lowest, 100 * eps);

  // From within the function, at the tenth evaluation, from where it was.
  int evaluations = 0;
  auto const stop_at_ten = [&](std::vector<double> const& at, std::vector<double>& to) {
    if (++evaluations == 10) throw Stop();
    return rosenbrock(at, to);
  };
  auto const remember = [&](LbfgsState const& state) { lowest = state.value; };
  EXPECT_THROW(search.minimise(x, on_host<TypeParam>(stop_at_ten), remember), Stop);
  EXPECT_NEAR(rosenbrock(values_of<TypeParam>(x), slope), lowest, 100 * eps);
  // And the same search begins anew.
  auto const result = search.minimise(x, on_host<TypeParam>(rosenbrock), ignore);
  EXPECT_LT(result.state.value, 1e-6);
}

TYPED_TEST(Minimiser, NoNumbersAreAtTheBottomAlready) {
  auto const x = numbers<TypeParam>({});
  auto const result = minimise<TypeParam>(x, quadratic(1));
  EXPECT_EQ(result.stopped_by, StoppedBy::no_slope);
  EXPECT_EQ(result.state.value, 0);
}

TYPED_TEST(Minimiser, FieldsMayHaveThreeAxes) {
  using T = typename TypeParam::Real;
  using Exec = typename TypeParam::Exec;
  using Field = Kokkos::View<T***, Kokkos::LayoutRight, typename Exec::memory_space>;
  Field const x("x", 3, 5, 2);
  auto const towards_two = [](Field const& at, Field const& gradient) {
    auto const at_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, at);
    auto const gradient_h = Kokkos::create_mirror_view(gradient);
    double value = 0;
    for (std::size_t n = 0; n < at.size(); ++n) {
      double const d = double(at_h.data()[n]) - 2;
      gradient_h.data()[n] = T(d);
      value += d * d / 2;
    }
    Kokkos::deep_copy(gradient, gradient_h);
    return value;
  };
  Lbfgs(Exec{}, x, {}).minimise(x, towards_two, ignore);
  auto const x_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, x);
  for (std::size_t n = 0; n < x.size(); ++n) EXPECT_NEAR(double(x_h.data()[n]), 2, 1e-5);
}

TYPED_TEST(Minimiser, RefusesOptionsOutOfRange) {
  auto const x = numbers<TypeParam>({1});
  using Search = Lbfgs<typename TypeParam::Exec, Numbers<TypeParam>>;
  for (LbfgsOptions const& options :
       {LbfgsOptions{.iterations = -1}, LbfgsOptions{.pairs = 0}, LbfgsOptions{.trials = 0},
        LbfgsOptions{.tolerance = -1}, LbfgsOptions{.first_step = 0}})
    EXPECT_THROW(Search(typename TypeParam::Exec{}, x, options), coir::PreconditionError);
  EXPECT_EQ(Search::bytes(10, {.pairs = 3}), 100 * std::int64_t(sizeof(typename TypeParam::Real)));
}
