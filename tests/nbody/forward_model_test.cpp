#include <coir/core/pool.hpp>
#include <coir/nbody/forward_model.hpp>
#include <coir/nbody/losses.hpp>

#include <nbody/universe.hpp>
#include <support/held_memory.hpp>
#include <support/message_of.hpp>
#include <support/numbers.hpp>
#include <support/thread_counts.hpp>
#include <support/typed_suite.hpp>

using namespace coir;
using namespace coir::testing;
using cosmology::Parameters;
using mesh::Assignment;
using nbody::Cotangents;
using nbody::DensityLoss;
using nbody::DensityMisfit;
using nbody::ForwardModel;
using nbody::Particles;
using nbody::scale_factors;
using nbody::SimulationOptions;
using nbody::Stepper;

namespace {

template <class Case>
using ModelOf = ForwardModel<typename Case::Exec, typename Case::Real>;
template <class Case>
using FieldOf = typename ModelOf<Case>::Field;

template <class Case>
FieldOf<Case> field_of(std::vector<double> const& numbers, std::size_t n) {
  return filled(FieldOf<Case>("field", n, n, n), numbers);
}
constexpr std::size_t side = 6, cells = 7;
constexpr double Parameters<>::* varied[] = {
    &Parameters<>::omega_m, &Parameters<>::omega_b, &Parameters<>::h, &Parameters<>::n_s,
    &Parameters<>::sigma8,  &Parameters<>::w0,      &Parameters<>::wa};

template <class Case>
DensityMisfit<typename Case::Exec, typename Case::Real> misfit(Assignment assignment) {
  std::vector<double> target = normal_numbers(cells * cells * cells, 5);
  for (auto& density : target) density = 1 + 0.3 * density;
  return {.target = field_of<Case>(target, cells), .inverse_variance = 3, .assignment = assignment};
}

SimulationOptions steps(Stepper stepper, Assignment assignment) {
  return {.scale_factors = scale_factors(0.1, 1, 4),
          .stepper = stepper,
          .mesh_ratio = 1,
          .assignment = assignment};
}

}  // namespace

COIR_TYPED_SUITE(ForwardModelOf);
COIR_DOUBLE_SUITE(ForwardModelInDouble);

namespace {

/// Along random noise, and along each parameter. Masses are painted in parts of 2^-40, by which the
/// forces of four steps and the density are rounded. So a loss errs by five of its 2^40 parts, of
/// which slope_of() makes 1.5 over its step; the fourth power of the step is less.
template <class Case>
void expect_derivatives(std::size_t n, Stepper stepper, int order) {
  std::string const which =
      std::string(name_of(stepper)) + ", order " + std::to_string(order) + ", " + std::to_string(n);
  auto const numbers = normal_numbers(n * n * n, 1), along = normal_numbers(n * n * n, 2);
  auto const assignment = Assignment::pcs;
  ModelOf<Case> const model(typename Case::Exec{}, {.side = static_cast<std::int64_t>(n),
                                                    .box = 2.0 * static_cast<double>(n),
                                                    .order = order,
                                                    .simulation = steps(stepper, assignment)});
  auto const loss = misfit<Case>(assignment);
  auto const p = cosmology::planck18();
  auto const [value, slope] = model.value_and_grad(field_of<Case>(numbers, n), p, loss);
  EXPECT_EQ(value, model.value(field_of<Case>(numbers, n), p, loss)) << which;
  double const rounding = 1.5 * 5 * std::ldexp(value, -40), step = 1e-4, step_of_parameters = 2e-5;
  auto const found = doubles_of(slope.noise);
  double expected = 0;
  for (std::size_t c = 0; c < found.size(); ++c) expected += found[c] * along[c];
  double const by_noise = slope_of(
      [&](double by) {
        auto moved = numbers;
        for (std::size_t c = 0; c < moved.size(); ++c) moved[c] += by * along[c];
        return model.value(field_of<Case>(moved, n), p, loss);
      },
      step);
  EXPECT_NEAR(by_noise, expected, rounding / step) << which;
  for (auto const member : varied) {
    double const by_parameter = slope_of(
        [&](double by) {
          auto moved = p;
          moved.*member += by;
          return model.value(field_of<Case>(numbers, n), moved, loss);
        },
        step_of_parameters);
    EXPECT_NEAR(by_parameter, slope.parameters.*member, rounding / step_of_parameters) << which;
  }
}

}  // namespace

