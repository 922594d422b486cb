#include <coir/array/creation.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/reductions.hpp>

#include <array/comparisons.hpp>
#include <array/host_values.hpp>
#include <support/message_of.hpp>
#include <support/spaces.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

using coir::Array;
using coir::Shape;
using coir::testing::from_host;
using coir::testing::message_of;
using coir::testing::six_comparisons;
using coir::testing::to_host;

namespace {

/// The ends of a type, and numbers around those at which the others end or stop being exact.
template <class T>
std::vector<T> delicate() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> result{Limits::lowest(), Limits::max(), T(0), T(1), T(2), T(3), T(100)};
  if constexpr (std::is_signed_v<T>) {
    result.push_back(T(-1));
    result.push_back(T(-2));
  }
  for (int const bits : {7, 8, 15, 16, 24, 31, 32, 53, 63, 64})
    for (int const off : {-1, 0, 1})
      for (int const sign : {1, -1}) {
        long double const x = sign * (std::ldexp(1.0L, bits) + off);
        if (x >= static_cast<long double>(Limits::lowest()) &&
            x <= static_cast<long double>(Limits::max()))
          result.push_back(static_cast<T>(x));
      }
  if constexpr (std::is_floating_point_v<T>)
    for (T const x : {T(0.5), T(-0.5), T(2.5), Limits::infinity(), -Limits::infinity(),
                      Limits::quiet_NaN(), Limits::denorm_min(), T(-0.0)})
      result.push_back(x);
  return result;
}

/// six_comparisons of two numbers: long double holds all that there are here.
template <class A, class B>
int plain_comparisons(A a, B b) {
  auto const x = static_cast<long double>(a), y = static_cast<long double>(b);
  return (x < y) + 2 * (x <= y) + 4 * (x > y) + 8 * (x >= y) + 16 * (x == y) + 32 * (x != y);
}

template <class Space, class A, class B>
void compare_arrays() {
  auto const a = delicate<A>();
  auto const b = delicate<B>();
  auto const rows = std::int64_t(a.size()), columns = std::int64_t(b.size());
  auto const found = to_host(coir::evaluate(six_comparisons(
      from_host<Space>(a, Shape<2>{rows, 1}), from_host<Space>(b, Shape<1>{columns}))));
  std::size_t at = 0;
  for (A const x : a)
    for (B const y : b) ASSERT_EQ(found[at++], plain_comparisons(x, y)) << +x << " beside " << +y;
}

template <class Space, class T, class S>
void compare_with_numbers() {
  auto const a = delicate<T>();
  auto const array = from_host<Space>(a, Shape<1>{std::int64_t(a.size())});
  for (S const number : delicate<S>()) {
    auto const right = to_host(coir::evaluate(six_comparisons(array, number)));
    auto const left = to_host(coir::evaluate(six_comparisons(number, array)));
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(right[i], plain_comparisons(a[i], number)) << +a[i] << " beside " << +number;
      ASSERT_EQ(left[i], plain_comparisons(number, a[i])) << +number << " beside " << +a[i];
    }
  }
}

}  // namespace

template <class Exec>
class Operators : public ::testing::Test {};
TYPED_TEST_SUITE(Operators, coir::testing::Spaces, coir::testing::SpaceName);

// Pairs of types that array_numpy_test leaves out, and the hardest of those that it has.
TYPED_TEST(Operators, CompareArraysByTheirValuesWhateverTheTypes) {
  using S = typename TypeParam::memory_space;
  compare_arrays<S, std::int8_t, std::uint64_t>();
  compare_arrays<S, std::int32_t, std::uint64_t>();
  compare_arrays<S, std::uint32_t, float>();
  compare_arrays<S, std::int64_t, std::uint64_t>();
  compare_arrays<S, std::int64_t, float>();
  compare_arrays<S, std::int64_t, double>();
  compare_arrays<S, double, std::uint64_t>();
}

TYPED_TEST(Operators, CompareWithNumbersByTheirValuesWhateverTheTypes) {
  using S = typename TypeParam::memory_space;
  compare_with_numbers<S, std::uint8_t, double>();
  compare_with_numbers<S, std::int32_t, std::int64_t>();
  compare_with_numbers<S, std::int32_t, std::uint64_t>();
  compare_with_numbers<S, std::uint32_t, float>();
  compare_with_numbers<S, std::int64_t, double>();
  compare_with_numbers<S, std::uint64_t, int>();
}

