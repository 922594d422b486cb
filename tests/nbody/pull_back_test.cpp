#include <coir/cosmology/parameter_derivatives.hpp>
#include <coir/nbody/simulation.hpp>

#include <nbody/universe.hpp>
#include <support/message_of.hpp>
#include <support/numbers.hpp>
#include <support/typed_suite.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

// Derivatives of a loss of the particles at the end, against differences of the loss.

using namespace coir;
using namespace coir::testing;
using mesh::Assignment;
using mesh::ForceKernel;
using mesh::Softening;
using nbody::Cotangents;
using nbody::Particles;
using nbody::scale_factors;
using nbody::Simulation;
using nbody::SimulationOptions;
using nbody::Stepper;

namespace {

constexpr double start = 0.1;
constexpr std::int64_t side = 6;
constexpr double box_length = 9;

cosmology::Parameters<> base() { return cosmology::planck15(); }

template <class Exec, class T>
Particles<Exec, T> universe() {
  return nbody::initial_conditions<Exec, T>(Exec{}, side, box_length,
                                            cosmology::LinearPower<>(base()), start);
}

/// The same numbers in double.
template <class Exec>
Particles<Exec, double> in_double(Particles<Exec, float> const& particles) {
  using To = typename Particles<Exec, double>::Vectors;
  auto const converted = [](auto const& from) {
    To const to("in_double", from.extent(0));
    auto const from_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, from);
    auto const to_h = Kokkos::create_mirror_view(to);
    std::copy_n(from_h.data(), from_h.size(), to_h.data());
    Kokkos::deep_copy(to, to_h);
    return to;
  };
  return {particles.side, particles.box, converted(particles.position),
          converted(particles.momentum)};
}

/// J = sum_p,d [a cos(2 pi x / box_length + b) + c p + p^2 / 2], which is periodic and as smooth as
/// the particles' ways. Its slopes are of the same size for all.
struct Loss {
  std::vector<double> a, b, c;
  explicit Loss(std::int64_t particles)
      : a(normal_numbers(3 * particles, 1)),
        b(normal_numbers(3 * particles, 2)),
        c(normal_numbers(3 * particles, 3)) {}

  double value(Vectors const& x, Vectors const& p) const {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      double const at = x[i / 3][i % 3], v = p[i / 3][i % 3];
      sum += a[i] * std::cos(2 * std::numbers::pi / box_length * at + b[i]) + c[i] * v + v * v / 2;
    }
    return sum;
  }
  template <class Exec, class T>
  Cotangents<Exec, T> slopes(Particles<Exec, T> const& particles) const {
    auto const x = vectors_of(particles.position), p = vectors_of(particles.momentum);
    using View = typename Cotangents<Exec, T>::Vectors;
    Cotangents<Exec, T> const result{View("xi", x.size()), View("pi", x.size())};
    auto const xi = Kokkos::create_mirror_view(result.position),
               pi = Kokkos::create_mirror_view(result.momentum);
    double const wave = 2 * std::numbers::pi / box_length;
    for (std::size_t i = 0; i < a.size(); ++i) {
      xi(i / 3, i % 3) = static_cast<T>(-a[i] * wave * std::sin(wave * x[i / 3][i % 3] + b[i]));
      pi(i / 3, i % 3) = static_cast<T>(c[i] + p[i / 3][i % 3]);
    }
    Kokkos::deep_copy(result.position, xi);
    Kokkos::deep_copy(result.momentum, pi);
    return result;
  }
};

template <class Exec>
void add(Particles<Exec, double> const& particles, double by, std::vector<double> const& dx,
         std::vector<double> const& dp) {
  auto const x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, particles.position),
             p = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, particles.momentum);
  for (std::size_t i = 0; i < dx.size(); ++i) {
    x(i / 3, i % 3) += by * dx[i];
    p(i / 3, i % 3) += by * dp[i];
  }
  Kokkos::deep_copy(particles.position, x);
  Kokkos::deep_copy(particles.momentum, p);
}

double product(Vectors const& a, std::vector<double> const& b) {
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) sum += a[i / 3][i % 3] * b[i];
  return sum;
}

