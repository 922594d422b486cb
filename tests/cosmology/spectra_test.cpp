#include <coir/core/dual.hpp>
#include <coir/cosmology/angular_power.hpp>
#include <coir/cosmology/distance_table.hpp>
#include <coir/cosmology/fisher.hpp>
#include <coir/cosmology/likelihood.hpp>
#include <coir/cosmology/nonlinear.hpp>
#include <coir/cosmology/power_table.hpp>

#include <gtest/gtest.h>

#include "sets.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

// From distances to Fisher matrices: one program, because all of it is made of the same templates.

namespace {

using namespace coir::cosmology;
using coir::testing::curved_with_changing_dark_energy;
using N = RedshiftDistribution<>;

/// Flat, with round numbers.
template <class T = double>
Parameters<T> flat() {
  return {.omega_m = T(0.3), .omega_b = T(0.05), .h = T(0.7), .n_s = T(0.96), .sigma8 = T(0.8)};
}

template <class F>
std::string message_of(F const& f) {
  try {
    f();
  } catch (coir::PreconditionError const& error) {
    return error.what();
  }
  return "no error";
}

#define EXPECT_MESSAGE(statement, part)                                           \
  EXPECT_NE(message_of([&] { (void)(statement); }).find(part), std::string::npos) \
      << message_of([&] { (void)(statement); })

AngularPowerOptions with(MatterPower matter, TransferFunction transfer, int panels = 0) {
  AngularPowerOptions options;
  options.matter = matter;
  options.transfer = transfer;
  options.panels = panels;
  return options;
}

AngularPowerOptions linear_bbks() { return with(MatterPower::linear, TransferFunction::bbks); }

/// Two bins of counts and one of shapes.
std::vector<Tracer<>> three_tracers() {
  return {NumberCounts<>{.n = N::gaussian(0.5, 0.05), .bias = 1.5, .density = 0.02},
          NumberCounts<>{.n = N::smail(2, 1.5, 0.3), .bias = 1.2, .density = 0.03},
          WeakLensing<>{
              .n = N::gaussian(1, 0.15), .m = 0.01, .alignment = 0.6, .eta = 1.2, .density = 1.5}};
}

}  // namespace

// ---- distances ----

TEST(DistanceTable, IsTheDistanceAndItsInverse) {
  for (auto p : {flat(), curved_with_changing_dark_energy()}) {
    DistanceTable<> const table(p, 0.05);
    for (double const a : {0.05, 0.0501, 0.3, 0.77, 0.999, 1.0}) {
      double const chi = comoving_distance(p, a);
      EXPECT_NEAR(table.chi(a), chi, 1e-10 * table.chi_max()) << a;
      EXPECT_NEAR(table.transverse(a), transverse_distance(p, a), 2e-10 * table.chi_max()) << a;
      EXPECT_NEAR(table.a(table.chi(a)), a, 4e-15) << a;
    }
  }
}

TEST(DistanceTable, OfMatterAloneIsExact) {
  // chi = 2 c/H0 (1 - sqrt(a))
  DistanceTable<> const table(coir::testing::einstein_de_sitter(), 0.1);
  EXPECT_CLOSE(table.chi_max(), 2 * hubble_distance * (1 - std::sqrt(0.1)), 1e-10);
  EXPECT_CLOSE(table.a(hubble_distance), 0.25, 1e-10);
}

TEST(DistanceTable, HasDerivativesOfTheInverse) {
  // chi(a(x; p); p) = x, whatever p and x are
  using D = coir::Dual<double, 2>;
  auto p = parameters_as<D>(flat());
  p.omega_m = D::variable(0.3, 0);
  DistanceTable<D> const table(p, 0.1);
  D const chi = table.chi(table.a(D::variable(1500, 1)));
  EXPECT_NEAR(chi.derivative[0], 0, 1e-9);  // of 1500
  EXPECT_NEAR(chi.derivative[1], 1, 1e-12);
}

TEST(DistanceTable, SaysWhatIsOutOfRange) {
  EXPECT_MESSAGE(DistanceTable<>(flat(), 1.5), "a_min must lie in (0, 1), not 1.5");
  DistanceTable<> const table(flat(), 0.5);
  EXPECT_MESSAGE(table.chi(0.4), "must lie in the table's range [0.5, 1], not 0.4");
  EXPECT_MESSAGE(table.a(-1), "must lie in the table's range [0, ");
  EXPECT_MESSAGE(table.a(1e5), "not 1");
}

// ---- halofit ----

namespace {

/// Takahashi et al., equations A1 to A14, by integrals at the very radius, which bisection finds.
double brute_force_halofit(LinearPower<> const& linear, double k, double a) {
  auto const& p = linear.parameters();
  // int dln k Delta^2 exp(-k^2 R^2) (2 k^2 R^2)^power by Simpson's rule
  double const from = std::log(1e-4), step = (std::log(1000) - from) / 4000;
  std::vector<double> weighted, wave;
  for (int i = 0; i <= 4000; ++i) {
    double const q = std::exp(from + i * step);
    wave.push_back(q);
    weighted.push_back((i == 0 || i == 4000 ? 1
                        : i % 2 == 1        ? 4
                                            : 2) *
                       step / 3 * q * q * q * linear(q, a) /
                       (2 * std::numbers::pi * std::numbers::pi));
  }
  auto const moment = [&](double ln_r, int power) {
    double sum = 0;
    for (std::size_t i = 0; i < wave.size(); ++i) {
      double const u = std::pow(wave[i] * std::exp(ln_r), 2);
      if (u < 50) sum += weighted[i] * std::exp(-u) * std::pow(2 * u, power);
    }
    return sum;
  };
  double low = std::log(0.01), high = std::log(30.0);
  for (int i = 0; i < 50; ++i) {
    double const middle = (low + high) / 2;
    (moment(middle, 0) > 1 ? low : high) = middle;
  }
  double const s0 = moment(low, 0), m1 = moment(low, 1), m2 = moment(low, 2);
  double const first = -m1 / s0, second = (m2 - 2 * m1) / s0 - first * first;
  double const n = -3 - first, c = -second;
  double const om = omega_m_at(p, a), dark = omega_de_at(p, a) * (1 + p.w0 + p.wa * (1 - a));
  double const an = std::pow(10, 1.5222 + 2.8553 * n + 2.3706 * n * n + 0.9903 * n * n * n +
                                     0.2250 * n * n * n * n - 0.6038 * c + 0.1749 * dark);
  double const bn =
      std::pow(10, -0.5642 + 0.5864 * n + 0.5716 * n * n - 1.5474 * c + 0.2279 * dark);
  double const cn = std::pow(10, 0.3698 + 2.0404 * n + 0.8161 * n * n + 0.5869 * c);
  double const gamma = 0.1971 - 0.0843 * n + 0.8460 * c;
  double const alpha = std::abs(6.0835 + 1.3373 * n - 0.1959 * n * n - 5.5274 * c);
  double const beta = 2.0379 - 0.7354 * n + 0.3157 * n * n + 1.2490 * n * n * n +
                      0.3980 * n * n * n * n - 0.1682 * c;
  double const nu = std::pow(10, 5.2105 + 3.6902 * n);
  double const f1 = std::pow(om, -0.0307), f2 = std::pow(om, -0.0585), f3 = std::pow(om, 0.0743);
  double const y = k * std::exp(low);
  double const to_delta = k * k * k / (2 * std::numbers::pi * std::numbers::pi);
  double const delta = linear(k, a) * to_delta;
  double const two_halo =
      delta * std::pow(1 + delta, beta) / (1 + alpha * delta) * std::exp(-(y / 4 + y * y / 8));
  double const one_halo = an * std::pow(y, 3 * f1) /
                          (1 + bn * std::pow(y, f2) + std::pow(cn * f3 * y, 3 - gamma)) /
                          (1 + nu / (y * y));
  return (two_halo + one_halo) / to_delta;
}

}  // namespace

