#include <coir/fft/plan.hpp>
#include <coir/io/npy.hpp>
#include <coir/nbody/initial_conditions.hpp>

#include <nbody/universe.hpp>
#include <support/command.hpp>
#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

#include <fstream>
#include <limits>

using namespace coir;
using namespace coir::testing;
using nbody::initial_conditions;
using nbody::LptOptions;

namespace {

/// s1 and s2 at every site, by hand. Two waves A cos(k q) and B cos(l q) make
///
///   s1 = -A k sin(k q) / k^2 - B l sin(l q) / l^2,
///   s2 = -A B (1 - cos^2(k, l)) / 2 [m sin(m q) / m^2 over m = k + l and k - l],
///
/// one alone no s2.
struct Displacements {
  Vectors s1, s2;
};

Displacements displacements(std::vector<PlaneWave> const& waves, std::int64_t n, double box) {
  double const unit = 2 * std::numbers::pi / box;
  Vectors const q = vectors_of(lattice<coir::testing::Host, double>(n, box).position);
  Displacements s{Vectors(q.size()), Vectors(q.size())};
  auto const add = [&](Vectors& s, double amplitude, Wave const& m) {
    double const k = unit * length(m);
    for (std::size_t p = 0; p < q.size(); ++p) {
      double const phase = unit * (m[0] * q[p][0] + m[1] * q[p][1] + m[2] * q[p][2]);
      for (int d = 0; d < 3; ++d) s[p][d] -= amplitude * unit * m[d] / (k * k) * std::sin(phase);
    }
  };
  for (auto const& wave : waves) add(s.s1, wave.amplitude, wave.wave);
  if (waves.size() == 2) {
    Wave const a = waves[0].wave, b = waves[1].wave;
    double const cosine = (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / (length(a) * length(b));
    double const both = waves[0].amplitude * waves[1].amplitude * (1 - cosine * cosine) / 2;
    add(s.s2, both, {a[0] + b[0], a[1] + b[1], a[2] + b[2]});
    add(s.s2, both, {a[0] - b[0], a[1] - b[1], a[2] - b[2]});
  }
  return s;
}

/// Particles made of waves are where the formulas want them, with the momenta that they give.
template <class Case>
void expect_displacements(std::vector<PlaneWave> const& waves, std::int64_t n, int order,
                          double a) {
  using T = typename Case::Real;
  double const box = 50;
  auto const& power = lcdm();
  auto const particles = particles_of<typename Case::Exec, T>(waves, n, box, power, a, order);
  ASSERT_EQ(particles.side, n);
  ASSERT_EQ(particles.box, box);
  auto const x = vectors_of(particles.position), p = vectors_of(particles.momentum);
  ASSERT_EQ(x.size(), static_cast<std::size_t>(n * n * n));
  auto const q = vectors_of(lattice<coir::testing::Host, double>(n, box).position);
  auto const s = displacements(waves, n, box);
  auto const growth = power.growth().at(a);
  double const a2e = a * a * cosmology::expansion_rate(power.parameters(), a);
  double size = 0;
  for (auto const& one : s.s1)
    for (double const component : one) size = std::max(size, std::abs(component));
  // The spectrum is tabulated to 1e-6. In float positions round to box eps and displacements to a
  // few eps log2(n^3).
  double const eps = std::numeric_limits<T>::epsilon();
  double const relative = 2e-6 + 64 * eps;
  double const for_x = relative * growth.d1 * size + 2 * box * eps;
  double const for_p = relative * a2e * growth.d1_prime * size;
  double const second = order == 2 ? 1 : 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (int d = 0; d < 3; ++d) {
      double const moved = growth.d1 * s.s1[i][d] + second * growth.d2 * s.s2[i][d];
      double const momentum =
          a2e * (growth.d1_prime * s.s1[i][d] + second * growth.d2_prime * s.s2[i][d]);
      ASSERT_NEAR(coir::testing::wrapped(x[i][d] - q[i][d] - moved, box), 0, for_x)
          << "particle " << i << ", axis " << d;
      ASSERT_NEAR(p[i][d], momentum, for_p) << "particle " << i << ", axis " << d;
    }
}

template <class Case>
nbody::Particles<typename Case::Exec, typename Case::Real> made(
    std::int64_t side, double box, cosmology::LinearPower<> const& power, double a,
    LptOptions const& options = {}) {
  return initial_conditions<typename Case::Exec, typename Case::Real>(typename Case::Exec{}, side,
                                                                      box, power, a, options);
}

}  // namespace

COIR_TYPED_SUITE(InitialConditions);

TYPED_TEST(InitialConditions, MoveParticlesOfAPlaneWaveByTheZeldovichApproximation) {
  for (Wave const& wave : {Wave{1, 0, 0}, Wave{0, 2, 0}, Wave{0, 0, 3}, Wave{1, -2, 3}})
    expect_displacements<TypeParam>({{wave, 0.7}}, 8, 1, 0.5);
  expect_displacements<TypeParam>({{{1, 1, 0}, 0.7}}, 7, 1, 0.02);
}

TYPED_TEST(InitialConditions, HaveNoSecondOrderInASinglePlaneWave) {
  expect_displacements<TypeParam>({{{1, 0, 0}, 0.7}}, 8, 2, 0.5);
  expect_displacements<TypeParam>({{{1, -2, 1}, 0.7}}, 9, 2, 1);
}

TYPED_TEST(InitialConditions, MoveParticlesOfTwoWavesToSecondOrder) {
  expect_displacements<TypeParam>({{{1, 0, 0}, 0.7}, {{0, 2, 0}, 0.9}}, 8, 2, 1);
  expect_displacements<TypeParam>({{{1, 1, 0}, 0.7}, {{1, -1, 1}, 0.9}}, 8, 2, 1);
  expect_displacements<TypeParam>({{{0, 1, 2}, 1}, {{2, 1, 0}, 1}}, 11, 2, 0.5);
  expect_displacements<TypeParam>({{{0, 1, 2}, 1}, {{2, 1, 0}, 1}}, 11, 1, 0.5);
}

TYPED_TEST(InitialConditions, OfOneParticleAreALattice) {
  for (std::int64_t const side : {1, 2}) {
    auto const particles = made<TypeParam>(side, 10, lcdm(), 0.1);
    auto const x = vectors_of(particles.position), p = vectors_of(particles.momentum);
    ASSERT_EQ(x.size(), static_cast<std::size_t>(side * side * side));
    // A lattice of two has the Nyquist frequency alone, which has no gradient.
    auto const q = vectors_of(lattice<coir::testing::Host, double>(side, 10).position);
    EXPECT_EQ(x, q);
    for (auto const& momentum : p)
      for (double const component : momentum) EXPECT_EQ(component, 0);
  }
}

TYPED_TEST(InitialConditions, LieInTheBoxAtRestOnTheWhole) {
  for (std::int64_t const side : {3, 7, 10, 16}) {
    double const box = 8;  // small, so that displacements cross its borders
    auto const particles = made<TypeParam>(side, box, lcdm(), 1);
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, particles.position);
    using T = typename TypeParam::Real;
    for (std::size_t i = 0; i < host.extent(0); ++i)
      for (int d = 0; d < 3; ++d) {
        EXPECT_GE(host(i, d), T(0));
        EXPECT_LT(host(i, d), static_cast<T>(box));
      }
    double sum[3] = {}, sizes = 0;
    for (auto const& p : vectors_of(particles.momentum))
      for (int d = 0; d < 3; ++d) sum[d] += p[d], sizes += std::abs(p[d]);
    EXPECT_GT(sizes, 0);
    // The mode k = 0 is missing; roundings of single momenta remain.
    for (double const total : sum)
      EXPECT_LE(std::abs(total), 16 * std::numeric_limits<T>::epsilon() * sizes);
  }
}

