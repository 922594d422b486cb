// Views of any layout, for noise, its slopes, and the targets of losses: the bits that LayoutRight
// gets.

#include <coir/cosmology/parameters.hpp>
#include <coir/nbody/forward_model.hpp>
#include <coir/nbody/initial_conditions.hpp>
#include <coir/nbody/initial_conditions_pull_back.hpp>
#include <coir/nbody/losses.hpp>

#include <nbody/universe.hpp>
#include <support/layouts.hpp>
#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

using namespace coir::testing;
namespace nbody = coir::nbody;

namespace {

COIR_TYPED_SUITE(NbodyLayouts);

constexpr std::int64_t n = 5;
constexpr double box_length = 50;
using Extents = std::array<std::int64_t, 3>;
constexpr Extents sites{n, n, n}, halved{n, n, n / 2 + 1};

/// f(std::integral_constant<Laid, ...>) for each layout but LayoutRight.
template <class F>
void for_other_layouts(F const& f) {
  f(std::integral_constant<Laid, Laid::left>{});
  f(std::integral_constant<Laid, Laid::with_gaps>{});
  f(std::integral_constant<Laid, Laid::apart>{});
  f(std::integral_constant<Laid, Laid::turned>{});
}

/// Elements in C order.
template <class V>
auto elements_of(V const& view) {
  auto const host =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, copy_as<Laid::right>(view));
  return std::vector<typename V::non_const_value_type>(host.data(), host.data() + host.size());
}

/// Normal numbers in LayoutRight, about a mean.
template <class C>
auto normal(Extents const& extents, double mean, unsigned seed) {
  using T = typename C::Real;
  auto const view = allocate<Laid::right, T, typename C::Exec::memory_space>(extents);
  auto const host = Kokkos::create_mirror_view(view);
  std::mt19937 generator(seed);
  std::normal_distribution<double> distribution(mean, 1);
  for (std::size_t i = 0; i < host.size(); ++i)
    host.data()[i] = static_cast<T>(distribution(generator));
  Kokkos::deep_copy(view, host);
  return view;
}

template <class Particles>
auto phase_space(Particles const& particles) {
  return std::pair(elements_of(particles.position), elements_of(particles.momentum));
}

template <class C>
nbody::ForwardModel<typename C::Exec, typename C::Real> model() {
  return {typename C::Exec{},
          {.side = n,
           .box = box_length,
           .simulation = {.scale_factors = nbody::scale_factors(0.1, 1, 2),
                          .mesh_ratio = 1,
                          .deterministic = true}}};
}

}  // namespace

TYPED_TEST(NbodyLayouts, WhiteNoiseIsWrittenToAny) {
  TYPES_OF_CASE;
  auto const right = allocate<Laid::right, Kokkos::complex<T>, Space>(halved);
  nbody::white_noise<Exec, T>(Exec{}, {.seed = 3}, right);
  auto const expected = elements_of(right);
  for_other_layouts([&]<Laid L>(std::integral_constant<Laid, L>) {
    auto const other = allocate<L, Kokkos::complex<T>, Space>(halved);
    nbody::white_noise<Exec, T>(Exec{}, {.seed = 3}, other);
    EXPECT_EQ(elements_of(other), expected) << coir::testing::name_of(L);
  });
}

TYPED_TEST(NbodyLayouts, InitialConditionsTakeNoiseOfAny) {
  TYPES_OF_CASE;
  auto const noise = normal<TypeParam>(sites, 0, 1);
  auto const modes = allocate<Laid::right, Kokkos::complex<T>, Space>(halved);
  nbody::white_noise<Exec, T>(Exec{}, {.seed = 3}, modes);
  auto const start = [&](int order, auto const& of) {
    return phase_space(
        nbody::initial_conditions<Exec, T>(Exec{}, n, box_length, lcdm(), 0.1, order, of));
  };
  for (int const order : {1, 2}) {
    auto const of_noise = start(order, noise);
    auto const of_modes = start(order, copy_as<Laid::right>(modes));
    for_other_layouts([&]<Laid L>(std::integral_constant<Laid, L>) {
      EXPECT_EQ(start(order, copy_as<L>(noise)), of_noise) << coir::testing::name_of(L);
      EXPECT_EQ(start(order, copy_as<L>(modes)), of_modes) << coir::testing::name_of(L);
    });
  }
}

