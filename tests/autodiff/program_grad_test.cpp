// How programs are differentiated: what goes by the tape, sizes and types, ties and edges, many
// statements, errors.

#include <autodiff/program_grad.hpp>

#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

#include <cstdint>

using coir::Array;
using coir::end;
using coir::PreconditionError;
using coir::range;
using coir::Shape;
using coir::testing::message_of;
using coir::testing::numbers_of;
using coir::testing::waves;

namespace {

/// Tells by which way it was differentiated.
template <class F>
struct Observed {
  F f;
  bool* by_tape;
  template <class... X>
  auto operator()(X const&... x) const {
    *by_tape = (coir::detail::holds_traced<X> || ...);
    return f(x...);
  }
};

template <class F, class... X>
bool goes_by_tape(F const& f, X const&... x) {
  bool by_tape = false;
  coir::grad(Observed<F>{f, &by_tape})(x...);
  return by_tape;
}

COIR_TYPED_SUITE(ProgramGrad);

}  // namespace

TEST(ProgramGrad, ElementwiseObjectivesKeepTheirOnePass) {
  auto const x = waves(0, 8), y = waves(1, 8);
  EXPECT_FALSE(goes_by_tape([](auto x) { return sum(square(x)) - mean(exp(x)); }, x));
  EXPECT_FALSE(goes_by_tape([](auto x, auto y) { return log(dot(x, y) + 9); }, x, y));
  EXPECT_TRUE(goes_by_tape([](auto x) { return sum(x - mean(x)); }, x));
  EXPECT_TRUE(goes_by_tape([](auto x) { return sum(square(evaluate(x))); }, x));
  EXPECT_TRUE(goes_by_tape([](auto x, auto m) { return sum(x * m); }, x, waves(0, 3, 8)));
}

TYPED_TEST(ProgramGrad, ShiftedSlicesOfAnySize) {
  TYPES_OF_CASE;
  double const eps = std::numeric_limits<T>::epsilon();
  for (std::int64_t const n : {1, 2, 31, 513, 1009, 5000}) {
    Array<T, 1, Space> x(Shape<1>{n});
    x = coir::sin(coir::arange<T, Space>(n));
    auto const [value, slope] = coir::value_and_grad(
        [](auto x) { return sum(pow(x(range(1, end)) - x(range(0, -1)), 3)); })(x);
    auto const v = numbers_of(x), g = numbers_of(slope);
    ASSERT_EQ(g.size(), v.size());
    double total = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      double const before = i > 0 ? v[i] - v[i - 1] : 0;
      double const after = i + 1 < v.size() ? v[i + 1] - v[i] : 0;
      total += before * before * before;
      // Each difference has half an ulp of the numbers, which are at most 1.
      ASSERT_NEAR(g[i], 3 * before * before - 3 * after * after, 24 * eps) << i << " of " << n;
    }
    EXPECT_NEAR(value, total, 12 * eps * double(n));
  }
}

TYPED_TEST(ProgramGrad, EmptyArraysHaveEmptyGradients) {
  TYPES_OF_CASE;
  Array<T, 1, Space> const none = coir::zeros<T, Space>(0);
  auto const [value, slope] =
      coir::value_and_grad([](auto x) { return sum(square(evaluate(2 * x))); })(none);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(slope.shape(), none.shape());
  Array<T, 2, Space> const flat = coir::zeros<T, Space>(3, 0);
  auto const along = coir::grad([](auto m) { return sum(square(sum(m, 1) + 1)); })(flat);
  EXPECT_EQ(along.shape(), flat.shape());
}

TEST(ProgramGrad, ValuesHaveTheBitsOfThePlainFunction) {
  auto const f = [](auto x) {
    auto const y = evaluate(0.5 * x);
    return sum(y(range(1, end)) - y(range(0, -1)));
  };
  auto const x = waves(0, 1009);
  EXPECT_EQ(coir::value_and_grad(f)(x).value, f(x));
}

TEST(ProgramGrad, ArgumentsThatDoNotEnterHaveTheGradientZero) {
  auto const [dx, dm] =
      coir::grad([](auto x, auto) { return sum(x) * x(1); })(waves(0, 3), waves(0, 2, 2));
  EXPECT_EQ(numbers_of(dm), std::vector<double>(4, 0.0));
  EXPECT_EQ(dm.shape(), (Shape<2>{2, 2}));
}