TEST(NonlinearPower, IsTheFormulaByBruteForce) {
  for (auto const& p : {flat(), curved_with_changing_dark_energy()}) {
    LinearPower<> const linear(p);
    NonlinearPower<> const power(linear);
    for (double const a : {0.3, 1.0})
      for (double const k : {0.01, 0.13, 0.31, 1.0, 3.0, 40.0})
        EXPECT_CLOSE(power(k, a), brute_force_halofit(linear, k, a), 1e-6) << k << " at " << a;
  }
}

TEST(NonlinearPower, IsThatOfAnotherCode) {
  // P over the linear P by pyccl 3.3.6, transfer function eisenstein_hu, matter power halofit,
  // without radiation, T_CMB 2.7255
  LinearPower<> const linear(flat());
  NonlinearPower<> const power(linear);
  double const k[] = {0.05, 0.3, 1, 5};
  double const a[] = {1, 0.5, 0.25};
  double const ratio[3][4] = {{0.981062, 1.544775, 6.049975, 29.663353},
                              {0.993662, 1.228972, 3.222362, 18.584004},
                              {1.000018, 1.073296, 1.560398, 7.459294}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j)
      EXPECT_CLOSE(power(k[j], a[i]) / linear(k[j], a[i]), ratio[i][j], 3e-3)
          << k[j] << " " << a[i];
}

TEST(NonlinearPower, GoesOverToLinearInThePast) {
  LinearPower<> const linear{Growth<>(flat(), 0.01)};
  NonlinearPower<> const power(linear);
  EXPECT_EQ(power.at(0.02).weight(), 0);
  EXPECT_EQ(power.at(0.02).k_nl(), 0);
  EXPECT_EQ(power.at(1).weight(), 1);
  EXPECT_CLOSE(power(2, 0.02), linear(2, 0.02), 2e-6);
  // The weight rises from 0 to 1 within a factor sqrt(1.5) of D1, which is a there. It is cut off
  // where its second derivative is 0, so that steps of 1e-4 of a change P / a^2 by parts of 1e-2.
  double before = 0;
  bool between = false;
  for (double a = 0.04; a < 0.12; a *= 1.0001) {
    double const now = power(300, a) / (a * a);
    if (before > 0) {
      EXPECT_CLOSE(now, before, 5e-3) << a;
    }
    before = now;
    double const weight = power.at(a).weight();
    between = between || (weight > 0.1 && weight < 0.9);
  }
  EXPECT_TRUE(between);
}

TEST(NonlinearPower, TakesATable) {
  LinearPower<> const exact(flat(), TransferFunction::no_wiggle);
  std::vector<double> k, p;
  for (double x = 1e-4; x < 600; x *= 1.05) {
    k.push_back(x);
    p.push_back(exact(x));
  }
  NonlinearPower<> const power(exact), tabulated(LinearPower<>(flat(), PowerTable(k, p)));
  for (double const x : {0.01, 0.2, 2.0}) EXPECT_CLOSE(tabulated(x, 0.7), power(x, 0.7), 1e-5) << x;
}

TEST(NonlinearPower, SaysWhatIsWrong) {
  EXPECT_MESSAGE(NonlinearPower<>(LinearPower<>(flat()))(0, 1), "must be above 0, not 0");
  EXPECT_MESSAGE(NonlinearPower<>(LinearPower<>(flat()))(1, 1e-9), "outside of the growth");
  auto p = flat();
  p.sigma8 = 9;
  EXPECT_MESSAGE(NonlinearPower<>(LinearPower<>(p)), "sigma at 33 Mpc/h must be below 1");
  std::vector<double> const k = {0.1, 0.2, 0.4, 0.8}, rows = {8, 4, 2, 1};
  EXPECT_THROW(NonlinearPower<>(LinearPower<>(flat(), PowerTable(k, rows))),
               coir::PreconditionError);
}

// ---- n(z) ----

TEST(RedshiftDistribution, IsNormalised) {
  std::vector<double> const z = {0, 0.1, 0.35, 0.5, 0.9}, n = {0, 3, 4, 1, 0};
  std::vector<N> const bins = {N::smail(2, 1.5, 0.3), N::smail(1, 2, 1.4), N::gaussian(0.5, 0.05),
                               N::gaussian(0.1, 0.2), N::table(z, n)};
  for (std::size_t k = 0; k < 2 * bins.size(); ++k) {
    double const shift = k < bins.size() ? 0 : 0.07;
    auto const bin = bins[k % bins.size()].shifted(shift);
    if (shift > 0) {
      EXPECT_EQ(bin(shift / 2), 0) << k;
    }
    // The trapezoidal rule errs by h^2/12 times the slopes at the ends, at most 10, and by as much
    // at a table's kinks of slope.
    double sum = 0, mean = 0;
    int const steps = 200000;
    double const h = (bin.z_end() - shift) / steps;
    for (int i = 0; i <= steps; ++i) {
      double const at = shift + i * h, part = bin(at) * h * (i == 0 || i == steps ? 0.5 : 1);
      sum += part;
      mean += part * at;
    }
    EXPECT_NEAR(sum, 1, 1e-9) << k;
    if (bin(shift) == 0) {
      EXPECT_NEAR(mean, bin.mean(), 0.03) << k;
    }
  }
}