TYPED_TEST(ForwardModelInDouble, HasTheDerivativesThatDifferencesGive) {
  for (auto const stepper : {Stepper::fastpm, Stepper::plain, Stepper::bullfrog})
    for (int order : {1, 2}) expect_derivatives<TypeParam>(side, stepper, order);
  for (std::size_t n : {2, 3, 5, 9}) expect_derivatives<TypeParam>(n, Stepper::bullfrog, 2);
}

TYPED_TEST(ForwardModelOf, HasNoDerivativesOfOneParticle) {
  for (auto const stepper : {Stepper::fastpm, Stepper::plain, Stepper::bullfrog}) {
    ModelOf<TypeParam> const model(
        typename TypeParam::Exec{},
        {.side = 1, .box = 2, .simulation = steps(stepper, Assignment::pcs)});
    auto const slope = model
                           .value_and_grad(field_of<TypeParam>({1.5}, 1), cosmology::planck18(),
                                           misfit<TypeParam>(Assignment::pcs))
                           .slope;
    EXPECT_EQ(doubles_of(slope.noise), std::vector<double>{0});
    for (auto const member : varied) EXPECT_EQ(slope.parameters.*member, 0);
  }
}

TYPED_TEST(ForwardModelInDouble, HasDerivativesOfSeveralTimes) {
  auto const numbers = normal_numbers(side * side * side, 1),
             along = normal_numbers(side * side * side, 2);
  using Exec = typename TypeParam::Exec;
  auto const loss = misfit<TypeParam>(Assignment::pcs);
  auto const p = cosmology::planck18();
  ModelOf<TypeParam> const model(
      Exec{}, {.side = side, .box = 12, .simulation = steps(Stepper::bullfrog, Assignment::pcs)});
  std::vector<typename ModelOf<TypeParam>::Loss> const losses{
      {3, loss}, {0, loss}, {1, loss}, {3, loss}};
  auto const value_of = [&](std::vector<double> const& noise) {
    return model.value(field_of<TypeParam>(noise, side), p, losses);
  };
  auto const [value, slope] = model.value_and_grad(field_of<TypeParam>(numbers, side), p, losses);
  EXPECT_EQ(value, value_of(numbers));
  auto const found = doubles_of(slope.noise);
  double expected = 0;
  for (std::size_t c = 0; c < found.size(); ++c) expected += found[c] * along[c];
  double const by_noise = slope_of(
      [&](double by) {
        auto moved = numbers;
        for (std::size_t c = 0; c < moved.size(); ++c) moved[c] += by * along[c];
        return value_of(moved);
      },
      1e-4);
  EXPECT_NEAR(by_noise, expected, 1.5 * 5 * std::ldexp(value, -40) / 1e-4);
  // Twice the loss of the third step is twice its part.
  auto const once = model.value_and_grad(field_of<TypeParam>(numbers, side), p, {{3, loss}});
  auto const twice =
      model.value_and_grad(field_of<TypeParam>(numbers, side), p, {{3, loss}, {3, loss}});
  EXPECT_DOUBLE_EQ(twice.value, 2 * once.value);
  EXPECT_NEAR(twice.slope.parameters.sigma8, 2 * once.slope.parameters.sigma8,
              1e-12 * std::abs(once.slope.parameters.sigma8));
}

TYPED_TEST(ForwardModelOf, GivesTheSameBitsTwice) {
  using Exec = typename TypeParam::Exec;
  auto options = steps(Stepper::fastpm, Assignment::cic);
  options.deterministic = true;
  std::size_t const n = 12;
  ModelOf<TypeParam> const model(Exec{}, {.side = n, .box = 24, .simulation = options});
  auto const noise = field_of<TypeParam>(normal_numbers(n * n * n, 1), n);
  auto const loss = misfit<TypeParam>(Assignment::cic);
  auto const expect_same = [](auto const& first, auto const& second) {
    EXPECT_EQ(first.value, second.value);
    EXPECT_TRUE(same_bits(first.slope.noise, second.slope.noise));
    for (auto const member : varied)
      EXPECT_EQ(first.slope.parameters.*member, second.slope.parameters.*member);
  };
  auto const first = model.value_and_grad(noise, cosmology::planck18(), loss);
  expect_same(model.value_and_grad(noise, cosmology::planck18(), loss), first);
  // What the model keeps from one cosmology isn't taken for another.
  ModelOf<TypeParam> const other(Exec{}, {.side = n, .box = 24, .simulation = options});
  expect_same(model.value_and_grad(noise, cosmology::planck15(), loss),
              other.value_and_grad(noise, cosmology::planck15(), loss));
  expect_same(model.value_and_grad(noise, cosmology::planck18(), loss), first);
}