/// |a - b| / |b|
double relative_difference(Vectors const& a, Vectors const& b) {
  double difference = 0, size = 0;
  for (std::size_t p = 0; p < b.size(); ++p)
    for (int d = 0; d < 3; ++d) {
      difference += std::pow(a[p][d] - b[p][d], 2);
      size += std::pow(b[p][d], 2);
    }
  return std::sqrt(difference / size);
}

/// The steps made by two calls, so that one in the middle is closed and opened again.
template <class S>
void advance_all(S& simulation) {
  int const steps = simulation.steps_left();
  simulation.advance(steps / 2);
  simulation.advance(steps - steps / 2);
}

template <class Exec>
double loss_of(Loss const& loss, SimulationOptions const& options,
               Particles<Exec, double> particles, cosmology::Parameters<> const& parameters) {
  Simulation<Exec, double> simulation(Exec{}, std::move(particles), cosmology::Growth<>(parameters),
                                      options);
  advance_all(simulation);
  return loss.value(vectors_of(simulation.particles().position),
                    vectors_of(simulation.particles().momentum));
}

struct Pulled {
  Vectors position, momentum;
  cosmology::Parameters<> parameters;
};

template <class Exec, class T>
Pulled pulled_back(Loss const& loss, SimulationOptions options, Particles<Exec, T> particles) {
  options.reversible = true;
  Simulation<Exec, T> simulation(Exec{}, std::move(particles), cosmology::Growth<>(base()),
                                 options);
  advance_all(simulation);
  auto const slopes = loss.slopes<Exec, T>(simulation.particles());
  auto parameters = simulation.pull_back(slopes);
  auto const first = simulation.pull_back(slopes);
  for (auto const member : cosmology::varied_members<>) parameters.*member += first.*member;
  return {vectors_of(slopes.position), vectors_of(slopes.momentum), parameters};
}

/// Of the particles and of parameters.
template <class Exec>
void expect_derivatives(SimulationOptions const& options, double step, double tolerance) {
  std::string const which = std::string(name_of(options.stepper)) + " " +
                            std::string(name_of(options.kernel)) + " " +
                            std::string(name_of(options.assignment));
  Loss const loss(side * side * side);
  auto const start_particles = universe<Exec, double>();
  auto const found = pulled_back<Exec, double>(loss, options, copy_of(start_particles));

  auto const dx = normal_numbers(loss.a.size(), 7), dp = normal_numbers(loss.a.size(), 8);
  auto const at = [&](double by) {
    auto moved = copy_of(start_particles);
    add(moved, by, dx, dp);
    return loss_of(loss, options, moved, base());
  };
  double const along = product(found.position, dx) + product(found.momentum, dp);
  EXPECT_NEAR(slope_of(at, step), along, tolerance * std::abs(along)) << which;

  for (auto const member : {&cosmology::Parameters<>::omega_m, &cosmology::Parameters<>::omega_k,
                            &cosmology::Parameters<>::w0, &cosmology::Parameters<>::wa}) {
    double const slope = slope_of(
        [&](double by) {
          auto parameters = base();
          parameters.*member += by;
          return loss_of(loss, options, copy_of(start_particles), parameters);
        },
        step);
    EXPECT_NEAR(slope, found.parameters.*member, tolerance * std::abs(found.parameters.omega_m))
        << which;
  }
  EXPECT_EQ(found.parameters.h, 0);
  EXPECT_EQ(found.parameters.n_s, 0);
}

}  // namespace

COIR_TYPED_SUITE(PullBack);
COIR_DOUBLE_SUITE(PullBackInDouble);

TYPED_TEST(PullBackInDouble, IsADifferenceForEachStepperAndAssignment) {
  using Exec = typename TypeParam::Exec;
  for (auto const stepper : {Stepper::fastpm, Stepper::plain, Stepper::bullfrog}) {
    SimulationOptions options{.scale_factors = scale_factors(start, 1, 5), .stepper = stepper};
    // Particles cross no kink of cic within so small a step; pcs is smooth to the third order.
    options.assignment = Assignment::cic;
    expect_derivatives<Exec>(options, 1e-6, 1e-7);
    options.assignment = Assignment::tsc;
    expect_derivatives<Exec>(options, 1e-5, 1e-7);
    options.assignment = Assignment::pcs;
    expect_derivatives<Exec>(options, 1e-4, 1e-7);
  }
}