TEST(RedshiftDistribution, HasTheShapesOfTheirFormulas) {
  auto const smail = N::smail(2, 1.5, 0.3);
  EXPECT_CLOSE(smail(0.6) / smail(0.3), 4 * std::exp(1 - std::pow(2, 1.5)), 1e-13);
  EXPECT_EQ(smail(0), 0);
  auto const gaussian = N::gaussian(0.5, 0.05);
  EXPECT_CLOSE(gaussian(0.55) / gaussian(0.5), std::exp(-0.5), 1e-13);
  std::vector<double> const z = {0, 1, 2, 3}, n = {0, 2, 2, 0};
  auto const table = N::table(z, n);
  EXPECT_CLOSE(table(1.5), table(1), 1e-14);
  EXPECT_CLOSE(table(0.5), table(1) / 2, 1e-14);  // a cubic without slopes at its ends
  EXPECT_EQ(table(3.5), 0);
}

TEST(RedshiftDistribution, MovesByAShift) {
  auto const bin = N::gaussian(0.5, 0.05);
  EXPECT_CLOSE(bin.shifted(0.02)(0.55), bin(0.53), 1e-13);
  EXPECT_CLOSE(bin.shifted(0.02).shifted(-0.02)(0.55), bin(0.55), 1e-13);
  EXPECT_DOUBLE_EQ(bin.shifted(0.02).z_end(), bin.z_end() + 0.02);
  std::vector<double> const z = {0, 1, 2}, n = {1, 1, 0};
  EXPECT_EQ(N::table(z, n).shifted(0.5)(0.4), 0);
}

TEST(RedshiftDistribution, SaysWhichRowIsWrong) {
  auto const message = [](std::vector<double> const& z, std::vector<double> const& n) {
    return message_of([&] { (void)N::table(z, n, "bins.txt"); });
  };
  auto const has = [](std::string const& text, char const* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(message({}, {}), "bins.txt: z and n(z) must have the same number of rows, 3 or more");
  has(message({0, 1, 2}, {0, 1}), "not 3 and 2");
  has(message({0, 1, 2}, {0, -1, 0}), "bins.txt: row 1: n must be at least 0 and finite, not -1");
  has(message({0, 1, 0.5}, {0, 1, 0}), "row 2: z must be above that of the row before, not 0.5");
  has(message({-1, 1, 2}, {0, 1, 0}), "row 0: z must be at least 0");
  has(message({0, 1, 2}, {0, 0, 0}), "n must be above 0 in one row at least");
  has(message({0, 1, 2}, {0, 1, 1}), "add rows with n = 0");
  EXPECT_MESSAGE(N::smail(2, 0, 1), "beta of n(z) must be above 0 and finite, not 0");
  EXPECT_MESSAGE(N::gaussian(-1, 1), "the mean of n(z) must be at least 0");
  EXPECT_MESSAGE(N::gaussian(1, -1), "sigma of n(z) must be above 0");
  EXPECT_MESSAGE(N::gaussian(1, 1).shifted(INFINITY), "the shift of n(z) must be finite");
}

// ---- C_l ----

TEST(AngularPower, IsThatOfConvergedQuadratures) {
  // By SciPy 1.17.1: growth by DOP853 to 1e-12, sigma8 by quad, distances and the efficiency by
  // Gauss and Legendre's rule as they stand in the formulas, Limber's integrals by 960 nodes in the
  // cube root of z; BBKS, linear; l = 2, 30, 1000, and for each the six pairs.
  auto closed = flat();
  closed.omega_k = -0.1;
  std::array<Parameters<>, 3> const cosmologies = {flat(), curved_with_changing_dark_energy(),
                                                   closed};
  double const reference[3][18] = {
      {1.28423650e-05, 3.08296058e-06, 1.16873860e-07, 8.35717066e-06, 3.52243262e-07,
       1.80233447e-08, 3.86931473e-05, 9.03161981e-06, 4.40150345e-07, 1.05817355e-05,
       4.91328682e-07, 2.37929822e-08, 2.13201495e-07, 4.82234819e-08, 2.38894597e-09,
       3.18283499e-08, 1.53132636e-09, 7.71907106e-11},
      {1.38888116e-05, 3.32262497e-06, 1.14834403e-07, 8.38653934e-06, 3.39369811e-07,
       1.70959725e-08, 4.21511943e-05, 9.81850385e-06, 4.35774112e-07, 1.11407112e-05,
       4.87086849e-07, 2.22890692e-08, 2.34998172e-07, 5.31156783e-08, 2.39242524e-09,
       3.47067876e-08, 1.54078855e-09, 7.13003301e-11},
      {1.16062224e-05, 2.79215875e-06, 1.14155695e-07, 7.92688929e-06, 3.49418808e-07,
       1.84872638e-08, 3.56464637e-05, 8.33389562e-06, 4.38259508e-07, 1.00340909e-05,
       4.92488809e-07, 2.51946799e-08, 2.03108779e-07, 4.59675043e-08, 2.45988459e-09,
       3.05898448e-08, 1.57426078e-09, 8.52532227e-11}};
  for (std::size_t c = 0; c < 3; ++c) {
    auto const spectra =
        angular_power(cosmologies[c], three_tracers(), {2, 30, 1000}, linear_bbks());
    for (std::size_t i = 0; i < 18; ++i)
      EXPECT_CLOSE(spectra.values()[i], reference[c][i], 1e-5) << "cosmology " << c << " " << i;
  }
}

TEST(AngularPower, IsThatOfAnotherCode) {
  // By pyccl 3.3.6: BBKS, linear, without radiation, T_CMB 2.7255; l = 10, 100, 1000. CCL ends
  // a kernel where it is 5e-4 of its maximum, which counts at 1.5 with shapes at 1 lie beyond. The
  // numbers for this pair are sums over pieces of n(z) of the shapes, n(z) times triangles 0.05
  // apart, each of which has a maximum of its own.
  std::vector<Tracer<>> const tracers = {
      NumberCounts<>{.n = N::gaussian(1, 0.15), .bias = 1.5},
      NumberCounts<>{.n = N::gaussian(1.5, 0.15), .bias = 2},
      WeakLensing<>{.n = N::gaussian(1, 0.15)},
      WeakLensing<>{.n = N::gaussian(1.5, 0.15), .alignment = 0.7}};
  double const reference[10][3] = {
      {2.429937e-06, 2.563034e-06, 6.764384e-08}, {1.202345e-07, 1.612006e-07, 5.341661e-09},
      {2.495957e-08, 2.200035e-08, 4.994180e-10}, {8.853086e-08, 8.738508e-08, 2.188837e-09},
      {1.729965e-06, 2.748087e-06, 1.090251e-07}, {1.177853e-10, 1.500953e-10, 4.684075e-12},
      {4.116561e-09, 5.320527e-09, 1.620124e-10}, {3.494451e-08, 6.762503e-09, 7.788395e-11},
      {4.058963e-08, 9.076450e-09, 1.148422e-10}, {4.931965e-08, 1.380621e-08, 2.068679e-10}};
  auto const spectra = angular_power(flat(), tracers, {10, 100, 1000}, linear_bbks());
  std::size_t pair = 0;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = i; j < 4; ++j, ++pair)
      for (std::size_t at = 0; at < 3; ++at)
        EXPECT_CLOSE(spectra(at, i, j), reference[pair][at], 1e-3) << i << " " << j << " " << at;
  double const by_scipy[] = {1.178006e-10, 1.501166e-10, 4.684800e-12};  // counts 1.5, shapes 1
  for (std::size_t at = 0; at < 3; ++at) EXPECT_CLOSE(spectra(at, 1, 2), by_scipy[at], 1e-6);
}