// What the test below runs on several numbers of threads: particles are sorted from 48 along a side
// on.
TEST(ForwardModelOnHost, PrintsADigestOfItsBits) {
  coir::testing::Digest digest;
  for (auto const stepper : {Stepper::fastpm, Stepper::bullfrog}) {
    using OnHost = coir::testing::Case<coir::testing::Host, float>;
    auto options = steps(stepper, Assignment::cic);
    options.scale_factors = scale_factors(0.1, 1, 6);
    options.deterministic = true;
    std::size_t const n = 48;
    ModelOf<OnHost> const model({}, {.side = n, .box = 96, .simulation = options});
    auto const noise = field_of<OnHost>(normal_numbers(n * n * n, 1), n);
    auto const [value, slope] =
        model.value_and_grad(noise, cosmology::planck18(), misfit<OnHost>(Assignment::cic));
    digest.add_number(value);
    digest.add(slope.noise);
    for (auto const member : varied) digest.add_number(slope.parameters.*member);
  }
  digest.print();
}

TEST(ForwardModelOnHost, HasTheSameBitsForAnyThreadCount) {
  coir::testing::expect_same_digests("ForwardModelOnHost.PrintsADigestOfItsBits");
}

TYPED_TEST(ForwardModelOf, TakesAnyLossOfTheDensity) {
  TYPES_OF_CASE;
  auto const noise = field_of<TypeParam>(normal_numbers(side * side * side, 1), side);
  ModelOf<TypeParam> const model(
      Exec{}, {.side = side, .box = 12, .simulation = steps(Stepper::fastpm, Assignment::tsc)});
  auto const loss = misfit<TypeParam>(Assignment::tsc);
  // The same misfit, written by hand for hosts.
  auto const by_hand = [&](auto const& density, auto const& slope) {
    auto const found = doubles_of(density), target = doubles_of(loss.target);
    auto const host = Kokkos::create_mirror_view(slope);
    long double sum = 0;  // in a double, one after the other, terms would be rounded too often
    for (std::size_t c = 0; c < found.size(); ++c) {
      sum += 1.5 * (found[c] - target[c]) * (found[c] - target[c]);
      host.data()[c] = static_cast<T>(3 * (found[c] - target[c]));
    }
    Kokkos::deep_copy(slope, host);
    return static_cast<double>(sum);
  };
  auto const a = model.value_and_grad(noise, cosmology::planck18(), loss);
  auto const b = model.value_and_grad(noise, cosmology::planck18(),
                                      DensityLoss{cells, by_hand, Assignment::tsc});
  double const eps = std::numeric_limits<T>::epsilon();
  // Differences are rounded to T by the misfit alone: by 1.5 eps with its product. What differs is
  // rounded otherwise in four steps and at the start, a few times each.
  EXPECT_NEAR(a.value, b.value, 4 * eps * a.value);
  auto const slope_a = doubles_of(a.slope.noise), slope_b = doubles_of(b.slope.noise);
  double difference = 0, size = 0;
  for (std::size_t c = 0; c < slope_a.size(); ++c) {
    difference += std::pow(slope_a[c] - slope_b[c], 2);
    size += std::pow(slope_a[c], 2);
  }
  EXPECT_LE(std::sqrt(difference), 16 * eps * std::sqrt(size));
  EXPECT_NEAR(a.slope.parameters.sigma8, b.slope.parameters.sigma8,
              16 * eps * std::abs(a.slope.parameters.sigma8));
}

TYPED_TEST(ForwardModelOf, TakesSumsOfLosses) {
  TYPES_OF_CASE;
  ModelOf<TypeParam> const model(
      Exec{}, {.side = side, .box = 12, .simulation = steps(Stepper::fastpm, Assignment::tsc)});
  auto const noise = field_of<TypeParam>(normal_numbers(side * side * side, 1), side);
  auto const p = cosmology::planck18();
  auto const of_density = misfit<TypeParam>(Assignment::tsc);
  nbody::PowerMisfit const of_power{.target = {1, 2, 3}, .inverse_variance = {1, 1, 1}};
  auto const sum = [&](Particles<Exec, T> const& particles, Cotangents<Exec, T> const& cotangents) {
    return of_density(particles, cotangents) + of_power(particles, cotangents);
  };
  auto const once = model.value_and_grad(noise, p, sum);
  auto const listed = model.value_and_grad(noise, p, {{4, of_density}, {4, of_power}});
  double const eps = std::numeric_limits<T>::epsilon();
  EXPECT_NEAR(once.value, listed.value, 4 * eps * listed.value);
  // Sums of the same derivatives in another order; on the way back each of four steps rounds them
  // again.
  auto const a = doubles_of(once.slope.noise), b = doubles_of(listed.slope.noise);
  double largest = 0;
  for (double const number : b) largest = std::max(largest, std::abs(number));
  EXPECT_GT(largest, 0);
  for (std::size_t c = 0; c < a.size(); ++c) EXPECT_NEAR(a[c], b[c], 1000 * eps * largest);
}

