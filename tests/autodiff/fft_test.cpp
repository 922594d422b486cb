// Gradients through Fourier transforms, beside those of JAX and differences of values.

#include <autodiff/program_grad.hpp>
#include <coir/autodiff/fft.hpp>

#include <support/message_of.hpp>

#include <cstdint>
#include <limits>

using coir::Array;
using coir::range;
using coir::testing::expect_gradient;
using coir::testing::expect_same_in_float;
using coir::testing::waves;
namespace fft = coir::fft;

namespace {

struct Convolution {
  template <class X, class K>
  auto operator()(X const& x, K const& k) const {
    using T = std::conditional_t<std::is_same_v<coir::value_t<X>, float>, float, double>;
    return sum(square(fft::irfft(fft::rfft(x) * fft::rfft(k), 9) - waves<T>(3, 9)));
  }
};

}  // namespace

TEST(FftGradients, RealTransforms) {
  expect_gradient("convolution", 134.65515579641638, {221.42613576957453, 220.88353915817402},
                  Convolution{}, waves(0, 9), waves(1, 9));
  expect_gradient(
      "power spectrum", 78.05846013971433, {156.09873429483716},
      [](auto x) { return sum(square(abs(fft::rfftn(x))) * abs(waves(3, 4, 4))); }, waves(0, 4, 6));
  expect_gradient(
      "odd power spectrum", 4.218252432623798, {5.039366774291046},
      [](auto x) {
        auto const spectrum = fft::rfftn(x);
        return sum(log(1 + real(spectrum * conj(spectrum)) / 100));
      },
      waves(0, 3, 4, 5));
  expect_gradient(
      "filter", 0.32313434453449474, {0.9694843740914703},
      [](auto x) {
        return sum(pow(fft::irfftn(fft::rfftn(x) / (1 + square(waves(3, 3, 4, 3))), 5), 3));
      },
      waves(0, 3, 4, 5));
  expect_gradient(
      "real and imaginary parts", 4.932442304772702, {16.54035498770184},
      [](auto x) {
        auto const spectrum = fft::rfft(x);
        return sum(pow(real(spectrum), 3) + imag(spectrum) * waves(3, 8)(range(0, 5)));
      },
      waves(0, 8));
  expect_gradient(
      "slope of rows", 181.79017767817808, {1066.7726218956564},
      [](auto x) {
        return sum(pow(fft::irfft2(fft::rfft2(x) * fft::rfft2(x)), 3)) + norm(fft::rfft(x));
      },
      waves(0, 2, 3, 4));
}

TEST(FftGradients, ComplexTransforms) {
  expect_gradient(
      "complex transform", -8.715153771489675, {43.963051067872875, -14.638018219705915},
      [](auto x, auto y) {
        auto const z = fft::fft(x * Kokkos::complex<double>(1, 2) + y);
        return sum(real(fft::ifft(exp(z / 4) * z)) * waves(4, 3, 5));
      },
      waves(0, 3, 5), waves(1, 5));
  expect_gradient(
      "transforms of planes", 156.20763693237404, {301.0796580264202},
      [](auto x) {
        return sum(abs(fft::ifft2(fft::fft2(x) * waves(3, 4, 6)))) +
               sum(square(abs(fft::fftn(x)(1))));
      },
      waves(0, 4, 6));
}

TEST(FftGradients, Float) { expect_same_in_float(Convolution{}, waves(0, 9), waves(1, 9)); }

namespace {

/// sum w (x * k) of a convolution * has the derivatives sum w (. * k) by x: the correlation of w
/// and k.
template <class T, int Rank>
void expect_gradient_of_convolution(coir::Shape<Rank> const& shape) {
  auto const x = waves<T, Rank>(0, shape), k = waves<T, Rank>(1, shape),
             w = waves<T, Rank>(2, shape);
  std::int64_t const n = shape.back();
  auto const found = coir::testing::numbers_of(coir::grad(
      [&](auto x) { return sum(w * fft::irfftn(fft::rfftn(x) * fft::rfftn(k), n)); })(x));
  auto const expected = coir::testing::numbers_of(
      coir::evaluate(fft::irfftn(fft::rfftn(w) * conj(fft::rfftn(k)), n)));
  // A sum of as many products as there are points, by three transforms of up to six levels.
  auto const points = static_cast<double>(coir::size_of(shape));
  double const tolerance = 18 * std::numeric_limits<T>::epsilon() * points;
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], tolerance) << coir::in_words(shape);
}

}  // namespace

TEST(FftGradients, OfAnySize) {
  for (std::int64_t n : {1, 2, 3, 13, 16}) {
    expect_gradient_of_convolution<double, 1>({n});
    expect_gradient_of_convolution<float, 1>({n});
  }
  using Box = coir::Shape<3>;
  for (Box const& shape : {Box{1, 1, 1}, Box{2, 1, 4}, Box{1, 3, 2}, Box{3, 2, 5}, Box{4, 3, 1}})
    expect_gradient_of_convolution<double, 3>(shape);
}

TEST(FftGradients, RefuseWhatTransformsRefuse) {
  using coir::testing::message_of;
  auto const plain = message_of([] { coir::evaluate(fft::irfft(fft::rfft(waves(0, 8)), 11)); });
  EXPECT_EQ(message_of([] {
              coir::grad([](auto x) { return sum(fft::irfft(fft::rfft(x), 11)); })(waves(0, 8));
            }),
            plain);
}
