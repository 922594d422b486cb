#include <coir/array/all.hpp>
#include <coir/linalg/matmul.hpp>
#include <coir/linalg/solve.hpp>

#include <linalg/near.hpp>
#include <support/message_of.hpp>
#include <support/spaces.hpp>

using namespace coir;
using coir::testing::expect_near;
using coir::testing::message_of;
using coir::testing::random_matrix;
using coir::testing::values;

template <class Case>
class Solve : public ::testing::Test {
 public:
  using T = typename Case::Real;
  using Space = typename Case::Exec::memory_space;
  using Complex = Kokkos::complex<T>;
};
TYPED_TEST_SUITE(Solve, coir::testing::Cases, coir::testing::CaseName);

#define TYPES                                                     \
  using T = typename TestFixture::T;                              \
  using Space = typename TestFixture::Space;                      \
  using Complex [[maybe_unused]] = typename TestFixture::Complex; \
  auto const a = array<T, Space>({{4, 2, -1}, {1, 3, 2}, {0, 5, -6}})

// Expected numbers are those of numpy.linalg.

TYPED_TEST(Solve, SystemsOfEquations) {
  TYPES;
  auto const b = array<T, Space>({1, 2, 3});
  expect_near(solve(a, b), {-0.06666666666666665, 0.6571428571428571, 0.047619047619047616});
  expect_near(matmul(a, solve(a, array<T, Space>({{1, 2}, {3, 4}, {5, 6}}))), {1, 2, 3, 4, 5, 6});
  expect_near(solve(transpose(a), matmul(transpose(a), b)), {1, 2, 3});
  expect_near(solve(2 * a, b + 0)(range(0, 1)), {-0.033333333333333326});
  auto const z = array<Complex, Space>({{Complex(2), Complex(0, 1)}, {Complex(1, -1), Complex(3)}});
  auto const w = solve(z, array<Complex, Space>({Complex(1), Complex(0, 1)}));
  expect_near(real(w), {0.7692307692307692, -0.3076923076923077});
  expect_near(imag(w), {0.15384615384615385, 0.5384615384615384});
}

TYPED_TEST(Solve, InversesAndDeterminants) {
  TYPES;
  expect_near(inv(a), {0.26666666666666666, -0.06666666666666667, -0.06666666666666668,
                       -0.05714285714285714, 0.22857142857142856, 0.08571428571428573,
                       -0.047619047619047616, 0.19047619047619047, -0.09523809523809523});
  EXPECT_NEAR(det(a), -105, 105 * 8 * std::numeric_limits<T>::epsilon());
  auto const z = array<Complex, Space>({{Complex(2), Complex(0, 1)}, {Complex(1, -1), Complex(3)}});
  EXPECT_NEAR(det(z).real(), 5, 1e-6);
  EXPECT_NEAR(det(z).imag(), -1, 1e-6);
  EXPECT_EQ(det(array<T, Space>({{0, 1}, {1, 0}})), T(-1));
  EXPECT_EQ(det(array<T, Space>({{1, 2}, {2, 4}})), T(0));
}

TYPED_TEST(Solve, ManySizes) {
  TYPES;
  for (std::int64_t n : {1, 2, 31, 200, 240, 301}) {
    auto const m = evaluate(random_matrix<T, Space>(n, n, 1) + T(n) * eye<T, Space>(n));
    auto const x = random_matrix<T, Space>(n, 3, 2);
    double const small = 64 * static_cast<double>(n) * std::numeric_limits<T>::epsilon();
    EXPECT_LE(max(abs(solve(m, matmul(m, x)) - x)), small);
    EXPECT_LE(max(abs(matmul(m, inv(m)) - eye<T, Space>(n))), small);
    auto const backwards = flip(m, 0);  // pivots are far from the diagonal
    EXPECT_LE(max(abs(matmul(backwards, inv(backwards)) - eye<T, Space>(n))), small);
    auto const scaled = evaluate(m / T(n));  // whose determinant doesn't overflow
    double const exchanges = n * (n - 1) / 2 % 2 == 0 ? 1 : -1;
    EXPECT_NEAR(det(flip(scaled, 0)) / det(scaled), exchanges, small);
    auto const turned = solve(m * Complex(0, 2), matmul(m, x) * Complex(0, 1));
    EXPECT_LE(max(abs(2 * turned - x)), 2 * small);
    auto singular = evaluate(m);
    singular(n / 2) = 0;
    EXPECT_EQ(det(singular), T(0));
    EXPECT_THROW(inv(singular), NumericalError);
    auto const found = lstsq(m, matmul(m, x));
    EXPECT_LE(max(abs(found.x - x)), 4 * small);
    EXPECT_EQ(found.rank, n);
  }
  auto const none = zeros<T, Space>({0, 0});
  EXPECT_EQ(inv(none).size(), 0);
  EXPECT_EQ(det(none), T(1));
  EXPECT_EQ(solve(none, zeros<T, Space>({0, 2})).shape(), (Shape<2>{0, 2}));
  EXPECT_EQ(solve(a, zeros<T, Space>({3, 0})).shape(), (Shape<2>{3, 0}));
}

