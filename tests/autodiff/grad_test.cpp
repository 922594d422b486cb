#include <coir/array/creation.hpp>
#include <coir/array/vmap.hpp>
#include <coir/autodiff/grad.hpp>
#include <coir/core/loops.hpp>

#include <support/typed_suite.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

// Compared with derivatives worked out by hand. Where no tolerance is given the arithmetic is
// exact.

namespace {

using coir::numbers;

/// (1 - x)^2 + 100 (y - x^2)^2
struct Rosenbrock {
  template <class X>
  KOKKOS_FUNCTION X operator()(X const& x, X const& y) const {
    return square(1 - x) + 100 * square(y - x * x);
  }
};

/// Cartesian coordinates of polar ones.
struct Polar {
  template <class X>
  KOKKOS_FUNCTION auto operator()(X const& r, X const& angle) const {
    return numbers(r * cos(angle), r * sin(angle));
  }
};

TEST(Grad, OfOneNumberIsANumber) {
  auto const slope = coir::grad([](auto x) { return x * x * x - 2 * x; });
  EXPECT_EQ(slope(3.0), 25);
  EXPECT_EQ(slope(3.0f), 25);
  EXPECT_TRUE((std::is_same_v<decltype(slope(3.0f)), float>));
  EXPECT_TRUE((std::is_same_v<decltype(slope(3)), double>));
  EXPECT_EQ(slope(3), 25);
}

TEST(Grad, OfSeveralNumbersIsOnePerArgument) {
  auto const slope = coir::grad([](auto x, auto y, auto z) { return x * y + 2 * z * z; });
  auto const [dx, dy, dz] = slope(1.0, 2.0f, 3);
  EXPECT_EQ(dx, 2);
  EXPECT_EQ(dy, 1);
  EXPECT_EQ(dz, 12);
  EXPECT_EQ(slope(1.0, 2.0, 3.0).size(), 3);
}

TEST(Grad, ValueComesAlong) {
  auto const [value, gradient] = coir::value_and_grad(Rosenbrock{})(-1.0, 2.0);
  EXPECT_EQ(value, 104);
  EXPECT_EQ(gradient[0], -4 + 400);  // -2 (1 - x) - 400 x (y - x^2)
  EXPECT_EQ(gradient[1], 200);       // 200 (y - x^2)
}

TEST(Grad, AFunctionThatIgnoresItsArgumentsHasTheGradientZero) {
  auto const [value, gradient] = coir::value_and_grad([](auto, auto) { return 7; })(1.0, 2.0);
  EXPECT_EQ(value, 7);
  EXPECT_EQ(gradient[0], 0);
  EXPECT_EQ(gradient[1], 0);
}

TEST(Grad, NestsWithoutMixingUpDirections) {
  // d/dx (x d/dy (x y)) = d/dx x^2: a naive single kind of dual would give 3 x.
  auto const outer =
      coir::grad([](auto x) { return x * coir::grad([&](auto y) { return x * y; })(x); });
  EXPECT_EQ(outer(5.0), 10);
  auto const fourth = [](auto f) { return coir::grad(coir::grad(coir::grad(coir::grad(f)))); };
  EXPECT_EQ(fourth([](auto x) { return x * x * x * x * x; })(2.0), 240);
}

TEST(Jacobian, HasARowPerResult) {
  auto const j =
      coir::jacobian([](auto x, auto y) { return numbers(x * y, x + 3 * y, y * y); })(2, 5);
  double const expected[3][2] = {{5, 2}, {1, 3}, {0, 10}};
  ASSERT_EQ(j.size(), 3);
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 2; ++k) EXPECT_EQ(j[i][k], expected[i][k]) << i << " " << k;
  auto const of_one = coir::jacobian([](auto x) { return std::array{x * x, 2 * x}; })(3.0);
  EXPECT_EQ(of_one[0], 6);
  EXPECT_EQ(of_one[1], 2);
}

TEST(Jacobian, OfPolarCoordinatesHasTheDeterminantR) {
  for (double const angle : {0.0, 0.3, 2.0, -1.0}) {
    auto const j = coir::jacobian(Polar{})(1.5, angle);
    // Two products of rounded sines and cosines.
    EXPECT_NEAR(j[0][0] * j[1][1] - j[0][1] * j[1][0], 1.5,
                8 * std::numeric_limits<double>::epsilon());
  }
}

TEST(Hessian, OfRosenbrocksFunctionIsExactOnIntegers) {
  for (double const x : {-2.0, 0.0, 1.0, 3.0})
    for (double const y : {-1.0, 1.0, 4.0}) {
      auto const h = coir::hessian(Rosenbrock{})(x, y);
      EXPECT_EQ(h[0][0], 2 - 400 * (y - 3 * x * x));
      EXPECT_EQ(h[0][1], -400 * x);
      EXPECT_EQ(h[1][0], -400 * x);
      EXPECT_EQ(h[1][1], 200);
    }
}

