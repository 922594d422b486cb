#include <coir/fft/plan.hpp>
#include <coir/nbody/initial_conditions.hpp>

#include <mesh/plain_mesh.hpp>
#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

#include <complex>

using namespace coir;
using coir::testing::elements;
using coir::testing::message_of;
using nbody::NoiseOptions;

namespace {

template <class Case>
using Spectrum = Kokkos::View<Kokkos::complex<typename Case::Real>***, Kokkos::LayoutRight,
                              typename Case::Exec::memory_space>;
template <class Case>
using Field =
    Kokkos::View<typename Case::Real***, Kokkos::LayoutRight, typename Case::Exec::memory_space>;

template <class Case>
Spectrum<Case> noise(std::int64_t n, NoiseOptions const& options = {}) {
  typename Case::Exec const exec;
  Spectrum<Case> const spectrum("spectrum", n, n, n / 2 + 1);
  nbody::white_noise<typename Case::Exec, typename Case::Real>(exec, options, spectrum);
  exec.fence();
  return spectrum;
}

/// The real field, times n^3. `spectrum` is lost.
template <class Case>
Field<Case> field_of(Spectrum<Case> const& spectrum) {
  auto const n = static_cast<std::int64_t>(spectrum.extent(0));
  typename Case::Exec const exec;
  Field<Case> const field("field", n, n, n);
  fft::RealPlan<typename Case::Exec, typename Case::Real, 3>(exec, {n, n, n})
      .backward(spectrum, field);
  exec.fence();
  return field;
}

/// A mode of a half spectrum by its whole wave numbers.
template <class T>
std::complex<T> mode(std::vector<Kokkos::complex<T>> const& spectrum, std::int64_t n,
                     std::int64_t x, std::int64_t y, std::int64_t z) {
  auto const& c = spectrum[(((x + n) % n) * n + (y + n) % n) * (n / 2 + 1) + z];
  return {c.real(), c.imag()};
}

}  // namespace

COIR_TYPED_SUITE(WhiteNoise);

TYPED_TEST(WhiteNoise, IsTheSpectrumOfARealField) {
  using T = typename TypeParam::Real;
  typename TypeParam::Exec const exec;
  for (std::int64_t n : {1, 2, 3, 4, 6, 7, 16}) {
    auto const before = elements(noise<TypeParam>(n));
    auto const field = field_of<TypeParam>(noise<TypeParam>(n));
    Spectrum<TypeParam> const again("again", n, n, n / 2 + 1);
    fft::RealPlan<typename TypeParam::Exec, T, 3>(exec, {n, n, n}).forward(field, again);
    exec.fence();
    auto const after = elements(again);
    double const cells = static_cast<double>(n * n * n);
    // What isn't of a real field is lost on the way. Two transforms round by some eps log2(n^3) of
    // the typical mode each.
    double const tolerance =
        8 * std::numeric_limits<T>::epsilon() * (1 + std::log2(cells)) * std::sqrt(cells);
    for (std::size_t m = 0; m < before.size(); ++m) {
      ASSERT_NEAR(after[m].real() / cells, before[m].real(), tolerance) << n << ", mode " << m;
      ASSERT_NEAR(after[m].imag() / cells, before[m].imag(), tolerance) << n << ", mode " << m;
    }
  }
}

TYPED_TEST(WhiteNoise, HasMean0AndVariance1AndNoCorrelations) {
  std::int64_t const n = 32;
  auto const field = elements(field_of<TypeParam>(noise<TypeParam>(n, {.seed = 7})));
  double const cells = static_cast<double>(n * n * n);
  double mean = 0, square = 0, fourth = 0, neighbours[3] = {};
  std::int64_t const stride[3] = {n * n, n, 1};
  for (std::int64_t c = 0; c < n * n * n; ++c) {
    double const w = field[c] / cells;
    mean += w / cells;
    square += w * w / cells;
    fourth += w * w * w * w / cells;
    for (int d = 0; d < 3; ++d)
      neighbours[d] += w * field[(c + stride[d]) % (n * n * n)] / (cells * cells);
  }
  // Five standard deviations of the means of N independent Gaussian numbers, and of their powers.
  double const deviation = 1 / std::sqrt(cells);
  EXPECT_NEAR(mean, 0, 5 * deviation);
  EXPECT_NEAR(square, 1, 5 * std::sqrt(2.0) * deviation);
  EXPECT_NEAR(fourth, 3, 5 * std::sqrt(96.0) * deviation);
  for (double const correlation : neighbours) EXPECT_NEAR(correlation, 0, 5 * deviation);
}

TYPED_TEST(WhiteNoise, KeepsItsLargeScalesFromAnyExtentToAnyOther) {
  double const eps = std::numeric_limits<typename TypeParam::Real>::epsilon();
  for (std::int64_t n : {5, 8, 9}) {
    auto const coarse = elements(noise<TypeParam>(n)), fine = elements(noise<TypeParam>(2 * n));
    std::int64_t const last = (n - 1) / 2;
    for (std::int64_t x = -last; x <= last; ++x)
      for (std::int64_t y = -last; y <= last; ++y)
        for (std::int64_t z = 0; z <= last; ++z) {
          auto const a = std::complex<double>(mode(coarse, n, x, y, z)) * std::sqrt(8.0);
          auto const b = std::complex<double>(mode(fine, 2 * n, x, y, z));
          // Both are rounded once in the precision of the case.
          EXPECT_NEAR(a.real(), b.real(), 2 * eps * std::abs(b.real()));
          EXPECT_NEAR(a.imag(), b.imag(), 2 * eps * std::abs(b.imag()));
        }
  }
}

