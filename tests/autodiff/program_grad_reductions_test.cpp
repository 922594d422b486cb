// Gradients through reductions whose results are used among elements again, beside those of JAX.

#include <autodiff/program_grad.hpp>

using coir::Array;
using coir::end;
using coir::range;
using coir::testing::expect_gradient;
using coir::testing::JaxGradient;
using coir::testing::waves;

namespace {

// clang-format off
// Gradients that JAX 0.10.2 gives in double: jax.value_and_grad(f, argnums)(waves(0, ...), waves(1, ...)), where
//   waves = lambda k, *shape: jnp.sin(0.7 + 1.3 * jnp.arange(prod(shape)) + 0.9 * k).reshape(shape)
//   w8 = waves(3, 8); data = waves(3, 6, 3); labels = jnp.eye(3)[[2, 0, 1, 2]]
std::vector<JaxGradient> const jax = {
// lambda x: jnp.sum(w8 * (x - jnp.mean(x))**3)
    {"less its mean",
     -2.2191778294500395,
     {{-0.20865314903753526, -1.7253946297082978, -0.10937387817807319, 3.350132743123808, 0.5938319834365264, -0.5833178210684782, -1.236284806055798, -0.08094044251215211}}},
// lambda x: jnp.sum(w8 * jnp.exp(x) / jnp.sum(jnp.exp(x)))
    {"softmax",
     -0.49196107775655334,
     {{0.039405841134577145, -0.11036477445848987, 0.01588693942423806, 0.04349335666494485, 0.07384838553562299, 0.006662820153642543, -0.09475386121432611, 0.02582129275979038}}},
// lambda x: jnp.max(x) + jnp.log(jnp.sum(jnp.exp(x - jnp.max(x))))
    {"log-sum-exp",
     2.4359134114401977,
     {{0.16667729117621766, 0.21726966858104269, 0.07474603544944877, 0.03239975509289582, 0.06021763217556387, 0.1935449395789714, 0.19447993196265456, 0.06066474598320521}}},
// lambda x: jnp.var(x)
    {"variance",
     0.4498998355576207,
     {{0.1218707468507621, 0.18814068174775977, -0.07862009849447268, -0.2876064258670268, -0.13265284116621964, 0.15923329100362763, 0.1604381031972119, -0.13080345727164233}}},
// lambda x: jnp.std(x, ddof=1)
    {"standard deviation",
     0.7170573482206851,
     {{0.09711974494741693, 0.14993077090067333, -0.06265296726928392, -0.2291957951127395, -0.10571207967068347, 0.12689424664269566, 0.12785437083963466, -0.1042382912777137}}},
// lambda x: jnp.sum(w8 * x / jnp.linalg.norm(x))
    {"unit vector",
     -1.6784739695499615,
     {{0.15371019485511803, -0.11114620870082198, -0.2131731561221858, -0.0029009304129598568, 0.21162116514740908, 0.11611775799116464, -0.1494984366571097, -0.1960990713651321}}},
// lambda m: jnp.sum(jnp.square(jnp.sum(m, 0)))
    {"sum along an axis",
     5.784163473971682,
     {{-1.4484231315930685, 3.074722230453051, 3.093392321577408, -1.4197645854565488, -1.4484231315930685, 3.074722230453051, 3.093392321577408, -1.4197645854565488, -1.4484231315930685, 3.074722230453051, 3.093392321577408, -1.4197645854565488}}},
// lambda m: jnp.sum((m - jnp.mean(m, 1, keepdims=True))**3)
    {"rows less their means",
     -1.2709748444709474,
     {{-0.773472425954971, 0.3020694568659792, -1.4601923500840899, 1.931595319173082, 0.012952935449182634, -0.008442524144299801, 0.008418900363887039, -0.012929311668769872, 1.9219874095891716, -1.4556449799732998, 0.2876988395629867, -0.7540412691788586}}},
// lambda m: jnp.sum(jnp.var(m, 0) * waves(4, 4))
    {"variance along an axis",
     -0.0007244685028022224,
     {{-0.540917526728629, -0.16700946799331398, -0.25964660206381607, -0.4747952241404422, 0.08091138377913204, -0.11834741102075459, 0.10910211756713026, -0.08143697364503716, 0.460006142949497, 0.2853568790140686, 0.15054448449668578, 0.5562321977854793}}},
// lambda m: jnp.sum(jnp.std(m, 1, ddof=1)**3)
    {"standard deviation along an axis",
     1.5761574844251394,
     {{0.4670455135554921, 0.6947533296068203, -0.22185409986356877, -0.9399447432987437, -0.3951381345316637, 0.3910250638842012, 0.39427009303497806, -0.39015702238751554, -0.9409327959584379, -0.2276891406446274, 0.6943014049964935, 0.4743205316065719}}},
// lambda m: jnp.sum(jnp.max(m, 1) * waves(4, 3))
    {"max along an axis",
     -0.8130853561145488,
     {{-0.0, -0.9161659367494549, -0.0, -0.0, -0.0, -0.0, -0.6312666378723216, -0.0, 0.0, 0.0, 0.5784397643882001, 0.0}}},
// lambda m: jnp.sum(jnp.min(m, 0)**2)
    {"min along an axis",
     2.0288651083519853,
     {{-0.0, -0.0, -0.3154913882864964, -1.987382007266929, -0.0, -0.0, -0.0, -0.0, -1.9891051764079783, -0.3312083508966188, -0.0, -0.0}}},
// lambda x: jnp.prod(1.5 + x[1:]) * x[0]
    {"product of the rest",
     7.098418376970296,
     {{11.018664214897997, 2.9462607222897614, 5.288430326501672, 14.019933336976486, 6.303411140929963, 3.0947891317873633, 3.088300272812133, 6.2622740878918774}}},
// lambda m: jnp.sum(jnp.prod(m, 1) * waves(4, 3))
    {"products along an axis",
     -0.08281236940836478,
     {{-0.1305837012774886, -0.0925157462741269, 0.5332908164930846, 0.08465843981712404, 0.14661175467559545, -0.06906505398514995, -0.06864821359849187, 0.14957117469393302, -0.05643409423319997, -0.33892064816986367, 0.0619530665953142, 0.08631050900323774}}},
// lambda m: jnp.sum(jnp.linalg.norm(m, axis=1))
    {"norms along an axis",
     4.246376963309333,
     {{0.4290835251427565, 0.6056408463085954, -0.10506709123325034, -0.6618514939723696, -0.30112386563969307, 0.6392277391924753, 0.6431092085563541, -0.295165819259454, -0.661539045976885, -0.11015368069545772, 0.6026070848674411, 0.43254705934129367}}},
// lambda m: -jnp.mean(jnp.sum(labels * jax.nn.log_softmax(m, 1), 1))
    {"softmax cross entropy",
     1.638554587841408,
     {{0.09084359959601349, 0.11841780387507907, -0.20926140347109257, -0.22169460123399654, 0.05260793134351785, 0.1690866698904787, 0.16910326165312425, -0.1972510797921906, 0.0281478181390663, 0.04044574660301353, 0.11809866318217975, -0.1585444097851933}}},
// def loglike(mean, log_sigma):
//     z = (data - mean) / jnp.exp(log_sigma)
//     return -0.5*jnp.sum(z**2) - 6*jnp.sum(log_sigma) - 9*jnp.log(2*jnp.pi)
    {"gaussian log likelihood",
     -29.210941663422815,
     {{-0.5847832024811916, -3.864672538491508, 5.6064206952330675},
     {-5.215639389875219, 0.17346513552295395, 7.975304467726888}}},
// def layer_norm(x, gain, bias):
//     y = (x - jnp.mean(x, 1, keepdims=True)) / jnp.sqrt(jnp.var(x, 1, keepdims=True) + 0.01)
//     return jnp.sum(jnp.sin(gain*y + bias))
    {"layer norm",
     -2.801764295529339,
     {{0.2406507434291672, 0.08443334403927272, -0.6406371954431063, 0.3155531079746664, 1.1890174392548374, 0.03235008463855865, -0.02549123193978814, -1.1958762919536081, 0.13267212504654602, -0.04540585995735208, 0.6237703737216915, -0.7110366388108855},
     {-1.692239158730893, 1.6531305687950675, -0.7998935802626186, -0.6039390045682975},
     {1.8254067709944395, 2.6351005834205314, 0.3081266492019753, 2.0250573591060173}}},
// lambda t: jnp.sum(jnp.exp(jnp.sum(t, 2)) * jnp.sum(t, (0, 2)))
    {"sums over three axes",
     0.03402453397553763,
     {{1.9958434329732992, 1.9958434329732992, 1.9958434329732992, 1.9958434329732992, 2.7852655826509634, 2.7852655826509634, 2.7852655826509634, 2.7852655826509634, 2.3417741216329406, 2.3417741216329406, 2.3417741216329406, 2.3417741216329406, 2.064718434785678, 2.064718434785678, 2.064718434785678, 2.064718434785678, 2.775068650088016, 2.775068650088016, 2.775068650088016, 2.775068650088016, 2.27873312075775, 2.27873312075775, 2.27873312075775, 2.27873312075775}}},
// lambda r, c: jnp.sum(jnp.tanh(r * c + r)**2)
    {"stretched rows and columns",
     4.53848509900897,
     {{1.8440694919689, 1.099568733691315, -1.5731278212970943, -0.9156966286052934},
     {0.6892878595046096, 1.528802309433952, 0.5687540550404024}}},
};
// clang-format on

Array<double, 1> const& w8() {
  static Array<double, 1> const w = waves(3, 8);
  return w;
}

struct CrossEntropy {
  template <class X>
  auto operator()(X const& logits) const {
    Array<value_of<X>, 2> labels = coir::zeros<value_of<X>>(4, 3);
    int row = 0;
    for (int const column : {2, 0, 1, 2})
      labels(range(row, row + 1), range(column, column + 1)) = 1, ++row;
    auto const shifted = evaluate(logits - with_axis(max(logits, 1), 1));
    auto const log_softmax = shifted - with_axis(log(sum(exp(shifted), 1)), 1);
    return -mean(sum(labels * log_softmax, 1));
  }