// With amplitudes fixed each mode has its power, but for what is of second order in the
// displacements.
TYPED_TEST(InitialConditions, HaveTheLinearPowerSpectrumOnLargeScales) {
  double const box = 400, a = 0.02;
  auto const& power = lcdm();
  auto const particles =
      made<TypeParam>(32, box, power, a, {.noise = {.seed = 5, .fixed_amplitude = true}});
  auto const x = vectors_of(particles.position);
  double sum = 0;
  int modes = 0;
  for (Wave const& wave :
       {Wave{1, 0, 0}, Wave{0, 1, 0}, Wave{0, 0, 1}, Wave{1, 1, 0}, Wave{0, 1, -1}, Wave{2, 0, 0},
        Wave{1, 0, 2}, Wave{1, -1, 1}, Wave{0, 3, 0}, Wave{2, 2, 1}}) {
    double const k = 2 * std::numbers::pi / box * length(wave);
    double const measured = box * box * box * std::norm(mode_of(x, box, wave));
    double const ratio = measured / power(k, a);
    EXPECT_NEAR(ratio, 1, 0.03) << in_words(k);
    sum += ratio;
    ++modes;
  }
  EXPECT_NEAR(sum / modes, 1, 0.01);
}

TYPED_TEST(InitialConditions, InFloatAreThoseInDouble) {
  using Double = coir::testing::Case<typename TypeParam::Exec, double>;
  double const box = 200;
  auto const x = vectors_of(made<TypeParam>(12, box, lcdm(), 0.1).position);
  auto const expected = vectors_of(made<Double>(12, box, lcdm(), 0.1).position);
  double const eps = std::numeric_limits<typename TypeParam::Real>::epsilon();
  EXPECT_LE(coir::testing::largest_distance(x, expected, box), 4 * eps * box);
}

