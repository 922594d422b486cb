#include <coir/array/all.hpp>
#include <coir/autodiff/array_grad.hpp>
#include <coir/autodiff/lbfgs.hpp>

#include <array/naive.hpp>
#include <support/typed_suite.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace {

using coir::LbfgsEnd;
using coir::LbfgsOptions;
using coir::LbfgsResult;
using coir::LbfgsState;
using coir::range;
using coir::testing::values;
using Values = std::vector<double>;

template <class C>
using Numbers = coir::Array<typename C::Real, 1, typename C::Exec::memory_space>;

template <class C>
Numbers<C> numbers(Values const& elements) {
  std::vector<typename C::Real> const converted(elements.begin(), elements.end());
  return coir::testing::array_of<typename C::Exec::memory_space>(
      converted, coir::Shape<1>{std::int64_t(elements.size())});
}

/// sum_n c_n (x_n - n)^2 / 2 with c_n from 1 to `largest`
template <class C>
auto quadratic(std::int64_t size, double largest) {
  using T = typename C::Real;
  using Space = typename C::Exec::memory_space;
  auto const at = coir::evaluate(coir::arange<T, Space>(T(size)));
  auto const last = T(size > 1 ? size - 1 : 1);
  auto const c = coir::evaluate(pow(T(largest), at / last));
  return coir::value_and_grad([at, c](auto x) { return sum(c * square(x - at)) / 2; });
}

/// Rosenbrock's valley in any number of dimensions: sum 100 (y - x^2)^2 + (1 - x)^2 of neighbours
/// x, y.
auto rosenbrock() {
  return coir::value_and_grad([](auto x) {
    auto const here = coir::evaluate(x(range(0, -1)));
    return sum(100 * square(x(range(1, coir::end)) - square(here)) + square(1 - here));
  });
}

/// A function of one number on the host, double f(double x, double& slope), of an array of one.
template <class C, class Function>
auto of_one(Function const& function) {
  return [function](Numbers<C> const& x) {
    double slope = 0;
    double const value = function(double(values(x)[0]), slope);
    return coir::ValueAndGradient<double, Numbers<C>>{value, numbers<C>({slope})};
  };
}

COIR_TYPED_SUITE(Lbfgs);

}  // namespace

TYPED_TEST(Lbfgs, FindsTheBottomOfQuadraticForms) {
  double const eps = std::numeric_limits<typename TypeParam::Real>::epsilon();
  for (std::int64_t const size : {1, 2, 7, 100}) {
    auto x = numbers<TypeParam>(Values(std::size_t(size), 0.5));
    auto const result = coir::lbfgs(quadratic<TypeParam>(size, 10), x, {.iterations = 200});
    EXPECT_NE(result.end, LbfgsEnd::iterations) << size;
    auto const found = values(x);
    // The value is a sum of squares that is known to the rounding of x: it ends where x_n - n is
    // that.
    for (std::size_t n = 0; n < found.size(); ++n)
      EXPECT_NEAR(found[n], double(n), 100 * eps * double(size)) << n;
  }
}

// The minimum is where each number is 1: scipy.optimize.rosen is the same function.
TYPED_TEST(Lbfgs, FindsTheEndOfRosenbrocksValley) {
  double const eps = std::numeric_limits<typename TypeParam::Real>::epsilon();
  for (Values const& start : {Values{-1.2, 1}, Values{1.3, 0.7, 0.8, 1.9, 1.2}}) {
    auto x = numbers<TypeParam>(start);
    auto const result = coir::lbfgs(rosenbrock(), x, {.iterations = 200});
    EXPECT_LT(result.state.iterations, 60);
    EXPECT_LT(result.state.evaluations, 90);
    // y - x^2 is known to eps, so the value to 100 eps^2 and x, whose curvature along the valley is
    // 0.4, to 20 eps or so. Each further number is its neighbour's square, of twice the error.
    double bound = 100 * eps;
    for (double const found : values(x)) {
      EXPECT_NEAR(found, 1, bound);
      bound *= 2;
    }
  }
}