  template <class X>
  using value_of = std::conditional_t<std::is_same_v<coir::value_t<X>, float>, float, double>;
};

}  // namespace

TEST(ProgramGradReductions, WholeAmongElements) {
  auto const x = waves(0, 8);
  expect_gradient(jax, "less its mean", [](auto x) { return sum(w8() * pow(x - mean(x), 3)); }, x);
  expect_gradient(jax, "softmax", [](auto x) { return sum(w8() * exp(x) / sum(exp(x))); }, x);
  expect_gradient(
      jax, "log-sum-exp",
      [](auto x) {
        auto const top = max(x);
        return top + log(sum(exp(x - top)));
      },
      x);
  expect_gradient(jax, "unit vector", [](auto x) { return sum(w8() * x / norm(x)); }, x);
  expect_gradient(jax, "variance", [](auto x) { return var(x); }, x);
  expect_gradient(jax, "standard deviation", [](auto x) { return std_dev(x, coir::ddof(1)); }, x);
  expect_gradient(
      jax, "product of the rest", [](auto x) { return prod(1.5 + x(range(1, end))) * x(0); }, x);
}

TEST(ProgramGradReductions, AlongAxes) {
  auto const m = waves(0, 3, 4);
  expect_gradient(jax, "sum along an axis", [](auto m) { return sum(square(sum(m, 0))); }, m);
  expect_gradient(
      jax, "rows less their means",
      [](auto m) { return sum(pow(m - with_axis(mean(m, 1), 1), 3)); }, m);
  expect_gradient(
      jax, "variance along an axis", [](auto m) { return sum(var(m, 0) * waves(4, 4)); }, m);
  expect_gradient(
      jax, "standard deviation along an axis",
      [](auto m) { return sum(pow(std_dev(m, 1, coir::ddof(1)), 3)); }, m);
  expect_gradient(jax, "max along an axis", [](auto m) { return sum(max(m, 1) * waves(4, 3)); }, m);
  expect_gradient(jax, "min along an axis", [](auto m) { return sum(square(min(m, 0))); }, m);
  expect_gradient(
      jax, "products along an axis", [](auto m) { return sum(prod(m, 1) * waves(4, 3)); }, m);
  expect_gradient(jax, "norms along an axis", [](auto m) { return sum(norm(m, 1)); }, m);
  expect_gradient(
      jax, "sums over three axes", [](auto t) { return sum(exp(sum(t, 2)) * sum(sum(t, 2), 0)); },
      waves(0, 2, 3, 4));
}

