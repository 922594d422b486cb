#include <coir/poisson/jacobi.hpp>
#include <coir/poisson/laplacian.hpp>

#include <poisson/random_fields.hpp>
#include <support/typed_suite.hpp>

#include <string>
#include <vector>

using coir::poisson::jacobi;
using coir::poisson::JacobiOptions;
using coir::poisson::JacobiScheme;
using coir::testing::GridOf;
using coir::testing::on_host;

namespace {

COIR_TYPED_SUITE(Jacobi);

/// Jacobi sweeps as the definition has them, on host copies.
template <class U, class B>
void plain_loop(U const& u, B const& b, int sweeps) {
  using T = typename U::value_type;
  auto const u_h = on_host(u);
  auto const b_h = on_host(b);
  int const m = b_h.extent(0), n = b_h.extent(1);
  std::vector<T> next(std::size_t(m) * n);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        T sum = u_h(i, j + 1) + u_h(i + 2, j + 1);
        sum = sum + u_h(i + 1, j);
        sum = sum + u_h(i + 1, j + 2);
        next[std::size_t(i) * n + j] = (sum - b_h(i, j)) / T(4);
      }
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) u_h(i + 1, j + 1) = next[std::size_t(i) * n + j];
  }
  Kokkos::deep_copy(u, u_h);
}

template <class C>
void expect_same_as_plain_loop(int m, int n, int sweeps, JacobiScheme scheme) {
  GridOf<C, 2> const u("u", m + 2, n + 2), b("b", m, n);
  coir::testing::fill_random(u, 7);
  coir::testing::fill_random(b, 11);
  auto const expected = coir::testing::copy_of(u);
  plain_loop(expected, b, sweeps);
  auto const result =
      jacobi(typename C::Exec{}, b, u, JacobiOptions{.scheme = scheme, .sweeps = sweeps});
  EXPECT_EQ(result.iterations, sweeps);
  EXPECT_EQ(result.scheme, scheme);
  ASSERT_EQ(coir::testing::differing(u, expected), 0u)
      << m << " x " << n << ", " << sweeps << " sweeps, " << name_of(scheme);
}

template <class C>
void expect_box_same_as_plain_loop(int m, int n, int p, int sweeps) {
  using T = typename C::Real;
  GridOf<C, 3> const u("u", m + 2, n + 2, p + 2), b("b", m, n, p);
  coir::testing::fill_random(u, 1);
  coir::testing::fill_random(b, 2);
  auto old = on_host(coir::testing::copy_of(u));
  auto const b_h = on_host(b);
  auto const next = Kokkos::create_mirror(u);
  Kokkos::deep_copy(next, old);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (int i = 1; i <= m; ++i)
      for (int j = 1; j <= n; ++j)
        for (int k = 1; k <= p; ++k) {
          T sum = old(i - 1, j, k) + old(i + 1, j, k);
          sum = sum + old(i, j - 1, k);
          sum = sum + old(i, j + 1, k);
          sum = sum + old(i, j, k - 1);
          sum = sum + old(i, j, k + 1);
          next(i, j, k) = (sum - b_h(i - 1, j - 1, k - 1)) * (T(1) / T(6));
        }
    Kokkos::deep_copy(old, next);
  }
  auto const result = jacobi(b, u, {.sweeps = sweeps});
  EXPECT_EQ(result.scheme, JacobiScheme::plain);
  auto const u_h = on_host(u);
  for (std::size_t i = 0; i < u_h.size(); ++i) ASSERT_EQ(u_h.data()[i], next.data()[i]) << i;
}

}  // namespace

TYPED_TEST(Jacobi, PlainEqualsThePlainLoop) {
  for (auto [m, n] : {std::pair{1, 1}, {1, 40}, {40, 1}, {2, 3}, {17, 31}, {64, 128}, {37, 301}})
    for (int sweeps : {0, 1, 2, 7})
      expect_same_as_plain_loop<TypeParam>(m, n, sweeps, JacobiScheme::plain);
}

TYPED_TEST(Jacobi, BlockedEqualsThePlainLoop) {
  for (auto [m, n] : {std::pair{1, 1}, {1, 40}, {40, 1}, {2, 3}, {17, 31}, {64, 128}, {37, 301}})
    for (int sweeps : {0, 1, 2, 7, 16, 33})
      expect_same_as_plain_loop<TypeParam>(m, n, sweeps, JacobiScheme::blocked);
}