TEST(ProgramGrad, GradientsOfOneRankAreAnArrayElseATuple) {
  auto const f = [](auto x, auto y) { return sum(evaluate(x) * y); };
  auto const same = coir::grad(f)(waves(0, 3), waves(1, 1));
  EXPECT_TRUE(
      (std::is_same_v<std::remove_const_t<decltype(same)>, std::array<Array<double, 1>, 2>>));
  auto const ranks = coir::grad(f)(waves(0, 3), waves(1, 2, 3));
  EXPECT_TRUE((std::is_same_v<std::remove_const_t<decltype(ranks)>,
                              std::tuple<Array<double, 1>, Array<double, 2>>>));
}

TEST(ProgramGrad, SlicesExpressionsAndRankZeroAreArgumentsToo) {
  auto const m = waves(0, 4, 6);
  auto const f = [](auto x) { return x(0) * sum(x * x); };
  auto const column = m(range(), 2);
  Array<double, 1> const copied = column;
  auto const expected = numbers_of(coir::grad(f)(copied));
  EXPECT_EQ(numbers_of(coir::grad(f)(column)), expected);
  EXPECT_EQ(numbers_of(coir::grad(f)(1.0 * column)), expected);
  Array<double, 0> three(Shape<0>{});
  three = 3;
  auto const [dx, ds] =
      coir::grad([](auto x, auto s) { return sum(square(s * x)); })(copied, three);
  double squares = 0;
  for (double const v : numbers_of(copied)) squares += v * v;
  EXPECT_NEAR(ds.item(), 6 * squares, 1e-14);
}

TEST(ProgramGrad, OneArrayTwiceIsTwoArguments) {
  auto const x = waves(0, 5);
  auto const [first, second] =
      coir::grad([](auto x, auto y) { return sum(x) * sum(x * y) + x(0) - x(0); })(x, x);
  auto const alone = coir::grad([](auto x) { return sum(x) * sum(x * x) + x(0) - x(0); })(x);
  auto const a = numbers_of(first), b = numbers_of(second), c = numbers_of(alone);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i] + b[i], c[i], 1e-14);
}

TEST(ProgramGrad, CapturedDoublesKeepTheirPrecisionUntilTheGradientIsStored) {
  auto const x = waves<float>(0, 31);
  auto const w = waves(2, 30);
  auto const [value, slope] =
      coir::value_and_grad([&](auto x) { return sum(x(range(1, end)) * w); })(x);
  EXPECT_TRUE((std::is_same_v<std::remove_const_t<decltype(value)>, double>));
  auto const w_h = numbers_of(w), slope_h = numbers_of(slope);
  for (std::size_t i = 0; i < 30; ++i) EXPECT_EQ(slope_h[i + 1], double(float(w_h[i])));
}

TEST(ProgramGrad, PrecisionMayChangeOnTheWay) {
  auto const x = waves(0, 5);
  auto const slope = coir::grad([](auto x) { return sum(square(coir::cast<float>(x))); })(x);
  auto const x_h = numbers_of(x), slope_h = numbers_of(slope);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(slope_h[i], double(2 * float(x_h[i])));
}

TEST(ProgramGrad, ReductionsAddUpInLoops) {
  auto const x = coir::array({1., 2., 3.});
  auto const loss = [](auto x) {
    auto s = coir::evaluate(sum(x));
    for (int k = 0; k < 3; ++k) s += k * sum(x * x);
    s = s / 2;
    return s;
  };
  auto const [value, slope] = coir::value_and_grad(loss)(x);
  EXPECT_EQ(value, (6 + 3 * 14) / 2);
  EXPECT_EQ(value, loss(x));
  EXPECT_EQ(numbers_of(slope), (std::vector<double>{3.5, 6.5, 9.5}));  // (1 + 6 x) / 2
}

TEST(ProgramGrad, ArraysTakeConstantsAndOtherPrecisions) {
  auto const x = coir::array({1., 2., 3.}), y = coir::array({3., 5., 7.});
  auto const slope = coir::grad([&](auto x) {
    auto u = evaluate(x * x);
    u = 0;
    u += x;  // x
    auto v = evaluate(x * x);
    v = y;
    v *= x;  // y x
    return sum(u * v);
  })(x);
  EXPECT_EQ(numbers_of(slope), (std::vector<double>{6, 20, 42}));  // 2 x y
  auto const of_float = coir::grad([&](auto x) {
    auto u = evaluate(x);
    u = u * y;
    return sum(u);
  })(coir::array({1.F, 2.F, 3.F}));
  EXPECT_EQ(numbers_of(of_float), (std::vector<double>{3, 5, 7}));
}