TYPED_TEST(Lbfgs, EveryIterationGoesDownAndIsInTheHistory) {
  auto x = numbers<TypeParam>({-1.2, 1});
  std::vector<LbfgsState> states;
  auto const result = coir::lbfgs(rosenbrock(), x, {.iterations = 20},
                                  [&](LbfgsState const& state) { states.push_back(state); });
  ASSERT_EQ(states.size(), 21U);
  ASSERT_EQ(result.history.size(), 21U);
  EXPECT_EQ(result.end, LbfgsEnd::iterations);
  EXPECT_EQ(states[0].evaluations, 1);
  EXPECT_NEAR(states[0].value, 24.2,
              1000 * std::numeric_limits<typename TypeParam::Real>::epsilon());
  for (std::size_t n = 1; n < states.size(); ++n) {
    EXPECT_EQ(states[n].iterations, int(n));
    EXPECT_EQ(result.history[n].value, states[n].value);
    EXPECT_GT(states[n].evaluations, states[n - 1].evaluations);
    EXPECT_LT(states[n].value, states[n - 1].value);
    EXPECT_GT(states[n].step_norm, 0);
  }
}

TYPED_TEST(Lbfgs, WhatIsRememberedLeadsFurther) {
  auto const value_by = [](int pairs) {
    auto x = numbers<TypeParam>(Values(50, -1));
    return coir::lbfgs(quadratic<TypeParam>(50, 1000), x, {.iterations = 100, .pairs = pairs})
        .state.value;
  };
  EXPECT_LT(value_by(20), value_by(1) / 10);
}

TYPED_TEST(Lbfgs, EndsAtKinksToo) {
  // |x| + 2 |y|, whose slope never becomes small.
  auto const weights = numbers<TypeParam>({1, 2});
  auto const kinks = coir::value_and_grad([&](auto x) { return sum(weights * abs(x)); });
  auto x = numbers<TypeParam>({0.7, -0.3});
  EXPECT_LT(coir::lbfgs(kinks, x, {.iterations = 200, .trials = 60}).state.value, 1e-4);
}

TYPED_TEST(Lbfgs, SaysWhyItEnded) {
  auto const parabola = quadratic<TypeParam>(3, 10);
  auto bottom = numbers<TypeParam>({0, 1, 2});
  auto const at_bottom = coir::lbfgs(parabola, bottom);
  EXPECT_EQ(at_bottom.end, LbfgsEnd::no_slope);
  EXPECT_EQ(at_bottom.state.evaluations, 1);

  auto x = numbers<TypeParam>({5, 5, 5});
  auto const few = coir::lbfgs(parabola, x, {.iterations = 2});
  EXPECT_EQ(few.end, LbfgsEnd::iterations);
  EXPECT_EQ(few.state.iterations, 2);
  auto const none = coir::lbfgs(parabola, x, {.iterations = 0});
  EXPECT_EQ(none.end, LbfgsEnd::iterations);
  EXPECT_EQ(none.state.value, few.state.value);

  auto const coarse = coir::lbfgs(parabola, x, {.iterations = 100, .tolerance = 0.999999});
  EXPECT_EQ(coarse.end, LbfgsEnd::tolerance);
  EXPECT_EQ(coarse.state.iterations, 1);

  // A slope of the wrong sign.
  auto const uphill = [](double y, double& slope) {
    slope = -2 * y;
    return y * y;
  };
  auto y = numbers<TypeParam>({3});
  auto const stuck = coir::lbfgs(of_one<TypeParam>(uphill), y, {.trials = 5});
  EXPECT_EQ(stuck.end, LbfgsEnd::no_descent);
  EXPECT_EQ(stuck.state.evaluations, 6);
  EXPECT_EQ(values(y)[0], 3);

  EXPECT_EQ(name_of(LbfgsEnd::iterations), "iterations");
  EXPECT_EQ(name_of(LbfgsEnd::tolerance), "tolerance");
  EXPECT_EQ(name_of(LbfgsEnd::no_slope), "no_slope");
  EXPECT_EQ(name_of(LbfgsEnd::no_descent), "no_descent");
}

