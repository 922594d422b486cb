// Gradients through Fourier transforms, beside those of JAX and differences of values.

#include <autodiff/program_grad.hpp>
#include <coir/array/record.hpp>
#include <coir/autodiff/fft.hpp>
#include <coir/autodiff/value_and_grad_into.hpp>

#include <support/message_of.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

using coir::Array;
using coir::range;
using coir::Shape;
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

// A gradient is the derivative along each direction, by rules of its own.
TEST(FftGradients, AlongDirections) {
  auto const f = [](auto x) {
    auto const filtered = fft::irfft(fft::rfft(x) * fft::rfft(waves(3, 9)) / 4, 9);
    return sum(square(filtered)) + sum(abs(fft::fft(x * x))) + sum(fft::dct(x) * waves(4, 9)) +
           sum(real(exp(conj(fft::rfft(x)) / 8)));
  };
  auto const x = waves(0, 9), v = waves(1, 9);
  auto const along = coir::jvp(f)(x, v);
  auto const [value, slope] = coir::value_and_grad(f)(x);
  EXPECT_NEAR(along.value, value, 1e-13 * std::abs(value));
  EXPECT_NEAR(along.derivative, sum(slope * v), 1e-13 * std::abs(value));
}

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

TEST(FftGradients, CosineTransforms) {
  expect_gradient(
      "cosines of rows", 166.9791856346647, {511.60709197688936},
      [](auto x) {
        return sum(pow(fft::dct(x), 3)) +
               sum(fft::idct(x, {.norm = fft::Norm::ortho}) * waves(3, 3, 5));
      },
      waves(0, 3, 5));
  expect_gradient(
      "cosines of columns", 15.236982076249365, {0.4576958876309616},
      [](auto x) {
        return sum(exp(fft::dct(x, {2, fft::Norm::ortho, 0}) / 4)) +
               sum(pow(fft::idct(x, {.axis = -2}), 3));
      },
      waves(0, 3, 5));
  expect_gradient(
      "cosines along all axes", 14.318834801976829, {42.99270347695235},
      [](auto x) {
        return sum(pow(fft::idctn(fft::dctn(x) / (1 + square(waves(3, 2, 3, 4)))), 3)) +
               sum(pow(fft::dctn(x, {.norm = fft::Norm::ortho}), 3));
      },
      waves(0, 2, 3, 4));
}

namespace {

/// The derivatives of a linear function, sum w f(x), are its values at arrays that are 1 in one
/// place.
template <class T, class F>
void expect_gradient_of_linear(F const& f) {
  Shape<3> const shape{2, 4, 3};
  auto const w = waves<T, 3>(1, shape);
  auto const weights = coir::testing::numbers_of(w);
  auto const found = coir::testing::numbers_of(
      coir::grad([&](auto x) { return sum(w * f(x)); })(waves<T, 3>(0, shape)));
  ASSERT_EQ(found.size(), weights.size());
  // A sum of 24 products. The factors of a transform along three axes are up to 2 each.
  double const tolerance = 8 * 24 * std::numeric_limits<T>::epsilon();
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::vector<T> unit(found.size());
    unit[i] = 1;
    auto const column =
        coir::testing::numbers_of(f(coir::from_span(std::span<T const>(unit), shape)));
    double expected = 0;
    for (std::size_t k = 0; k < column.size(); ++k) expected += weights[k] * column[k];
    EXPECT_NEAR(found[i], expected, tolerance) << "element " << i;
  }
}

template <class T>
void expect_gradients_of_sines_and_cosines() {
  for (int type = 1; type <= 4; ++type)
    for (fft::Norm const norm : {fft::Norm::backward, fft::Norm::ortho, fft::Norm::forward}) {
      SCOPED_TRACE("type " + std::to_string(type) + ", norm " + std::to_string(int(norm)));
      for (int const axis : {0, 1, -1}) {
        SCOPED_TRACE("axis " + std::to_string(axis));
        fft::TrigonometricOptions const options{type, norm, axis};
        expect_gradient_of_linear<T>([&](auto x) { return fft::dct(x, options); });
        expect_gradient_of_linear<T>([&](auto x) { return fft::idct(x, options); });
        expect_gradient_of_linear<T>([&](auto x) { return fft::dst(x, options); });
        expect_gradient_of_linear<T>([&](auto x) { return fft::idst(x, options); });
      }
      fft::AllAxesOptions const all{type, norm};
      expect_gradient_of_linear<T>([&](auto x) { return fft::dctn(x, all); });
      expect_gradient_of_linear<T>([&](auto x) { return fft::idctn(x, all); });
      expect_gradient_of_linear<T>([&](auto x) { return fft::dstn(x, all); });
      expect_gradient_of_linear<T>([&](auto x) { return fft::idstn(x, all); });
    }
}

}  // namespace

TEST(FftGradients, SineAndCosineTransformsOfAllKinds) {
  expect_gradients_of_sines_and_cosines<float>();
  expect_gradients_of_sines_and_cosines<double>();
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

// The transforms that are kept make the same bits when they run again, with other numbers.
TEST(FftGradients, RecordedOnHosts) {
  auto x = copy(waves(0, 9)), slope = copy(x), recorded_slope = copy(x);
  Array<double, 0> value(Shape<0>{}), recorded_value(Shape<0>{});
  auto const filter = fft::rfft(waves(1, 9));
  auto const f = [&](auto x) {
    return sum(abs(fft::ifft(fft::fft(x * x)))) +
           sum(square(fft::irfft(fft::rfft(x) * filter, 9))) +
           sum(x * fft::dct(x, {.norm = fft::Norm::ortho}));
  };
  auto const record_it = [&] {
    return coir::record([&] { coir::value_and_grad_into(f)(recorded_value, recorded_slope, x); });
  };
  if constexpr (!coir::runs_on_host<Kokkos::DefaultExecutionSpace>) {
    EXPECT_THROW(record_it(), coir::PreconditionError);
  } else {
    auto const recorded = record_it();
    for (int round = 0; round < 2; ++round) {
      coir::value_and_grad_into(f)(value, slope, x);
      recorded.run();
      EXPECT_EQ(recorded_value.item(), value.item());
      EXPECT_TRUE(all(recorded_slope == slope));
      x += 0.1;
    }
  }
}

TEST(FftGradients, RefuseWhatTransformsRefuse) {
  using coir::testing::message_of;
  auto const plain = message_of([] { coir::evaluate(fft::irfft(fft::rfft(waves(0, 8)), 11)); });
  EXPECT_EQ(message_of([] {
              coir::grad([](auto x) { return sum(fft::irfft(fft::rfft(x), 11)); })(waves(0, 8));
            }),
            plain);
}
