// Gradients through slices, shifted ones among them, and other moves of elements, beside those of JAX.

#include <autodiff/program_grad.hpp>

using coir::Array;
using coir::end;
using coir::newaxis;
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
// lambda x: jnp.sum(jnp.square(x[1:] - x[:-1]))
    {"shifted difference",
     5.012152461709186,
     {{-0.5301594791759814, 2.6642457211138413, -0.46219562295742733, -2.9115192965868895, -1.0954603797523212, 2.325450559810104, 2.3395709812995085, -2.329932483750834}}},
// lambda u, b: jnp.sum((b[1:-1, 1:-1] - (4*u[1:-1, 1:-1] - u[:-2, 1:-1] - u[2:, 1:-1] - u[1:-1, :-2] - u[1:-1, 2:]))**2)
    {"jacobi residual",
     46.13867329865857,
     {{0.0, 0.5473379081291563, 5.604462247557698, 2.4510362644556474, -4.293163588241151, 0.0, 0.5473379081291563, 9.10086497875199, -18.130674496082506, -13.489095609518523, 15.66190867293206, -4.293163588241151, 5.685754363710916, -20.84066259746029, -4.326620606813042, 16.772865766293243, 10.423359344955548, -3.9617819444881905, 0.06621662769073278, -0.044498867867257985, 20.226378113227565, 5.3647513115791785, -22.414545128801485, 3.8656443662564186, 0.0, 0.06621662769073278, -5.465386720815243, -2.990185719287621, 3.8656443662564186, 0.0},
     {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5473379081291563, 5.604462247557698, 2.4510362644556474, -4.293163588241151, 0.0, 0.0, 5.685754363710916, 1.288800321563483, -4.996249211012481, -3.9617819444881905, 0.0, 0.0, 0.06621662769073278, -5.465386720815243, -2.990185719287621, 3.8656443662564186, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}}},
// lambda x: jnp.sum(jnp.exp(x[::2]) * x[1::2])
    {"every second element",
     0.6147863671216893,
     {{1.7317537981162823, 1.9044965343867302, -0.8486786433056471, 0.8540669485810228, 0.546092514248505, 0.6880617688110111, -0.8143813019374508, 2.222176481372354}}},
// lambda x: jnp.sum(jnp.sin(x) * x[::-1] * w8)
    {"reversed",
     -0.5769449374326764,
     {{0.09864526529136178, -1.1918594288636362, -0.545200783822993, -0.4416998881363082, -1.392055177680611, 0.09450518595589394, -1.4102997969852096, -0.19335964061494346}}},
// lambda x: x[0]*jnp.sum(x) + x[-1]**2
    {"elements",
     0.9420770788761876,
     {{1.8980952859148317, 0.644217687237691, 0.644217687237691, 0.644217687237691, 0.644217687237691, 0.644217687237691, 0.644217687237691, -0.08874057126616253}}},
// lambda m: jnp.sum(m[1] * jnp.exp(m[:, 2]))
    {"row and column",
     3.034613719502097,
     {{0.0, 0.0, -0.3193157022772095, 0.0, 0.8540669485810228, 2.222176481372354, 4.237963169096913, 1.0517155497760142, 0.0, 0.0, 1.9756911596153075, 0.0, 0.0, 0.0, -0.38543179890262513, 0.0}}},
// lambda x, y: jnp.sum(jnp.concatenate([x[:3], 2*x[3:]*y[0], y**2, w8])**3)
    {"concatenate",
     0.8009142675231034,
     {{1.2450492856496385, 2.480465431295418, 0.07465111206220564, 23.667821957698546, 3.3505206390444715, 15.098477956895097, 15.282394274099927, 3.2192453087015807},
     {4.22146825551817, 0.004703323970097144, -3.0177064956395676}}},
// lambda x, y: jnp.sum(jnp.stack([x, x*y], 1) * waves(4, 5, 2))
    {"stack",
     0.31376863764398544,
     {{-1.5471634044473883, 0.8035089190449319, 0.7798091319468664, -0.9720125109761194, 0.7034899585416388},
     {-0.40667313348042006, 0.8554038745252083, 0.15473846652209974, -0.7357048611528669, 0.10764033182829792}}},
// lambda m: jnp.sum(jnp.square(m.T * waves(4, 3)))
    {"transpose",
     3.7954710954270525,
     {{1.0814611464040456, 1.5264558193887738, -0.26481085913668184, -1.66812900864104, -0.6276342524756622, 0.6325494272311373, 0.6363903450643315, -0.2920820835257252, -0.7926535754750527, -0.13198572236360892, 0.6062514348043276, 0.43516294768379077, -0.37344027727185497, -0.634952621146715, 0.03374211249413806}}},