TYPED_TEST(PullBackInDouble, IsADifferenceForEachKernelAndMesh) {
  using Exec = typename TypeParam::Exec;
  for (auto const kernel :
       {ForceKernel::naive, ForceKernel::one_four, ForceKernel::three_four, ForceKernel::five_four,
        ForceKernel::three_two, ForceKernel::eastwood, ForceKernel::gadget})
    for (double ratio : {1.0, 2.0})
      expect_derivatives<Exec>({.scale_factors = scale_factors(start, 1, 4),
                                .mesh_ratio = ratio,
                                .kernel = kernel,
                                .softening = ratio == 1 ? Softening::none : Softening::gaussian,
                                .assignment = Assignment::pcs,
                                .deterministic = ratio == 2},
                               1e-4, 1e-7);
}

TYPED_TEST(PullBackInDouble, IsADifferenceAcrossStepsThatForgetMomenta) {
  using Exec = typename TypeParam::Exec;
  for (double second : {0.3229, 0.325, 0.5})
    expect_derivatives<Exec>({.scale_factors = {start, second, 0.8, 1},
                              .stepper = Stepper::bullfrog,
                              .assignment = Assignment::pcs},
                             1e-4, 1e-7);
}

TYPED_TEST(PullBack, IsTheSameWithPotentialsThatWereKept) {
  TYPES_OF_CASE;
  Loss const loss(side * side * side);
  for (auto const stepper : {Stepper::fastpm, Stepper::bullfrog}) {
    SimulationOptions options{
        .scale_factors = scale_factors(start, 1, 5), .stepper = stepper, .deterministic = true};
    auto const without = pulled_back<Exec, T>(loss, options, universe<Exec, T>());
    options.keep_potentials = true;
    auto const with = pulled_back<Exec, T>(loss, options, universe<Exec, T>());
    EXPECT_EQ(with.position, without.position);
    EXPECT_EQ(with.momentum, without.momentum);
    EXPECT_EQ(with.parameters.omega_m, without.parameters.omega_m);
  }
}

// From the same particles. A step rounds positions to eps of the box on the way there, and
// derivatives to eps on the way back. What becomes of such a rounding is seen in derivatives in
// double for particles that begin eps of the box away from where they are; those of later steps
// have less time to grow, so that all make no more than twice as many times as much as there are
// steps.
TYPED_TEST(PullBackInDouble, InFloatIsThatInDouble) {
  using Exec = typename TypeParam::Exec;
  Loss const loss(side * side * side);
  int const steps = 5;
  auto const in_float = universe<Exec, float>();
  auto const same = in_double(in_float),
             nudged = nudged_by(std::numeric_limits<float>::epsilon(), same);
  for (auto const stepper : {Stepper::fastpm, Stepper::bullfrog}) {
    SimulationOptions const options{.scale_factors = scale_factors(start, 1, steps),
                                    .stepper = stepper,
                                    .assignment = Assignment::tsc};
    auto const narrow = pulled_back<Exec, float>(loss, options, copy_of(in_float));
    auto const wide = pulled_back<Exec, double>(loss, options, copy_of(same));
    auto const of_nudged = pulled_back<Exec, double>(loss, options, copy_of(nudged));
    double const tolerance = 2 * steps * relative_difference(of_nudged.position, wide.position);
    EXPECT_LE(relative_difference(narrow.position, wide.position), tolerance);
    EXPECT_LE(relative_difference(narrow.momentum, wide.momentum), tolerance);
    EXPECT_NEAR(narrow.parameters.omega_m, wide.parameters.omega_m,
                tolerance * std::abs(wide.parameters.omega_m));
  }
}