namespace {

/// The cosmology of CCL's benchmarks of C_l: no baryons, and no radiation.
Parameters<> const of_ccl{
    .omega_m = 0.3, .omega_b = 1e-12, .h = 0.7, .n_s = 0.96, .sigma8 = 0.8, .t_cmb = 2.7};

/// Its bins: counts at z = 1 and 1.5, shapes there, and shapes at 1 with alignment. Alignment alone
/// is the difference of the last bin and the third.
std::vector<Tracer<>> bins_of_ccl(double alignment) {
  std::vector<Tracer<>> tracers;
  for (double const z : {1.0, 1.5}) tracers.push_back(NumberCounts<>{.n = N::gaussian(z, 0.15)});
  for (double const z : {1.0, 1.5}) tracers.push_back(WeakLensing<>{.n = N::gaussian(z, 0.15)});
  tracers.push_back(WeakLensing<>{.n = N::gaussian(1, 0.15), .alignment = alignment});
  return tracers;
}

}  // namespace

TEST(AngularPower, IsThatOfAnotherCodeInItsOwnCases) {
  // By pyccl 3.3.6: BBKS, linear; n(z) by rows of 3/4000 from 0 to 3; counts without redshift
  // distortions, shear, and alignment alone with A = 0.5; counts 2 and shear 1 by pieces of n(z).
  // Rows: counts with counts, shear with shear, counts with shear, alignment of bin 1 with itself,
  // with shear of bin 2, and with counts of bin 1
  std::vector<double> const l = {2, 10, 50, 200, 1000, 3000};
  struct Row {
    std::size_t i, j;
    double c[6];
  };
  Row const rows[] = {
      {0,
       0,
       {1.65797056e-07, 5.80979887e-07, 1.10465313e-06, 4.94895105e-07, 3.42944219e-08,
        3.01143244e-09}},
      {0,
       1,
       {5.92208038e-09, 2.12856297e-08, 4.63356247e-08, 2.47307545e-08, 2.00180532e-09,
        1.84583712e-10}},
      {1,
       1,
       {6.24574566e-08, 2.27912871e-07, 5.43773300e-07, 3.30055264e-07, 3.02809532e-08,
        2.90566887e-09}},
      {2,
       2,
       {1.03731741e-08, 2.31995957e-08, 1.28402468e-08, 2.29432714e-09, 9.32196889e-11,
        6.96145148e-12}},
      {2,
       3,
       {1.12497283e-08, 2.65770082e-08, 1.61557112e-08, 3.15992305e-09, 1.36610628e-10,
        1.04247597e-11}},
      {3,
       3,
       {1.24677040e-08, 3.16885571e-08, 2.21694833e-08, 5.05001976e-09, 2.45188887e-10,
        1.94894784e-11}},
      {0,
       2,
       {2.10530938e-09, 9.06431816e-09, 1.55449843e-08, 6.11552629e-09, 3.83298436e-10,
        3.26330783e-11}},
      {0,
       3,
       {7.33229771e-09, 3.20360192e-08, 5.87218828e-08, 2.50607299e-08, 1.68004473e-09,
        1.46144020e-10}},
      {1, 2, {6.964952e-12, 3.137779e-11, 6.669892e-11, 3.402868e-11, 2.643214e-12, 2.406078e-13}},
      {1,
       3,
       {5.25531817e-10, 2.39914286e-09, 5.50736554e-09, 3.12127047e-09, 2.67879557e-10,
        2.51702164e-11}}};
  auto const c = angular_power(of_ccl, bins_of_ccl(0.5), l, linear_bbks());
  auto const expect_near = [&](double value, double reference, double cosmic, std::size_t at,
                               std::string const& what) {
    EXPECT_NEAR(value, reference, 0.1 * cosmic) << what << ", l = " << l[at];
    EXPECT_CLOSE(value, reference, 1e-3) << what << ", l = " << l[at];
  };
  for (std::size_t at = 0; at < l.size(); ++at) {
    auto const cosmic = [&](double ii, double jj, double ij) {
      return std::sqrt((ii * jj + ij * ij) / (2 * l[at] + 1));
    };
    for (auto const& [i, j, reference] : rows)
      expect_near(c(at, i, j), reference[at], cosmic(c(at, i, i), c(at, j, j), c(at, i, j)), at,
                  std::to_string(i) + " " + std::to_string(j));
    // I = S - L for shapes S with alignment and L without
    double const ii = c(at, 4, 4) - 2 * c(at, 2, 4) + c(at, 2, 2);
    double const il = c(at, 3, 4) - c(at, 2, 3), di = c(at, 0, 4) - c(at, 0, 2);
    double const references[6][3] = {{1.15298598e-12, -1.87682443e-11, -4.36731215e-10},
                                     {6.43563975e-12, -1.03591936e-10, -1.93149054e-09},
                                     {1.25895492e-11, -1.93341429e-10, -3.72514379e-09},
                                     {5.69127904e-12, -8.32293938e-11, -1.67646934e-09},
                                     {3.97093483e-13, -5.61589877e-12, -1.16572985e-10},
                                     {3.49434685e-14, -4.89494154e-13, -1.02473395e-11}};
    auto const& of = references[at];
    expect_near(ii, of[0], cosmic(ii, ii, ii), at, "alignment");
    expect_near(il, of[1], cosmic(ii, c(at, 3, 3), il), at, "alignment and shear");
    expect_near(di, of[2], cosmic(ii, c(at, 0, 0), di), at, "alignment and counts");
  }
}

