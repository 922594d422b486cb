// Gradients through reductions whose results are used among elements again, beside those of JAX and
// differences of values.

#include <autodiff/program_grad.hpp>

using coir::Array;
using coir::end;
using coir::range;
using coir::testing::expect_gradient;
using coir::testing::expect_same_in_float;
using coir::testing::waves;

namespace {

Array<double, 1> const& w8() {
  static Array<double, 1> const w = waves(3, 8);
  return w;
}

struct Variance {
  template <class X>
  auto operator()(X const& x) const {
    return var(x);
  }
};

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
  expect_gradient(
      "less its mean", -2.2191778294500395, {-6.634630359657516},
      [](auto x) { return sum(w8() * pow(x - mean(x), 3)); }, x);
  expect_gradient(
      "softmax", -0.49196107775655334, {-0.22539795241484453},
      [](auto x) { return sum(w8() * exp(x) / sum(exp(x))); }, x);
  expect_gradient(
      "log-sum-exp", 2.4359134114401977, {0.5243548274309687},
      [](auto x) {
        auto const top = max(x);
        return top + log(sum(exp(x - top)));
      },
      x);
  expect_gradient(
      "unit vector", -1.6784739695499615, {0.015368186401999178},
      [](auto x) { return sum(w8() * x / norm(x)); }, x);
  expect_gradient("variance", 0.4498998355576207, {0.9017534234134726}, Variance{}, x);
  expect_gradient(
      "standard deviation", 0.7170573482206851, {0.7186143086053375},
      [](auto x) { return std_dev(x, coir::ddof(1)); }, x);
  expect_gradient(
      "product of the rest", 7.098418376970296, {-4.709516787486197},
      [](auto x) { return prod(1.5 + x(range(1, end))) * x(0); }, x);
}

TEST(ProgramGradReductions, AlongAxes) {
  auto const m = waves(0, 3, 4);
  expect_gradient(
      "sum along an axis", 5.784163473971682, {11.566230994904268},
      [](auto m) { return sum(square(sum(m, 0))); }, m);
  expect_gradient(
      "rows less their means", -1.2709748444709474, {-3.812700593234348},
      [](auto m) { return sum(pow(m - with_axis(mean(m, 1), 1), 3)); }, m);
  expect_gradient(
      "variance along an axis", -0.0007244685028022224, {-0.0023044579818905474},
      [](auto m) { return sum(var(m, 0) * waves(4, 4)); }, m);
  expect_gradient(
      "standard deviation along an axis", 1.5761574844251394, {4.727814704332368},
      [](auto m) { return sum(pow(std_dev(m, 1, coir::ddof(1)), 3)); }, m);
  expect_gradient(
      "max along an axis", -0.8130853561145488, {-0.7960524998200154},
      [](auto m) { return sum(max(m, 1) * waves(4, 3)); }, m);
  expect_gradient(
      "min along an axis", 2.0288651083519853, {4.05716433115505},
      [](auto m) { return sum(square(min(m, 0))); }, m);
  expect_gradient(
      "products along an axis", -0.08281236940836478, {-0.3476940932234832},
      [](auto m) { return sum(prod(m, 1) * waves(4, 3)); }, m);
  expect_gradient(
      "norms along an axis", 4.246376963309333, {4.245778768347621},
      [](auto m) { return sum(norm(m, 1)); }, m);
  expect_gradient(
      "sums over three axes", 0.03402453397553763, {0.04318367919651395},
      [](auto t) { return sum(exp(sum(t, 2)) * sum(sum(t, 2), 0)); }, waves(0, 2, 3, 4));
}

TEST(ProgramGradReductions, Likelihoods) {
  expect_gradient("softmax cross entropy", 1.638554587841408, {0.7221927224441851}, CrossEntropy{},
                  waves(0, 4, 3));
  expect_gradient(
      "gaussian log likelihood", -29.210941663422815, {-4.848142712086352, -12.187295706260683},
      [](auto mean, auto log_sigma) {
        auto const z = (waves(3, 6, 3) - mean) / exp(log_sigma);
        return -0.5 * sum(square(z)) - 6 * sum(log_sigma) - 9 * std::log(2 * std::numbers::pi);
      },
      waves(0, 3), waves(1, 3));
  expect_gradient(
      "layer norm", -2.801764295529339,
      {0.06002775809486327, -0.19947168513219538, -0.5928793193836759},
      [](auto x, auto gain, auto bias) {
        auto const centred = evaluate(x - with_axis(mean(x, 1), 1));
        auto const y = centred / sqrt(with_axis(mean(square(centred), 1), 1) + 0.01);
        return sum(sin(gain * y + bias));
      },
      waves(0, 3, 4), waves(1, 4), waves(2, 4));
}

TEST(ProgramGradReductions, ArgumentsThatStretchEachOther) {
  expect_gradient(
      "stretched rows and columns", 4.53848509900897, {3.3892848148282875, 0.5289822240276569},
      [](auto r, auto c) { return sum(square(tanh(evaluate(r) * c + r))); }, waves(0, 1, 4),
      waves(1, 3, 1));
}

TEST(ProgramGradReductions, Float) {
  expect_same_in_float(CrossEntropy{}, waves(0, 4, 3));
  expect_same_in_float(Variance{}, waves(0, 8));
}
