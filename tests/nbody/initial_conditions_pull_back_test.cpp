#include <coir/core/pool.hpp>
#include <coir/nbody/initial_conditions_pull_back.hpp>

#include <nbody/universe.hpp>
#include <support/held_memory.hpp>
#include <support/message_of.hpp>
#include <support/numbers.hpp>
#include <support/thread_counts.hpp>
#include <support/typed_suite.hpp>

#include <limits>

using namespace coir;
using namespace coir::testing;
using cosmology::LinearPower;
using cosmology::Parameters;
using nbody::initial_conditions;
using nbody::initial_conditions_noise_pull_back;
using nbody::initial_conditions_pull_back;

namespace {

constexpr double box_length = 60, start = 0.3;

/// Numbers of sites, or three of each particle.
using Numbers = std::vector<double>;

/// The sum of the products' sizes, to which roundings of their sum are relative.
double dot_of_sizes(Numbers const& a, Numbers const& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] * b[i]);
  return sum;
}

/// numbers + step direction
Numbers moved(Numbers numbers, double step, Numbers const& direction) {
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += step * direction[i];
  return numbers;
}

template <class Case>
using Sites =
    Kokkos::View<typename Case::Real***, Kokkos::LayoutRight, typename Case::Exec::memory_space>;

template <class Case>
Sites<Case> sites(std::int64_t n, Numbers const& numbers) {
  return filled(Sites<Case>("sites", n, n, n), numbers);
}

template <class Case>
auto particles_of(std::int64_t n, Numbers const& noise, LinearPower<> const& power, int order) {
  return initial_conditions<typename Case::Exec, typename Case::Real>(
      typename Case::Exec{}, n, box_length, power, start, order, sites<Case>(n, noise));
}

template <class Case>
nbody::Cotangents<typename Case::Exec, typename Case::Real> cotangents_of(
    Numbers const& of_position, Numbers const& of_momentum) {
  using Cotangents = nbody::Cotangents<typename Case::Exec, typename Case::Real>;
  using View = typename Cotangents::Vectors;
  return {filled(View("of_position", of_position.size() / 3), of_position),
          filled(View("of_momentum", of_momentum.size() / 3), of_momentum)};
}

struct Slopes {
  Numbers noise;
  Parameters<> parameters;
};

template <class Case>
Slopes pulled_back(std::int64_t n, Numbers const& noise, LinearPower<> const& power, int order,
                   Numbers const& of_position, Numbers const& of_momentum) {
  Sites<Case> const slope("slope", n, n, n);
  auto const parameters = initial_conditions_pull_back<typename Case::Exec, typename Case::Real>(
      typename Case::Exec{}, n, box_length, power, start, order, sites<Case>(n, noise),
      cotangents_of<Case>(of_position, of_momentum), slope);
  return {doubles_of(slope), parameters};
}

/// A loss that is linear in the particles: of_position . x + of_momentum . p.
struct LinearLoss {
  Numbers of_position, of_momentum;

  explicit LinearLoss(std::int64_t n)
      : of_position(normal_numbers(3 * n * n * n, 21)),
        of_momentum(normal_numbers(3 * n * n * n, 22)) {}

  /// The loss of `a` less that of `b`, which is less than half a box away.
  template <class Particles>
  double difference(Particles const& a, Particles const& b) const {
    Numbers moved_by = moved(doubles_of(a.position), -1, doubles_of(b.position));
    for (double& number : moved_by) number = coir::testing::wrapped(number, box_length);
    return product(of_position, moved_by) +
           product(of_momentum, moved(doubles_of(a.momentum), -1, doubles_of(b.momentum)));
  }
};

template <class Case>
Slopes pulled_back(std::int64_t n, Numbers const& noise, LinearPower<> const& power, int order,
                   LinearLoss const& loss) {
  return pulled_back<Case>(n, noise, power, order, loss.of_position, loss.of_momentum);
}