TEST(AngularPower, HasTheNumbersOfTheFilesOfAnotherCode) {
  // CCL's benchmarks/data/run_b*analytic_log_cl_*.txt (commit 95444b85) at l = 10, 200, 2000: no
  // spin factors, A = 1, and shear with alignment in both orders
  struct Row {
    char const* what;
    double c[3];
  };
  Row const rows[] = {{"counts 1", {0.5813077e-06, 0.4951010e-06, 0.7666891e-08}},
                      {"shear 1 and 2", {0.2719215e-07, 0.3159671e-08, 0.2768693e-10}},
                      {"shear 2", {0.3242182e-07, 0.5049479e-08, 0.5110219e-10}},
                      {"counts 1, shear 2", {0.3240920e-07, 0.2506149e-07, 0.3729781e-09}},
                      {"alignment 1", {0.2635794e-10, 0.2277976e-10, 0.3556800e-12}},
                      {"counts 1, alignment 1", {-0.3909787e-08, -0.3354546e-08, -0.5216251e-10}},
                      {"shear 1, alignment 1", {-0.1153701e-09, -0.7804932e-10, -0.1077269e-11}}};
  std::vector<double> const l = {10, 200, 2000};
  auto const c = angular_power(of_ccl, bins_of_ccl(1), l, linear_bbks());
  for (std::size_t at = 0; at < 3; ++at) {
    double const x = l[at];
    double const spin = (x + 0.5) * (x + 0.5) / std::sqrt((x + 2) * (x + 1) * x * (x - 1));
    double const found[] = {c(at, 0, 0),
                            c(at, 2, 3) * spin * spin,
                            c(at, 3, 3) * spin * spin,
                            c(at, 0, 3) * spin,
                            (c(at, 4, 4) - 2 * c(at, 2, 4) + c(at, 2, 2)) * spin * spin,
                            (c(at, 0, 4) - c(at, 0, 2)) * spin,
                            2 * (c(at, 2, 4) - c(at, 2, 2)) * spin * spin};
    for (std::size_t row = 0; row < 7; ++row)
      EXPECT_CLOSE(found[row], rows[row].c[at], 1e-3) << rows[row].what << ", l = " << x;
  }
}

namespace {

/// Against twice as many panels.
void expects_converged(std::vector<Tracer<>> const& tracers) {
  std::vector<double> const l = {10, 20.5, 100, 500, 3000};
  AngularPowerOptions fine;
  fine.panels = 2 * panels_for(tracers);
  auto const coarse = angular_power(flat(), tracers, l),
             exact = angular_power(flat(), tracers, l, fine);
  for (std::size_t at = 0; at < l.size(); ++at)
    for (std::size_t i = 0; i < tracers.size(); ++i)
      for (std::size_t j = i; j < tracers.size(); ++j)
        EXPECT_NEAR(coarse(at, i, j), exact(at, i, j),
                    1e-5 * std::sqrt(exact(at, i, i) * exact(at, j, j)))
            << l[at] << ": " << i << " " << j;
}

/// A table with rows 0.01 apart.
template <class F>
N table_of(F const& n, double from, double to) {
  std::vector<double> z, rows;
  for (int i = 0; from + 0.01 * i < to + 0.005; ++i) {
    z.push_back(from + 0.01 * i);
    rows.push_back(n(z.back()));
  }
  rows.front() = rows.back() = 0;
  return N::table(z, rows);
}

}  // namespace

TEST(AngularPower, HasConvergedInItsPanels) {
  // Halofit of a P(k) with acoustic oscillations, ten narrow bins among wide ones
  std::vector<Tracer<>> tracers;
  for (int i = 0; i < 10; ++i)
    tracers.push_back(NumberCounts<>{.n = N::gaussian(0.25 + 0.1 * i, 0.03 * (1.25 + 0.1 * i))});
  tracers.push_back(WeakLensing<>{.n = N::smail(2, 0.8, 0.2), .alignment = 0.5});
  expects_converged(tracers);
}

/// Edges and noise ask for more panels than the width of a table.
TEST(AngularPower, HasConvergedForTables) {
  auto const bell = [](double z) { return std::exp(-200 * (z - 0.5) * (z - 0.5)); };
  auto const edges = [](double z) { return z > 0.4 && z < 0.6 ? 1.0 : 0.0; };
  auto const noisy = [&](double z) { return bell(z) * (1 + 0.1 * std::sin(1e4 * z)); };
  EXPECT_EQ(panels_for<double>({NumberCounts<>{.n = N::gaussian(0.5, 0.05)}}), 12);
  std::vector<N> const tables = {table_of(bell, 0.2, 0.8), table_of(edges, 0.35, 0.65),
                                 table_of(noisy, 0.2, 0.8)};
  for (auto const& n : tables) {
    double const h = 1e-5;
    double square = 0;
    for (double z = 0.2 + h / 2; z < 0.8; z += h) square += h * n(z) * n(z);
    EXPECT_CLOSE(n.square(), square, 1e-6);
    expects_converged({NumberCounts<>{.n = n}, WeakLensing<>{.n = n, .alignment = 0.5}});
  }
}

