// Gradients through Fourier transforms, beside those of JAX.

#include <autodiff/program_grad.hpp>
#include <coir/autodiff/fft.hpp>

#include <support/message_of.hpp>

#include <cstdint>
#include <limits>

using coir::Array;
using coir::range;
using coir::testing::expect_gradient;
using coir::testing::JaxGradient;
using coir::testing::waves;
namespace fft = coir::fft;

namespace {

// clang-format off
// Gradients that JAX 0.10.2 gives in double: jax.value_and_grad(f, argnums)(waves(0, ...), waves(1, ...)), where
//   waves = lambda k, *shape: jnp.sin(0.7 + 1.3 * jnp.arange(prod(shape)) + 0.9 * k).reshape(shape)
//   w8 = waves(3, 8); data = waves(3, 6, 3); labels = jnp.eye(3)[[2, 0, 1, 2]]
std::vector<JaxGradient> const jax = {
// lambda x, k: jnp.sum((jnp.fft.irfft(jnp.fft.rfft(x) * jnp.fft.rfft(k), 9) - waves(3, 9))**2)
    {"convolution",
     134.65515579641638,
     {{16.722079995003707, 48.13943039646256, 0.13776957064854584, -47.816481049123254, -16.89794708429789, 41.945880817485374, 31.723871769276002, -31.178753372362443, -43.06408716798066},
     {46.00891772466671, 26.84416080276973, -36.133525924061416, -39.1693658319434, 22.27177663410831, 46.95034257008041, -5.812431878898714, -49.288799533196446, -11.452977317602942}}},
// lambda x: jnp.sum(jnp.abs(jnp.fft.rfftn(x))**2 * jnp.abs(waves(3, 4, 4)))
    {"power spectrum",
     78.05846013971433,
     {{4.538693313530382, 13.190005037371968, -2.1292163359006757, -12.44527481530373, 1.005313227683845, 14.273165574874685, 13.175127259362805, -0.09819677616760392, -12.687922055876646, -2.723496137468539, 14.217609943322854, 4.654486030400008, -3.108449517069927, -14.192629443025051, 1.2189941382445906, 12.424037681397085, 1.711035480066421, -12.608238824821072, -14.574563074516913, -2.7328320011663108, 12.490778258635174, 3.493342344740231, -13.03612747981824, -5.92912319697292}}},
// lambda x: jnp.sum(jnp.log(1 + jnp.real(jnp.fft.rfftn(x) * jnp.conj(jnp.fft.rfftn(x))) / 100))
    {"odd power spectrum",
     4.218252432623798,
     {{0.00982199386372263, 0.30116757060203414, 0.13487567671687975, -0.20623442878017725, -0.2093896123036673, 0.09753584335635139, 0.24118132313212348, 0.021796469914977468, -0.19954857500996848, -0.0859454771226097, 0.1672174716986398, 0.16969677074602788, -0.0790087706884132, -0.175144303256871, 0.03334748719557612, 0.21809239376596182, 0.07281481100947315, -0.17595772942024296, -0.12503294465833387, 0.1616814604622195, 0.13059928287013, 0.21608834145995298, 0.013901036701869166, -0.140678769749372, -0.04017941314285112, 0.11389085941407623, 0.09753256826199627, -0.029316435643656914, -0.04156107470108427, 0.058818411654536884, 0.08197589730363053, -0.010441819852847006, -0.05197182157666853, 0.05616184607222891, 0.13376587437327145, 0.025788302063071016, -0.12965533522305583, -0.059047684833547415, 0.1710567476594029, 0.2014928801081492, 0.22809348668259713, -0.025472604328630494, -0.1890770734505149, -0.017028866539604934, 0.20330153158389314, 0.11898520597160078, -0.11937118909772738, -0.13244229859339593, 0.10469479564084888, 0.2085780258167108, 0.007255023158797211, -0.1891635754330867, -0.0611700948962686, 0.20816765653917813, 0.18736875157411687, -0.11697400593771586, -0.2468939008487753, 0.027050212737394858, 0.30734395506826273, 0.14662713391383364}}},
// lambda x: jnp.sum(jnp.fft.irfftn(jnp.fft.rfftn(x) / (1 + waves(3, 3, 4, 3)**2), (3, 4, 5))**3)
    {"filter",
     0.32313434453449474,
     {{0.2677401456699512, 0.7356140233612807, 0.0900587586765676, 0.6934041872582652, 0.23436884805851, 0.4354288467203514, 0.4593380279510555, 0.08203824920273672, 0.7058977245602913, 0.03733381657193427, 0.5692097269262382, 0.31811380006690426, 0.21850027717887532, 0.6369068995621354, 0.012285050964872896, 0.6750588625391711, 0.20017838779074773, 0.45708939440972257, 0.5008415292375712, 0.2145152778335663, 0.707434231151698, 0.21053758647881504, 0.4803907223835205, 0.44592427779444177, 0.17384086520668923, 0.6638517171127403, 0.0016869291288076904, 0.6374174610970573, 0.226164645096639, 0.31269139019728137, 0.5860161616808062, 0.027913457527325325, 0.7047355150201987, 0.09342486200423761, 0.4414812553140163, 0.40538404553051954, 0.19910070082765974, 0.6684902768218661, 0.09844825620420117, 0.6858835393146474, 0.4731524673660214, 0.22658812383713775, 0.6671823210168055, 0.09837183121065557, 0.6381828171649755, 0.16717966252485678, 0.3645546711059614, 0.5265437874832777, 0.06555448996524843, 0.6986197338053636, 0.07390674781801276, 0.5189291139166672, 0.36608283175451817, 0.16025975138487888, 0.6627242363987063, 0.09918275635657142, 0.6844510910312613, 0.23249516429555458, 0.49583449824472525, 0.5521134560871515}}},
// lambda x: jnp.sum(jnp.real(jnp.fft.rfft(x))**3 + jnp.imag(jnp.fft.rfft(x))*w8[:5])
    {"real and imaginary parts",
     4.932442304772702,
     {{13.97160462746354, 8.670590333009898, 7.1242489237466735, -0.9636327256631745, -1.7774690954249959, -0.6162077586130996, 3.4235291673613415, 7.900353307264268}}},
// lambda x: jnp.sum(jnp.fft.irfft2(jnp.fft.rfft2(x) * jnp.fft.rfft2(x))**3) + jnp.linalg.norm(jnp.ravel(jnp.fft.rfft(x)))
    {"slope of rows",
     181.79017767817808,
     {{145.31318082311887, 39.87566780642629, 72.64994132387415, -60.97944372110574, 39.95332699660898, 137.95529926308623, 138.13461119389797, 39.37822632973239, -60.285530703985614, 73.24262601000585, 40.76093022081953, 145.4857650645776, -134.5606467974643, -31.49114365213642, -60.597225712142524, 61.827921741091295, -47.82528227795485, -132.8566668156144, -137.19893422644077, -32.94823169535279, 42.907305585577895, -77.32717836941526, -55.59562196251641, -140.13948555958018}}},
// def complex_transform(x, y):
//     z = jnp.fft.fft(x * (1 + 2j) + y)
//     return jnp.sum(jnp.real(jnp.fft.ifft(jnp.exp(z / 4) * z)) * waves(4, 3, 5))
    {"complex transform",
     -8.715153771489675,
     {{13.845562747092465, -13.200000188444786, -21.93582680401314, -0.41484653748348777, 21.598127479804674, 16.41006014648793, -8.554203612562517, -21.64541575309599, -4.891132753180725, 18.552117278753126, 17.601804688076808, -4.608601994438986, -20.416559558821387, -8.08335133764013, 15.36544065915395},
     {-8.65892839303534, -20.498907162738547, -3.939096502782679, 17.882298686215908, 14.778707907045982}}},
// lambda x: jnp.sum(jnp.abs(jnp.fft.ifft2(jnp.fft.fft2(x) * waves(3, 4, 6)))) + jnp.sum(jnp.abs(jnp.fft.fftn(x)[1])**2)
    {"transforms of planes",
     156.20763693237404,
     {{15.343979957390681, 23.09404989772632, -2.405201927240201, -24.451499345475884, -10.433153256210263, 18.98249881161854, 20.636998080258138, -7.802003389400662, -24.7394819404935, -5.208168847856098, 21.928372514249705, 17.492386251588968, -15.35284262244779, -23.09859867325595, 2.2976865690582327, 24.423898902709045, 10.519596356722385, -18.922561467109368, -20.681545603611596, 7.71281655139196, 24.750853334308985, 5.309869745704338, -21.903673723199258, -17.496795102114596}}},
};
// clang-format on

struct Convolution {
  template <class X, class K>
  auto operator()(X const& x, K const& k) const {
    using T = std::conditional_t<std::is_same_v<coir::value_t<X>, float>, float, double>;
    return sum(square(fft::irfft(fft::rfft(x) * fft::rfft(k), 9) - waves<T>(3, 9)));
  }
};

}  // namespace