constexpr double Parameters<>::* parameters[] = {
    &Parameters<>::omega_m, &Parameters<>::omega_b, &Parameters<>::h,       &Parameters<>::n_s,
    &Parameters<>::sigma8,  &Parameters<>::A_s,     &Parameters<>::omega_k, &Parameters<>::w0,
    &Parameters<>::wa,      &Parameters<>::t_cmb,   &Parameters<>::omega_r};

/// Derivatives with respect to each parameter are those of the spectrum that is made of the
/// parameters.
template <class Case, class MakePower>
void expect_slopes_of_parameters(std::int64_t n, int order, Parameters<> const& p,
                                 MakePower const& make_power) {
  LinearLoss const loss(n);
  Numbers const noise = normal_numbers(n * n * n, 1);
  auto const slope = pulled_back<Case>(n, noise, make_power(p), order, loss).parameters;
  for (auto const member : parameters) {
    bool const omega_r = member == &Parameters<>::omega_r;
    bool const amplitude = member == &Parameters<>::sigma8 || member == &Parameters<>::A_s;
    if (p.*member == 0 && (omega_r || amplitude)) {
      EXPECT_EQ(slope.*member, 0);
      continue;
    }
    double const step = p.*member == 0 ? 1e-3 : 2e-3 * std::abs(p.*member);
    auto const particles = [&](double by) {
      auto changed = p;
      changed.*member += by;
      return particles_of<Case>(n, noise, make_power(changed), order);
    };
    // Of fourth order: an error of step^4 / 30 times the fifth derivative, some 1e-8, and roundings
    // of some 1e-12 / step. With radiation growth starts at another a, whose error of 1e-9 is
    // divided by a step of 1e-7 and more.
    double const expected = (8 * loss.difference(particles(step), particles(-step)) -
                             loss.difference(particles(2 * step), particles(-2 * step))) /
                            (12 * step);
    EXPECT_NEAR(slope.*member, expected, (omega_r ? 1e-4 : 1e-7) * std::abs(expected))
        << "parameter " << (&member - &parameters[0]) << ", n = " << n << ", order " << order;
  }
}

}  // namespace

COIR_TYPED_SUITE(InitialConditionsPullBack);

template <class Case>
class InitialConditionsPullBackInDouble : public ::testing::Test {};
TYPED_TEST_SUITE(InitialConditionsPullBackInDouble, coir::testing::DoubleCases,
                 coir::testing::CaseName);

// To first order the derivative of a particle's displacement with respect to the noise of a site is
// its displacement by a noise of 1 there.
TYPED_TEST(InitialConditionsPullBack, OfOneParticleIsItsDisplacementByNoiseOfOneSite) {
  double const eps = std::numeric_limits<typename TypeParam::Real>::epsilon();
  for (std::int64_t const n : {5, 6}) {
    auto const count = static_cast<std::size_t>(n * n * n);
    auto const zero = particles_of<TypeParam>(n, Numbers(count), lcdm(), 1);
    for (std::size_t const number : {std::size_t(0), 3 * (count / 2) + 1, 3 * count - 1}) {
      Numbers one(3 * count), none(3 * count);
      one[number] = 1;
      auto const of_x = pulled_back<TypeParam>(n, Numbers(count), lcdm(), 1, one, none).noise;
      auto const of_p = pulled_back<TypeParam>(n, Numbers(count), lcdm(), 1, none, one).noise;
      for (std::size_t site = 0; site < count; site += 7) {
        Numbers noise(count);
        noise[site] = 1;
        auto const particles = particles_of<TypeParam>(n, noise, lcdm(), 1);
        double const x = doubles_of(particles.position)[number];
        double const moved_by =
            coir::testing::wrapped(x - doubles_of(zero.position)[number], box_length);
        // Displacements are below 1, and positions are rounded.
        EXPECT_NEAR(of_x[site], moved_by, 2 * eps * box_length);
        EXPECT_NEAR(of_p[site], doubles_of(particles.momentum)[number], 32 * eps);
      }
    }
  }
}

