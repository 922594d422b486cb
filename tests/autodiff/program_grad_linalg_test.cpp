// Gradients through products of matrices and vectors, beside those of JAX and differences of
// values.

#include <autodiff/program_grad.hpp>
#include <coir/autodiff/decompositions.hpp>
#include <coir/autodiff/einsum.hpp>
#include <coir/autodiff/linalg.hpp>
#include <coir/autodiff/solve.hpp>
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

struct SquareOfSolution {
  template <class A, class B>
  auto operator()(A const& a, B const& b) const {
    return sum(square(solve(a, b)));
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

TEST(ProgramGradLinalg, SystemsOfEquations) {
  auto const a = coir::evaluate(waves(0, 4, 4) + 4 * coir::eye<double>(4));
  auto const stack = coir::evaluate(waves(0, 2, 3, 3) + 4 * coir::eye<double>(3));
  expect_gradient("solve", 0.26900167634399336, {-0.0038617397772407434, 0.538162553233802},
                  SquareOfSolution{}, a, waves(1, 4, 2));
  expect_gradient("solve for a stack", 0.47209759454812045,
                  {0.1258684382148076, 0.9442182657707611}, SquareOfSolution{}, stack,
                  waves(1, 2, 3, 2));
  expect_gradient("one side for a stack", 0.4019348931170731,
                  {0.29133433261975716, 0.805783621966893}, SquareOfSolution{}, stack, waves(1, 3));
  expect_gradient(
      "inverse of a stack", 0.18290876572783804, {-0.029241199261434814},
      [](auto a) { return sum(square(inv(a)) * waves(2, 2, 3, 3)); }, stack);
  expect_gradient(
      "determinants of a stack", 0.4529032109165334, {-0.22358690621025337},
      [](auto a) { return sum(square(det(a) / 100)); }, stack);
  auto singular = coir::evaluate(square(waves(0, 3, 3)));
  singular(2) = 2 * singular(1);
  expect_gradient("singular", 0, {3.3306003154141886}, [](auto a) { return det(a); }, singular);
  expect_same_in_float(SquareOfSolution{}, stack, waves(1, 2, 3, 2));
}

TEST(ProgramGradLinalg, Decompositions) {
  auto const a = coir::evaluate(waves(0, 3, 3) + 4 * coir::eye<double>(3));
  auto const stack = coir::evaluate(waves(0, 2, 3, 3) + 4 * coir::eye<double>(3));
  expect_gradient(
      "cholesky", 24.539670785544764, {1.0407211576125999},
      [](auto a) { return sum(square(cholesky(a)) * waves(1, 3, 3)); },
      coir::evaluate(matmul(a, transpose(a))));
  expect_gradient(
      "eigh", -1.4649911628644154, {-1.2807012597547878},
      [](auto a) {
        auto const [w, v] = eigh(a);
        return sum(square(w) * waves(1, 3)) / 10 + sum(square(v) * waves(2, 3, 3));
      },
      a);
  expect_gradient(
      "eigenvalues of a stack", 1.1229304451722315, {-0.6464687629794493},
      [](auto a) { return sum(square(eigvalsh(a)) * waves(1, 2, 3)) / 10; }, stack);
  Array<double, 2> const equal = coir::eye<double>(3);
  EXPECT_TRUE(allclose(coir::grad([](auto a) { return sum(eigvalsh(a)); })(equal), equal));
  std::string const said = coir::testing::message_of<coir::NumericalError>(
      [&] { coir::grad([](auto a) { return sum(eigh(a).vectors); })(equal); });
  EXPECT_NE(said.find("where eigenvalues meet: two of these differ by 0"), std::string::npos)
      << said;
}

TEST(ProgramGradLinalg, SumsOfProductsBySubscripts) {
  using coir::einsum;
  expect_gradient(
      "trace and diagonal", 0.08007700929189907, {0.2034762045188283},
      [](auto a) { return einsum<"ii->">(a) * sum(einsum<"ii->i">(a) * waves(0, 4)); },
      waves(0, 4, 4));
  expect_gradient(
      "sum and transpose", 0.3802747779761537, {0.613494437757929},
      [](auto a) { return sum(square(einsum<"ijk->ki">(a)) * waves(0, 4, 2)); }, waves(0, 2, 3, 4));
  expect_gradient(
      "matrices and vectors", 11.51881461211278, {23.026950737247375, 18.029838811368176},
      [](auto a, auto b) { return sum(square(einsum<"bij,bj->bi">(a, b))); }, waves(0, 2, 3, 4),
      waves(0, 2, 4));
  expect_gradient(
      "diagonals", 0.10989311279675094, {0.21951295735217746, 0.2188404158226092},
      [](auto a, auto b) { return sum(square(einsum<"iij,k->jk">(a, b))); }, waves(0, 3, 3, 4),
      waves(1, 2));
  expect_gradient(
      "all", 14.17345150719214, {28.932404632870963, 27.742367339395454},
      [](auto a, auto b) { return square(einsum<"ij,ij->">(a, b)); }, waves(0, 3, 4),
      waves(1, 3, 4));
}
