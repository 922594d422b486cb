#include <coir/autodiff/array_grad.hpp>
#include <coir/autodiff/dual.hpp>
#include <coir/autodiff/grad.hpp>

#include <coir/array/all.hpp>

#include <gtest/gtest.h>

#include <cmath>

// The snippets of docs/autodiff.md, word for word, and what they promise. array_grad.hpp comes first, so
// that it is known not to depend on what the user includes before it.

namespace {

template <class A>
double element(A const& array, int i) {
  coir::Array<double, 1> const picked = coir::cast<double>(array(coir::range(i, i + 1)));
  return sum(picked);
}

TEST(AutodiffSnippets, GradientOfAnArrayExpression) {
  coir::Array<float, 1> x = coir::linspace<float>(0, 1, 1001);
  auto const [value, slope] =
      coir::value_and_grad([](auto x) { return sum(square(cos(x)) * exp(-x)); })(x);

  double total = 0;
  for (int i = 0; i <= 1000; ++i) total += std::pow(std::cos(i / 1000.), 2) * std::exp(-i / 1000.);
  EXPECT_NEAR(value, total, 1e-6 * total);
  EXPECT_NEAR(element(slope, 0), -1, 1e-6);  // -cos x (2 sin x + cos x) exp(-x)
}

TEST(AutodiffSnippets, SeveralArguments) {
  coir::Array<double, 2> a = coir::ones<double>(3, 4), b = 2 * a;
  coir::Array<double, 1> weights = coir::arange<double>(4);
  auto const [loss, slopes] = coir::value_and_grad(
      [&](auto a, auto b) { return mean(square(a - b) * weights) + 0.1 * sum(abs(a)); })(a, b);
  auto const& [slope_a, slope_b] = slopes;

  EXPECT_NEAR(loss, 1.5 + 1.2, 1e-14);
  EXPECT_NEAR(double(sum(slope_a)), -2 * 18 / 12. + 1.2, 1e-14);
  EXPECT_NEAR(double(sum(slope_b)), 2 * 18 / 12., 1e-14);
}

TEST(AutodiffSnippets, FunctionsOfAFewNumbers) {
  auto const f = [](auto x, auto y) { return square(1 - x) + 100 * square(y - x * x); };
  auto const [dx, dy] = coir::grad(f)(-1.0, 2.0);  // 396, 200
  auto const h = coir::hessian(f)(-1.0, 2.0);      // h[0][1] is d^2f/dxdy = 400
  auto const polar = [](auto r, auto t) { return coir::numbers(r * cos(t), r * sin(t)); };
  auto const j = coir::jacobian(polar)(2.0, 0.0);  // j[1][1] is d(r sin t)/dt = 2
  auto const along = coir::jvp(f)(coir::numbers(-1.0, 2.0), coir::numbers(1, 1));     // 104, 596
  auto const second = coir::grad(coir::grad([](auto x) { return x * x * x; }))(2.0);  // f'' = 12

  EXPECT_EQ(dx, 396);
  EXPECT_EQ(dy, 200);
  EXPECT_EQ(h[0][1], 400);
  EXPECT_EQ(j[1][1], 2);
  EXPECT_EQ(along.value, 104);
  EXPECT_EQ(along.derivative, 596);
  EXPECT_EQ(second, 12);
}

TEST(AutodiffSnippets, DualNumbers) {
  using D = coir::Dual<double, 2>;
  D const x = D::variable(3.0, 0), y = D::variable(0.5, 1);  // along directions 0 and 1
  D const z = pow(x, 2) * sin(y);

  EXPECT_NEAR(z.value, 9 * std::sin(0.5), 1e-15);
  EXPECT_NEAR(z.derivative[0], 6 * std::sin(0.5), 1e-15);
  EXPECT_NEAR(z.derivative[1], 9 * std::cos(0.5), 2e-15);
}

}  // namespace