// Particles are polynomials of second degree in the noise, whose central differences are
// derivatives.
TYPED_TEST(InitialConditionsPullBackInDouble, OfTheNoiseIsItsDirectionalDifference) {
  for (int const order : {1, 2})
    for (std::int64_t const n : {3, 6, 7, 8}) {
      LinearLoss const loss(n);
      for (unsigned const seed : {1u, 2u}) {
        Numbers const noise = normal_numbers(n * n * n, seed),
                      v = normal_numbers(n * n * n, seed + 10);
        auto const slope = pulled_back<TypeParam>(n, noise, lcdm(), order, loss).noise;
        double const step = 0.5;
        double const difference =
            loss.difference(particles_of<TypeParam>(n, moved(noise, step, v), lcdm(), order),
                            particles_of<TypeParam>(n, moved(noise, -step, v), lcdm(), order));
        EXPECT_NEAR(product(slope, v), difference / (2 * step), 1e-12 * dot_of_sizes(slope, v))
            << "n = " << n << ", order " << order;
      }
    }
}

TYPED_TEST(InitialConditionsPullBackInDouble, OfParametersIsTheirDifference) {
  auto const make = [](Parameters<> const& p) { return LinearPower<>(p); };
  Parameters<> const p{.omega_m = 0.31,
                       .omega_b = 0.05,
                       .h = 0.68,
                       .n_s = 0.96,
                       .sigma8 = 0.8,
                       .omega_k = 0.02,
                       .w0 = -0.9,
                       .wa = 0.1};
  for (auto const& [n, order] : {std::pair{8, 1}, {7, 2}, {6, 2}})
    expect_slopes_of_parameters<TypeParam>(n, order, p, make);
  expect_slopes_of_parameters<TypeParam>(6, 2, cosmology::simple_lcdm(), make);  // by A_s
  auto with_radiation = p;
  with_radiation.omega_r = 9e-5;
  expect_slopes_of_parameters<TypeParam>(6, 2, with_radiation, make);
}

TYPED_TEST(InitialConditionsPullBackInDouble, IsThatOfTheSpectrumsTransferFunctionAndGrowth) {
  auto const make = [](Parameters<> const& p) {
    return LinearPower<>(cosmology::Growth<>(p, 0.2, 1.5), cosmology::TransferFunction::no_wiggle);
  };
  expect_slopes_of_parameters<TypeParam>(6, 2, cosmology::planck18(), make);
}

// The linear density is proportional to sigma8 and to the noise.
TYPED_TEST(InitialConditionsPullBack, OfTheNoiseAlongItselfIsThatOfSigma8) {
  double const eps = std::numeric_limits<typename TypeParam::Real>::epsilon();
  for (std::int64_t const n : {6, 7, 16}) {
    LinearLoss const loss(n);
    Numbers const noise = normal_numbers(n * n * n, 1);
    auto const slopes = pulled_back<TypeParam>(n, noise, lcdm(), 2, loss);
    double const sigma8 = lcdm().parameters().sigma8;
    EXPECT_NEAR(sigma8 * slopes.parameters.sigma8, product(slopes.noise, noise),
                4 * eps * dot_of_sizes(slopes.noise, noise))
        << n;
  }
}

TYPED_TEST(InitialConditionsPullBack, OfAShiftOfAllParticlesAndOfTheMeanNoiseIsZero) {
  double const eps = std::numeric_limits<typename TypeParam::Real>::epsilon();
  std::int64_t const n = 8, count = n * n * n;
  Numbers const noise = normal_numbers(count, 1);
  LinearLoss const loss(n);
  double sum = 0, sizes = 0;
  for (double const slope : pulled_back<TypeParam>(n, noise, lcdm(), 2, loss).noise)
    sum += slope, sizes += std::abs(slope);
  EXPECT_GT(sizes, 0);
  EXPECT_NEAR(sum, 0, 4 * eps * sizes);

  Numbers const shift(static_cast<std::size_t>(3 * count), 1.0);
  auto const slopes = pulled_back<TypeParam>(n, noise, lcdm(), 2, shift, shift);
  // Roundings of a sum of n^3 ones, among slopes of up to some box / 2 pi.
  for (double const slope : slopes.noise) EXPECT_NEAR(slope, 0, eps * static_cast<double>(count));
}