TEST(ProgramGrad, ExtremesAlongAnAxisShareTheirDerivative) {
  Array<double, 2> const m = coir::array({{1., 3., 3.}, {5., 5., 5.}, {2., 1., 0.}});
  auto const largest = numbers_of(coir::grad([](auto m) { return sum(max(m, 1)); })(m));
  std::vector<double> const thirds = {0, 0.5, 0.5, 1 / 3., 1 / 3., 1 / 3., 1, 0, 0};
  EXPECT_EQ(largest, thirds);
  auto const whole = numbers_of(coir::grad([](auto m) { return max(m) * m(0, 0); })(m));
  std::vector<double> const expected = {5, 0, 0, 1 / 3., 1 / 3., 1 / 3., 0, 0, 0};
  EXPECT_EQ(whole, expected);
}

TEST(ProgramGrad, ProductsAlongAnAxisAreTakenApartAtZeros) {
  Array<double, 2> const m = coir::array({{2., 0., 3.}, {0., 5., 0.}, {2., 3., 4.}});
  auto const slope = numbers_of(coir::grad([](auto m) { return sum(prod(m, 1)); })(m));
  EXPECT_EQ(slope, (std::vector<double>{0, 6, 0, 0, 0, 0, 12, 8, 6}));
}

TEST(ProgramGrad, InfiniteSlopesDontSpoilWhatDoesntEnter) {
  Array<double, 1> const x = coir::array({0., 4.});
  // sqrt in a statement of its own: its slope at 0 is infinite, and what comes back to it is 0.
  auto const slope = numbers_of(coir::grad([](auto x) {
    auto const root = evaluate(sqrt(x));
    return sum(where(x > 0, root, x));
  })(x));
  EXPECT_EQ(slope, (std::vector<double>{1, 0.25}));
  // The slope of x / 0 is infinite, too.
  EXPECT_EQ(numbers_of(coir::grad([](auto x) {
              auto const large = evaluate(x / 0.0);
              return sum(where(x > 100, large, x));
            })(x)),
            (std::vector<double>{1, 1}));
  Array<double, 1> const zeros = coir::zeros<double>(3);
  EXPECT_EQ(numbers_of(coir::grad([](auto x) { return norm(x(range(0, 2))); })(zeros)),
            std::vector<double>(3, 0.0));
  EXPECT_EQ(numbers_of(coir::grad([](auto x) { return std_dev(x); })(zeros)),
            std::vector<double>(3, 0.0));
}

TEST(ProgramGrad, TensOfThousandsOfStatements) {
  constexpr int statements = 30000;
  auto const [value, slope] = coir::value_and_grad([](auto x) {
    auto u = evaluate(x);
    for (int k = 0; k < statements; ++k) u *= 1.0001;
    u += x;
    u -= 2 * x;
    u /= 2;
    return sum(u(range(0, 1)));
  })(waves(0, 2));
  // Each factor rounds once on the way.
  double const growth = (std::pow(1.0001, statements) - 1) / 2;
  auto const g = numbers_of(slope);
  EXPECT_NEAR(g[0], growth, growth * statements * 2.3e-16);
  EXPECT_EQ(g[1], 0);
  EXPECT_NEAR(value, growth * std::sin(0.7), growth * statements * 2.3e-16);
}

TEST(ProgramGrad, FunctionsOfNumbersMixIn) {
  // The objective x -> a x + b fitted to three points: the gradient is that of least squares.
  Array<double, 1> const t = coir::array({0., 1., 2.}), y = coir::array({1., 3., 5.});
  Array<double, 1> const p = coir::array({2., 1.});
  auto const [value, slope] =
      coir::value_and_grad([&](auto p) { return sum(square(p(0) * t + p(1) - y)); })(p);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(numbers_of(slope), (std::vector<double>{0, 0}));
}