TEST(FftGradients, RealTransforms) {
  expect_gradient(jax, "convolution", Convolution{}, waves(0, 9), waves(1, 9));
  expect_gradient(
      jax, "power spectrum",
      [](auto x) { return sum(square(abs(fft::rfftn(x))) * abs(waves(3, 4, 4))); }, waves(0, 4, 6));
  expect_gradient(
      jax, "odd power spectrum",
      [](auto x) {
        auto const spectrum = fft::rfftn(x);
        return sum(log(1 + real(spectrum * conj(spectrum)) / 100));
      },
      waves(0, 3, 4, 5));
  expect_gradient(
      jax, "filter",
      [](auto x) {
        return sum(pow(fft::irfftn(fft::rfftn(x) / (1 + square(waves(3, 3, 4, 3))), 5), 3));
      },
      waves(0, 3, 4, 5));
  expect_gradient(
      jax, "real and imaginary parts",
      [](auto x) {
        auto const spectrum = fft::rfft(x);
        return sum(pow(real(spectrum), 3) + imag(spectrum) * waves(3, 8)(range(0, 5)));
      },
      waves(0, 8));
  expect_gradient(
      jax, "slope of rows",
      [](auto x) {
        return sum(pow(fft::irfft2(fft::rfft2(x) * fft::rfft2(x)), 3)) + norm(fft::rfft(x));
      },
      waves(0, 2, 3, 4));
}

TEST(FftGradients, ComplexTransforms) {
  expect_gradient(
      jax, "complex transform",
      [](auto x, auto y) {
        auto const z = fft::fft(x * Kokkos::complex<double>(1, 2) + y);
        return sum(real(fft::ifft(exp(z / 4) * z)) * waves(4, 3, 5));
      },
      waves(0, 3, 5), waves(1, 5));
  expect_gradient(
      jax, "transforms of planes",
      [](auto x) {
        return sum(abs(fft::ifft2(fft::fft2(x) * waves(3, 4, 6)))) +
               sum(square(abs(fft::fftn(x)(1))));
      },
      waves(0, 4, 6));
}

TEST(FftGradients, Float) {
  expect_gradient(jax, "convolution", Convolution{}, waves<float>(0, 9), waves<float>(1, 9));
}

namespace {

/// sum w (x * k) of a convolution * has the derivatives sum w (. * k) by x: the correlation of w and k.
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