// A lattice of two has the Nyquist frequency alone, which has no gradient.
TYPED_TEST(InitialConditionsPullBack, OfOneAndOfEightParticlesIsZero) {
  for (int const order : {1, 2})
    for (std::int64_t const n : {1, 2}) {
      Numbers const noise = normal_numbers(n * n * n, 1);
      auto const slopes = pulled_back<TypeParam>(n, noise, lcdm(), order, LinearLoss(n));
      EXPECT_EQ(slopes.noise, Numbers(noise.size())) << n;
      for (auto const member : parameters) EXPECT_EQ(slopes.parameters.*member, 0);
    }
}

TYPED_TEST(InitialConditionsPullBackInDouble, IsThatInFloat) {
  using Float = coir::testing::Case<typename TypeParam::Exec, float>;
  double const eps = std::numeric_limits<float>::epsilon();
  std::int64_t const n = 12;
  LinearLoss const loss(n);
  Numbers const noise = normal_numbers(n * n * n, 1);
  auto const slopes = pulled_back<Float>(n, noise, lcdm(), 2, loss);
  auto const expected = pulled_back<TypeParam>(n, noise, lcdm(), 2, loss);
  double rms = 0;
  for (double const slope : expected.noise) rms += slope * slope;
  rms = std::sqrt(rms / static_cast<double>(expected.noise.size()));
  // A dozen roundings, each among the logarithm of the modes' number of a transform.
  for (std::size_t site = 0; site < expected.noise.size(); ++site)
    ASSERT_NEAR(slopes.noise[site], expected.noise[site], 64 * eps * rms);
  double const sizes = dot_of_sizes(expected.noise, noise);  // of what parameters change
  for (auto const member : parameters)
    EXPECT_NEAR(slopes.parameters.*member, expected.parameters.*member, 64 * eps * sizes);
}

TYPED_TEST(InitialConditionsPullBack, OfTheNoiseAloneIsTheSameAndWorksWithTables) {
  TYPES_OF_CASE;
  std::int64_t const n = 8;
  LinearLoss const loss(n);
  Numbers const noise = normal_numbers(n * n * n, 1);
  auto const noise_alone = [&](LinearPower<> const& power, int order) {
    Sites<TypeParam> const slope("slope", n, n, n);
    initial_conditions_noise_pull_back<Exec, T>(
        Exec{}, n, box_length, power, start, order, sites<TypeParam>(n, noise),
        cotangents_of<TypeParam>(loss.of_position, loss.of_momentum), slope);
    return doubles_of(slope);
  };
  for (int const order : {1, 2})
    EXPECT_EQ(noise_alone(lcdm(), order),
              pulled_back<TypeParam>(n, noise, lcdm(), order, loss).noise);

  std::vector<double> k, p;
  for (double at = 0.05; at < 2; at *= 1.02) {
    k.push_back(at);
    p.push_back(lcdm()(at));
  }
  LinearPower<> const table(cosmology::planck15(), {k, p, "table.txt"});
  // The spline of ln P errs by 5/384 of the fourth power of the table's step, 0.02 in ln k, times
  // the fourth derivative: of baryon wiggles of 0.05 with a period of 0.3 that is 2e-5, of
  // amplitudes half as much.
  auto const of_table = noise_alone(table, 2), expected = noise_alone(lcdm(), 2);
  Numbers const apart = moved(of_table, -1, expected);
  double const eps = std::numeric_limits<T>::epsilon();
  EXPECT_LE(std::sqrt(product(apart, apart)),
            (1e-5 + 64 * eps) * std::sqrt(product(expected, expected)));
  EXPECT_EQ(message_of([&] { pulled_back<TypeParam>(n, noise, table, 2, loss); }),
            "a table of P(k) has no derivatives with respect to parameters: make the spectrum of a "
            "transfer function, or take initial_conditions_noise_pull_back");
}

