// A universe in a program that value_and_grad differentiates.

#include <coir/array/all.hpp>
#include <coir/autodiff/array_grad.hpp>
#include <coir/nbody/arrays.hpp>

#include <gtest/gtest.h>

#include <cmath>

// The derivatives of a sum of positions and momenta, each times a weight, by the noise's amplitude
// and the parameters, beside those of the model with the same loss written by hand.
TEST(NbodyArrays, ForwardModelInAProgram) {
  using Exec = Kokkos::DefaultExecutionSpace;
  namespace nbody = coir::nbody;
  nbody::ForwardModel<Exec, double> const model(
      Exec{},
      {.side = 4, .box = 8, .simulation = {.scale_factors = {0.1, 0.4, 1}, .mesh_ratio = 1}});
  coir::Array<double, 3> const noise =
      sin(reshape(coir::linspace<double>(0, 100, 64), {4, 4, 4})) * std::sqrt(2.0);
  coir::Array<double, 3> const weights =
      cos(reshape(coir::linspace<double>(0, 9, 384), {2, 64, 3}));
  auto const parameters = coir::cosmology::planck18();
  auto const particles = nbody::particles_of(model);
  auto const [value, slopes] = coir::value_and_grad([&](auto amplitude, auto p) {
    return sum(particles(amplitude * noise, p) * weights);
  })(coir::ones<double>(1, 1, 1), coir::cosmology::array_of(parameters));
  auto const& [of_amplitude, of_parameters] = slopes;

  auto const by_hand =
      model.value_and_grad(noise.view(), parameters, [&](auto const& at, auto const& to) {
        auto position = coir::borrow(to.position), momentum = coir::borrow(to.momentum);
        position = weights(0);
        momentum = weights(1);
        return sum(coir::borrow(at.position) * weights(0)) +
               sum(coir::borrow(at.momentum) * weights(1));
      });
  EXPECT_NEAR(value, by_hand.value, 1e-12 * std::abs(by_hand.value));
  double const along = sum(coir::borrow(by_hand.slope.noise) * noise);
  EXPECT_NEAR(of_amplitude(0, 0, 0), along, 1e-12 * std::abs(along));
  auto const expected = coir::cosmology::array_of(by_hand.slope.parameters);
  EXPECT_LT(max(abs(of_parameters - expected)), 1e-12 * max(abs(expected)));
  EXPECT_GT(max(abs(expected)), 0);
}
