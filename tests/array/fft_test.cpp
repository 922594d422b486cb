#include <coir/array/all.hpp>
#include <coir/array/fft.hpp>

#include <array/naive.hpp>
#include <fft/plain_dft.hpp>
#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

using coir::Array;
using coir::Shape;
using coir::testing::message_of;
using coir::testing::plain_dft;
using coir::testing::random_array;
using coir::testing::relative_error;
using coir::testing::rounding;
namespace fft = coir::fft;
using Numbers = std::vector<double>;

namespace {

template <class E>
coir::testing::Values wide(E const& expression) {
  coir::testing::Values result;
  for (auto const& value : coir::testing::values(expression))
    result.push_back(coir::testing::widen(value));
  return result;
}

COIR_TYPED_SUITE(Numpy);

}  // namespace

// numpy.fft.fft([1, 2, 3, 4]) and numpy.fft.rfft of the same
TYPED_TEST(Numpy, GivesWhatNumpyGives) {
  TYPES_OF_CASE;
  auto const x = coir::arange<T, Space>(T(1), T(5));
  coir::testing::Values const expected{{10, 0}, {-2, 2}, {-2, 0}, {-2, -2}};
  EXPECT_LE(relative_error(wide(fft::fft(x)), expected), rounding<T>(4));
  auto const half = fft::rfft(x);
  EXPECT_EQ(half.shape(), (Shape<1>{3}));
  EXPECT_LE(relative_error(wide(half), {expected[0], expected[1], expected[2]}), rounding<T>(4));
}

TYPED_TEST(Numpy, TransformsTheLastAxis) {
  TYPES_OF_CASE;
  auto const x = random_array<T, Space>(Shape<3>{3, 4, 7}, 1);
  EXPECT_LE(relative_error(wide(fft::fft(x)), plain_dft(wide(x), Shape<1>{7}, -1)), rounding<T>(7));
  EXPECT_LE(relative_error(wide(fft::rfft(x)),
                           coir::testing::cut_rows(plain_dft(wide(x), Shape<1>{7}, -1), 7, 4)),
            rounding<T>(7));
}

TYPED_TEST(Numpy, TransformsAllAxes) {
  TYPES_OF_CASE;
  Shape<3> const shape{3, 4, 7};
  auto const x = random_array<T, Space>(shape, 1);
  auto const expected = plain_dft(wide(x), shape, -1);
  EXPECT_LE(relative_error(wide(fft::fftn(x)), expected), rounding<T>(84));
  EXPECT_LE(relative_error(wide(fft::rfftn(x)), coir::testing::cut_rows(expected, 7, 4)),
            rounding<T>(84));
}

TYPED_TEST(Numpy, TransformsTheLastTwoAxes) {
  TYPES_OF_CASE;
  auto const x = random_array<T, Space>(Shape<4>{2, 3, 4, 7}, 1);
  auto const expected = plain_dft(wide(x), Shape<2>{4, 7}, -1);
  EXPECT_LE(relative_error(wide(fft::fft2(x)), expected), rounding<T>(28));
  EXPECT_LE(relative_error(wide(fft::rfft2(x)), coir::testing::cut_rows(expected, 7, 4)),
            rounding<T>(28));
  auto const before = wide(x);
  double const bound = 2 * rounding<T>(28);
  EXPECT_LE(relative_error(wide(fft::ifft2(fft::fft2(x))), before), bound);
  EXPECT_LE(relative_error(wide(fft::irfft2(fft::rfft2(x), 7)), before), bound);
  auto const even = random_array<T, Space>(Shape<2>{3, 8}, 2);
  EXPECT_LE(relative_error(wide(fft::irfft2(fft::rfft2(even))), wide(even)), bound);
  EXPECT_EQ(fft::fft2(coir::zeros<T, Space>(0, 3, 2)).shape(), (Shape<3>{0, 3, 2}));
  EXPECT_THROW(fft::rfft2(coir::zeros<T, Space>(0, 2)), coir::PreconditionError);
  EXPECT_THROW(fft::irfft2(fft::rfft2(even), 10), coir::PreconditionError);
}

TYPED_TEST(Numpy, InversesGiveBackWhatWasTransformed) {
  TYPES_OF_CASE;
  for (std::int64_t n : {1, 2, 9, 16}) {
    auto const x = random_array<T, Space>(Shape<3>{3, 5, n}, 1);
    double const bound = 2 * rounding<T>(15 * n);
    auto const before = wide(x);
    EXPECT_LE(relative_error(wide(fft::ifft(fft::fft(x))), before), bound);
    EXPECT_LE(relative_error(wide(fft::ifftn(fft::fftn(x))), before), bound);
    EXPECT_LE(relative_error(wide(fft::irfft(fft::rfft(x), n)), before), bound);
    EXPECT_LE(relative_error(wide(fft::irfftn(fft::rfftn(x), n)), before), bound);
    if (n % 2 == 0) {
      EXPECT_LE(relative_error(wide(fft::irfft(fft::rfft(x))), before), bound);
      EXPECT_LE(relative_error(wide(fft::irfftn(fft::rfftn(x))), before), bound);
    }
  }
}

// Rows of 17 and 34 numbers are transformed in lanes on hosts.
TYPED_TEST(Numpy, ImaginaryPartsOfRealModesAreNotRead) {
  TYPES_OF_CASE;
  if constexpr (coir::runs_on_host<Exec>)
    for (std::int64_t n : {8, 17, 34}) {
      auto spectrum = fft::rfft(random_array<T, Space>(Shape<2>{40, n}, 1));
      auto const expected = wide(fft::irfft(spectrum, n));
      T const infinity = std::numeric_limits<T>::infinity();
      spectrum(coir::range(), 0) += Kokkos::complex<T>(0, infinity);
      if (n % 2 == 0) spectrum(coir::range(), n / 2) += Kokkos::complex<T>(0, infinity);
      EXPECT_EQ(wide(fft::irfft(spectrum, n)), expected) << n;
    }
}

