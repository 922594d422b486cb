// Gradients through products of matrices and vectors, beside those of JAX and differences of
// values.

#include <autodiff/program_grad.hpp>
#include <coir/autodiff/linalg.hpp>
#include <coir/linalg/outer.hpp>

#include <support/message_of.hpp>

using coir::Array;
using coir::testing::expect_gradient;
using coir::testing::expect_same_in_float;
using coir::testing::waves;

namespace {

struct Network {
  template <class A, class B, class C, class D>
  auto operator()(A const& w1, B const& b1, C const& w2, D const& b2) const {
    using T = std::conditional_t<std::is_same_v<coir::value_t<A>, float>, float, double>;
    auto const hidden = tanh(matmul(waves<T>(3, 6, 3), w1) + b1);
    return mean(square(matmul(hidden, w2) + b2 - waves<T>(5, 6, 2)));
  }
};

struct SineOfProduct {
  template <class A, class B>
  auto operator()(A const& a, B const& b) const {
    return sum(sin(matmul(a, b)));
  }
};

}  // namespace

TEST(ProgramGradLinalg, MatrixTimesVector) {
  Array<double, 2> const identity = coir::eye<double>(10);
  auto const f = [&](auto x) { return sum(dot(identity, x)); };
  Array<double, 1> const x = coir::linspace<double>(0, 1, 10);
  expect_gradient("identity times x", 5.0, {0.09947278616699601}, f, x);
  EXPECT_EQ(f(x), coir::value_and_grad(f)(x).value);
  expect_gradient(
      "quadratic form", 4.610279237343152, {4.659331851187461, 9.175870476672847},
      [](auto a, auto x) { return dot(x, dot(a, x)); }, waves(0, 4, 4), waves(1, 4));
  expect_gradient(
      "vector times matrix", 6.563731300666559, {5.493057308361655, 5.469809012573388},
      [](auto x, auto a) { return sum(exp(matmul(x, a))); }, waves(0, 3), waves(1, 3, 4));
  expect_gradient(
      "matrices times vectors", -0.8821721194857147, {1.5374965908529632, 1.5501094872673917},
      [](auto a, auto x) { return sum(sin(matvec(a, x))); }, waves(0, 2, 3, 4), waves(1, 2, 4));
  expect_gradient(
      "ridge regression", 1.4355705577133355, {1.999682034007174},
      [](auto v) {
        return mean(square(matvec(waves(3, 6, 3), v) - waves(4, 6))) + 0.1 * sum(square(v));
      },
      waves(0, 3));
  expect_gradient(
      "outer product", 14.271422320129329, {3.702937898917887, 3.7251461055385366},
      [](auto x, auto y) { return sum(exp(outer(x, y) * waves(4, 4, 3))); }, waves(0, 4),
      waves(1, 3));
}

TEST(ProgramGradLinalg, MatrixTimesMatrix) {
  expect_gradient("product of matrices", -0.3556278376798931,
                  {-0.2713189069118699, -0.23261202109807083}, SineOfProduct{}, waves(0, 3, 4),
                  waves(1, 4, 2));
  expect_gradient("products of stacks", 1.6473426841879473,
                  {1.4051579491411987, 1.4681520152753968}, SineOfProduct{}, waves(0, 2, 3, 4),
                  waves(1, 2, 4, 2));
  expect_gradient("stack times matrix", 0.03484122494040315,
                  {0.03684796891990702, 0.0364481544360996}, SineOfProduct{}, waves(0, 2, 3, 4),
                  waves(1, 4, 2));
  expect_gradient("matrix times stack", -2.3980088288436776,
                  {-1.9849156772744991, -1.974426524565388}, SineOfProduct{}, waves(0, 3, 4),
                  waves(1, 2, 4, 2));
  expect_gradient("one matrix of a stack", -2.3980088288436776,
                  {-1.9849156772744991, -1.974426524565388}, SineOfProduct{}, waves(0, 1, 3, 4),
                  waves(1, 2, 4, 2));
  expect_gradient(
      "Gram matrix", 27.145398452252657, {108.67102225771336},
      [](auto x) { return sum(square(matmul(transpose(x), x))); }, waves(0, 5, 3));
}

// Against a product with a vector for each matrix.
TEST(ProgramGradLinalg, StackTimesVector) {
  auto const a = waves(0, 2, 3, 4);
  auto const x = waves(1, 4), y = waves(2, 3);
  auto const apart = [](auto a, auto x) {
    return sum(sin(matmul(a(0), x))) + sum(sin(matmul(a(1), x)));
  };
  auto const [of_a, of_x] = coir::grad(SineOfProduct{})(a, x);
  auto const [right_a, right_x] = coir::grad(apart)(a, x);
  EXPECT_TRUE(allclose(of_a, right_a));
  EXPECT_TRUE(allclose(of_x, right_x));
  auto const vector_first = [](auto y, auto a) {
    return sum(sin(matmul(y, a(0)))) + sum(sin(matmul(y, a(1))));
  };
  auto const [of_y, of_b] = coir::grad(SineOfProduct{})(y, a);
  auto const [right_y, right_b] = coir::grad(vector_first)(y, a);
  EXPECT_TRUE(allclose(of_y, right_y));
  EXPECT_TRUE(allclose(of_b, right_b));
}

TEST(ProgramGradLinalg, Networks) {
  expect_gradient("two-layer network", 1.8692293176729537,
                  {0.46596818886422176, 0.1625091807871092, 1.0290689297467694, 1.4018555409812583},
                  Network{}, waves(0, 3, 4), waves(1, 4), waves(2, 4, 2), waves(3, 2));
  expect_gradient(
      "attention", 0.01679340139261152,
      {0.06681672791565792, 0.06651341508611205, 0.03359362019377763},
      [](auto q, auto k, auto v) {
        auto const scores = evaluate(exp(matmul(q, transpose(k)) / 2));
        return sum(square(matmul(scores / with_axis(sum(scores, 1), 1), v)));
      },
      waves(0, 3, 4), waves(1, 5, 4), waves(2, 5, 2));
}

TEST(ProgramGradLinalg, Float) {
  expect_same_in_float(Network{}, waves(0, 3, 4), waves(1, 4), waves(2, 4, 2), waves(3, 2));
}

TEST(ProgramGradLinalg, ShapesThatDontMultiplyAreNamed) {
  std::string const said = coir::testing::message_of(
      [] { coir::grad(SineOfProduct{})(waves(0, 3, 4), waves(1, 3, 2)); });
  EXPECT_NE(said.find("shapes (3, 4) and (3, 2) don't multiply"), std::string::npos) << said;
}
