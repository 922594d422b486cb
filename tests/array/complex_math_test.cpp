// Complex functions beside the C library's in long double: accurate in each part, and at
// infinities, NaN and zeros as annex G of C17 has it.

#include <coir/array/all.hpp>

#include <array/naive.hpp>
#include <support/spaces.hpp>

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

using namespace coir;
using coir::testing::array_of;
using coir::testing::values;

namespace {

using Exact = std::complex<long double>;

template <class Case>
class ComplexMath : public ::testing::Test {
 public:
  using T = typename Case::Real;
  using Z = Kokkos::complex<T>;
  using Space = typename Case::Exec::memory_space;
  using Limits = std::numeric_limits<T>;

  /// Parts that are zeros, denormal, small, near 1, large, near overflow, infinite and NaN, with
  /// each sign.
  static std::vector<Z> special() {
    std::vector<T> const parts{0,
                               1,
                               2,
                               T(0.5),
                               T(0.7),
                               T(1e-5),
                               1 + Limits::epsilon(),
                               1 - Limits::epsilon() / 2,
                               T(1.5707963267948966),
                               21,
                               T(88.7),
                               T(90),
                               T(709.5),
                               T(710.3),
                               800,
                               1420,
                               T(1e17),
                               std::sqrt(Limits::max()) * 2,
                               Limits::max(),
                               Limits::max() / T(1.3),
                               std::sqrt(Limits::min()) / 2,
                               Limits::min(),
                               Limits::denorm_min(),
                               Limits::denorm_min() * 3,
                               Limits::infinity(),
                               Limits::quiet_NaN()};
    std::vector<Z> result;
    for (T const x : parts)
      for (T const y : parts)
        for (int signs = 0; signs < 4; ++signs)
          result.push_back(Z(signs % 2 == 0 ? x : -x, signs < 2 ? y : -y));
    return result;
  }

  static std::vector<Z> random() {
    std::mt19937_64 bits(7);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> exponent(-7, 2.5), angle(-3.2, 3.2);
    std::vector<Z> result;
    for (int i = 0; i < 4001; ++i) {
      result.push_back(Z(T(normal(bits)), T(normal(bits))));
      result.push_back(Z(T(normal(bits) * std::pow(10, exponent(bits))),
                         T(normal(bits) * std::pow(10, exponent(bits)))));
      double const a = angle(bits), r = 1 + normal(bits) * std::pow(10, exponent(bits) - 4);
      result.push_back(Z(T(r * std::cos(a)), T(r * std::sin(a))));
    }
    return result;
  }

  static std::complex<T> plain(Z const& z) { return {z.real(), z.imag()}; }
  static Exact wide(Z const& z) { return {z.real(), z.imag()}; }

  /// In ulp of the right value; 0 where both are NaN, or equal, or beyond the largest number.
  static double ulps(T found, long double right) {
    T const rounded = static_cast<T>(right);
    if (std::isnan(right) || std::isnan(found))
      return std::isnan(right) && std::isnan(found) ? 0 : 1e9;
    if (found == rounded) return 0;
    long double const near_most = 0.9999L * Limits::max();
    if (std::abs(right) > near_most && std::abs(static_cast<long double>(found)) > near_most)
      return (right < 0) == (found < 0) ? 0 : 1e9;
    T const size = std::abs(rounded);
    long double const ulp =
        std::nextafter(size, T(0)) == size
            ? static_cast<long double>(Limits::denorm_min())
            : static_cast<long double>(size) - static_cast<long double>(std::nextafter(size, T(0)));
    return static_cast<double>(std::abs(static_cast<long double>(found) - right) / ulp);
  }

  template <class F, class G>
  static void compare(char const* name, F const& f, G const& right, double tolerance) {
    for (auto const& z : {special(), random()}) {
      auto const found =
          values(f(array_of<Space>(z, Shape<1>{static_cast<std::int64_t>(z.size())})));
      for (std::size_t i = 0; i < z.size(); ++i) {
        bool const finite = std::isfinite(z[i].real()) && std::isfinite(z[i].imag());
        Exact const e = finite ? right(wide(z[i])) : Exact(right(plain(z[i])));
        EXPECT_TRUE(ulps(found[i].real(), e.real()) <= tolerance &&
                    ulps(found[i].imag(), e.imag()) <= tolerance)
            << name << z[i] << " is " << found[i] << ", not " << e;
        // Signs of zeros choose the side of a branch cut.
        if (finite && e.real() == 0)
          EXPECT_EQ(std::signbit(found[i].real()), std::signbit(e.real())) << name << z[i];
        if (finite && e.imag() == 0)
          EXPECT_EQ(std::signbit(found[i].imag()), std::signbit(e.imag())) << name << z[i];
      }
    }
  }
};
TYPED_TEST_SUITE(ComplexMath, coir::testing::Cases, coir::testing::CaseName);

}  // namespace

// Each is put together from a few real functions, of 4 ulp each on hosts.
#define COMPARE(name)                                                                           \
  TestFixture::compare(                                                                         \
      #name, [](auto const& z) { return name(z); }, [](auto const& z) { return std::name(z); }, \
      12)