namespace {

/// White noise in real space, of mean 0 and variance 1.
template <class Case>
Kokkos::View<typename Case::Real***, Kokkos::LayoutRight, Kokkos::HostSpace> real_noise(
    std::int64_t n) {
  using Exec = typename Case::Exec;
  using T = typename Case::Real;
  Exec const exec;
  coir::testing::HalfSpectrum<Exec, T> const spectrum("spectrum", n, n, n / 2 + 1);
  nbody::white_noise<Exec, T>(exec, {.seed = 3}, spectrum);
  Kokkos::View<T***, Kokkos::LayoutRight, typename Exec::memory_space> const field("field", n, n,
                                                                                   n);
  fft::RealPlan<Exec, T, 3>(exec, {n, n, n}).backward(spectrum, field);
  exec.fence();
  Kokkos::View<T***, Kokkos::LayoutRight, Kokkos::HostSpace> const host("noise", n, n, n);
  auto const values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, field);
  for (std::int64_t i = 0; i < n * n * n; ++i)
    host.data()[i] = values.data()[i] / static_cast<T>(n * n * n);
  return host;
}

}  // namespace

TYPED_TEST(InitialConditions, OfNoiseFromAFileMayBeInvertedAndOfFixedAmplitude) {
  using T = typename TypeParam::Real;
  coir::testing::TemporaryFolder const folder;
  std::string const path = (folder / "noise.npy").string();
  double const box = 100;
  for (std::int64_t const n : {1, 6, 7})
    for (bool const fixed : {false, true})
      for (bool const inverted : {false, true}) {
        io::write_npy(path, real_noise<TypeParam>(n));
        auto const expected =
            made<TypeParam>(n, box, lcdm(), 0.5,
                            {.noise = {.seed = 3, .fixed_amplitude = fixed, .inverted = inverted}});
        auto const particles = made<TypeParam>(
            n, box, lcdm(), 0.5,
            {.noise = {.fixed_amplitude = fixed, .inverted = inverted}, .noise_file = path});
        // The phase of a mode a hundredth of the others is known a hundred times less well.
        EXPECT_LE(coir::testing::largest_distance(vectors_of(particles.position),
                                                  vectors_of(expected.position), box),
                  (fixed ? 400 : 4) * std::numeric_limits<T>::epsilon() * box)
            << n << fixed << inverted;
      }
}

TYPED_TEST(InitialConditions, OfNoiseInRealSpaceAreThoseOfItsFile) {
  TYPES_OF_CASE;
  coir::testing::TemporaryFolder const folder;
  std::string const path = (folder / "noise.npy").string();
  for (std::int64_t const n : {1, 6, 7})
    for (int const order : {1, 2}) {
      auto const host = real_noise<TypeParam>(n);
      io::write_npy(path, host);
      auto const expected =
          made<TypeParam>(n, 100, lcdm(), 0.5, {.order = order, .noise_file = path});
      auto const noise = Kokkos::create_mirror_view_and_copy(typename Exec::memory_space{}, host);
      for (int repeat = 0; repeat < 2; ++repeat) {  // it isn't overwritten
        auto const particles =
            initial_conditions<Exec, T>(Exec{}, n, 100, lcdm(), 0.5, order, noise);
        EXPECT_EQ(vectors_of(particles.position), vectors_of(expected.position)) << n;
        EXPECT_EQ(vectors_of(particles.momentum), vectors_of(expected.momentum)) << n;
      }
    }
}

TYPED_TEST(InitialConditions, TakeNoiseOfTheOtherPrecision) {
  using T = typename TypeParam::Real;
  using Other = coir::testing::Case<coir::testing::Host,
                                    std::conditional_t<std::is_same_v<T, float>, double, float>>;
  coir::testing::TemporaryFolder const folder;
  std::string const path = (folder / "noise.npy").string();
  io::write_npy(path, real_noise<Other>(5));
  auto const x = vectors_of(made<TypeParam>(5, 100, lcdm(), 0.5, {.noise_file = path}).position);
  auto const expected =
      vectors_of(made<TypeParam>(5, 100, lcdm(), 0.5, {.noise = {.seed = 3}}).position);
  EXPECT_LE(coir::testing::largest_distance(x, expected, 100),
            400 * std::numeric_limits<float>::epsilon());
}

