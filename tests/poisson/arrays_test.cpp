// Solvers of Poisson's equation in programs that value_and_grad differentiates, beside differences
// of values. Solutions are linear in the source, so that these are exact.

#include <autodiff/program_grad.hpp>
#include <coir/poisson/arrays.hpp>

#include <support/message_of.hpp>

using coir::Array;
using coir::poisson::Boundary;
using coir::testing::waves;

namespace {

/// The gradient of f is what differences say.
template <class F, class... X>
void expect_right(F const& f, X... x) {
  auto const gradient_of = coir::value_and_grad(f);
  auto const gradients = coir::testing::lists_of(gradient_of(x...).gradient);
  std::size_t k = 0;
  (coir::testing::expect_differences([&] { return double(gradient_of(x...).value); }, x,
                                     gradients[k++]),
   ...);
}

}  // namespace

TEST(PoissonArrays, Direct) {
  if (!coir::poisson::has_direct()) GTEST_SKIP() << "this build has no direct solver";
  expect_right([](auto b) { return sum(square(coir::poisson::direct(sin(b)))); }, waves(0, 7));
  expect_right(
      [](auto b) {
        auto const u = coir::poisson::direct(
            b, {.boundary = {Boundary::slopes, Boundary::values}, .spacing = {0.5, 2}});
        return sum(u * waves(1, 5, 4)) + max(u);
      },
      waves(0, 5, 4));
  expect_right(
      [](auto b) {
        auto const source = evaluate(b - mean(b));
        auto const u = coir::poisson::direct(
            source,
            {.boundary = {Boundary::periodic, Boundary::slopes, Boundary::slopes}, .mean = 2});
        return sum(square(u));
      },
      waves(0, 3, 1, 4));
  // Of u linear in b, sum u^2 has the derivative 2 u(b) u(v) along v, and the Hessian 2 u(v) u(v).
  auto const squares = [](auto b) { return sum(square(coir::poisson::direct(b))); };
  auto const x = waves(0, 7), v = waves(1, 7);
  Array<double, 1> const u = coir::poisson::direct(x), change = coir::poisson::direct(v);
  EXPECT_NEAR(coir::jvp(squares)(x, v).derivative, 2 * sum(u * change), 1e-13);
  EXPECT_NEAR(sum(coir::hvp(squares)(x, v) * v), 2 * sum(square(change)), 1e-13);
  auto const b = waves(0, 1, 1);
  EXPECT_TRUE(allclose(coir::poisson::direct(b), b / -4));
}

TEST(PoissonArrays, Multigrid) {
  expect_right(
      [](auto b) { return sum(square(coir::poisson::multigrid(b, {.tolerance = 1e-13}))); },
      waves(0, 5, 6));
  EXPECT_NE(coir::testing::message_of<coir::NumericalError>([] {
              coir::poisson::multigrid(waves(0, 40, 50), {.max_cycles = 1, .tolerance = 1e-13});
            }).find("above the tolerance of 1e-13: allow more iterations"),
            std::string::npos);
}

TEST(PoissonArrays, ConjugateGradientsWithCoefficients) {
  auto const k = coir::evaluate(1.5 + waves(2, 4, 5));
  expect_right(
      [](auto k, auto b) {
        return sum(square(coir::poisson::conjugate_gradients(k, b, {.tolerance = 1e-13})));
      },
      k, waves(0, 4, 5));
}