// The slope is given as zeros, so that a loss may add to it, or leave cells out.
TYPED_TEST(ForwardModelOf, TakesLossesOfSomeCells) {
  using Exec = typename TypeParam::Exec;
  ModelOf<TypeParam> const model(
      Exec{}, {.side = side, .box = 12, .simulation = steps(Stepper::fastpm, Assignment::tsc)});
  auto const noise = field_of<TypeParam>(normal_numbers(side * side * side, 1), side);
  auto const of_none = [](auto const&, auto const&) { return 1.0; };
  for (int repetition = 0; repetition < 2; ++repetition) {
    auto const slope =
        model.value_and_grad(noise, cosmology::planck18(), DensityLoss{cells, of_none}).slope;
    for (double const number : doubles_of(slope.noise)) ASSERT_EQ(number, 0);
    // Memory that is used again holds other numbers.
    static_cast<void>(
        model.value_and_grad(noise, cosmology::planck18(), misfit<TypeParam>(Assignment::cic)));
  }
}

TYPED_TEST(ForwardModelOf, LooksAtNoTargetWhereTheWeightIsZero) {
  TYPES_OF_CASE;
  ModelOf<TypeParam> const model(Exec{}, {.side = side,
                                          .box = 12,
                                          .simulation = {.scale_factors = scale_factors(0.1, 1, 4),
                                                         .assignment = Assignment::tsc,
                                                         .deterministic = true}});
  auto const noise = field_of<TypeParam>(normal_numbers(side * side * side, 1), side);
  std::vector<double> mask(cells * cells * cells, 1), target = normal_numbers(mask.size(), 5);
  mask[3] = mask[77] = 0;
  auto const weight = field_of<TypeParam>(mask, cells);
  auto const loss_of = [&] {
    return DensityMisfit<Exec, T>{.target = field_of<TypeParam>(target, cells),
                                  .weight = weight,
                                  .assignment = Assignment::tsc};
  };
  auto const a = model.value_and_grad(noise, cosmology::planck18(), loss_of());
  target[3] = std::numeric_limits<double>::quiet_NaN();
  target[77] = std::numeric_limits<double>::infinity();
  auto const b = model.value_and_grad(noise, cosmology::planck18(), loss_of());
  EXPECT_EQ(a.value, b.value);
  EXPECT_TRUE(same_bits(a.slope.noise, b.slope.noise));
}

TYPED_TEST(ForwardModelOf, KeepsWithinItsMemory) {
  TYPES_OF_CASE;
  std::size_t const n = 48;  // particles are sorted
  auto const noise = field_of<TypeParam>(normal_numbers(n * n * n, 1), n);
  auto const momenta = [](Particles<Exec, T> const& particles,
                          Cotangents<Exec, T> const& cotangents) {
    Kokkos::deep_copy(cotangents.momentum, particles.momentum);
    return 1.0;
  };
  for (double ratio : {1.0, 2.0})
    for (int losses : {1, 2}) {
      auto options = steps(Stepper::fastpm, Assignment::cic);
      options.mesh_ratio = ratio;
      ModelOf<TypeParam> const model(Exec{}, {.side = n, .box = 96, .simulation = options});
      MemoryPool<typename Exec::memory_space>::release();
      coir::testing::HeldMemory const held;
      std::vector<typename ModelOf<TypeParam>::Loss> all{{4, momenta}, {2, momenta}};
      all.resize(static_cast<std::size_t>(losses));
      static_cast<void>(model.value_and_grad(noise, cosmology::planck18(), all));
      auto const slope = static_cast<std::int64_t>(n * n * n * sizeof(T));
      std::int64_t const kept = runs_on_host<Exec> ? 0 : model.bytes(losses);
      EXPECT_LE(held.peak() - slope, model.bytes(losses) + kept) << ratio << ' ' << losses;
      EXPECT_GE(held.peak() - slope, model.bytes(losses) * 8 / 10) << ratio << ' ' << losses;
    }
}