// Calls of one step never sort particles, and one of nine does, on the way back with their
// cotangents. What rounding makes of it is found as in InFloatIsThatInDouble.
TYPED_TEST(PullBackInDouble, IsTheSameWhetherParticlesAreSorted) {
  using Exec = typename TypeParam::Exec;
  std::int64_t const n = 48;  // from here on they are sorted
  int const steps = 9;
  auto const in_order = nbody::initial_conditions<Exec, double>(
      Exec{}, n, 96.0, cosmology::LinearPower<>(base()), start);
  auto const pulled = [&](Particles<Exec, double> const& from, int calls) {
    Simulation<Exec, double> simulation(Exec{}, copy_of(from), cosmology::Growth<>(base()),
                                        {.scale_factors = scale_factors(start, 0.6, steps),
                                         .assignment = Assignment::tsc,
                                         .reversible = true});
    for (int c = 0; c < calls; ++c) simulation.advance(steps / calls);
    auto const cotangents = copy_of(simulation.particles());  // of the loss sum (x^2 + p^2) / 2
    cosmology::Parameters<> parameters{.omega_m = 0};
    for (int c = 0; c < calls; ++c)
      parameters.omega_m +=
          simulation.pull_back({cotangents.position, cotangents.momentum}).omega_m;
    EXPECT_EQ(simulation.seconds().sort > 0, calls == 1);
    return Pulled{vectors_of(cotangents.position), vectors_of(cotangents.momentum), parameters};
  };
  auto const sorted = pulled(in_order, 1), not_sorted = pulled(in_order, steps);
  auto const of_nudged = pulled(nudged_by(std::numeric_limits<double>::epsilon(), in_order), steps);
  double const tolerance = 2 * steps * relative_difference(of_nudged.position, not_sorted.position);
  EXPECT_LE(relative_difference(sorted.position, not_sorted.position), tolerance);
  EXPECT_LE(relative_difference(sorted.momentum, not_sorted.momentum), tolerance);
  EXPECT_NEAR(sorted.parameters.omega_m, not_sorted.parameters.omega_m,
              tolerance * std::abs(not_sorted.parameters.omega_m));
}

// A loss times a power of two has derivatives of the same digits.
TYPED_TEST(PullBack, IsInProportionToTheLoss) {
  TYPES_OF_CASE;
  Loss const loss(side * side * side);
  auto const pulled = [&](double factor) {
    Simulation<Exec, T> simulation(
        Exec{}, universe<Exec, T>(), cosmology::Growth<>(base()),
        {.scale_factors = scale_factors(start, 1, 4), .deterministic = true, .reversible = true});
    simulation.advance(4);
    auto const slopes = loss.slopes<Exec, T>(simulation.particles());
    for (auto const& vectors : std::array{slopes.position, slopes.momentum}) {
      auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, vectors);
      for (std::size_t i = 0; i < host.size(); ++i) host.data()[i] *= static_cast<T>(factor);
      Kokkos::deep_copy(vectors, host);
    }
    auto const parameters = simulation.pull_back(slopes);
    return Pulled{vectors_of(slopes.position), vectors_of(slopes.momentum), parameters};
  };
  auto const once = pulled(1);
  int const far = sizeof(T) == 4 ? 60 : 600;
  for (double factor : {std::ldexp(1.0, -far), std::ldexp(1.0, far)}) {
    auto const scaled = pulled(factor);
    for (std::size_t p = 0; p < once.position.size(); ++p)
      for (int d = 0; d < 3; ++d) {
        ASSERT_EQ(scaled.position[p][d], factor * once.position[p][d]);
        ASSERT_EQ(scaled.momentum[p][d], factor * once.momentum[p][d]);
      }
    EXPECT_EQ(scaled.parameters.omega_m, factor * once.parameters.omega_m);
  }
}

TYPED_TEST(PullBack, NeedsCotangentsOfTheirOwn) {
  TYPES_OF_CASE;
  Simulation<Exec, T> simulation(Exec{}, universe<Exec, T>(), cosmology::Growth<>(base()),
                                 {.scale_factors = scale_factors(start, 1, 2), .reversible = true});
  simulation.advance(2);
  auto const& particles = simulation.particles();
  auto const own = copy_of(particles);
  using C = Cotangents<Exec, T>;
  for (auto const& cotangents : std::vector<C>{{own.position, own.position},
                                               {particles.position, own.momentum},
                                               {own.position, particles.momentum}})
    EXPECT_THROW(simulation.pull_back(cotangents), PreconditionError);
  simulation.pull_back({own.position, own.momentum});
}