// Such a table loses what a shift moves below z = 0.
TEST(AngularPower, TakesAsManyPanelsForAShiftedTable) {
  std::vector<double> z, rows;
  for (int i = 0; i <= 200; ++i) {
    z.push_back(0.01 * i);
    rows.push_back((0.02 + z.back() * z.back()) * std::exp(-std::pow(z.back() / 0.3, 1.5)));
  }
  rows.back() = 0;
  auto const n = N::table(z, rows);
  int const panels = panels_for<double>({NumberCounts<>{.n = n}});
  EXPECT_LT(panels, 300);
  for (double const shift : {-1e-4, -0.01, -0.05})
    EXPECT_EQ(panels_for<double>({NumberCounts<>{.n = n.shifted(shift)}}), panels) << shift;
}

TEST(AngularPower, DependsOnBiasesAsItMust) {
  auto tracers = three_tracers();
  auto const before = angular_power(flat(), tracers, {50}, linear_bbks());
  std::get<NumberCounts<>>(tracers[0]).bias *= 2;
  std::get<WeakLensing<>>(tracers[2]).m = 0.01 + 0.101;
  auto const after = angular_power(flat(), tracers, {50}, linear_bbks());
  EXPECT_CLOSE(after(0, 0, 0), 4 * before(0, 0, 0), 1e-13);
  EXPECT_CLOSE(after(0, 1, 0), 2 * before(0, 0, 1), 1e-13);
  EXPECT_CLOSE(after(0, 2, 0), 2.2 * before(0, 0, 2), 1e-13);
  EXPECT_CLOSE(after(0, 2, 2), 1.21 * before(0, 2, 2), 1e-13);
  // b D1(1) / D1(a) at z = 0.5, within the width of n(z)
  std::get<NumberCounts<>>(tracers[0]).evolution = BiasEvolution::inverse_growth;
  auto const grown = angular_power(flat(), tracers, {50}, linear_bbks());
  Growth<> const growth(flat());
  double const faded = growth.d1(1) / growth.d1(1 / 1.5);
  EXPECT_CLOSE(grown(0, 0, 0) / after(0, 0, 0), faded * faded, 0.01);
}

TEST(AngularPower, OfATableIsThatOfItsSpectrum) {
  LinearPower<> const exact(flat(), TransferFunction::bbks);
  std::vector<double> k, p;
  for (double x = 1e-4; x < 300; x *= 1.05) {
    k.push_back(x);
    p.push_back(exact(x));
  }
  auto options = linear_bbks();
  auto const direct = angular_power(flat(), three_tracers(), {30, 1000}, options);
  options.table = PowerTable(k, p);
  auto const tabulated = angular_power(flat(), three_tracers(), {30, 1000}, options);
  for (std::size_t i = 0; i < direct.values().size(); ++i)
    EXPECT_CLOSE(tabulated.values()[i], direct.values()[i], 1e-5) << i;
}

TEST(AngularPower, SaysWhatIsWrong) {
  auto const tracers = three_tracers();
  EXPECT_MESSAGE(angular_power(flat(), tracers, {2, 1.5}),
                 "l must be at least 2 and finite, not 1.5");
  EXPECT_MESSAGE(angular_power(flat(), tracers, {}), "one l at least");
  EXPECT_MESSAGE(angular_power(flat(), {}, {2}), "one tracer at least");
  EXPECT_MESSAGE(angular_power(flat(), tracers, {2}, with({}, {}, -1)), "panels must be from 1");
  EXPECT_MESSAGE(angular_power(Parameters<>{.omega_m = -1}, tracers, {2}), "omega_m");
  std::vector<Tracer<>> const below = {NumberCounts<>{.n = N::gaussian(0.1, 0.1).shifted(-2)}};
  EXPECT_MESSAGE(angular_power(flat(), below, {2}), "shifted below z = 0");
  auto without_bias = tracers;
  std::get<NumberCounts<>>(without_bias[1]).bias = NAN;
  EXPECT_MESSAGE(angular_power(flat(), without_bias, {2}),
                 "the bias of tracer 1 must be finite, not nan");
  auto const with_shapes = [&](double WeakLensing<>::* member, double value) {
    auto changed = tracers;
    std::get<WeakLensing<>>(changed[2]).*member = value;
    return angular_power(flat(), changed, {2});
  };
  using Shapes = WeakLensing<>;
  EXPECT_MESSAGE(with_shapes(&Shapes::m, NAN), "m of tracer 2 must be finite, not nan");
  EXPECT_MESSAGE(with_shapes(&Shapes::alignment, INFINITY), "alignment of tracer 2 must be finite");
  EXPECT_MESSAGE(with_shapes(&Shapes::eta, -INFINITY), "eta of tracer 2 must be finite, not -inf");
  EXPECT_MESSAGE(with_shapes(&Shapes::pivot, -1),
                 "pivot of tracer 2 must be above -1 and finite, not -1");
  using D = coir::Dual<double, 2>;
  auto p = parameters_as<D>(flat());
  std::vector<Tracer<D>> varied;
  for (auto const& tracer : tracers) varied.push_back(tracer_as<D>(tracer));
  std::get<NumberCounts<D>>(varied[0]).bias = D::variable(1.5, 0);
  AngularPowerOptions options;
  std::vector<double> const k = {1e-4, 1e-2, 1, 1e2}, rows = {500, 1e4, 60, 1e-4};
  options.table = PowerTable(k, rows);
  D const c = angular_power(p, varied, {20}, options)(0, 0, 0);
  EXPECT_CLOSE(c.derivative[0], 2 * c.value / 1.5, 1e-13);  // a bias may vary
  p.h = D::variable(0.7, 1);
  EXPECT_MESSAGE(angular_power(p, varied, {20}, options), "a table of P(k) has no derivatives");
}