TYPED_TEST(Solve, Stacks) {
  TYPES;
  for (auto const [p, q, n] : {Shape<3>{3, 1, 5}, {2, 33, 32}, {1, 2, 150}, {0, 2, 3}, {2, 2, 0}}) {
    auto const whole = random_matrix<T, Space>(p * q * n, n, 1);
    auto const m = evaluate(reshape(whole, {p, q, n, n}) + T(n) * eye<T, Space>(n));
    auto const b = evaluate(reshape(random_matrix<T, Space>(p * q * n, 2, 2), {p, q, n, 2}));
    auto const x = solve(m, b), inverse = inv(m);
    auto const determinants = det(m);
    EXPECT_EQ(x.shape(), (Shape<4>{p, q, n, 2}));
    EXPECT_EQ(inverse.shape(), (Shape<4>{p, q, n, n}));
    EXPECT_EQ(determinants.shape(), (Shape<2>{p, q}));
    double const small = 256 * std::numeric_limits<T>::epsilon();
    for (std::int64_t i = 0; i < p; ++i)
      for (std::int64_t j = 0; j < q; j += 11) {
        EXPECT_TRUE(allclose(x(i, j), solve(m(i, j), b(i, j)), {small, small}));
        EXPECT_TRUE(allclose(inverse(i, j), inv(m(i, j)), {small, small}));
        double const alone = static_cast<double>(det(m(i, j)));
        if (std::isfinite(alone))
          EXPECT_NEAR(static_cast<double>(T(determinants(i, j))) / alone, 1, n * small);
      }
  }
  auto const two = evaluate(reshape(array<T, Space>({2, 0, 0, 4, 1, 1, 0, 1}), {2, 2, 2}));
  expect_near(solve(two, array<T, Space>({2, 4})), {1, 1, -2, 4});
  expect_near(det(two), {8, 1});
  auto const singular = evaluate(reshape(array<T, Space>({2, 0, 0, 4, 1, 2, 2, 4}), {2, 2, 2}));
  EXPECT_EQ(message_of<NumericalError>([&] { inv(singular); }),
            "matrix 1 of the stack is singular: pivot 1 of its LU factors is 0");
  expect_near(det(singular), {8, 0});
  EXPECT_EQ(message_of([&] { solve(two, zeros<T, Space>({3, 2, 1})); }),
            "solve takes as many rows on the right as on the left, and the same leading axes, not "
            "shapes (2, 2, 2) and (3, 2, 1)");
  EXPECT_EQ(message_of([&] { inv(zeros<T, Space>({2, 2, 3})); }),
            "inv needs square matrices, not a stack of shape (2, 2, 3)");
}