TEST(Hessian, OfOneNumberIsANumber) {
  EXPECT_EQ(coir::hessian([](auto x) { return x * x * x; })(2.0), 12);
  EXPECT_EQ(coir::hessian([](auto x) { return x * x * x; })(2.0f), 12);
}

TEST(Hessian, OfThreeNumbersIsSymmetric) {
  auto const h = coir::hessian(
      [](auto x, auto y, auto z) { return exp(x * y) * sin(z) / (1 + z * z); })(0.3, -0.7, 1.1);
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)
      EXPECT_NEAR(h[i][k], h[k][i], 8 * std::numeric_limits<double>::epsilon()) << i << " " << k;
  double const x = 0.3, y = -0.7, z = 1.1, e = std::exp(x * y) * std::sin(z) / (1 + z * z);
  EXPECT_NEAR(h[0][0], y * y * e, 1e-15);
  EXPECT_NEAR(h[0][1], (1 + x * y) * e, 2e-15);
}

template <class F>
void expect_hessian(char const* name, F const& f, double x, double y, double xx, double xy,
                    double yy) {
  auto const h = coir::hessian(f)(x, y);
  EXPECT_EQ(h[0][0], xx) << name;
  EXPECT_EQ(h[0][1], xy) << name;
  EXPECT_EQ(h[1][0], xy) << name;
  EXPECT_EQ(h[1][1], yy) << name;
}

TEST(Hessian, IsSymmetricAtTies) {
  // What jax.hessian gives, too (0.10): a tie's slope is 1/2, and doesn't change.
  expect_hessian("x maximum", [](auto x, auto y) { return maximum(x, y) * x; }, 1, 1, 1, 0.5, 0);
  expect_hessian("y maximum", [](auto x, auto y) { return maximum(x, y) * y; }, 1, 1, 0, 0.5, 1);
  expect_hessian("x y min", [](auto x, auto y) { return minimum(x, y) * x * y; }, 1, 1, 1, 2, 1);
  expect_hessian("y clip", [](auto x, auto y) { return clip(x, -1, 1) * y; }, 1, 2, 0, 0.5, 0);
  expect_hessian("y clip", [](auto x, auto y) { return clip(x, -1, 1) * y; }, -1, 2, 0, 0.5, 0);
  expect_hessian("fmax^2", [](auto x, auto y) { return square(fmax(x, y)); }, 1, 1, 0.5, 0.5, 0.5);
  expect_hessian("x fmin", [](auto x, auto y) { return fmin(x, y) * x; }, 1, 1, 1, 0.5, 0);
  expect_hessian("x y fdim", [](auto x, auto y) { return fdim(x, 1) * y * x; }, 1, 2, 2, 0.5, 0);
  expect_hessian("y abs", [](auto x, auto y) { return abs(x) * y; }, 0, 2, 0, 0, 0);
  expect_hessian("y x^y", [](auto x, auto y) { return pow(x, y) * y; }, 0, 1, 0, 1, 0);
}

TEST(Hessian, OfAnInfiniteOrUndefinedSlopeKeepsToItsDirections) {
  double const infinity = std::numeric_limits<double>::infinity();
  auto const root = coir::hessian([](auto x, auto y) { return sqrt(x) * y; })(0.0, 3.0);
  EXPECT_EQ(root[0][1], infinity);
  EXPECT_EQ(root[1][0], infinity);
  EXPECT_EQ(root[1][1], 0);
  auto const angle =
      coir::hessian([](auto x, auto y, auto z) { return atan2(x, y) * z * z; })(0.0, 0.0, 3.0);
  EXPECT_EQ(angle[2][2], 0);
  for (int k = 0; k < 2; ++k) {
    EXPECT_TRUE(std::isnan(angle[2][k])) << k;
    EXPECT_TRUE(std::isnan(angle[k][2])) << k;
  }
}

TEST(Jvp, IsTheJacobianTimesTheDirection) {
  auto const f = [](auto x, auto y) { return numbers(x * y, x + 3 * y, y * y); };
  auto const [value, derivative] = coir::jvp(f)(numbers(2.0, 5.0), numbers(1, -2));
  double const values[] = {10, 17, 25}, derivatives[] = {1, -5, -20};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(value[i], values[i]) << i;
    EXPECT_EQ(derivative[i], derivatives[i]) << i;
  }
  auto const scalar = coir::jvp(Rosenbrock{})(numbers(-1.0, 2.0), numbers(0.5, 2.0));
  EXPECT_EQ(scalar.value, 104);
  EXPECT_EQ(scalar.derivative, 0.5 * 396 + 2 * 200);
  auto const single = coir::jvp([](auto x) { return x * x; })(3.0, 2);
  EXPECT_EQ(single.value, 9);
  EXPECT_EQ(single.derivative, 12);
}

}  // namespace

