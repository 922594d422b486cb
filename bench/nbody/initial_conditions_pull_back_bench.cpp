// Second-order Lagrangian perturbation theory from white noise, its pull-back to the noise, and
// that to the noise and the parameters, made in turns in the same process, with particles 1 Mpc/h
// apart, in float. An iteration is the last of them.

#include <support/memory.hpp>
#include <support/timing.hpp>

#include <coir/cosmology/parameters.hpp>
#include <coir/cosmology/power.hpp>
#include <coir/nbody/initial_conditions_pull_back.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace coir::bench {

namespace {

using Sites = Kokkos::View<float***, Kokkos::LayoutRight, Memory>;

/// Numbers of white noise's size, though not as random: times don't depend on them.
template <class View>
void fill(View const& view) {
  auto const host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < host.size(); ++i)
    host.data()[i] = static_cast<float>(1.4 * std::sin(0.7 * static_cast<double>(i * i % 1000003)));
  Kokkos::deep_copy(view, host);
}

void pull_back(benchmark::State& state) {
  constexpr double a = 0.1;
  constexpr int order = 2;
  std::int64_t const side = state.range(0), particles = side * side * side;
  auto const box = double(side);
  Space const exec;
  double const arguments = 8 * double(sizeof(float)) * double(particles);
  std::int64_t const needed =
      std::max(nbody::initial_conditions_bytes<Space, float>(exec, {}, side),
               nbody::initial_conditions_pull_back_bytes<Space, float>(exec, {}, side));
  if (!fits(state, double(needed) + arguments)) return;
  cosmology::LinearPower<double> const power(cosmology::simple_lcdm());
  Sites const noise("noise", side, side, side), slope("slope", side, side, side);
  using Vectors = nbody::Cotangents<Space, float>::Vectors;
  nbody::Cotangents<Space, float> const cotangents{Vectors("of_position", particles),
                                                   Vectors("of_momentum", particles)};
  fill(noise);
  fill(cotangents.position);
  fill(cotangents.momentum);

  auto const [forward, of_noise, seconds] = time_works(
      state, exec,
      [&] { nbody::initial_conditions<Space, float>(exec, side, box, power, a, order, noise); },
      [&] {
        nbody::initial_conditions_noise_pull_back<Space, float>(exec, side, box, power, a, order,
                                                                noise, cotangents, slope);
      },
      [&] {
        nbody::initial_conditions_pull_back<Space, float>(exec, side, box, power, a, order, noise,
                                                          cotangents, slope);
      });
  state.counters["seconds"] = seconds;
  state.counters["ns/particle"] = 1e9 * seconds / double(particles);
  state.counters["noise_alone"] = of_noise;
  state.counters["forward"] = forward;
  state.counters["noise_alone/forward"] = of_noise / forward;
  state.counters["both/forward"] = seconds / forward;
}

BENCHMARK(pull_back)
    ->Name("2lpt_pull_back")
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Args({64})
    ->Args({128})
    ->Args({256})
    ->Args({512});

}  // namespace

}  // namespace coir::bench