TYPED_TEST(WhiteNoise, IsThatOfTheHostInDoubleButForRounding) {
  using T = typename TypeParam::Real;
  using Plain = coir::testing::Case<coir::testing::Host, double>;
  std::int64_t const n = 12;
  for (bool const fixed : {false, true}) {
    NoiseOptions const options{.seed = 0x123456789abcdef0, .fixed_amplitude = fixed};
    auto const expected = elements(noise<Plain>(n, options));
    auto const values = elements(noise<TypeParam>(n, options));
    // Devices' elementary functions round differently, by a few ulp.
    double const tolerance = runs_on_host<typename TypeParam::Exec> ? 0 : 1e-6;
    for (std::size_t m = 0; m < expected.size(); ++m) {
      double const real = static_cast<T>(expected[m].real()),
                   imaginary = static_cast<T>(expected[m].imag());
      EXPECT_NEAR(values[m].real(), real, tolerance * std::abs(real)) << m;
      EXPECT_NEAR(values[m].imag(), imaginary, tolerance * std::abs(imaginary)) << m;
    }
  }
}

TYPED_TEST(WhiteNoise, HasModesOfOneSizeWhenAmplitudesAreFixed) {
  double const eps = std::numeric_limits<typename TypeParam::Real>::epsilon();
  for (std::int64_t n : {1, 2, 5, 8}) {
    double const size = std::sqrt(static_cast<double>(n * n * n));
    auto const fixed = elements(noise<TypeParam>(n, {.seed = 3, .fixed_amplitude = true}));
    auto const free = elements(noise<TypeParam>(n, {.seed = 3}));
    for (std::size_t m = 0; m < fixed.size(); ++m) {
      std::complex<double> const a(fixed[m].real(), fixed[m].imag()),
          b(free[m].real(), free[m].imag());
      EXPECT_NEAR(std::abs(a), size, 4 * eps * size) << n << ", mode " << m;
      // With the phase that the mode has anyway.
      EXPECT_NEAR(std::abs(a * std::abs(b) - b * size), 0, 8 * eps * size * std::abs(b))
          << n << ", mode " << m;
    }
  }
}

TYPED_TEST(WhiteNoise, ChangesSignWhenInverted) {
  for (bool const fixed : {false, true}) {
    auto const field = elements(noise<TypeParam>(6, {.seed = 5, .fixed_amplitude = fixed}));
    auto const other =
        elements(noise<TypeParam>(6, {.seed = 5, .fixed_amplitude = fixed, .inverted = true}));
    for (std::size_t m = 0; m < field.size(); ++m) {
      EXPECT_EQ(other[m].real(), -field[m].real());
      EXPECT_EQ(other[m].imag(), -field[m].imag());
    }
  }
}

TYPED_TEST(WhiteNoise, DependsOnAllOfTheSeed) {
  std::int64_t const n = 16;
  auto const a = elements(noise<TypeParam>(n, {.seed = 1}));
  EXPECT_EQ(elements(noise<TypeParam>(n, {.seed = 1})), a);
  for (std::uint64_t const seed : {std::uint64_t(0), std::uint64_t(2), (std::uint64_t(1) << 32) + 1,
                                   (std::uint64_t(1) << 63) + 1}) {
    auto const b = elements(noise<TypeParam>(n, {.seed = seed}));
    double product = 0, squares = 0;
    for (std::size_t m = 0; m < a.size(); ++m) {
      product += a[m].real() * b[m].real() + a[m].imag() * b[m].imag();
      squares += a[m].real() * a[m].real() + a[m].imag() * a[m].imag();
    }
    // Independent: 2 n^3 / 2 products of mean 0, with those that occur twice 5 deviations are below
    // this.
    EXPECT_LT(std::abs(product / squares), 10 / std::sqrt(static_cast<double>(n * n * n))) << seed;
  }
}

TYPED_TEST(WhiteNoise, ChecksTheExtents) {
  typename TypeParam::Exec const exec;
  auto const message = [&](int x, int y, int z) {
    Spectrum<TypeParam> const spectrum("spectrum", x, y, z);
    return message_of([&] {
      nbody::white_noise<typename TypeParam::Exec, typename TypeParam::Real>(exec, {}, spectrum);
    });
  };
  std::string const expected = "the spectrum of white noise must have extents (n, n, n / 2 + 1)";
  EXPECT_EQ(message(4, 4, 4), expected);
  EXPECT_EQ(message(4, 5, 3), expected);
  EXPECT_EQ(message(5, 4, 3), expected);
  EXPECT_EQ(message(0, 0, 1), expected);
}