// Hosts solve them in lanes.
TYPED_TEST(Solve, StacksThatNeedPivots) {
  TYPES;
  for (auto const [count, n, columns] : {Shape<3>{19, 1, 1}, {40, 7, 3}, {16, 33, 2}, {9, 64, 1}}) {
    auto const largest = T(n) * flip(eye<T, Space>(n), 1);  // on the other diagonal
    auto const m =
        evaluate(reshape(random_matrix<T, Space>(count * n, n, 1), {count, n, n}) + largest);
    auto const x =
        evaluate(reshape(random_matrix<T, Space>(count * n, columns, 2), {count, n, columns}));
    double const small = 64 * static_cast<double>(n) * std::numeric_limits<T>::epsilon();
    EXPECT_LE(max(abs(solve(m, matmul(m, x)) - x)), small) << n;
  }
  // Beside a matrix whose pivots' inverses are infinite, and one of NaN, in the bits of others.
  auto const twos = evaluate(broadcast_to(array<T, Space>({{1, 3}, {2, 1}}), Shape<3>{20, 2, 2}));
  auto const right = evaluate(broadcast_to(array<T, Space>({{7}, {4}}), Shape<3>{20, 2, 1}));
  T const tiny = std::numeric_limits<T>::min() / 8;
  auto among = copy(twos), of_tiny = copy(right);
  among(3) = T(2) * tiny * eye<T, Space>(2);
  of_tiny(3) = tiny;
  among(5) = std::numeric_limits<T>::quiet_NaN();
  auto const expected = to_host(solve(twos, right)), found = to_host(solve(among, of_tiny));
  for (std::int64_t k = 0; k < 20; ++k)
    for (std::int64_t i = 0; i < 2; ++i) {
      if (k == 3)
        EXPECT_EQ(found(k, i, 0), T(0.5));
      else if (k == 5)
        EXPECT_NE(found(k, i, 0), found(k, i, 0));
      else
        EXPECT_EQ(found(k, i, 0), expected(k, i, 0)) << k;
    }
  auto regular = evaluate(broadcast_to(array<T, Space>({{0, 1}, {2, 1}}), Shape<3>{20, 2, 2}));
  regular(17) = array<T, Space>({{1, 2}, {2, 4}});
  regular(19) = T(0);
  EXPECT_EQ(message_of<NumericalError>([&] { solve(regular, zeros<T, Space>({20, 2, 1})); }),
            "matrix 17 of the stack is singular: pivot 1 of its LU factors is 0");
}

TYPED_TEST(Solve, LeastSquares) {
  TYPES;
  auto const tall = array<T, Space>({{1, 2}, {3, 4}, {5, 6}});
  auto const [x, residuals, rank, values] = lstsq(tall, array<T, Space>({1, 0, 2}));
  expect_near(x, {0, 0.25});
  expect_near(residuals, {1.5});
  EXPECT_EQ(rank, 2);
  expect_near(values, {9.525518091565107, 0.5143005806586444});

  auto const wide =
      lstsq(transpose(tall), array<T, Space>({1, 2}));  // of all solutions the shortest
  expect_near(wide.x, {0.8333333333333321, 0.3333333333333328, -0.16666666666666596});
  EXPECT_EQ(wide.residuals.size(), 0);

  auto const dependent = array<T, Space>({{1, 2}, {2, 4}, {3, 6}});
  auto const some = lstsq(dependent, array<T, Space>({{1, 1}, {2, 0}, {3, 0}}));
  EXPECT_EQ(some.rank, 1);
  expect_near(some.x, {0.2, 0.014285714285714287, 0.4, 0.02857142857142858});
  EXPECT_EQ(some.residuals.size(), 0);
  EXPECT_EQ(lstsq(tall, array<T, Space>({1, 0, 2}), 0.5).rank, 1);

  auto const z = Complex(0, 1) * tall;
  expect_near(imag(lstsq(z, array<T, Space>({1, 0, 2})).x), {0, -0.25});
  EXPECT_EQ(lstsq(zeros<T, Space>({0, 2}), zeros<T, Space>({0})).x.shape(), (Shape<1>{2}));
}

TYPED_TEST(Solve, WhatHasNoSolutionIsAnError) {
  TYPES;
  auto const singular = array<T, Space>({{1, 2, 0}, {2, 4, 0}, {0, 0, 1}});
  auto const b = array<T, Space>({1, 2, 3});
  std::string const message = "the matrix is singular: pivot 1 of its LU factors is 0";
  EXPECT_EQ(message_of<NumericalError>([&] { inv(singular); }), message);
  EXPECT_NE(message_of<NumericalError>([&] { solve(singular, b); }).find("is singular"),
            std::string::npos);
  EXPECT_EQ(message_of([&] { inv(zeros<T, Space>({2, 3})); }),
            "inv needs a square matrix, not one of shape (2, 3)");
  EXPECT_THROW(det(zeros<T, Space>({2, 3})), PreconditionError);
  EXPECT_EQ(message_of([&] { solve(a, array<T, Space>({1, 2})); }),
            "solve takes as many rows on the right as on the left, not shapes (3, 3) and (2,)");
  EXPECT_THROW(lstsq(a, array<T, Space>({1, 2})), PreconditionError);
  EXPECT_EQ(message_of([&] { lstsq(a / T(0), b); }),
            "lstsq needs finite numbers, and there is a NaN or an infinity");
}

TEST(SolveOfIntegers, IsInDouble) {
  expect_near(solve(array({{2, 0}, {0, 4}}), array({1, 1})), {0.5, 0.25});
  EXPECT_NEAR(det(array({{2, 1}, {1, 4}})), 7.0, 1e-14);
}