TYPED_TEST(Numpy, LeavesItsArgumentsAlone) {
  TYPES_OF_CASE;
  auto const spectrum = fft::rfftn(random_array<T, Space>(Shape<2>{6, 8}, 1));
  auto const before = wide(spectrum);
  fft::irfftn(spectrum);
  fft::fftn(spectrum);
  EXPECT_EQ(wide(spectrum), before);
}

TYPED_TEST(Numpy, TakesExpressionsAndIntegers) {
  using Space = typename TypeParam::Exec::memory_space;
  auto const ones = coir::ones<int, Space>(4);
  auto const result = fft::rfft(ones + ones);
  static_assert(std::is_same_v<coir::value_t<decltype(result)>, Kokkos::complex<double>>);
  EXPECT_EQ(wide(result), (coir::testing::Values{8, 0, 0}));
}

TYPED_TEST(Numpy, EmptyBatchesStayEmpty) {
  TYPES_OF_CASE;
  auto const none = coir::zeros<T, Space>(0, 8);
  EXPECT_EQ(fft::fft(none).shape(), (Shape<2>{0, 8}));
  EXPECT_EQ(fft::rfft(none).shape(), (Shape<2>{0, 5}));
  EXPECT_EQ(fft::irfft(fft::rfft(none)).shape(), (Shape<2>{0, 8}));
}

TYPED_TEST(Numpy, RefusesWhatHasNoTransform) {
  TYPES_OF_CASE;
  auto const none = coir::zeros<T, Space>(3, 0);
  EXPECT_THROW(fft::fft(none), coir::PreconditionError);
  EXPECT_THROW(fft::rfftn(none), coir::PreconditionError);
  auto const spectrum = fft::rfft(coir::ones<T, Space>(8));
  EXPECT_EQ(message_of([&] { fft::irfft(spectrum, 10); }),
            "the half spectrum of rows of 10 numbers must have 6 in a row (crop or pad it), not 5");
  EXPECT_EQ(message_of([&] { fft::irfft(coir::ones<T, Space>(1)); }),
            "the real field's last axis must have at least 1 number, not 0");
}

// numpy.fft.fftfreq(5, 0.1), numpy.fft.fftfreq(4), numpy.fft.rfftfreq(5, 0.1),
// numpy.fft.rfftfreq(4)
TYPED_TEST(Numpy, NamesFrequencies) {
  TYPES_OF_CASE;
  T const step = T(0.1);
  double const eps = std::numeric_limits<T>::epsilon();
  auto const expect_near = [&](auto const& array, std::vector<double> const& expected) {
    auto const found = coir::testing::values(array);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], 4 * eps * std::abs(expected[i]));
  };
  expect_near(fft::fftfreq<T, Space>(5, step), {0, 2, 4, -4, -2});
  expect_near(fft::fftfreq<T, Space>(4), {0, 0.25, -0.5, -0.25});
  expect_near(fft::rfftfreq<T, Space>(5, step), {0, 2, 4});
  expect_near(fft::rfftfreq<T, Space>(4), {0, 0.25, 0.5});
  EXPECT_THROW((fft::fftfreq<T, Space>(0)), coir::PreconditionError);
  EXPECT_THROW((fft::rfftfreq<T, Space>(4, T(0))), coir::PreconditionError);
}

// Expected numbers are those of numpy.fft.fftshift and numpy.fft.ifftshift.

TEST(FftShift, PutsFrequencyZeroInTheMiddle) {
  auto const x = coir::arange(5.);
  EXPECT_EQ(coir::testing::values(fft::fftshift(x)), (Numbers{3, 4, 0, 1, 2}));
  EXPECT_EQ(coir::testing::values(fft::ifftshift(x)), (Numbers{2, 3, 4, 0, 1}));
  EXPECT_EQ(coir::testing::values(fft::fftshift(coir::arange(6.))), (Numbers{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(coir::testing::values(fft::fftshift(5 * fft::fftfreq(5))), (Numbers{-2, -1, 0, 1, 2}));
  EXPECT_EQ(fft::fftshift(coir::zeros(0)).size(), 0);
}

TEST(FftShift, WorksAlongAllAxesOrOne) {
  auto const m = coir::reshape(coir::arange(6.), {2, 3});
  EXPECT_EQ(coir::testing::values(fft::fftshift(m)), (Numbers{5, 3, 4, 2, 0, 1}));
  EXPECT_EQ(coir::testing::values(fft::ifftshift(m)), (Numbers{4, 5, 3, 1, 2, 0}));
  EXPECT_EQ(coir::testing::values(fft::fftshift(m, 1)), (Numbers{2, 0, 1, 5, 3, 4}));
  EXPECT_EQ(coir::testing::values(fft::ifftshift(m, -1)), (Numbers{1, 2, 0, 4, 5, 3}));
  EXPECT_THROW(fft::fftshift(m, 2), coir::PreconditionError);
  for (std::int64_t const n : {1, 2, 7}) {
    auto const x =
        coir::testing::random_array<double, coir::DefaultSpace>(coir::Shape<3>{n, 3, 4}, 1);
    EXPECT_EQ(coir::testing::values(fft::ifftshift(fft::fftshift(x))), coir::testing::values(x));
  }
}