TYPED_TEST(NbodyLayouts, PullBacksTakeAndWriteAny) {
  TYPES_OF_CASE;
  auto const noise = normal<TypeParam>(sites, 0, 1);
  auto const of_particle = normal<TypeParam>({n, n * n, 3}, 0, 2);
  using Cotangents = nbody::Cotangents<Exec, T>;
  typename Cotangents::Vectors const vectors(of_particle.data(), n * n * n);
  Cotangents const cotangents{vectors, vectors};
  auto const slopes = [&](auto const& of, auto const& slope, bool with_cosmology) {
    double of_omega_m = 0;
    if (with_cosmology)
      of_omega_m = nbody::initial_conditions_pull_back<Exec, T>(Exec{}, n, box_length, lcdm(), 0.1,
                                                                2, of, cotangents, slope)
                       .omega_m;
    else
      nbody::initial_conditions_noise_pull_back<Exec, T>(Exec{}, n, box_length, lcdm(), 0.1, 2, of,
                                                         cotangents, slope);
    return std::pair(elements_of(slope), of_omega_m);
  };
  for (bool const with_cosmology : {false, true}) {
    auto const expected = slopes(noise, allocate<Laid::right, T, Space>(sites), with_cosmology);
    for_other_layouts([&]<Laid L>(std::integral_constant<Laid, L>) {
      EXPECT_EQ(slopes(copy_as<L>(noise), allocate<L, T, Space>(sites), with_cosmology), expected)
          << coir::testing::name_of(L);
    });
  }
}

TYPED_TEST(NbodyLayouts, ForwardModelsTakeNoiseAndTargetsOfAny) {
  TYPES_OF_CASE;
  auto const of = model<TypeParam>();
  auto const noise = normal<TypeParam>(sites, 0, 1);
  auto const target = normal<TypeParam>({3, 3, 3}, 1, 2);
  auto const weight = normal<TypeParam>({3, 3, 3}, 5, 3);
  auto const parameters = coir::cosmology::planck18();
  using Misfit = nbody::DensityMisfit<Exec, T>;
  Misfit const loss{.target = target, .inverse_variance = 2, .weight = weight};
  auto const expected = of.value_and_grad(noise, parameters, loss);
  EXPECT_GT(expected.value, 0);
  for_other_layouts([&]<Laid L>(std::integral_constant<Laid, L>) {
    SCOPED_TRACE(coir::testing::name_of(L));
    auto const other = copy_as<L>(noise);
    EXPECT_EQ(phase_space(of.run(other, parameters)), phase_space(of.run(noise, parameters)));
    Misfit const other_loss{
        .target = copy_as<L>(target), .inverse_variance = 2, .weight = copy_as<L>(weight)};
    EXPECT_EQ(of.value(other, parameters, other_loss), expected.value);
    EXPECT_EQ(of.value(other, parameters, {{2, other_loss}}), expected.value);
    auto const found = of.value_and_grad(other, parameters, other_loss);
    EXPECT_EQ(found.value, expected.value);
    EXPECT_EQ(elements_of(found.slope.noise), elements_of(expected.slope.noise));
    EXPECT_EQ(found.slope.parameters.sigma8, expected.slope.parameters.sigma8);
  });
}

// A copy is looked at as a whole, and its gaps aren't.
TYPED_TEST(NbodyLayouts, NumbersThatAreNotFiniteAreFoundInNoiseOfAny) {
  using T = typename TypeParam::Real;
  auto const noise = normal<TypeParam>(sites, 0, 1);
  Kokkos::deep_copy(Kokkos::subview(noise, 4, 4, 4), std::numeric_limits<T>::infinity());
  for_other_layouts([&]<Laid L>(std::integral_constant<Laid, L>) {
    EXPECT_THROW(
        static_cast<void>(model<TypeParam>().run(copy_as<L>(noise), coir::cosmology::planck18())),
        coir::NumericalError);
  });
}

TYPED_TEST(NbodyLayouts, WhatLiesBesideAPartIsNotWritten) {
  TYPES_OF_CASE;
  using Range = std::pair<int, int>;
  auto const larger =
      allocate<Laid::left, Kokkos::complex<T>, typename Exec::memory_space>(Extents{n + 1, n, 4});
  Kokkos::deep_copy(larger, Kokkos::complex<T>(-1));
  nbody::white_noise<Exec, T>(Exec{}, {},
                              Kokkos::subview(larger, Range(1, n + 1), Kokkos::ALL, Range(1, 4)));
  auto const found = elements_of(larger);
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(found[i] == Kokkos::complex<T>(-1), i < std::size_t{4 * n} || i % 4 == 0) << i;
}

TYPED_TEST(NbodyLayouts, WhatIsWrittenHasElementsOfItsOwn) {
  TYPES_OF_CASE;
  Kokkos::View<Kokkos::complex<T>*, Space> const memory("memory", 100);
  Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutStride, Space> const modes(
      memory.data(), Kokkos::LayoutStride(n, 0, n, 3, 3, 1));
  EXPECT_EQ(message_of([&] { nbody::white_noise<Exec, T>(Exec{}, {}, modes); }),
            "the spectrum of white noise with strides 0, 3, 1 has elements in the same place and "
            "can't be written: copy it first");
}