TYPED_TEST(InitialConditions, SayWhatIsWrongWithANoiseFile) {
  coir::testing::TemporaryFolder const folder;
  std::string const path = (folder / "noise.npy").string();
  auto const message = [&](std::int64_t side) {
    return message_of<InputError>(
        [&] { made<TypeParam>(side, 100, lcdm(), 0.1, {.noise_file = path}); });
  };
  EXPECT_NE(message(4).find(path), std::string::npos);  // missing
  auto const noise = real_noise<TypeParam>(4);
  io::write_npy(path, noise);
  EXPECT_EQ(message(5),
            path +
                ": white noise for 5^3 particles must have shape (5, 5, 5), not (4, 4, 4): set "
                "the particles along a side to the file's extent");
  io::write_npy(path, Kokkos::subview(noise, Kokkos::ALL, Kokkos::ALL, 0));
  EXPECT_NE(message(4).find("not (4, 4): set"), std::string::npos);
  noise(1, 2, 3) = NAN;
  io::write_npy(path, noise);
  std::string const not_finite = message(4);
  EXPECT_NE(not_finite.find(path), std::string::npos) << not_finite;
  EXPECT_NE(not_finite.find("nan"), std::string::npos) << not_finite;
  std::ofstream(path) << "no array";
  EXPECT_NE(message(4).find(path), std::string::npos);
}

TYPED_TEST(InitialConditions, CheckTheirArguments) {
  TYPES_OF_CASE;
  auto const message = [](std::int64_t side, double box, double a, LptOptions const& options) {
    return message_of([&] { made<TypeParam>(side, box, lcdm(), a, options); });
  };
  EXPECT_EQ(message(0, 100, 0.1, {}), "the particles along a side must be from 1 to 2^18, not 0");
  EXPECT_EQ(message((1 << 18) + 1, 100, 0.1, {}),
            "the particles along a side must be from 1 to 2^18, not 262145");
  EXPECT_EQ(message(4, 0, 0.1, {}), "the box length must be positive and finite, in Mpc/h, not 0");
  EXPECT_EQ(message(4, -3, 0.1, {}),
            "the box length must be positive and finite, in Mpc/h, not -3");
  EXPECT_EQ(message(4, INFINITY, 0.1, {}),
            "the box length must be positive and finite, in Mpc/h, not inf");
  EXPECT_EQ(message(4, 100, 0.1, {.order = 3}),
            "the order of perturbation theory must be 1 or 2, not 3");
  EXPECT_EQ(message(4, 100, 0.1, {.order = 0}),
            "the order of perturbation theory must be 1 or 2, not 0");
  // The range of growth, 1e-3 to 1.
  EXPECT_NE(message(4, 100, 1e-4, {}).find("0.0001"), std::string::npos);
  EXPECT_NE(message(4, 100, 1.5, {}).find("1.5"), std::string::npos);

  coir::testing::HalfSpectrum<Exec, T> const noise("noise", 4, 4, 3);
  for (std::int64_t const side : {5, 8})
    EXPECT_EQ(
        message_of([&] { initial_conditions<Exec, T>(Exec{}, side, 100, lcdm(), 0.1, 2, noise); }),
        "the noise of " + std::to_string(side) +
            "^3 particles must have extents (n, n, n / 2 + 1)");

  Kokkos::View<T***, Kokkos::LayoutRight, typename Exec::memory_space> const sites("sites", 4, 4,
                                                                                   5);
  EXPECT_EQ(message_of([&] { initial_conditions<Exec, T>(Exec{}, 4, 100, lcdm(), 0.1, 2, sites); }),
            "the noise of 4^3 particles must have extents (4, 4, 4), not (4, 4, 5)");
}

TYPED_TEST(InitialConditions, WantAPowerTableThatCoversTheModes) {
  std::vector<double> const k{0.06, 0.1, 0.5, 1}, p{1000, 900, 300, 50};
  auto const message = [&](double box, std::int64_t side) {
    cosmology::LinearPower<> const power(cosmology::planck15(), {k, p, "table.txt"});
    return message_of([&] { made<TypeParam>(side, box, power, 0.1); });
  };
  // 2 pi / 100 to sqrt(3) pi 8 / 100 are in the table.
  cosmology::LinearPower<> const power(cosmology::planck15(), {k, p, "table.txt"});
  EXPECT_EQ(made<TypeParam>(8, 100, power, 0.1).count(), 512);
  EXPECT_NE(message(110, 8).find("table.txt"), std::string::npos);   // from 0.057
  EXPECT_NE(message(100, 20).find("table.txt"), std::string::npos);  // to 1.09
}

TYPED_TEST(InitialConditions, SayHowMuchMemoryTheyLack) {
  for (std::int64_t const side : {30000, 1 << 18}) {
    std::string const text =
        message_of<ResourceError>([&] { made<TypeParam>(side, 1000, lcdm(), 0.1); });
    EXPECT_NE(text.find("the initial conditions of " + std::to_string(side) + "^3 particles"),
              std::string::npos)
        << text;
  }
}