TYPED_TEST(ForwardModelOf, KeepsNoPotentialsForValues) {
  using Exec = typename TypeParam::Exec;
  auto const noise = field_of<TypeParam>(normal_numbers(side * side * side, 1), side);
  std::int64_t peak[2];
  for (bool const keep : {false, true}) {
    SimulationOptions const options{
        .scale_factors = scale_factors(0.1, 1, 20), .mesh_ratio = 2, .keep_potentials = keep};
    ModelOf<TypeParam> const model(Exec{}, {.side = side, .box = 12, .simulation = options});
    MemoryPool<typename Exec::memory_space>::release();
    coir::testing::HeldMemory const held;
    static_cast<void>(model.run(noise, cosmology::planck18()));
    peak[keep] = held.peak();
  }
  EXPECT_EQ(peak[0], peak[1]);
}

TYPED_TEST(ForwardModelOf, NamesWhatIsWrong) {
  TYPES_OF_CASE;
  SimulationOptions const options = steps(Stepper::fastpm, Assignment::cic);
  using Model = ModelOf<TypeParam>;
  EXPECT_THROW(Model(Exec{}, {.side = 0, .box = 1, .simulation = options}), PreconditionError);
  EXPECT_THROW(Model(Exec{}, {.side = 4, .box = 0, .simulation = options}), PreconditionError);
  EXPECT_THROW(Model(Exec{}, {.side = 4, .box = 1, .order = 3, .simulation = options}),
               PreconditionError);
  EXPECT_THROW(Model(Exec{}, {.side = 4, .box = 1}), PreconditionError);
  Model const model(Exec{}, {.side = side, .box = 12, .simulation = options});
  auto const noise = field_of<TypeParam>(normal_numbers(side * side * side, 1), side);
  auto const p = cosmology::planck18();
  auto const nan = [](Particles<Exec, T> const&, Cotangents<Exec, T> const&) {
    return std::numeric_limits<double>::quiet_NaN();
  };
  EXPECT_NE(message_of<NumericalError>([&] {
              model.value_and_grad(noise, p, nan);
            }).find("the loss is nan"),
            std::string::npos);
  auto const nan_slope = [](Particles<Exec, T> const&, Cotangents<Exec, T> const& cotangents) {
    Kokkos::deep_copy(cotangents.momentum, std::numeric_limits<T>::quiet_NaN());
    return 1.0;
  };
  EXPECT_NE(message_of<NumericalError>([&] {
              model.value_and_grad(noise, p, nan_slope);
            }).find("a derivative of the loss"),
            std::string::npos);
  // Twice the largest number there is.
  auto const large_slope = [](Particles<Exec, T> const&, Cotangents<Exec, T> const& cotangents) {
    Kokkos::deep_copy(Kokkos::subview(cotangents.position, 1, Kokkos::ALL),
                      std::numeric_limits<T>::max());
    return 1.0;
  };
  EXPECT_NE(message_of<NumericalError>([&] {
              model.value_and_grad(noise, p, {{0, large_slope}, {0, large_slope}});
            }).find("by the noise or by a parameter overflows"),
            std::string::npos);
  std::vector<double> numbers = normal_numbers(side * side * side, 1);
  for (double const number :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    numbers[77] = number;
    EXPECT_NE(message_of<NumericalError>([&] {
                model.run(field_of<TypeParam>(numbers, side), p);
              }).find("the noise is infinite or no number"),
              std::string::npos);
  }
  DensityMisfit<Exec, T> const flat{.target = FieldOf<TypeParam>("flat", 4, 4, 3)},
      uneven{.target = FieldOf<TypeParam>("target", 4, 4, 4),
             .weight = FieldOf<TypeParam>("weight", 3, 3, 3)};
  EXPECT_NE(message_of([&] { model.value_and_grad(noise, p, flat); }).find("4 x 4 x 3"),
            std::string::npos);
  EXPECT_THROW(model.value_and_grad(noise, p, uneven), PreconditionError);
  EXPECT_THROW(model.value_and_grad(FieldOf<TypeParam>("few", 4, 4, 4), p,
                                    misfit<TypeParam>(Assignment::cic)),
               PreconditionError);
  EXPECT_THROW(model.value_and_grad(noise, p, std::vector<typename Model::Loss>{}),
               PreconditionError);
  for (int const after : {-1, 5})
    EXPECT_EQ(message_of([&] { model.value_and_grad(noise, p, {{after, nan}}); }),
              "a loss must be after 0 to 4 steps, not " + std::to_string(after));
  EXPECT_EQ(message_of([&] { model.value_and_grad(noise, p, DensityMisfit<Exec, T>{}); }),
            "the density of a loss must have at least one cell along a side, not 0");
  EXPECT_THROW(model.value(noise, p, {{5, nan}}), PreconditionError);
  EXPECT_NE(message_of([&] { model.value_and_grad(noise, p, {{1, nullptr}}); }).find("empty"),
            std::string::npos);
}