TEST(ProgramGradReductions, Likelihoods) {
  expect_gradient(jax, "softmax cross entropy", CrossEntropy{}, waves(0, 4, 3));
  expect_gradient(
      jax, "gaussian log likelihood",
      [](auto mean, auto log_sigma) {
        auto const z = (waves(3, 6, 3) - mean) / exp(log_sigma);
        return -0.5 * sum(square(z)) - 6 * sum(log_sigma) - 9 * std::log(2 * std::numbers::pi);
      },
      waves(0, 3), waves(1, 3));
  expect_gradient(
      jax, "layer norm",
      [](auto x, auto gain, auto bias) {
        auto const centred = evaluate(x - with_axis(mean(x, 1), 1));
        auto const y = centred / sqrt(with_axis(mean(square(centred), 1), 1) + 0.01);
        return sum(sin(gain * y + bias));
      },
      waves(0, 3, 4), waves(1, 4), waves(2, 4));
}

TEST(ProgramGradReductions, ArgumentsThatStretchEachOther) {
  expect_gradient(
      jax, "stretched rows and columns",
      [](auto r, auto c) { return sum(square(tanh(evaluate(r) * c + r))); }, waves(0, 1, 4),
      waves(1, 3, 1));
}

TEST(ProgramGradReductions, Float) {
  expect_gradient(jax, "softmax cross entropy", CrossEntropy{}, waves<float>(0, 4, 3));
  expect_gradient(jax, "variance", [](auto x) { return var(x); }, waves<float>(0, 8));
}
