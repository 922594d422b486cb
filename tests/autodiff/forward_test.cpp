// Derivatives of programs of arrays along directions, and second derivatives, beside those of JAX.

#include <autodiff/forward.hpp>

#include <coir/autodiff/linalg.hpp>

#include <support/message_of.hpp>

#include <tuple>

using coir::Array;
using coir::end;
using coir::range;
using coir::testing::message_of;
using coir::testing::waves;

namespace {

struct OfTwo {
  template <class X, class Y>
  auto operator()(X const& x, Y const& y) const {
    return sum(matmul(x, y) * y) * sum(sin(x));
  }
};

struct Cubes {
  template <class X>
  auto operator()(X const& x) const {
    return sum(x * x * x) * x(0);
  }
};

/// The gradient of another function, in a function.
struct SlopeAlong {
  Array<double, 1> const& v;
  template <class X>
  auto operator()(X const& x) const {
    return sum(coir::grad(Cubes{})(x) * v);
  }
};

// f = sum x^3 y: along v the derivative is sum 3 x^2 v y, and that along w of the latter is
// sum 6 x v w y. Only one of the two arguments changes in the outer pass, and so do directions.
struct CubeTimes {
  template <class X, class Y>
  auto operator()(X const& x, Y const& y) const {
    return sum(x * x * x * y);
  }
};
struct AlongFirst {
  Array<double, 1> const &y, &v;
  template <class X>
  auto operator()(X const& x) const {
    return coir::jvp(CubeTimes{})(std::tuple(x, y), std::tuple(v, 0 * y)).derivative;
  }
};
struct AlongItself {
  Array<double, 1> const& y;
  template <class X>
  auto operator()(X const& x) const {  // sum 3 y^2 x y
    return coir::jvp(CubeTimes{})(std::tuple(y, y), std::tuple(x, 0 * y)).derivative;
  }
};

}  // namespace

// f = x^T-free products of two arguments: the Hessian along (v, w) is the derivative of both
// gradients, here beside differences of these, whose error is h^2 / 6 of third derivatives.
TEST(Forward, SeveralArguments) {
  auto const x = waves(0, 3, 3);
  auto const y = waves(1, 3), v = waves(2, 3);
  auto const w = waves(3, 3, 3);
  auto const [of_x, of_y] = coir::hvp(OfTwo{})(std::tuple(x, y), std::tuple(w, v));
  double const h = 1e-5;
  auto const at = [&](double step) {
    return coir::grad(OfTwo{})(evaluate(x + step * w), evaluate(y + step * v));
  };
  auto const [ahead_x, ahead_y] = at(h);
  auto const [behind_x, behind_y] = at(-h);
  EXPECT_LT(max(abs((ahead_x - behind_x) / (2 * h) - of_x)), 1e-8);
  EXPECT_LT(max(abs((ahead_y - behind_y) / (2 * h) - of_y)), 1e-8);
  auto const along =
      coir::jvp([](auto x, auto s) { return sin(x) * s; })(std::tuple(y, 2.0), std::tuple(v, 0.5));
  EXPECT_LT(max(abs(along.derivative - (2 * cos(y) * v + 0.5 * sin(y)))), 1e-15);
}

// f = x_0 sum x^3 has the Hessian 6 x_0 diag(x) + 3 (x^2 e_0^T + e_0 (x^2)^T).
TEST(Forward, HessiansAndGradientsOfGradients) {
  auto const x = waves(0, 5), v = waves(1, 5);
  Array<double, 2> expected = coir::eye<double>(5) * (6 * x(0) * x);
  expected(0) += 3 * x * x;
  expected(range(), 0) += 3 * x * x;
  auto const found = coir::hessian(Cubes{})(x);
  EXPECT_LT(max(abs(found - expected)), 1e-13);
  Array<double, 1> const product = sum(expected * v, 1);
  EXPECT_LT(max(abs(coir::grad(SlopeAlong{v})(x) - product)), 1e-13);
  EXPECT_NEAR(coir::value_and_grad(SlopeAlong{v})(x).value, sum(coir::grad(Cubes{})(x) * v), 1e-13);
}

TEST(Forward, ColumnsAndRowsOfJacobiansAgree) {
  auto const f = [](auto x) { return x(range(1, end)) * cumsum(sin(x))(range(0, -1)); };
  auto const x = waves(0, 5);
  auto const columns = coir::jacfwd(f)(x);
  EXPECT_EQ(columns.shape(), (coir::Shape<2>{4, 5}));
  EXPECT_LT(max(abs(columns - coir::jacobian(f)(x))), 1e-15);
  auto const constant = coir::jvp([](auto) { return waves(3, 4); })(x, x);
  EXPECT_EQ(max(abs(constant.derivative)), 0);
}

TEST(Forward, FloatsHaveTheDerivativesOfDoubles) {
  auto const x = waves<float>(0, 8), v = waves<float>(1, 8);
  auto const along = coir::jvp(Cubes{})(x, v);
  static_assert(std::is_same_v<decltype(along.derivative), float>);
  auto const in_double = coir::jvp(Cubes{})(waves(0, 8), waves(1, 8));
  EXPECT_NEAR(along.derivative, in_double.derivative, 1e-5);
}

TEST(Forward, MistakesAreNamed) {
  auto const x = waves(0, 5);
  EXPECT_NE(message_of([&] { coir::jvp(Cubes{})(x, waves(0, 4)); }).find("(5,), not (4,)"),
            std::string::npos);
  EXPECT_THROW(coir::jacfwd([](auto x) { return x * x; })(coir::zeros<double>(0)),
               coir::PreconditionError);
}

TEST(Forward, OrdersMayDiffer) {
  auto const x = waves(0, 5), y = waves(1, 5), v = waves(2, 5), w = waves(3, 5);
  auto const second = coir::jvp(AlongFirst{y, v})(x, w);
  EXPECT_NEAR(second.value, sum(3 * x * x * v * y), 1e-14);
  EXPECT_NEAR(second.derivative, sum(6 * x * v * w * y), 1e-14);
  EXPECT_NEAR(coir::jvp(AlongItself{y})(x, w).derivative, sum(3 * y * y * y * w), 1e-14);
}