TYPED_TEST(InitialConditionsPullBack, LeavesItsArgumentsAndGivesTheSameBitsAgain) {
  TYPES_OF_CASE;
  std::int64_t const n = 9;
  LinearLoss const loss(n);
  auto const noise = sites<TypeParam>(n, normal_numbers(n * n * n, 1));
  auto const cotangents = cotangents_of<TypeParam>(loss.of_position, loss.of_momentum);
  Numbers const noise_before = doubles_of(noise), before = doubles_of(cotangents.position),
                of_momentum_before = doubles_of(cotangents.momentum);
  Sites<TypeParam> const first("first", n, n, n), second("second", n, n, n);
  auto const a = initial_conditions_pull_back<Exec, T>(Exec{}, n, box_length, lcdm(), start, 2,
                                                       noise, cotangents, first);
  auto const b = initial_conditions_pull_back<Exec, T>(Exec{}, n, box_length, lcdm(), start, 2,
                                                       noise, cotangents, second);
  EXPECT_EQ(doubles_of(first), doubles_of(second));
  for (auto const member : parameters) EXPECT_EQ(a.*member, b.*member);
  EXPECT_EQ(doubles_of(noise), noise_before);
  EXPECT_EQ(doubles_of(cotangents.position), before);
  EXPECT_EQ(doubles_of(cotangents.momentum), of_momentum_before);
}

TYPED_TEST(InitialConditionsPullBack, OfNumbersThatAreNotFiniteIsNotEither) {
  std::int64_t const n = 6;
  LinearLoss loss(n);
  loss.of_momentum[100] = NAN;
  auto const slopes = pulled_back<TypeParam>(n, normal_numbers(n * n * n, 1), lcdm(), 2, loss);
  EXPECT_TRUE(std::isnan(slopes.noise[5]));
  EXPECT_TRUE(std::isnan(slopes.parameters.omega_m));
}

// What the test below runs on several numbers of threads.
TEST(InitialConditionsPullBackOnHost, PrintsADigestOfItsBits) {
  coir::testing::Digest digest;
  for (std::int64_t const n : {33, 40}) {
    LinearLoss const loss(n);
    Numbers const noise = normal_numbers(n * n * n, 1);
    using OnHost = coir::testing::Case<coir::testing::Host, float>;
    auto const slopes = pulled_back<OnHost>(n, noise, lcdm(), 2, loss);
    for (double const slope : slopes.noise) digest.add_number(slope);
    for (auto const member : parameters) digest.add_number(slopes.parameters.*member);
  }
  digest.print();
}

TEST(InitialConditionsPullBackOnHost, HasTheSameBitsForAnyThreadCount) {
  coir::testing::expect_same_digests("InitialConditionsPullBackOnHost.PrintsADigestOfItsBits");
}

