#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>

#include <support/typed_suite.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace {

template <class Case>
class Math : public ::testing::Test {
 public:
  using T = typename Case::Real;

  /// Numbers of every magnitude, and neighbours of multiples of pi / 2.
  static std::vector<T> numbers() {
    std::vector<T> result;
    std::mt19937_64 bits(1);
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    while (result.size() < 100'000) {
      T const x = std::bit_cast<T>(static_cast<Bits>(bits()));
      if (std::isfinite(x)) result.push_back(x);
    }
    for (double n = 1; n < 1e16; n = 1.37 * n + 1) {
      T const x = static_cast<T>(std::floor(n) * 1.57079632679489661923);
      for (T const y : {x, std::nextafter(x, T(0)), -x}) result.push_back(y);
    }
    for (int k = 0; k < 3001; ++k) result.push_back(static_cast<T>(3333 * k));
    for (T const x : {T(1e4), std::nextafter(T(1e4), T(1e5)), T(1 << 25),
                      std::nextafter(T(1 << 25), T(0)), std::numeric_limits<T>::max(), T(0)}) {
      result.push_back(x);
      result.push_back(-x);
    }
    return result;
  }

  /// The distance in units of the last place of the exact value, which is known to more digits.
  static double ulps(T value, long double exact) {
    T const size = std::abs(static_cast<T>(exact));
    T const ulp = std::nextafter(size, std::numeric_limits<T>::infinity()) - size;
    return static_cast<double>(std::abs((static_cast<long double>(value) - exact) / ulp));
  }
};
TYPED_TEST_SUITE(Math, coir::testing::Cases, coir::testing::CaseName);

enum class Function { sine, cosine, cube_root };

}  // namespace

/// f of the numbers from `first` on, by one loop.
template <class Exec, class T>
std::vector<T> in_a_loop(Function f, std::vector<T> const& x, std::size_t first = 0) {
  using View = Kokkos::View<T*, typename Exec::memory_space>;
  int const n = static_cast<int>(x.size() - first);
  View const from("from", n), to("to", n);
  auto const on_host = Kokkos::create_mirror_view(from);
  for (int i = 0; i < n; ++i) on_host(i) = x[first + static_cast<std::size_t>(i)];
  Kokkos::deep_copy(from, on_host);
  if (f == Function::sine)
    coir::for_each(
        "coir::test::sine", Exec{}, coir::box({n}),
        KOKKOS_LAMBDA(int i) { to(i) = coir::math::sin(from(i)); });
  else if (f == Function::cosine)
    coir::for_each(
        "coir::test::cosine", Exec{}, coir::box({n}),
        KOKKOS_LAMBDA(int i) { to(i) = coir::math::cos(from(i)); });
  else
    coir::for_each(
        "coir::test::cube_root", Exec{}, coir::box({n}),
        KOKKOS_LAMBDA(int i) { to(i) = coir::math::cbrt(from(i)); });
  auto const result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, to);
  return {result.data(), result.data() + n};
}

// 4 ulp are documented, and 2 for floats beyond 1e4 where they are coir's own; half of one is the
// rounding.
TYPED_TEST(Math, SinesOfNumbersOfEverySize) {
  TYPES_OF_CASE;
#ifdef COIR_VECTOR_MATH
  constexpr bool has_own = sizeof(T) == 4 && coir::runs_on_host<Exec>;
#else
  constexpr bool has_own = false;
#endif
  auto const x = TestFixture::numbers();
  auto const sines = in_a_loop<Exec>(Function::sine, x);
  auto const cosines = in_a_loop<Exec>(Function::cosine, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    auto const exact = static_cast<long double>(x[i]);
    double const most = has_own && std::abs(x[i]) > T(1e4) ? 2.5 : 4.5;
    EXPECT_LE(TestFixture::ulps(sines[i], std::sin(exact)), most) << "sin of " << x[i];
    EXPECT_LE(TestFixture::ulps(cosines[i], std::cos(exact)), most) << "cos of " << x[i];
  }
}

TYPED_TEST(Math, SinesOfZerosInfinitiesAndNaN) {
  TYPES_OF_CASE;
  T const inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  // Beside large numbers, in one vector of the processor's.
  std::vector<T> const x{T(0), -T(0), inf, -inf, nan, T(1e30), T(1e5), T(1), T(-1e30)};
  auto const sines = in_a_loop<Exec>(Function::sine, x);
  auto const cosines = in_a_loop<Exec>(Function::cosine, x);
  EXPECT_EQ(sines[0], T(0));
  EXPECT_FALSE(std::signbit(sines[0]));
  EXPECT_EQ(sines[1], T(0));
  EXPECT_TRUE(std::signbit(sines[1]));
  EXPECT_EQ(cosines[0], T(1));
  EXPECT_EQ(cosines[1], T(1));
  for (std::size_t i : {2, 3, 4}) {
    EXPECT_TRUE(std::isnan(sines[i])) << x[i];
    EXPECT_TRUE(std::isnan(cosines[i])) << x[i];
  }
  EXPECT_EQ(sines[8], -sines[5]);
  EXPECT_EQ(cosines[8], cosines[5]);
}

// Beyond 1e4 sines and cosines of floats have the same bits wherever they stand in a row.
TEST(MathOfFloats, SinesOfLargeOnesDontDependOnTheirPlace) {
  using Exec = coir::testing::Host;
  std::vector<float> x;
  for (int k = 0; k < 103; ++k) x.push_back(std::ldexp(1.2345f + 0.007f * float(k), 14 + k));
  for (Function const f : {Function::sine, Function::cosine}) {
    auto const all = in_a_loop<Exec>(f, x);
    for (std::size_t first = 1; first < x.size(); ++first) {
      auto const rest = in_a_loop<Exec>(f, x, first);
      for (std::size_t i = 0; i < rest.size(); ++i) EXPECT_EQ(rest[i], all[first + i]) << x[i];
    }
  }
}

TYPED_TEST(Math, CubeRootsOfCubesAreExact) {
  TYPES_OF_CASE;
  int const most = sizeof(T) == 4 ? 255 : 200'000;  // whose cubes T holds
  std::vector<T> cubes, roots;
  for (int k = -most; k <= most; k += sizeof(T) == 4 ? 1 : 37) {
    roots.push_back(static_cast<T>(k));
    cubes.push_back(roots.back() * roots.back() * roots.back());
  }
  EXPECT_EQ(in_a_loop<Exec>(Function::cube_root, cubes), roots);
  T const inf = std::numeric_limits<T>::infinity();
  auto const special =
      in_a_loop<Exec>(Function::cube_root,
                      std::vector<T>{-T(0), inf, -inf, std::numeric_limits<T>::quiet_NaN(), 27});
  EXPECT_TRUE(special[0] == T(0) && std::signbit(special[0]));
  EXPECT_EQ(special[1], inf);
  EXPECT_EQ(special[2], -inf);
  EXPECT_TRUE(std::isnan(special[3]));
  EXPECT_EQ(special[4], T(3));
}

TYPED_TEST(Math, CubeRootsOfNumbersOfEverySize) {
  auto const x = TestFixture::numbers();
  auto const found = in_a_loop<typename TypeParam::Exec>(Function::cube_root, x);
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_LE(TestFixture::ulps(found[i], std::cbrt(static_cast<long double>(x[i]))), 1) << x[i];
}