// What reads a view that repeats elements gives each the sum over its repetitions, as where the
// view is stored first.
TEST(ProgramGrad, RepeatedElementsGetTheSumOfTheirRepetitions) {
  auto const x = waves(0, 4), w = waves(1, 4);
  auto const expect_same = [&](char const* name, auto const& f) {
    std::array<std::int64_t, 1> const four{4};  // as large as x
    auto const repeated = coir::grad([&](auto x) {
      return f(broadcast_to(x(range(2, 3)), four)) + f(broadcast_to(x(1), four));
    })(x);
    auto const stored = coir::grad([&](auto x) {
      return f(evaluate(+broadcast_to(x(range(2, 3)), four))) +
             f(evaluate(+broadcast_to(x(1), four)));
    })(x);
    // Sums of at most 16 terms, none above 16.
    EXPECT_TRUE(all(abs(repeated - stored) < 16 * 16 * 2.3e-16)) << name;
  };
  expect_same("concatenate", [](auto const& v) { return sum(square(concatenate(0, v, v))); });
  expect_same("roll", [&](auto const& v) { return sum(w * square(roll(v, 1))); });
  expect_same("tile", [&](auto const& v) { return sum(square(tile(v, 2))); });
  expect_same("cumsum", [&](auto const& v) { return sum(w * square(cumsum(v))); });
  expect_same("max", [](auto const& v) { return square(max(v)); });
  expect_same("max along an axis", [](auto const& v) { return square(max(v, 0)); });
  expect_same("prod", [](auto const& v) { return prod(v); });
}

TEST(ProgramGrad, ErrorsNameTheShapes) {
  auto const x = waves(0, 3);
  auto const expect_message = [](auto const& action, std::string const& text) {
    std::string const said = message_of<PreconditionError>(action);
    EXPECT_NE(said.find(text), std::string::npos) << said;
  };
  expect_message([&] { coir::grad([](auto x) { return sum(x(range(0, 4))); })(x); },
                 "range bound 4 is outside of axis 0 with 3 elements");
  expect_message([&] { coir::grad([](auto x) { return x(3) * sum(x); })(x); },
                 "index 3 is outside of axis 0 with 3 elements");
  expect_message([&] { coir::grad([](auto x) { return sum(x(range(1, end)) * x); })(x); },
                 "(2,) and (3,)");
  expect_message([&] { coir::grad([](auto x) { return var(x, coir::ddof(3)); })(x); }, "ddof = 3");
  expect_message([&] { coir::grad([](auto x) { return sum(sum(x, 1)); })(x); },
                 "axis 1 is none of an array of shape (3,)");
  expect_message([&] { coir::grad([](auto x) { return mean(x(range(0, 0)), 0) * 1; })(x); },
                 "no mean along axis 0");
  expect_message([&] { coir::grad([](auto x) { return sum(evaluate(x)); })(Array<double, 1>()); },
                 "no memory");
  expect_message([&] { coir::grad([](auto x) { return sum(reshape(x, {2, 2})); })(x); },
                 "the numbers of elements differ");
}

TEST(ProgramGrad, NumbersBesideArraysAndSeveralTypes) {
  auto const x = waves(0, 5);
  auto const [value, slopes] =
      coir::value_and_grad([](auto x, auto c) { return sum(exp(c * x)); })(x, 0.5);
  auto const& [of_x, of_c] = slopes;
  EXPECT_TRUE(allclose(of_x, 0.5 * exp(0.5 * x)));
  EXPECT_NEAR(of_c, sum(x * exp(0.5 * x)), 1e-13);
  EXPECT_NEAR(value, sum(exp(0.5 * x)), 1e-13);
  Array<float, 1> const in_float = coir::cast<float>(x);
  auto const [of_float, of_double] =
      coir::grad([](auto x, auto y) { return sum(sin(x) * y); })(in_float, x);
  EXPECT_TRUE((std::is_same_v<coir::value_t<decltype(of_float)>, float>));
  EXPECT_TRUE(allclose(of_double, sin(in_float)));
  EXPECT_LT(max(abs(of_float - cos(in_float) * x)), 1e-6);
  auto const [of_floats, of_number] =
      coir::grad([](auto x, auto c) { return sum(square(x + c)); })(in_float, 2);
  EXPECT_TRUE((std::is_same_v<std::remove_const_t<decltype(of_number)>, float>));
  EXPECT_TRUE(allclose(of_floats, 2 * (in_float + 2)));
}