TEST(Noise, IsThatOfCountsAndShapes) {
  double const per_steradian = std::pow(180 * 60 / std::numbers::pi, 2);
  Tracer<> counts = NumberCounts<>{.n = N::gaussian(1, 0.1), .density = 2};
  Tracer<> shapes = WeakLensing<>{.n = N::gaussian(1, 0.1), .sigma_e = 0.3, .density = 2};
  EXPECT_CLOSE(noise(counts), 1 / (2 * per_steradian), 1e-14);
  EXPECT_CLOSE(noise(shapes), 0.09 / (2 * per_steradian), 1e-14);
  auto const total = with_noise(AngularSpectra<>(2, {5, 6}), {counts, shapes});
  EXPECT_EQ(total(1, 0, 0), noise(counts));
  EXPECT_EQ(total(0, 1, 1), noise(shapes));
  EXPECT_EQ(total(0, 0, 1), 0);
  std::get<WeakLensing<>>(shapes).density = 0;
  EXPECT_EQ(noise(shapes), 0);
  std::get<NumberCounts<>>(counts).density = -1;
  EXPECT_MESSAGE(noise(counts), "must be at least 0 and finite, not -1");
  EXPECT_MESSAGE(with_noise(AngularSpectra<>(1, {5}), {shapes, shapes}), "takes the tracers");
}

// ---- derivatives ----

namespace {

constexpr int directions = 14;

/// Nine parameters of the cosmology, more than a narrow dual has, and five of tracers.
template <class T>
std::array<T, directions> start() {
  return {T(0.31), T(0.05), T(0.7), T(0.96), T(0.8),  T(0.08), T(-0.9),
          T(0.25), T(2.7),  T(1.5), T(0.01), T(0.01), T(0.6),  T(1.2)};
}

template <class T>
AngularSpectra<T> spectra_of(std::array<T, directions> const& x, std::vector<double> const& l,
                             int panels) {
  Parameters<T> const p{.omega_m = x[0],
                        .omega_b = x[1],
                        .h = x[2],
                        .n_s = x[3],
                        .sigma8 = x[4],
                        .omega_k = x[5],
                        .w0 = x[6],
                        .wa = x[7],
                        .t_cmb = x[8]};
  using D = RedshiftDistribution<T>;
  std::vector<Tracer<T>> const tracers = {
      NumberCounts<T>{.n = D::gaussian(T(0.5), T(0.08)).shifted(x[10]), .bias = x[9]},
      WeakLensing<T>{
          .n = D::smail(T(2), T(1.5), T(0.6)), .m = x[11], .alignment = x[12], .eta = x[13]}};
  return angular_power(p, tracers, l, with(MatterPower::halofit, {}, panels));
}

}  // namespace

TEST(AngularPower, DerivativesAreThoseOfDifferences) {
  using D = coir::Dual<double, directions>;
  std::vector<double> const l = {10, 300};
  auto x = start<D>();
  for (int d = 0; d < directions; ++d) x[static_cast<std::size_t>(d)].derivative[d] = 1;
  auto const spectra = spectra_of(x, l, 30);
  for (std::size_t d = 0; d < directions; ++d) {
    // Differences of fourth order: h^4/30 times fifth derivatives, and rounding, 1e-13, over h
    double const scale = std::max(std::abs(x[d].value), 0.05), step = 1e-3 * scale;
    auto const at = [&](int steps) {
      auto y = start<double>();
      y[d] += steps * step;
      return spectra_of(y, l, 30);
    };
    auto const a = at(-2), b = at(-1), c = at(1), e = at(2);
    for (std::size_t i = 0; i < spectra.values().size(); ++i) {
      auto const value = [i](auto const& s) { return s.values()[i]; };
      double const difference = (8 * (value(c) - value(b)) - (value(e) - value(a))) / (12 * step);
      D const& exact = spectra.values()[i];
      EXPECT_NEAR(exact.derivative[d], difference, 1e-7 * std::abs(exact.value) / scale)
          << "parameter " << d << ", number " << i;
    }
  }
}

// ---- likelihoods ----

namespace {

/// Spectra with numbers of their own, positive definite.
AngularSpectra<> made_up(std::size_t tracers, std::vector<double> const& l, double phase) {
  AngularSpectra<> result(tracers, l);
  for (std::size_t at = 0; at < l.size(); ++at)
    for (std::size_t i = 0; i < tracers; ++i)
      for (std::size_t j = i; j < tracers; ++j)
        result(at, i, j) =
            (i == j ? 2.0 : 0.0) + 0.4 * std::sin(phase + double(i + 3 * j + 7 * at));
  return result;
}

}  // namespace

TEST(Likelihood, IsThatOfTheDenseCovariance) {
  for (std::size_t const tracers : {1, 2, 3, 5}) {
    std::vector<double> const l = {3, 10};
    auto const data = made_up(tracers, l, 0), model = made_up(tracers, l, 0.3);
    auto const total = made_up(tracers, l, 1);
    auto const nu = modes(l, std::vector<double>{2, 5}, 0.4);
    EXPECT_DOUBLE_EQ(nu[1], 21 * 5 * 0.4);
    GaussianLikelihood const likelihood(data, total, nu);
    DenseLikelihood const dense(data.values(), gaussian_covariance(total, nu));
    EXPECT_CLOSE(likelihood.chi_squared(model), dense.chi_squared(model.values()), 1e-12);
    EXPECT_NEAR(likelihood.log_determinant(), dense.log_determinant(), 1e-12);
    EXPECT_CLOSE(likelihood(model), dense(model.values()), 1e-12);
    EXPECT_EQ(likelihood.chi_squared(data), 0);
    DenseLikelihood const of_model(data.values(), gaussian_covariance(model, nu));
    EXPECT_CLOSE(gaussian_log_likelihood(data, model, nu), of_model(model.values()), 1e-12);
  }
}

TEST(Likelihood, HasTheSlopeOfItsDeterminant) {
  using D = coir::Dual<double, 1>;
  std::vector<double> const l = {3, 10}, nu = {14, 42};
  auto const data = made_up(3, l, 0), base = made_up(3, l, 1);
  auto const at = [&](auto scale) {
    AngularSpectra<decltype(scale)> total(3, l);
    for (std::size_t i = 0; i < total.values().size(); ++i)
      total.values()[i] = base.values()[i] * scale;
    return gaussian_log_likelihood(data, total, nu);
  };
  double const h = 1e-5, difference = (at(1 + h) - at(1 - h)) / (2 * h);
  EXPECT_CLOSE(at(D::variable(1)).derivative[0], difference, 1e-8);
}