// No force acts on one particle: what is pulled back are drifts and multiplications alone.
TYPED_TEST(PullBack, OfOneParticleIsThatOfFreeMoves) {
  TYPES_OF_CASE;
  auto const a = scale_factors(start, 1, 4);
  for (auto const stepper : {Stepper::fastpm, Stepper::plain, Stepper::bullfrog}) {
    Simulation<Exec, T> simulation(
        Exec{}, coir::testing::lattice<Exec, T>(1, box_length, {0.1, -0.2, 0.05}),
        cosmology::Growth<>(base()), {.scale_factors = a, .stepper = stepper, .reversible = true});
    simulation.advance(4);
    auto const slopes = Loss(1).slopes<Exec, T>(simulation.particles());
    auto const xi = vectors_of(slopes.position);
    auto pi = vectors_of(slopes.momentum);
    auto const moves = nbody::moves_of(stepper, simulation.growth(), a);
    double drifts = 0;
    auto const pull_back = [&](nbody::Move const& move) {
      drifts += std::abs(move.drift_before) + std::abs(move.drift_after);
      for (int d = 0; d < 3; ++d)
        pi[0][d] =
            move.keep * (pi[0][d] + move.drift_after * xi[0][d]) + move.drift_before * xi[0][d];
    };
    double const eps = std::numeric_limits<T>::epsilon();
    double tolerance = 0;
    for (int d = 0; d < 3; ++d) tolerance += std::abs(pi[0][d]);
    pull_back(moves.back().closing);
    for (std::size_t s = moves.size(); s-- > 0;) pull_back(moves[s].move);
    // Each of five moves rounds two factors, two products and two sums, of numbers no larger than
    // these.
    for (int d = 0; d < 3; ++d) tolerance += std::abs(xi[0][d]) * drifts;
    simulation.pull_back(slopes);
    EXPECT_EQ(vectors_of(slopes.position), xi) << name_of(stepper);
    EXPECT_LE(largest_distance(vectors_of(slopes.momentum), pi, 1e9), 30 * eps * tolerance)
        << name_of(stepper);
  }
}

TYPED_TEST(PullBack, NamesWhatIsWrong) {
  TYPES_OF_CASE;
  Simulation<Exec, T> simulation(Exec{}, universe<Exec, T>(), cosmology::Growth<>(base()),
                                 {.scale_factors = scale_factors(start, 1, 3), .reversible = true});
  simulation.advance(3);
  auto const slopes = Loss(side * side * side).slopes<Exec, T>(simulation.particles());
  auto const filled_with = [&](T number) {
    auto const vectors = copy_of(simulation.particles());
    Kokkos::deep_copy(vectors.position, number);
    return Cotangents<Exec, T>{vectors.position, vectors.momentum};
  };
  auto const fewer = coir::testing::lattice<Exec, T>(5, box_length);
  EXPECT_EQ(message_of([&] { simulation.pull_back({slopes.position, fewer.momentum}); }),
            "cotangents must be 216, one for each particle, not 125");
  for (double const number : {std::nan(""), HUGE_VAL})
    EXPECT_NE(message_of<NumericalError>([&] {
                simulation.pull_back(filled_with(static_cast<T>(number)));
              }).find("a derivative of the loss by a position or momentum isn't a number"),
              std::string::npos);
  EXPECT_EQ(simulation.steps_done(), 3);  // nothing was taken back
  auto const message = message_of<NumericalError>(
      [&] { simulation.pull_back(filled_with(std::numeric_limits<T>::max())); });
  EXPECT_NE(message.find("overflows in step"), std::string::npos) << message;
  EXPECT_NE(message_of([&] { simulation.pull_back(slopes); }).find("stayed amid a step"),
            std::string::npos);
}

TYPED_TEST(PullBack, FindsParticlesThatOthersHaveMoved) {
  TYPES_OF_CASE;
  Simulation<Exec, T> simulation(Exec{}, universe<Exec, T>(), cosmology::Growth<>(base()),
                                 {.scale_factors = scale_factors(start, 1, 3), .reversible = true});
  simulation.advance(3);
  auto const slopes = Loss(side * side * side).slopes<Exec, T>(simulation.particles());
  auto const position = simulation.particles().position;
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, position);
  std::swap(host(7, 1), host(8, 1));
  Kokkos::deep_copy(position, host);
  auto const message = message_of<NumericalError>([&] { simulation.pull_back(slopes); });
  EXPECT_NE(message.find("the way back is not the way there in step 3"), std::string::npos)
      << message;
}
