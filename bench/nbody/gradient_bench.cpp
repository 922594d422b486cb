// A loss of particles after a simulation, and its derivatives with respect to white noise and
// cosmology.
//
// Particles 1 Mpc/h apart start by perturbation theory of second order and make equal steps to a =
// 1, twenty from 0.1 or 63 from 1/64, in float; the loss is the squared distance of their
// density from a mesh of ones. An iteration is the loss alone, "value", and the loss with all
// derivatives, "value_and_grad", in turns in the same process; the time is that of the latter.
// Counters are medians in seconds. bench/peers/pmwd_gradient.py does the same. "posterior" is what
// a sampler calls: FieldTarget, ten steps of BullFrog, potentials kept, and two parameters of the
// cosmology, or none.

#include <support/memory.hpp>
#include <support/timing.hpp>

#include <coir/cosmology/parameters.hpp>
#include <coir/mesh/force_kernel.hpp>
#include <coir/nbody/field_target.hpp>
#include <coir/nbody/forward_model.hpp>
#include <coir/nbody/losses.hpp>
#include <coir/nbody/simulation.hpp>
#include <coir/nbody/stepper.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace coir::bench {

namespace {

using Model = nbody::ForwardModel<Space, float>;
Model::Field new_field(std::int64_t cells) {
  auto const n = static_cast<std::size_t>(cells);
  return Model::Field(Kokkos::view_alloc(Kokkos::WithoutInitializing, "field"), n, n, n);
}

Model::Field white_noise(std::int64_t side) {
  auto const noise = new_field(side);
  auto const noise_h = Kokkos::create_mirror_view(noise);
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i < noise_h.size(); ++i) noise_h.data()[i] = normal(random);
  Kokkos::deep_copy(noise, noise_h);
  return noise;
}

void differentiate(benchmark::State& state, nbody::SimulationOptions simulation) {
  std::int64_t const side = state.range(0), cells = side * state.range(1);
  simulation.mesh_ratio = double(state.range(1));
  int const steps = int(state.range(2));
  simulation.scale_factors = nbody::scale_factors(steps == 63 ? 1. / 64 : 0.1, 1, steps);
  Space const exec;
  nbody::ForwardModelOptions options;
  options.side = side;
  options.box = double(side);
  options.simulation = std::move(simulation);
  Model const model(exec, options);
  double const particles = double(side) * double(side) * double(side);
  double const mesh = double(cells) * double(cells) * double(cells);
  if (!fits(state, double(model.bytes()) + double(sizeof(float)) * (2 * particles + 3 * mesh)))
    return;
  auto const noise = white_noise(side);
  auto const ones = new_field(cells);
  Kokkos::deep_copy(ones, 1.f);
  nbody::DensityMisfit<Space, float> const loss{.target = ones, .inverse_variance = 1 / mesh};
  auto const parameters = cosmology::simple_lcdm();

  auto const [value, seconds] = time_works(
      state, exec, [&] { benchmark::DoNotOptimize(model.value(noise, parameters, loss)); },
      [&] { benchmark::DoNotOptimize(model.value_and_grad(noise, parameters, loss).value); });
  state.counters["value"] = value;
  state.counters["value_and_grad"] = seconds;
  state.counters["gradient/value"] = seconds / value;
  state.counters["ns/particle/step"] = 1e9 * seconds / (particles * steps);
}

/// \param cosmology_too  whether parameters of the cosmology are sampled, which then differ from
///   call to call
void posterior(benchmark::State& state, bool cosmology_too) {
  std::int64_t const side = state.range(0);
  auto const n = static_cast<std::size_t>(side);
  double const sites = double(side) * double(side) * double(side);
  nbody::ForwardModelOptions options{.side = side, .box = double(side)};
  options.simulation.scale_factors = nbody::scale_factors(0.1, 1, 10);
  options.simulation.stepper = nbody::Stepper::bullfrog;
  options.simulation.mesh_ratio = 1;
  options.simulation.keep_potentials = true;
  Space const exec;
  Model const model(exec, options);
  if (!fits(state, double(model.bytes()) + sites * (15 * sizeof(float) + 3 * sizeof(double))))
    return;
  auto const ones = new_field(side);
  Kokkos::deep_copy(ones, 1.f);
  using P = cosmology::Parameters<double>;
  std::vector<nbody::VariedParameter> varied;
  if (cosmology_too) varied = {{&P::omega_m, 0.3, 0.01}, {&P::sigma8, 0.8, 0.01}};
  nbody::FieldTarget const target(exec, model, cosmology::planck18(),
                                  nbody::DensityMisfit<Space, float>{.target = ones}, varied);
  using Numbers = Kokkos::View<double*, Space::memory_space>;
  auto const size = n * n * n + varied.size();
  Numbers const thetas[2] = {Numbers("theta", size), Numbers("theta", size)}, slope("slope", size);
  auto const theta_h = Kokkos::create_mirror_view(thetas[0]);
  auto const noise_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), white_noise(side));
  for (std::size_t i = 0; i < noise_h.size(); ++i) theta_h(i) = double(noise_h.data()[i]);
  for (int which = 0; which < 2; ++which) {
    for (std::size_t k = n * n * n; k < size; ++k) theta_h(k) = which;
    Kokkos::deep_copy(thetas[which], theta_h);
  }
  int call = 0;
  int const calls = time_batches_of(
      state, exec, 0, [&] { benchmark::DoNotOptimize(target(thetas[call++ % 2], slope)); });
  state.counters["gradients/s"] =
      benchmark::Counter(calls, benchmark::Counter::kIsIterationInvariantRate);
}

void all_sizes(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Unit(benchmark::kMillisecond);
  for (std::int64_t const ratio : {1, 2})
    for (std::int64_t const side : {32, 64, 128, 256}) bench->Args({side, ratio, 20});
  bench->Args({512, 1, 20});
}

/// Memory doesn't grow with the number of steps.
void all_sizes_and_steps(benchmark::internal::Benchmark* bench) {
  all_sizes(bench);
  bench->Args({256, 1, 63})->Args({512, 1, 63});
}

BENCHMARK_CAPTURE(differentiate, fastpm, {})->Name("fastpm")->Apply(all_sizes_and_steps);
BENCHMARK_CAPTURE(differentiate, kept, {.keep_potentials = true})
    ->Name("fastpm,potentials kept")
    ->Apply(all_sizes_and_steps);
BENCHMARK_CAPTURE(differentiate, naive, {.kernel = mesh::ForceKernel::naive})
    ->Name("fastpm,naive")
    ->Apply(all_sizes);
BENCHMARK_CAPTURE(differentiate, bullfrog, {.stepper = nbody::Stepper::bullfrog})
    ->Name("bullfrog")
    ->Apply(all_sizes);
void posterior_sizes(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Unit(benchmark::kMillisecond)->Arg(32)->Arg(128);
}
BENCHMARK_CAPTURE(posterior, noise, false)->Name("posterior,noise alone")->Apply(posterior_sizes);
BENCHMARK_CAPTURE(posterior, cosmology, true)->Name("posterior")->Apply(posterior_sizes);

}  // namespace

}  // namespace coir::bench