// lambda t: jnp.sum(jnp.exp(jnp.transpose(t, (2, 0, 1)) * waves(4, 4, 2, 3)))
    {"transpose of three axes",
     23.348627515187165,
     {{-0.5077489847880041, -0.2987480515187176, 0.7566603602876374, 0.31664102667196947, -0.7993062807818139, 1.332444584622235, 1.2548260429060125, -0.8463547400870273, 0.32539689499802693, 0.7352134419327946, -0.3133323163208385, -0.5008762007058853, 0.5565071047848337, -0.3783426232152942, -0.9253275037637422, 0.21882917310273606, -0.07253410218418349, -2.060824125533325, -0.03366862952576426, 1.2960626105455775, -0.3678139943371473, -0.23099015805069983, 0.42199423984890727, 0.2712126911357213}}},
// lambda x: jnp.sum(jnp.square(jnp.sum(x.reshape(2, 4), 0)))
    {"reshape",
     5.233787405389068,
     {{0.54068204481491, 3.4059305813496694, 1.281482836960484, -2.7203402657707825, 0.54068204481491, 3.4059305813496694, 1.281482836960484, -2.7203402657707825}}},
// lambda m: jnp.sum(m.T.reshape(-1)**3 * waves(4, 12))
    {"reshape of a transpose",
     1.1644990465678764,
     {{-1.1406717450864408, 2.333449626007471, -0.03356668326345917, -0.8528460427456611, -0.2647224735686293, -0.1420150288450471, 1.4161502868670268, -0.402829970106482, 1.7164647899668428, -0.0807057718088676, 2.0824502715395807, -0.31331642449455205}}},
// lambda m: jnp.sum(jnp.roll(m, (1, -2), (0, 1)) * m**2)
    {"roll",
     -0.20675449923028622,
     {{0.27012056357103464, -1.6981389779033975, 0.6140007543295704, -1.1628964852361858, -0.3519479455379505, 0.6499105050253494, -1.5843564732167832, 1.0947899842603903, -0.8585424613618593, 0.010255436274860252, 0.3233948004963644, -1.1537071485071044, 0.5998480010368862, -0.6793129611435932, 0.10540743681588793}}},
// lambda x: jnp.sum(jnp.cumsum(x)**2)
    {"cumsum",
     9.812294926158055,
     {{15.439772661752116, 14.151337287276732, 11.044307059149988, 8.252768219309738, 7.4486113867364185, 7.39220788382357, 5.7484686532124165, 2.5077551973542813}}},
// lambda m: jnp.sum(jnp.cumsum(m, 0)**2 * jnp.cumsum(m, 1))
    {"cumsum along an axis",
     1.5775970471122671,
     {{4.322561185495685, 2.5269618071676714, 1.3468084487608398, -2.691193831896518, 6.47217198008049, 3.023323027500547, 3.0354685218059956, -1.0294694421666473, 7.224696448312095, 1.692521289926026, 2.1098553023731874, -0.05841574882350298}}},
// lambda x: jnp.sum(jnp.tile(x, 3)**2 * waves(4, 12))
    {"tile",
     -0.237042541204708,
     {{-0.1875578287368147, -3.455523328711741, 0.2747873617511438, -2.8501696927331266}}},
// lambda x: jnp.sum(jnp.diff(x, 2)**2)
    {"second differences",
     6.967530199254801,
     {{-2.6642457211138413, 5.79068706518511, -0.6771176704418065, -4.26538259046403, -1.604852022727857, 3.406790518073021, 2.353691402788913, -2.3395709812995085}}},
// lambda x: jnp.sum(jnp.broadcast_to(x[:, None], (4, 3))**2 * waves(4, 4, 3))
    {"broadcast_to",
     -1.984596008157959,
     {{-1.2484846143172508, -0.2097872716266549, -0.3585481564456128, 3.049938598616846}}},
// lambda x: jnp.sum(jnp.where(x[1:] > 0, x[1:]**2, -x[:-1]))
    {"where",
     1.5379643158920229,
     {{0.0, 0.8185948536513634, -1.0, -1.0, -0.0, 1.5873357276983062, 0.5969742252469805, 0.0}}},
