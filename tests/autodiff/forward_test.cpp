// Derivatives of programs of arrays along directions, and second derivatives, beside those of JAX.

#include <autodiff/program_grad.hpp>

#include <coir/autodiff/decompositions.hpp>
#include <coir/autodiff/einsum.hpp>
#include <coir/autodiff/linalg.hpp>
#include <coir/autodiff/solve.hpp>
#include <coir/autodiff/stop_gradient.hpp>

#include <support/message_of.hpp>

#include <tuple>

using coir::Array;
using coir::end;
using coir::range;
using coir::testing::message_of;
using coir::testing::waves;

namespace {

struct Steps {
  template <class X>
  auto operator()(X const& x) const {
    auto u = evaluate(sin(x));
    u(range(1, end)) += 0.5 * x(range(0, -1)) * x(range(1, end));
    for (int k = 0; k < 2; ++k) u = u + 0.1 * (roll(u, 1) - 2 * u + roll(u, -1)) * u;
    u(0) = prod(u) + max(u);
    auto s = evaluate(sum(u));
    s += norm(x);
    auto const m = evaluate(where(x > 0, x * x, exp(x)));
    auto const both = concatenate(0, m, u);
    return log(1 + s * s) * sum(square(u)) + mean(cumsum(exp(u))) + var(m) +
           sum(both(range(0, end, 3)) * waves(5, 6));
  }
};

struct Order {
  template <class X>
  auto operator()(X const& x) const {
    auto const q = quantile(x, {0.2, 0.7});
    auto const m = reshape(x, {4, 2});
    auto const smallest = min(x);
    return sum(sin(x) * q(0) + q(1) * q(1) * q(1)) +
           median(x * x) * sum(median(m * m, 0) * max(m, 0)) +
           sum(sin(unwrap(9 * x))) * prod(m, 1)(1) +
           coir::stop_gradient(sum(x)) * smallest * smallest + sum(pow(sort(x), 3) * waves(4, 8)) +
           sum(cumprod(cos(x))) + sum(square(take(x, coir::array({0, 3, 3, 7})))) +
           sum(pow(pad(x, 2, coir::Pad::reflect), 3)) + sum(take(cos(x), argsort(x)) * waves(6, 8));
  }
};

struct Algebra {
  template <class X>
  auto operator()(X const& x) const {
    auto const m = evaluate(reshape(x, {4, 3}) + 3 * coir::eye<double>(4, 3));
    auto const s = matmul(transpose(m), m);
    auto const b = x(range(0, 3));
    auto const of_r = qr(m);
    auto const of_s = svd(m, false);
    auto const vectors = eigh(s).vectors;
    auto const c = waves(4, 3, 3);
    auto const first = lstsq(m, square(x(range(0, 4)))).x;
    auto const second = lstsq(transpose(m), b).x;
    using coir::MatrixNorm;
    return sum(cholesky(s) * c) + sum(square(vectors) * c) + sum(sqrt(eigvalsh(s))) +
           det(s) / 1000 + sum(inv(s) * c) + sum(solve(s, b) * b) +
           sum(square(of_r.q) * waves(5, 4, 3)) + sum(square(of_r.r) * c) +
           sum(square(of_s.u) * waves(6, 4, 3)) + sum(square(of_s.vh) * waves(7, 3, 3)) +
           sum(pow(svdvals(m), 3)) / 10 + sum(square(first)) + sum(pow(second, 3)) +
           matrix_norm(m, MatrixNorm::one) * matrix_norm(m, MatrixNorm::infinity) * matrix_norm(m) /
               10 +
           sum(square(coir::einsum<"ij,kj->ik">(m, m))) / 100;
  }
};

/// f, its derivative along waves(1), and that of the derivative along waves(2), have JAX's values
/// at waves(0). The tolerance is 1000 eps of the larger of the number and 10: programs have some
/// hundred operations, and condition numbers of some 10.
template <class F>
void expect_derivatives(std::int64_t n, double value, double first, double second) {
  auto const x = waves(0, n), v = waves(1, n), w = waves(2, n);
  auto const near = [](double found, double expected) {
    EXPECT_NEAR(found, expected, 2.2e-13 * std::max(10.0, std::abs(expected)));
  };
  auto const along = coir::jvp(F{})(x, v);
  near(along.value, value);
  near(along.derivative, first);
  near(sum(coir::grad(F{})(x) * v), first);
  near(sum(coir::hvp(F{})(x, v) * w), second);
}

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

struct Vectors {
  template <class X>
  auto operator()(X const& x) const {
    return sum(svd(x, false).u) + sum(eigh(matmul(transpose(x), x)).vectors);
  }
};

}  // namespace

TEST(Forward, StatementsHaveTheDerivativesOfJax) {
  expect_derivatives<Steps>(8, 14.799653868208058, 8.60255731507076, 19.877416821835983);
}
TEST(Forward, OrderedElementsHaveTheDerivativesOfJax) {
  expect_derivatives<Order>(8, 14.907447416894613, 27.228274024221143, 39.706957496949045);
}
TEST(Forward, LinearAlgebraHasTheDerivativesOfJax) {
  expect_derivatives<Algebra>(12, 22.164710061079603, 15.377615373388482, 12.555476599526624);
}

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
  // Orthogonal columns of one length: all singular values and eigenvalues are 2.
  Array<double, 2> const same = 2 * coir::eye<double>(3);
  auto const values = [](auto a) { return sum(svdvals(a)) + sum(eigvalsh(a)); };
  EXPECT_LT(max(abs(coir::grad(values)(same) - 2 * coir::eye<double>(3))), 1e-15);
  EXPECT_NEAR(coir::jvp(values)(same, same).derivative, 12, 1e-14);
  EXPECT_NE(
      message_of<coir::NumericalError>([&] { coir::grad(Vectors{})(same); }).find("differ by 0"),
      std::string::npos);
  EXPECT_THROW(coir::jvp(Vectors{})(same, same), coir::NumericalError);
  auto const wide = waves(0, 2, 3);
  EXPECT_THROW(coir::grad([](auto a) { return sum(qr(a).r); })(wide), coir::PreconditionError);
  EXPECT_THROW(coir::grad([](auto a) { return sum(svd(a).s); })(wide), coir::PreconditionError);
}