/// Newton's method on Rosenbrock's function from several points at once, all in one kernel: the
/// distance to the minimum at (1, 1) after some steps.
template <class Exec, class T>
std::vector<T> newton_in_kernel(int n) {
  Kokkos::View<T*, typename Exec::memory_space> const distance("distance", n);
  coir::for_each(
      "coir::test::newton", Exec{}, coir::box({n}), KOKKOS_LAMBDA(int i) {
        T x = T(-1) + T(i % 7) / 4, y = T(1) - T(i % 5) / 4;
        for (int step = 0; step < 12; ++step) {
          auto const g = coir::grad(Rosenbrock{})(x, y);
          auto const h = coir::hessian(Rosenbrock{})(x, y);
          T const determinant = h[0][0] * h[1][1] - h[0][1] * h[1][0];
          T const dx = (h[1][1] * g[0] - h[0][1] * g[1]) / determinant;
          T const dy = (h[0][0] * g[1] - h[1][0] * g[0]) / determinant;
          x -= dx;
          y -= dy;
        }
        auto const j = coir::jacobian(Polar{})(x, T(0));
        distance(i) = coir::math::abs(x - 1) + coir::math::abs(y - 1) +
                      coir::math::abs(j[0][0] - 1) + coir::math::abs(j[1][1] - x);
      });
  auto const distance_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, distance);
  return {distance_h.data(), distance_h.data() + n};
}

COIR_TYPED_SUITE(GradKernels);

TYPED_TEST(GradKernels, NewtonsMethodConvergesToTheMinimum) {
  using T = typename TypeParam::Real;
  // The Hessian's condition number at (1, 1) is 2508; a gradient is rounded to a few eps of 400.
  T const tolerance = 2508 * 4 * std::numeric_limits<T>::epsilon();
  for (T const distance : newton_in_kernel<typename TypeParam::Exec, T>(1009))
    ASSERT_LE(distance, tolerance);
}

/// The value and the slopes of Rosenbrock's function at a point that is a row.
struct ValueAndSlopes {
  template <class T>
  KOKKOS_FUNCTION Kokkos::Array<T, 3> operator()(coir::Row<T> const& at) const {
    auto const [value, slopes] = coir::value_and_grad(Rosenbrock{})(at[0], at[1]);
    return {value, slopes[0], slopes[1]};
  }
};

/// Points with coordinates that are multiples of 1/2: all derivatives are exact.
template <class T, class Space>
coir::Array<T, 2, Space> some_points(std::int64_t n) {
  auto points = coir::zeros<T, Space>(n, 2);
  auto const k = coir::arange<T, Space>(n);
  points(coir::range(), 0) = 0.5 * k - 8;
  points(coir::range(), 1) = 3 - 0.5 * k;
  return points;
}

// jax.vmap(jax.grad(f, argnums=(0, 1))), and its like for hessian and jacobian.
TYPED_TEST(GradKernels, AreMappedByVmap) {
  TYPES_OF_CASE;
  auto const points = some_points<T, Space>(37);
  auto const x = points(coir::range(), 0), y = points(coir::range(), 1);
  auto const slopes = to_host(coir::vmap(coir::grad(Rosenbrock{}))(x, y));
  auto const second = to_host(coir::vmap(coir::hessian(Rosenbrock{}), coir::out_axes(-1))(x, y));
  auto const all = to_host(coir::vmap(ValueAndSlopes{})(points));
  auto const table =
      to_host(coir::vmap(coir::vmap(coir::grad(Rosenbrock{}), coir::in_axes(0, coir::unmapped)),
                         coir::in_axes(coir::unmapped, 0))(x, y));
  EXPECT_EQ(slopes.shape(), (coir::Shape<2>{37, 2}));
  EXPECT_EQ(second.shape(), (coir::Shape<3>{2, 2, 37}));
  EXPECT_EQ(table.shape(), (coir::Shape<3>{37, 37, 2}));
  auto const a = to_host(x), b = to_host(y);
  for (int i = 0; i < 37; ++i) {
    auto const [value, gradient] = coir::value_and_grad(Rosenbrock{})(a(i), b(i));
    auto const h = coir::hessian(Rosenbrock{})(a(i), b(i));
    EXPECT_EQ(all(i, 0), value);
    for (int k = 0; k < 2; ++k) {
      EXPECT_EQ(slopes(i, k), gradient[k]);
      EXPECT_EQ(all(i, k + 1), gradient[k]);
      for (int l = 0; l < 2; ++l) EXPECT_EQ(second(k, l, i), h[k][l]);
    }
    for (int j = 0; j < 37; ++j) EXPECT_EQ(table(j, i, 1), coir::grad(Rosenbrock{})(a(i), b(j))[1]);
  }
}