// lambda x: jnp.sum(jnp.where(x > jnp.mean(x), x*x, 0.1*x))
    {"where above the mean",
     2.3201493369284742,
     {{1.288435374475382, 1.8185948536513634, 0.1, 0.1, 0.1, 1.5873357276983062, 1.5969742252469805, 0.1}}},
// lambda x: jnp.sum(jnp.square(jnp.minimum(x, jnp.mean(x))) * w8)
    {"clipped at the mean",
     0.8604006567161364,
     {{-0.10548942699783129, -0.10548942699783129, -0.017336243562289133, -1.7956318651559322, -0.6546373022261862, -0.10548942699783129, -0.10548942699783129, -0.056878244614623895}}},
// lambda t: jnp.sum(jnp.moveaxis(t, 0, 2)**2 * jnp.swapaxes(waves(4, 4, 3, 2), 0, 1))
    {"axes moved",
     -0.640068963877898,
     {{-1.180420601797373, -0.8177265649600102, -0.2737342418500288, -1.079696290018063, -0.43253025982929555, 1.342484161660806, -0.7780051395966977, 0.658429774647081, 0.14948348272344442, 0.3311336405842973, -0.05931354429209144, 1.295688024247921, 0.7045595621044358, -1.4050031791452284, 0.07171732064579663, -1.2951751210008142, 0.8873704438653922, 0.41659307970984083, 1.6689802609714022, 0.09667527005402393, -1.961860184416493, -0.13381318904808054, -1.6319416073915043, -0.5097816955939835}}},
// lambda m: jnp.sum(jnp.log(2 + jnp.diagonal(m))) + jnp.sum(jnp.diagonal(m, 1)**2)
    {"diagonal",
     6.044290181047997,
     {{0.37818368919718565, 1.8185948536513634, 0.0, 0.0, 0.0, 0.35795235823852967, 1.5969742252469805, 0.0, 0.0, 0.0, 0.34412098214771575, 1.3005756803142337, 0.0, 0.0, 0.0, 0.33604177201869334}}},
// def heat(u):
//     for _ in range(5): u = u + 0.2*(jnp.roll(u, 1) - 2*u + jnp.roll(u, -1))
//     return jnp.sum(u**2)
    {"heat equation",
     0.5071071383773742,
     {{0.5343103874137849, 0.3456506410422721, 0.12504180767051995, 0.013236224738225997, 0.09038877146715349, 0.2998097377632719, 0.5041366903183, 0.5951809369407527}}},
};
// clang-format on

Array<double, 1> const& w8() {
  static Array<double, 1> const w = waves(3, 8);
  return w;
}

struct ShiftedDifference {
  template <class X>
  auto operator()(X const& x) const {
    return sum(square(x(range(1, end)) - x(range(0, -1))));
  }
};

struct JacobiResidual {
  template <class U, class B>
  auto operator()(U const& u, B const& b) const {
    auto const inner = range(1, -1), before = range(0, -2), after = range(2, end);
    return sum(square(b(inner, inner) - (4 * u(inner, inner) - u(before, inner) - u(after, inner) -
                                         u(inner, before) - u(inner, after))));
  }
};

}  // namespace

TEST(ProgramGradMoves, SlicesOfAnArgument) {
  auto const x = waves(0, 8);
  expect_gradient(jax, "shifted difference", ShiftedDifference{}, x);
  expect_gradient(
      jax, "every second element",
      [](auto x) { return sum(exp(x(range(0, end, 2))) * x(range(1, end, 2))); }, x);
  expect_gradient(jax, "reversed", [](auto x) { return sum(sin(x) * flip(x) * w8()); }, x);
  expect_gradient(jax, "elements", [](auto x) { return x(0) * sum(x) + square(x(-1)); }, x);
  expect_gradient(
      jax, "row and column", [](auto m) { return sum(m(1) * exp(m(range(), 2))); }, waves(0, 4, 4));
}

TEST(ProgramGradMoves, StencilsByShiftedSlices) {
  expect_gradient(jax, "jacobi residual", JacobiResidual{}, waves(0, 5, 6), waves(1, 5, 6));
  expect_gradient(
      jax, "second differences", [](auto x) { return sum(square(diff(x, 2))); }, waves(0, 8));
  expect_gradient(
      jax, "heat equation",
      [](auto x) {
        auto u = evaluate(x);
        for (int step = 0; step < 5; ++step) u = u + 0.2 * (roll(u, 1) - 2 * u + roll(u, -1));
        return sum(square(u));
      },
      waves(0, 8));
}