// The schemes must agree whatever the shape and the number of sweeps; CTest runs this for several
// numbers of threads. On devices the larger counts go through recorded launches.
TYPED_TEST(Jacobi, BlockedEqualsPlainBitForBit) {
  std::mt19937 generator(20240607);
  int const many = coir::runs_on_host<typename TypeParam::Exec>
                       ? 300
                       : 1700;  // more than are recorded or blocked at once
  for (int trial = 0; trial < 120; ++trial) {
    bool const large = trial % 12 == 0;
    int const m = 1 + generator() % (large ? 700 : 90);
    int const n = 1 + generator() % (large ? 900 : 150);
    int const sweeps = trial % 10 == 1 ? many : generator() % 70;
    GridOf<TypeParam, 2> const u("u", m + 2, n + 2), b("b", m, n);
    coir::testing::fill_random(u, trial, 1000);
    coir::testing::fill_random(b, trial + 1000, 30);
    auto const v = coir::testing::copy_of(u);
    jacobi(b, u, {.scheme = JacobiScheme::plain, .sweeps = sweeps});
    auto const result = jacobi(b, v, {.scheme = JacobiScheme::blocked, .sweeps = sweeps});
    ASSERT_EQ(result.scheme, JacobiScheme::blocked);
    ASSERT_EQ(coir::testing::differing(u, v), 0u) << m << " x " << n << ", " << sweeps << " sweeps";
  }
}

// Beyond the size that is worth aligned copies, hosts sweep in place: 527 rows, not 150.
TYPED_TEST(Jacobi, BlockedEqualsPlainOnALargeGrid) {
  for (int const m : {150, 527}) {
    int const n = 7411;
    GridOf<TypeParam, 2> const u("u", m + 2, n + 2), b("b", m, n);
    coir::testing::fill_random(u, 3, 1000);
    coir::testing::fill_random(b, 4, 30);
    auto const v = coir::testing::copy_of(u);
    jacobi(b, u, {.scheme = JacobiScheme::plain, .sweeps = 37});
    jacobi(b, v, {.scheme = JacobiScheme::blocked, .sweeps = 37});
    EXPECT_EQ(coir::testing::differing(u, v), 0u) << m;
  }
}

TYPED_TEST(Jacobi, BlockedEqualsPlainOnALongThinGrid) {
  for (int n : {1, 3, 15, 16, 17}) {
    int const m = 60'001;
    GridOf<TypeParam, 2> const u("u", m + 2, n + 2), b("b", m, n);
    coir::testing::fill_random(u, 13, 1000);
    coir::testing::fill_random(b, 14, 30);
    auto const v = coir::testing::copy_of(u);
    jacobi(b, u, {.scheme = JacobiScheme::plain, .sweeps = 19});
    jacobi(b, v, {.scheme = JacobiScheme::blocked, .sweeps = 19});
    EXPECT_EQ(coir::testing::differing(u, v), 0u) << n << " columns";
  }
}

// Devices sweep boxes of a million cells and more by another kernel. On hosts each thread has a
// band of planes, if these suffice, and makes up to eight sweeps in a pass: fewer in thinner bands.
TYPED_TEST(Jacobi, ThreeDimensionsEqualThePlainLoop) {
  expect_box_same_as_plain_loop<TypeParam>(1, 1, 1, 4);
  expect_box_same_as_plain_loop<TypeParam>(5, 7, 33, 3);
  expect_box_same_as_plain_loop<TypeParam>(3, 150, 167, 5);
  expect_box_same_as_plain_loop<TypeParam>(29, 40, 50, 9);
  expect_box_same_as_plain_loop<TypeParam>(70, 9, 33, 19);
  expect_box_same_as_plain_loop<TypeParam>(101, 9, 23, 21);
  expect_box_same_as_plain_loop<TypeParam>(41, 150, 167, 3);
  expect_box_same_as_plain_loop<TypeParam>(16, 260, 257, 2);
}

TYPED_TEST(Jacobi, RefusesWhatTheDocumentationRulesOut) {
  GridOf<TypeParam, 2> const b("b", 4, 5), u("u", 6, 7);
  EXPECT_THROW(jacobi(b, u, {.check_every = -5}), coir::PreconditionError);
  GridOf<TypeParam, 3> const b3("b", 4, 5, 6), u3("u", 6, 7, 8);
  EXPECT_THROW(jacobi(b3, u3, {.scheme = JacobiScheme::blocked}), coir::PreconditionError);
}