TYPED_TEST(ComplexMath, ExponentialsLogarithmsAndRoots) {
  COMPARE(exp);
  COMPARE(log);
  COMPARE(log10);
  COMPARE(sqrt);
}
TYPED_TEST(ComplexMath, TrigonometricAndHyperbolicFunctions) {
  COMPARE(sin);
  COMPARE(cos);
  COMPARE(tan);
  COMPARE(sinh);
  COMPARE(cosh);
  COMPARE(tanh);
}
TYPED_TEST(ComplexMath, InverseFunctions) {
  COMPARE(asin);
  COMPARE(acos);
  COMPARE(atan);
  COMPARE(asinh);
  COMPARE(acosh);
  COMPARE(atanh);
}

TYPED_TEST(ComplexMath, Quotients) {
  using T = typename TestFixture::T;
  using Z = typename TestFixture::Z;
  using Limits = std::numeric_limits<T>;
  T const inf = Limits::infinity(), large = Limits::max(), small = Limits::min();
  for (Z const w : {Z(1, 0), Z(1, 2), Z(-3, T(1e-20)), Z(large, large), Z(large, 1),
                    Z(T(1e30), T(1e-30)), Z(small, 4 * small)}) {
    auto const z = TestFixture::random();
    auto const found = values(
        array_of<typename TestFixture::Space>(z, Shape<1>{static_cast<std::int64_t>(z.size())}) /
        w);
    for (std::size_t i = 0; i < z.size(); ++i) {
      Exact const right = TestFixture::wide(z[i]) / TestFixture::wide(w);
      // Parts may cancel: each is as accurate as the whole.
      long double const bound = 4 * Limits::epsilon() * std::abs(right) + Limits::denorm_min();
      if (std::abs(right) < static_cast<long double>(large) / 2)
        EXPECT_LE(std::abs(TestFixture::wide(found[i]) - right), bound) << z[i] << " / " << w;
    }
  }
  auto const over = [&](Z const& z, Z const& w) {
    return values(array_of<typename TestFixture::Space>(std::vector<Z>{z}, Shape<1>{1}) / w)[0];
  };
  EXPECT_EQ(over(Z(large, large), Z(large, large)), Z(1, 0));
  EXPECT_EQ(over(Z(1, 1), Z(inf, 2)), Z(0, 0));
  EXPECT_EQ(over(Z(large, large), Z(inf, inf)), Z(0, 0));
  EXPECT_EQ(over(Z(1, 2), Z(0, 0)).real(), inf);
  EXPECT_EQ(over(Z(1, 2), Z(0, 0)).imag(), inf);
  EXPECT_EQ(over(Z(inf, 0), Z(2, 0)).real(), inf);
}

TYPED_TEST(ComplexMath, Powers) {
  using T = typename TestFixture::T;
  using Z = typename TestFixture::Z;
  T const inf = std::numeric_limits<T>::infinity();
  auto const power = [&](Z const& z, Z const& w) {
    return values(pow(array_of<typename TestFixture::Space>(std::vector<Z>{z}, Shape<1>{1}), w))[0];
  };
  // Whole powers of whole numbers are exact.
  EXPECT_EQ(power(Z(1, 2), Z(3, 0)), Z(-11, -2));
  EXPECT_EQ(power(Z(3, -1), Z(2, 0)), Z(8, -6));
  EXPECT_EQ(power(Z(0, 2), Z(-1, 0)), Z(0, T(-0.5)));
  EXPECT_EQ(power(Z(inf, 0), Z(1, 0)), Z(inf, 0));
  T const least = std::numeric_limits<T>::denorm_min();
  EXPECT_EQ(power(Z(least, 0), Z(-1, 0)), Z(inf, 0));
  EXPECT_EQ(power(Z(0, least), Z(-1, 0)), Z(0, -inf));
  EXPECT_EQ(power(Z(1, 2), Z(1, 0)), Z(1, 2));
  EXPECT_EQ(power(Z(inf, inf), Z(0, 0)), Z(1, 0));
  EXPECT_EQ(power(Z(0, 0), Z(0, 0)), Z(1, 0));
  EXPECT_EQ(power(Z(0, 0), Z(T(0.5), 1)), Z(0, 0));
  EXPECT_TRUE(std::isnan(power(Z(0, 0), Z(-1, 0)).real()));
  EXPECT_EQ(power(Z(T(1e30), 0), Z(-50, 0)), Z(0, 0));
  EXPECT_EQ(power(Z(T(1e30), 0), Z(50, 0)), Z(inf, 0));
  auto const z = TestFixture::random();
  auto const found = values(
      pow(array_of<typename TestFixture::Space>(z, Shape<1>{static_cast<std::int64_t>(z.size())}),
          Z(T(0.3), T(0.4))));
  for (std::size_t i = 0; i < z.size(); ++i) {
    Exact const right = std::pow(TestFixture::wide(z[i]), Exact(T(0.3), T(0.4)));
    // The error of the logarithm counts |w log z| times, here less than 10.
    EXPECT_LE(std::abs(TestFixture::wide(found[i]) - right),
              64 * std::numeric_limits<T>::epsilon() * std::abs(right))
        << z[i];
  }
}
