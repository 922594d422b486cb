// Linear algebra along directions, beside JAX.

#include <autodiff/forward.hpp>

#include <coir/autodiff/decompositions.hpp>
#include <coir/autodiff/einsum.hpp>
#include <coir/autodiff/linalg.hpp>
#include <coir/autodiff/solve.hpp>

#include <support/message_of.hpp>

#include <string>

using coir::Array;
using coir::range;
using coir::testing::added;
using coir::testing::expect_derivatives;
using coir::testing::message_of;
using coir::testing::waves;

namespace {

struct Algebra {
  template <class X>
  auto operator()(X const& x) const {
    auto const m = evaluate(reshape(x, {4, 3}) + 3 * coir::eye<double>(4, 3));
    auto const s = matmul(transpose(m), m);
    auto const b = x(range(0, 3));
    auto const of_r = qr(m);
    auto const of_s = svd(m, false);
    auto const vectors = eigh(s).vectors;
    auto const c = waves(4, 3, 3);
    auto const first = lstsq(m, square(x(range(0, 4)))).x;
    auto const second = lstsq(transpose(m), b).x;
    using coir::MatrixNorm;
    return added(sum(cholesky(s) * c), sum(square(vectors) * c), sum(sqrt(eigvalsh(s))),
                 det(s) / 1000, sum(inv(s) * c), sum(solve(s, b) * b),
                 sum(square(of_r.q) * waves(5, 4, 3)), sum(square(of_r.r) * c),
                 sum(square(of_s.u) * waves(6, 4, 3)), sum(square(of_s.vh) * waves(7, 3, 3)),
                 sum(pow(svdvals(m), 3)) / 10, sum(square(first)), sum(pow(second, 3)),
                 matrix_norm(m, MatrixNorm::one) * matrix_norm(m, MatrixNorm::infinity) *
                     matrix_norm(m) / 10,
                 sum(square(coir::einsum<"ij,kj->ik">(m, m))) / 100);
  }
};

// diag(2, 0) on (2, 1): u's part outside of the columns would be divided by 0. As in JAX it is left
// out, and nothing is NaN.
struct OfSingular {
  template <class X>
  auto operator()(X const& x) const {
    auto const parts = svd(x, false);
    return coir::testing::added(sum(square(parts.u) * waves(4, 3, 2)), sum(pow(parts.s, 3)),
                                sum(square(parts.vh) * waves(5, 2, 2)));
  }
};

struct Vectors {
  template <class X>
  auto operator()(X const& x) const {
    return sum(svd(x, false).u) + sum(eigh(matmul(transpose(x), x)).vectors);
  }
};

}  // namespace

TEST(Forward, LinearAlgebraHasTheDerivativesOfJax) {
  expect_derivatives<Algebra>(12, 22.164710061079603, 15.377615373388482, 12.555476599526624);
}

TEST(Forward, DecompositionsWithoutDerivativesAreNamed) {
  // Orthogonal columns of one length: all singular values and eigenvalues are 2.
  Array<double, 2> const same = 2 * coir::eye<double>(3);
  auto const values = [](auto a) { return sum(svdvals(a)) + sum(eigvalsh(a)); };
  EXPECT_LT(max(abs(coir::grad(values)(same) - 2 * coir::eye<double>(3))), 1e-15);
  EXPECT_NEAR(coir::jvp(values)(same, same).derivative, 12, 1e-14);
  EXPECT_NE(
      message_of<coir::NumericalError>([&] { coir::grad(Vectors{})(same); }).find("differ by 0"),
      std::string::npos);
  EXPECT_THROW(coir::jvp(Vectors{})(same, same), coir::NumericalError);
  auto const wide = waves(0, 2, 3);
  EXPECT_THROW(coir::grad([](auto a) { return sum(qr(a).r); })(wide), coir::PreconditionError);
  EXPECT_THROW(coir::grad([](auto a) { return sum(svd(a).s); })(wide), coir::PreconditionError);
}

TEST(Forward, ASingularValueOf0SpoilsNothing) {
  Array<double, 2> a = coir::zeros<double>(3, 2);
  a(0, 0) = 2;
  auto const slope = coir::grad(OfSingular{})(a);
  EXPECT_TRUE(all(isfinite(slope)));
  double const first = slope(0, 0);
  EXPECT_NEAR(first, 12, 1e-13);
  auto const along = coir::jvp(OfSingular{})(a, waves(2, 3, 2)).derivative;
  EXPECT_NEAR(along, sum(slope * waves(2, 3, 2)), 1e-13);
}