TYPED_TEST(Lbfgs, GoesRoundWhereTheFunctionIsNoNumber) {
  // x - ln x has its bottom at 1; from 0.1 a step of length 5 against the slope ends at 5.1, and
  // from 3 at -2.
  auto const logarithm = coir::value_and_grad([](auto x) { return sum(x - log(x)); });
  double const eps = std::numeric_limits<typename TypeParam::Real>::epsilon();
  for (double const start : {0.1, 3.0}) {
    auto x = numbers<TypeParam>({start});
    coir::lbfgs(logarithm, x, {.first_step = 5});
    EXPECT_NEAR(values(x)[0], 1, 10 * std::sqrt(eps)) << start;
  }
}

TYPED_TEST(Lbfgs, GoesRoundWhereTheFunctionFails) {
  auto const below_two = of_one<TypeParam>([](double x, double& slope) {
    if (x > 2) throw coir::NumericalError("too far");
    slope = x - 1;
    return slope * slope / 2;
  });
  double const eps = std::numeric_limits<typename TypeParam::Real>::epsilon();
  auto x = numbers<TypeParam>({-1});
  coir::lbfgs(below_two, x, {.first_step = 50});
  EXPECT_NEAR(values(x)[0], 1, 10 * eps);
  auto beyond = numbers<TypeParam>({3});
  EXPECT_THROW(coir::lbfgs(below_two, beyond), coir::NumericalError);
}

TYPED_TEST(Lbfgs, RefusesAStartThatIsNoNumber) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (Values const& value_and_slope : {Values{nan, 1}, Values{1, nan}}) {
    auto x = numbers<TypeParam>({1});
    auto const no_number = of_one<TypeParam>([&](double, double& slope) {
      slope = value_and_slope[1];
      return value_and_slope[0];
    });
    EXPECT_THROW(coir::lbfgs(no_number, x), coir::NumericalError);
  }
}

TYPED_TEST(Lbfgs, WhoeverStopsItHasTheLowestPoint) {
  struct Stop : std::runtime_error {
    Stop() : std::runtime_error("stop") {}
  };
  auto const valley = rosenbrock();
  double const eps = std::numeric_limits<typename TypeParam::Real>::epsilon();
  auto x = numbers<TypeParam>({-1.2, 1});
  double lowest = 0;
  auto const stop_at_five = [&](LbfgsState const& state) {
    lowest = state.value;
    if (state.iterations == 5) throw Stop();
  };
  EXPECT_THROW(coir::lbfgs(valley, x, {}, stop_at_five), Stop);
  EXPECT_NEAR(valley(x).value, lowest, 100 * eps);

  // From within the function, at the tenth evaluation.
  int evaluations = 0;
  auto const stop_at_ten = [&](Numbers<TypeParam> const& at) {
    if (++evaluations == 10) throw Stop();
    return valley(at);
  };
  auto const remember = [&](LbfgsState const& state) { lowest = state.value; };
  EXPECT_THROW(coir::lbfgs(stop_at_ten, x, {}, remember), Stop);
  EXPECT_NEAR(valley(x).value, lowest, 100 * eps);
}

TYPED_TEST(Lbfgs, TakesArraysOfAnyShape) {
  auto none = numbers<TypeParam>({});
  auto const at_bottom = coir::lbfgs(quadratic<TypeParam>(0, 1), none);
  EXPECT_EQ(at_bottom.end, LbfgsEnd::no_slope);
  EXPECT_EQ(at_bottom.state.value, 0);

  auto x = coir::zeros<typename TypeParam::Real, typename TypeParam::Exec::memory_space>(3, 5, 2);
  coir::lbfgs(coir::value_and_grad([](auto y) { return sum(square(y - 2)); }), x);
  for (double const found : values(x)) EXPECT_NEAR(found, 2, 1e-5);
}

TYPED_TEST(Lbfgs, RefusesOptionsOutOfRange) {
  auto x = numbers<TypeParam>({1});
  for (LbfgsOptions const& options :
       {LbfgsOptions{.iterations = -1}, LbfgsOptions{.pairs = 0}, LbfgsOptions{.trials = 0},
        LbfgsOptions{.tolerance = -1}, LbfgsOptions{.first_step = 0}})
    EXPECT_THROW(coir::lbfgs(quadratic<TypeParam>(1, 1), x, options), coir::PreconditionError);
  EXPECT_EQ(coir::lbfgs_bytes(10, {.pairs = 3}), 100);
}
