// Gradients of functions of samples, of reductions that leave NaN out, of covariances and of
// products of complex matrices. Values and gradients are those of JAX.

#include <autodiff/program_grad.hpp>
#include <coir/autodiff/linalg.hpp>

using coir::Array;
using coir::range;
using coir::testing::expect_gradient;
using coir::testing::waves;

namespace {

struct Slopes {
  template <class M>
  auto operator()(M const& m) const {
    return sum(square(gradient(m, 0.5, 1)) * waves(1, 4, 5)) + sum(pow(gradient(m, 1.0, 0), 3)) +
           sum(square(trapezoid(sin(m), 0.3, 0))) + trapezoid(square(m(1)));
  }
};

struct Tables {
  template <class X, class P, class F>
  auto operator()(X const& x, P const& p, F const& f) const {
    auto const points = evaluate(coir::arange<double>(6) + 0.3 * p);
    auto const one = range(0, 1);
    return sum(interp(4 * x + 2, points, f) * waves(1, 3, 4)) +
           sum(square(interp(3 * x, points, f, -0.5, 0.25))) + sum(interp(x, points(one), f(one)));
  }
};

struct WithoutNan {
  Array<bool, 2> mask = reshape(coir::arange<int>(15) % 4 == 1, {3, 5});
  template <class X>
  auto operator()(X const& x) const {
    auto const y = evaluate(where(mask, std::numeric_limits<double>::quiet_NaN(), x));
    auto const whole = nansum(square(y)) + nanmean(y) * nanvar(y, coir::ddof(1)) + nanstd(y) +
                       2 * nanmin(y) + nanmax(y) + nanprod(y);
    auto const along = sum(nanmean(y, 1) * waves(1, 3)) + sum(nanvar(y, 0) * waves(2, 5)) +
                       sum(nanstd(y, 1)) + sum(nanmin(y, 1) * nanmax(y, 1)) +
                       sum(square(nansum(y, 0))) + sum(nanprod(y, 1));
    return whole + along + sum(nancumsum(y, 1) * waves(3, 3, 5)) +
           sum(nancumprod(y, 0) * waves(4, 3, 5));
  }
};

struct Covariances {
  template <class X, class Y>
  auto operator()(X const& x, Y const& y) const {
    auto const of_two = cov(y(0), y(1), coir::ddof(0));
    return sum(cov(x) * waves(1, 3, 3)) + sum(pow(corrcoef(x), 3) * waves(2, 3, 3)) +
           square(of_two(0, 1));
  }
};

using Complex = Kokkos::complex<double>;
template <class... Extents>
auto complex_waves(int re, int im, double sign, Extents... extents) {
  return coir::evaluate(waves(re, extents...) + Complex(0, sign) * waves(im, extents...));
}

struct ComplexProducts {
  Array<Complex, 2> w = complex_waves(3, 4, 1, 4, 2);
  Array<Complex, 3> t = complex_waves(5, 6, 1, 2, 3, 4);
  Array<Complex, 1> v = complex_waves(8, 9, -1, 4);
  template <class X, class Y>
  auto operator()(X const& x, Y const& y) const {
    auto const energy = [](auto const& z) { return sum(square(abs(z))); };
    auto const z = evaluate(x + Complex(0, 1) * y);
    return energy(matmul(z, w)) + sum(real(matmul(x, w)) * waves(2, 3, 2)) + energy(matmul(z, v)) +
           energy(matmul(z(0), w)) + energy(matmul(transpose(z), z)) +
           energy(matmul(t, transpose(evaluate(exp(z)))));
  }
};

}  // namespace

TEST(ProgramGradSamples, SlopesAndIntegrals) {
  expect_gradient("gradient", 3.148237825325824, {5.994671773073778}, Slopes{}, waves(0, 4, 5));
  EXPECT_THROW(coir::grad([](auto x) { return sum(gradient(x)); })(waves(0, 1)),
               coir::PreconditionError);
}

TEST(ProgramGradSamples, Tables) {
  expect_gradient("interp", 10.789805234712603,
                  {-11.660946344556029, -0.8656359777135831, 10.292279039643253}, Tables{},
                  waves(0, 3, 4), waves(1, 6), waves(2, 6));
  auto const points = coir::arange<double>(3);
  EXPECT_THROW(coir::grad([&](auto x) { return sum(interp(x, points, waves(1, 4))); })(waves(0, 2)),
               coir::PreconditionError);
}

TEST(ProgramGradSamples, LeaveNanOut) {
  expect_gradient("nan", 26.442519249844153, {-34.39216182063755}, WithoutNan{}, waves(4, 3, 5));
  Array<double, 1> nothing = coir::full<double>({3}, std::numeric_limits<double>::quiet_NaN());
  auto const lowest = coir::value_and_grad([](auto x) { return nanmin(x); })(nothing);
  EXPECT_TRUE(std::isnan(lowest.value));
  EXPECT_TRUE(all(lowest.gradient == 0));
}

TEST(ProgramGradSamples, Covariances) {
  expect_gradient("cov", 4.824175258300926, {1.9954427936796952, 1.0110320453360806}, Covariances{},
                  waves(0, 3, 6), waves(1, 2, 5));
}

TEST(ProgramGradSamples, ProductsOfComplexMatrices) {
  expect_gradient("complex", 152.1228613759574, {240.49204141957318, 87.65601969938969},
                  ComplexProducts{}, waves(0, 3, 4), waves(1, 3, 4));
}

TEST(ProgramGradSamples, AlongDirections) {
  auto const agree = [](auto const& f, auto const& x, auto const& v) {
    double const along = coir::jvp(f)(x, v).derivative;
    EXPECT_NEAR(along, sum(coir::grad(f)(x) * v), 1e-13 * (1 + std::abs(along)));
  };
  agree(Slopes{}, waves(0, 4, 5), waves(3, 4, 5));
  agree(WithoutNan{}, waves(0, 3, 5), waves(3, 3, 5));
  agree([](auto x) { return Tables{}(x, waves(1, 6), waves(2, 6)); }, waves(0, 3, 4),
        waves(3, 3, 4));
}