TEST(Likelihood, SaysWhatIsWrong) {
  std::vector<double> const l = {3, 10}, width = {1, 1}, nu = {7, 21};
  for (double const f_sky : {0.0, -0.1, 1.1, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_MESSAGE(modes(l, width, f_sky), "f_sky, the share of the sky, must lie in (0, 1]");
  EXPECT_MESSAGE(modes(l, std::vector<double>{1}, 1), "a width of a bin for each l, 2, not 1");
  EXPECT_MESSAGE(modes(l, std::vector<double>{1, 0}, 1), "widths of bins of l must be above 0");
  auto const data = made_up(2, l, 0);
  auto total = data;
  EXPECT_MESSAGE(GaussianLikelihood(data, total, {7}), "a number of modes for each l, 2, not 1");
  EXPECT_MESSAGE(GaussianLikelihood(data, made_up(3, l, 0), nu), "the same tracers and the same l");
  total(1, 0, 1) = 100;
  EXPECT_MESSAGE(GaussianLikelihood(data, total, nu),
                 "and aren't at l = 10, where tracers 0 and 1 have the largest correlation");
  EXPECT_MESSAGE(gaussian_log_likelihood(data, total, nu), "and aren't at l = 10");
  EXPECT_MESSAGE(DenseLikelihood({1, 2}, {1, 0, 0, -1}), "must be positive definite");
  EXPECT_MESSAGE(DenseLikelihood({1, 2}, {1, 0, 0}), "number squared, not 3");
  EXPECT_MESSAGE(DenseLikelihood({1}, {1}).chi_squared(std::vector<double>{1, 2}),
                 "as many numbers as the data, 1, not 2");
}

TEST(Cholesky, OfAnOddSizeIsRight) {
  // A = M M^T + 1 of 37 rows; chi^2 = r A^-1 r for r = A x is x A x
  std::size_t const n = 37;
  std::vector<double> a(n * n), x(n), r(n);
  double expected = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = i == j;
      for (std::size_t k = 0; k < 3; ++k)
        sum += std::sin(double(i * (k + 2))) * std::sin(double(j * (k + 2)));
      a[i * n + j] = sum;
    }
  for (std::size_t i = 0; i < n; ++i) x[i] = std::cos(double(i));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      r[i] += a[i * n + j] * x[j];
      expected += x[i] * a[i * n + j] * x[j];
    }
  DenseLikelihood const likelihood(std::vector<double>(n, 0.0), a);
  EXPECT_CLOSE(likelihood.chi_squared(r), expected, 1e-12);
}

// ---- Fisher matrices ----

TEST(FisherMatrix, ByJacobianIsThatByHessian) {
  using D = coir::Dual<double, 2>;
  using DD = coir::Dual<D, 2>;
  std::vector<double> const l = {20, 300}, nu = modes(l, std::vector<double>{10, 50}, 0.1);
  auto const tracers = three_tracers();
  // omega_m and the bias of the first bin
  auto const of = [&]<class T>(T const& omega_m, T const& bias) {
    auto p = parameters_as<T>(flat());
    p.omega_m = omega_m;
    std::vector<Tracer<T>> varied;
    for (auto const& tracer : tracers) varied.push_back(tracer_as<T>(tracer));
    std::get<NumberCounts<T>>(varied[0]).bias = bias;
    return angular_power(p, varied, l);
  };
  auto const twice = [](double value, int k) {
    DD result(D::variable(value, k));
    result.derivative[k] = D(1.0);
    return result;
  };
  auto const data = of(0.3, 1.5);
  auto const total = with_noise(data, tracers);
  auto const by_jacobian = fisher_matrix(of(D::variable(0.3, 0), D::variable(1.5, 1)), total, nu);
  GaussianLikelihood const likelihood(data, total, nu);
  auto const by_hessian = fisher_matrix(likelihood(of(twice(0.3, 0), twice(1.5, 1))));
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j)
      EXPECT_CLOSE(
          by_hessian[i][j], by_jacobian[i][j],
          1e-10 * std::sqrt(by_jacobian[0][0] * by_jacobian[1][1]) / std::abs(by_jacobian[0][1]))
          << i << " " << j;
}

TEST(FisherMatrix, IsThatOfTheDenseCovariance) {
  // F = J^T Cov^-1 J, with a column of J at a time: chi^2 of a + b is F_aa + 2 F_ab + F_bb
  using D = coir::Dual<double, 2>;
  std::vector<double> const l = {3, 10}, nu = {7, 21};
  auto const total = made_up(3, l, 1), a = made_up(3, l, 2), b = made_up(3, l, 3);
  AngularSpectra<D> spectra(3, l);
  std::vector<double> both;
  for (std::size_t i = 0; i < spectra.values().size(); ++i) {
    spectra.values()[i].derivative[0] = a.values()[i];
    spectra.values()[i].derivative[1] = b.values()[i];
    both.push_back(a.values()[i] + b.values()[i]);
  }
  auto const f = fisher_matrix(spectra, total, nu);
  DenseLikelihood const dense(std::vector<double>(both.size(), 0.0),
                              gaussian_covariance(total, nu));
  EXPECT_CLOSE(f[0][0], dense.chi_squared(a.values()), 1e-12);
  EXPECT_CLOSE(f[1][1], dense.chi_squared(b.values()), 1e-12);
  EXPECT_CLOSE(2 * f[0][1] + f[0][0] + f[1][1], dense.chi_squared(both), 1e-12);
  EXPECT_EQ(f[0][1], f[1][0]);
}

TEST(FisherMatrix, HasAnInverse) {
  FisherMatrix<2> f;
  f[0] = {4e10, 1e5};
  f[1] = {1e5, 1};
  auto const covariance = f.covariance();
  double const determinant = 4e10 - 1e10;
  EXPECT_CLOSE(covariance[0][0], 1 / determinant, 1e-14);
  EXPECT_CLOSE(covariance[0][1], -1e5 / determinant, 1e-14);
  EXPECT_CLOSE(f.errors()[1], std::sqrt(4e10 / determinant), 1e-14);
  f[1][1] = 0.25 * (1 + 1e-15);  // singular but for rounding
  EXPECT_MESSAGE(f.covariance(), "must be positive definite: a combination of parameters");
  f[1][1] = 0.25;
  EXPECT_MESSAGE(f.covariance(), "must be positive definite: a combination of parameters");
}