TYPED_TEST(InitialConditionsPullBack, ChecksItsArguments) {
  TYPES_OF_CASE;
  LinearLoss const loss(4), larger(5);
  auto const right = cotangents_of<TypeParam>(loss.of_position, loss.of_momentum);
  auto const other = cotangents_of<TypeParam>(larger.of_position, larger.of_momentum);
  Sites<TypeParam> const noise("noise", 4, 4, 4);
  auto const message = [&](std::int64_t side, double length, double a, int order,
                           Sites<TypeParam> const& of, auto const& cotangents,
                           Sites<TypeParam> const& slope) {
    std::string const both = message_of([&] {
      initial_conditions_pull_back<Exec, T>(Exec{}, side, length, lcdm(), a, order, of, cotangents,
                                            slope);
    });
    EXPECT_EQ(message_of([&] {
                initial_conditions_noise_pull_back<Exec, T>(Exec{}, side, length, lcdm(), a, order,
                                                            of, cotangents, slope);
              }),
              both);
    return both;
  };
  EXPECT_EQ(message(0, box_length, start, 2, noise, right, noise),
            "the particles along a side must be from 1 to 2^18, not 0");
  EXPECT_EQ(message(4, -1, start, 2, noise, right, noise),
            "the box length must be positive and finite, in Mpc/h, not -1");
  EXPECT_EQ(message(4, box_length, start, 3, noise, right, noise),
            "the order of perturbation theory must be 1 or 2, not 3");
  EXPECT_NE(message(4, box_length, 1e-4, 2, noise, right, noise).find("0.0001"), std::string::npos);
  Sites<TypeParam> const wrong("wrong", 4, 5, 4);
  EXPECT_EQ(message(4, box_length, start, 2, wrong, right, noise),
            "the noise of 4^3 particles must have extents (4, 4, 4), not (4, 5, 4)");
  EXPECT_EQ(message(4, box_length, start, 2, noise, right, wrong),
            "the slope of the noise of 4^3 particles must have extents (4, 4, 4), not (4, 5, 4)");
  EXPECT_EQ(message(4, box_length, start, 2, noise, other, noise),
            "the derivatives with respect to positions of 4^3 particles must have extents (64, 3), "
            "not (125, 3)");
  auto const mixed = cotangents_of<TypeParam>(loss.of_position, larger.of_momentum);
  EXPECT_EQ(message(4, box_length, start, 2, noise, mixed, noise),
            "the derivatives with respect to momenta of 4^3 particles must have extents (64, 3), "
            "not (125, 3)");
}

TYPED_TEST(InitialConditionsPullBack, HoldsTheMemoryThatItPredicts) {
  TYPES_OF_CASE;
  Exec const exec;
  for (std::int64_t const n : {64, 65}) {
    LinearLoss const loss(n);
    auto const noise = sites<TypeParam>(n, normal_numbers(n * n * n, 1));
    auto const cotangents = cotangents_of<TypeParam>(loss.of_position, loss.of_momentum);
    Sites<TypeParam> const slope("slope", n, n, n);
    auto const pull_back = [&] {
      initial_conditions_pull_back<Exec, T>(exec, n, box_length, lcdm(), start, 2, noise,
                                            cotangents, slope);
    };
    pull_back();  // the plan of the transforms is kept for the next one
    std::int64_t const predicted = nbody::initial_conditions_pull_back_bytes<Exec, T>(exec, {}, n);
    MemoryPool<typename Exec::memory_space>::release();  // so that meshes are allocated anew
    coir::testing::HeldMemory const held;
    pull_back();
    EXPECT_LE(held.peak(), predicted + 8193 * 8 + 4096);  // with the table of amplitudes
    // The work space of a device's transforms is held by its library, not by Kokkos.
    std::int64_t const meshes = 6 * n * n * 2 * (n / 2 + 1) * std::int64_t(sizeof(T));
    EXPECT_GE(held.peak(), runs_on_host<Exec> ? predicted * 8 / 10 : meshes);
  }
}

TYPED_TEST(InitialConditionsPullBack, SaysHowMuchMemoryItLacks) {
  TYPES_OF_CASE;
  using Vectors = typename nbody::Cotangents<Exec, T>::Vectors;
  std::int64_t const n = 30000;
  T* const nowhere = nullptr;  // it is asked for before anything is read
  Sites<TypeParam> const noise(nowhere, n, n, n);
  Vectors const vectors(nowhere, n * n * n);
  std::string const text = message_of<ResourceError>([&] {
    initial_conditions_pull_back<Exec, T>(Exec{}, n, box_length, lcdm(), start, 2, noise,
                                          {vectors, vectors}, noise);
  });
  EXPECT_NE(text.find("the pull-back of initial conditions of 30000^3 particles"),
            std::string::npos)
      << text;
}
