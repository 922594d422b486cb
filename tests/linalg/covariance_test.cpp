#include <coir/linalg/covariance.hpp>

#include <linalg/near.hpp>
#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

#include <cmath>

using namespace coir;
using coir::testing::expect_near;
using coir::testing::message_of;
using coir::testing::values;

COIR_TYPED_SUITE(Covariance);

// Expected numbers are those of numpy.cov and numpy.corrcoef.

TYPED_TEST(Covariance, OfSeveralQuantities) {
  TYPES_OF_CASE;
  auto const x = array<T, Space>({{1, 2, 4, 7}, {2, 1, 0, 5}, {-1, 0, 3, 2}});
  double const third = 11.0 / 3;
  expect_near(cov(x), {7, third, third, third, 14.0 / 3, 0, third, 0, 10.0 / 3});
  expect_near(cov(1 * x, ddof(0)), {5.25, 2.75, 2.75, 2.75, 3.5, 0, 2.75, 0, 2.5});
  expect_near(cov(x(0, range()), x(1, range())), {7, third, third, 14.0 / 3});
  EXPECT_NEAR(cov(x(0, range())), 7, 1e-5);
  double const a = 0.6415330278717848, b = 0.7590721152765897;
  expect_near(corrcoef(x), {1, a, b, a, 1, 0, b, 0, 1});
  expect_near(corrcoef(x(0, range()), x(1, range())), {1, a, a, 1});
  for (int k = 1; k < 40; ++k) {
    auto const own = values(
        diagonal(corrcoef(array<T, Space>({{T(0.1) * T(k), 1, T(0.3)}, {T(k), T(0.7), 0}}))));
    EXPECT_EQ(own, (std::vector<T>{1, 1})) << k;
  }
  EXPECT_EQ(cov(zeros<T, Space>({0, 3})).size(), 0);
  EXPECT_TRUE(std::isnan(values(corrcoef(ones<T, Space>({2, 3})))[1]));
  EXPECT_EQ(message_of([&] { cov(x(range(), range(0, 1))); }),
            "a covariance needs more observations than ddof = 1, not 1");
}

TYPED_TEST(Covariance, OfComplexAndWholeNumbers) {
  TYPES_OF_CASE;
  using Complex = Kokkos::complex<T>;
  auto const c = cov(array<Complex, Space>(
      {{Complex(1, 1), Complex(2), Complex(0, 3)}, {Complex(0), Complex(0, 1), Complex(2)}}));
  expect_near(real(c), {10.0 / 3, -5.0 / 3, -5.0 / 3, 5.0 / 3});
  expect_near(imag(c), {0, 7.0 / 6, -7.0 / 6, 0});
  expect_near(cov(array<int, Space>({{1, 2}, {3, 5}})), {0.5, 1, 1, 2});
}
