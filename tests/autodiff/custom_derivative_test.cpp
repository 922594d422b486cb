// A function whose derivative is written by hand, among statements that value_and_grad
// differentiates.

#include <coir/array/all.hpp>
#include <coir/autodiff/array_grad.hpp>
#include <coir/autodiff/custom_derivative.hpp>
#include <coir/autodiff/stop_gradient.hpp>

#include <support/message_of.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace {

/// y[i] = x[0] + ... + x[i]
template <class Space>
coir::Array<double, 1, Space> running_sum(coir::Slice<double const, 1, Space> const& x) {
  return coir::cumsum(x);
}
template <coir::DualExpression E>
auto running_sum(E const& x) {
  return coir::trial_result<double, 1>(x);
}
template <coir::TracedExpression E>
auto running_sum(E const& x) {
  auto const stored = evaluate(x);
  return coir::with_pull_back(
      stored, running_sum(stored.values()), [stored](auto const& cotangent) {
        coir::add_to_cotangent(stored, coir::flip(coir::cumsum(coir::flip(cotangent, 0)), 0));
      });
}

/// x[i] for i < n with x[i] = 0.5 + i
coir::Array<double, 1> ramp(std::int64_t n) {
  return coir::evaluate(0.5 + coir::arange<double>(n));
}

std::vector<double> values_of(coir::Array<double, 1> const& x) {
  auto const host = coir::to_host(x);
  return {host.data(), host.data() + host.size()};
}

/// The row c J.
coir::Array<double, 1> matmul_of(coir::Array<double, 1> const& c, coir::Array<double, 2> const& j) {
  return coir::sum(with_axis(c, 1) * j, 0);
}

// d/dx_j sum_i w_i (x_0^2 + ... + x_i^2) = 2 x_j (w_j + ... + w_(n-1)), here with w_i = 1 + i.
TEST(CustomDerivative, IsUsedAmongOtherStatements) {
  std::int64_t const n = 5;
  auto const x = ramp(n);
  auto const weights = coir::evaluate(1.0 + coir::arange<double>(n));
  auto const [value, slope] = coir::value_and_grad([&](auto const& at) {
    auto const sums = running_sum(at * at);
    return sum(sums * weights);
  })(x);
  auto const found = values_of(slope);
  double expected = 0, rest = 15, running = 0;
  for (std::size_t j = 0; j < 5; ++j) {
    double const at = 0.5 + double(j);
    running += at * at;
    expected += running * (1 + double(j));
    EXPECT_NEAR(found[j], 2 * at * rest, 1e-12) << j;
    rest -= 1 + double(j);
  }
  EXPECT_NEAR(value, expected, 1e-12);
}

TEST(CustomDerivative, AddsToWhatOtherStatementsContribute) {
  auto const x = ramp(3);
  auto const slope = coir::grad([](auto const& at) {
    auto const sums = running_sum(at);
    return sum(sums) + sum(at * at);
  })(x);
  auto const found = values_of(slope);
  for (std::size_t j = 0; j < 3; ++j)
    EXPECT_NEAR(found[j], double(3 - j) + 2 * (0.5 + double(j)), 1e-12) << j;
}

/// x y^2 with its derivatives.
auto product_with_square() {
  return coir::custom_vjp([](auto const& x, auto const& y) { return coir::evaluate(x * y * y); },
                          [](auto const& cotangent, auto const&, auto const& x, auto const& y) {
                            return std::tuple(coir::evaluate(cotangent * y * y),
                                              coir::evaluate(2 * cotangent * x * y));
                          });
}

TEST(CustomDerivative, CustomVjpOfTwoArguments) {
  auto const f = product_with_square();
  auto const x = ramp(5), y = coir::evaluate(2 * ramp(5) - 3);
  auto const [of_x, of_y] =
      coir::grad([&](auto const& x, auto const& y) { return sum(f(sin(x), y)); })(x, y);
  EXPECT_TRUE(allclose(of_x, cos(x) * y * y));
  EXPECT_TRUE(allclose(of_y, 2 * sin(x) * y));
  auto const beside_constant = coir::grad([&](auto const& y) { return sum(f(x, y)); });
  EXPECT_TRUE(allclose(beside_constant(y), 2 * x * y));
  EXPECT_TRUE(allclose(f(x, y), x * y * y));
}

TEST(CustomDerivative, CotangentsOfTheWrongShapeAreNamed) {
  auto const f = coir::custom_vjp([](auto const& x) { return coir::sum(x); },
                                  [](auto const&, auto const&, auto const&) { return ramp(4); });
  std::string const said = coir::testing::message_of(
      [&] { coir::grad([&](auto const& x) { return f(x) * 2.0; })(ramp(3)); });
  EXPECT_NE(said.find("a cotangent of shape (4,) for an argument of shape (3,)"), std::string::npos)
      << said;
}

TEST(CustomDerivative, StopGradientMakesConstants) {
  auto const x = ramp(5);
  auto const slope = coir::grad([](auto const& x) {
    return sum(coir::stop_gradient(x * x) * x) + coir::stop_gradient(sum(x)) * x(0);
  })(x);
  auto expected = coir::evaluate(x * x);
  expected(0) += sum(x);
  EXPECT_TRUE(allclose(slope, expected));
  EXPECT_EQ(coir::stop_gradient(2.5), 2.5);
  EXPECT_TRUE(allclose(coir::stop_gradient(x), x));
}

TEST(CustomDerivative, JacobiansHaveARowForEachResult) {
  auto const x = ramp(4);
  auto const products = [](auto x) { return x(coir::range(1, coir::end)) * x(coir::range(0, -1)); };
  auto const j = coir::jacobian(products)(x);
  coir::Array<double, 2> expected = coir::zeros(3, 4);
  for (int i = 0; i < 3; ++i) {
    expected(i, i) = x(i + 1);
    expected(i, i + 1) = x(i);
  }
  EXPECT_TRUE(allclose(j, expected));
  EXPECT_TRUE(
      allclose(coir::jacobian([](auto x) { return sin(x); })(x), coir::eye<double>(4) * cos(x)));
  auto const c = ramp(3);
  EXPECT_TRUE(allclose(coir::vjp(products, c)(x), matmul_of(c, expected)));
  EXPECT_THROW(coir::vjp(products, ramp(4))(x), coir::PreconditionError);
}

}  // namespace