TEST(ProgramGradMoves, JoinedArrays) {
  expect_gradient(
      jax, "concatenate",
      [](auto x, auto y) {
        return sum(
            pow(concatenate(0, x(range(0, 3)), 2 * x(range(3, end)) * y(0), square(y), w8()), 3));
      },
      waves(0, 8), waves(1, 3));
  expect_gradient(
      jax, "stack", [](auto x, auto y) { return sum(stack(1, x, x * y) * waves(4, 5, 2)); },
      waves(0, 5), waves(1, 5));
  expect_gradient(
      jax, "tile", [](auto x) { return sum(square(tile(x, 3)) * waves(4, 12)); }, waves(0, 4));
  expect_gradient(
      jax, "roll", [](auto m) { return sum(roll(m, {1, -2}, {0, 1}) * square(m)); },
      waves(0, 3, 5));
}

TEST(ProgramGradMoves, OtherAxesAndShapes) {
  expect_gradient(
      jax, "transpose", [](auto m) { return sum(square(transpose(m) * waves(4, 3))); },
      waves(0, 3, 5));
  expect_gradient(
      jax, "transpose of three axes",
      [](auto t) { return sum(exp(transpose(t, {2, 0, 1}) * waves(4, 4, 2, 3))); },
      waves(0, 2, 3, 4));
  expect_gradient(
      jax, "reshape", [](auto x) { return sum(square(sum(reshape(x, {2, -1}), 0))); }, waves(0, 8));
  expect_gradient(
      jax, "reshape of a transpose",
      [](auto m) { return sum(pow(ravel(transpose(m)), 3) * waves(4, 12)); }, waves(0, 3, 4));
  expect_gradient(
      jax, "broadcast_to",
      [](auto x) {
        return sum(square(broadcast_to(x(range(), newaxis), {4, 3})) * waves(4, 4, 3));
      },
      waves(0, 4));
  expect_gradient(
      jax, "axes moved",
      [](auto t) { return sum(square(moveaxis(t, 0, 2)) * swap_axes(waves(4, 4, 3, 2), 0, 1)); },
      waves(0, 2, 3, 4));
  expect_gradient(
      jax, "diagonal",
      [](auto m) { return sum(log(2 + diagonal(m))) + sum(square(diagonal(m, 1))); },
      waves(0, 4, 4));
}

TEST(ProgramGradMoves, CumulativeSums) {
  expect_gradient(jax, "cumsum", [](auto x) { return sum(square(cumsum(x))); }, waves(0, 8));
  expect_gradient(
      jax, "cumsum along an axis", [](auto m) { return sum(square(cumsum(m, 0)) * cumsum(m, 1)); },
      waves(0, 3, 4));
}

TEST(ProgramGradMoves, MasksAndBounds) {
  auto const x = waves(0, 8);
  expect_gradient(
      jax, "where",
      [](auto x) {
        auto const later = x(range(1, end));
        return sum(where(later > 0, square(later), -x(range(0, -1))));
      },
      x);
  expect_gradient(
      jax, "where above the mean", [](auto x) { return sum(where(x > mean(x), x * x, 0.1 * x)); },
      x);
  expect_gradient(
      jax, "clipped at the mean", [](auto x) { return sum(square(minimum(x, mean(x))) * w8()); },
      x);
}

TEST(ProgramGradMoves, Float) {
  expect_gradient(jax, "shifted difference", ShiftedDifference{}, waves<float>(0, 8));
  expect_gradient(jax, "jacobi residual", JacobiResidual{}, waves<float>(0, 5, 6),
                  waves<float>(1, 5, 6));
}

TEST(ProgramGradMoves, AnglesWithoutJumpsAndTraces) {
  auto const x = coir::array({0.1, 3.0, -3.0, -0.5, 2.9, -2.8});
  auto const w = waves(1, 6);
  auto const [value, slope] =
      coir::value_and_grad([&](auto x) { return sum(square(unwrap(x)) * w); })(x);
  EXPECT_NEAR(value, sum(square(unwrap(x)) * w), 1e-12);
  EXPECT_TRUE(allclose(slope, 2 * unwrap(x) * w));
  auto const m = waves(0, 3, 4);
  auto const of_trace = coir::grad([](auto m) { return square(trace(m, 1)); })(m);
  coir::Array<double, 2> right = coir::zeros(3, 4);
  for (int i = 0; i < 3; ++i) right(i, i + 1) = 2 * trace(m, 1);
  EXPECT_TRUE(allclose(of_trace, right));
}