TYPED_TEST(Operators, RefuseNumbersThatTheArraysTypeDoesNotHold) {
  using S = typename TypeParam::memory_space;
  auto u = coir::full<std::uint8_t, S>(Shape<1>{2}, 200);
  auto const i = coir::zeros<int, S>(2);
  auto const mask = u > 300;
  std::string const message =
      "an array of uint8 takes numbers from 0 to 255, not 300: cast the array to a larger type";
  EXPECT_EQ(message_of([&] { coir::evaluate(u + 300); }), message);
  EXPECT_EQ(message_of([&] { coir::evaluate(300 - u); }), message);
  EXPECT_EQ(message_of([&] { minimum(u, 300); }), message);
  EXPECT_EQ(message_of([&] { maximum(300, u); }), message);
  EXPECT_EQ(message_of([&] { where(mask, 300, u); }), message);
  EXPECT_EQ(message_of([&] { clip(u, 300, 400); }), message);
  EXPECT_EQ(message_of([&] { u = 300; }), message);
  EXPECT_EQ(message_of([&] { u += 300; }), message);
  EXPECT_EQ(message_of([&] { u(mask) = 300; }), message);
  EXPECT_EQ(message_of([&] { u <<= 300; }), message);
  EXPECT_EQ(
      message_of([&] { coir::evaluate(u * -1); }),
      "an array of uint8 takes numbers from 0 to 255, not -1: cast the array to a larger type");
  EXPECT_EQ(message_of([&] { coir::evaluate(i + 4294967296); }),
            "an array of int32 takes numbers from -2147483648 to 2147483647, not 4294967296: cast "
            "the array to a larger type");
  EXPECT_THROW(coir::evaluate(i - 4000000000u), coir::PreconditionError);
  EXPECT_EQ(to_host(u), (std::vector<std::uint8_t>{200, 200}));
  // What it holds is taken, whatever its own type.
  EXPECT_EQ(to_host(coir::evaluate(u + 55LL)), (std::vector<std::uint8_t>{255, 255}));
  EXPECT_EQ(to_host(coir::evaluate(u / 2.0)), (std::vector<double>{100, 100}));
}

TYPED_TEST(Operators, ChooseAmongSignedAndUnsignedByValue) {
  using S = typename TypeParam::memory_space;
  auto const a = from_host<S>(std::vector<int>{-20, 5}, Shape<1>{2});
  auto const b = from_host<S>(std::vector<unsigned>{71, 4000000000u}, Shape<1>{2});
  EXPECT_EQ(to_host(coir::evaluate(maximum(a, b))), (std::vector<std::int64_t>{71, 4000000000}));
  EXPECT_EQ(to_host(coir::evaluate(minimum(a, b))), (std::vector<std::int64_t>{-20, 5}));
  EXPECT_EQ(to_host(coir::evaluate(maximum(a, 71u))), (std::vector<int>{71, 71}));
  EXPECT_THROW(maximum(-20, b), coir::PreconditionError);
  EXPECT_EQ(to_host(coir::evaluate(where(a < b, a, b))), (std::vector<std::int64_t>{-20, 5}));
  EXPECT_EQ(to_host(coir::evaluate(a - b)), (std::vector<std::int64_t>{-91, 5 - 4000000000}));
}

TYPED_TEST(Operators, BoundsBeyondAnIntegerTypeDoNotBind) {
  using S = typename TypeParam::memory_space;
  auto const u = from_host<S>(std::vector<std::uint8_t>{0, 7, 200, 255}, Shape<1>{4});
  EXPECT_EQ(to_host(coir::evaluate(clip(u, 0, 300))), to_host(u));
  EXPECT_EQ(to_host(coir::evaluate(clip(u, -5, 100))), (std::vector<std::uint8_t>{0, 7, 100, 100}));
}

template <class A, class B>
concept HaveRemainder = requires(A a, B b) { a % b; };
template <class A, class B>
using sum_t = coir::value_t<decltype(std::declval<A>() + std::declval<B>())>;
template <class T>
using Of = Array<T, 1>;

TEST(OperatorTypes, CombineAsDocumented) {
  using std::is_same_v;
  using C32 = Kokkos::complex<float>;
  using C64 = Kokkos::complex<double>;
  using I8 = std::int8_t;
  using I16 = std::int16_t;
  using I32 = std::int32_t;
  using I64 = std::int64_t;
  using U8 = std::uint8_t;
  using U16 = std::uint16_t;
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  static_assert(is_same_v<sum_t<Of<I8>, Of<I8>>, I8>);
  static_assert(is_same_v<sum_t<Of<I8>, Of<I16>>, I16>);
  static_assert(is_same_v<sum_t<Of<U16>, Of<U8>>, U16>);
  static_assert(is_same_v<sum_t<Of<I8>, Of<U8>>, I16>);
  static_assert(is_same_v<sum_t<Of<U16>, Of<I16>>, I32>);
  static_assert(is_same_v<sum_t<Of<U8>, Of<I32>>, I32>);
  static_assert(is_same_v<sum_t<Of<I32>, Of<U32>>, I64>);
  static_assert(is_same_v<sum_t<Of<I8>, Of<U64>>, double>);
  static_assert(is_same_v<sum_t<Of<I64>, Of<U64>>, double>);
  static_assert(is_same_v<sum_t<Of<bool>, Of<I8>>, I8>);
  static_assert(is_same_v<sum_t<Of<bool>, Of<bool>>, int>);
  static_assert(is_same_v<sum_t<Of<I64>, Of<float>>, float>);
  static_assert(is_same_v<sum_t<Of<U8>, int>, U8>);
  static_assert(is_same_v<sum_t<Of<float>, Of<double>>, double>);
  static_assert(is_same_v<sum_t<Of<float>, double>, float>);
  static_assert(is_same_v<sum_t<Of<I32>, double>, double>);
  static_assert(is_same_v<sum_t<Of<C32>, Of<double>>, C64>);
  static_assert(is_same_v<sum_t<Of<float>, C64>, C32>);
  static_assert(HaveRemainder<Of<I32>, Of<U32>> && !HaveRemainder<Of<I64>, Of<U64>>);
  static_assert(HaveRemainder<Of<U64>, int>);
}
