#pragma once

#include "lpt.hpp"
#include "universe_tables.hpp"
#include "white_noise.hpp"

#include <coir/core/kept_views.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/strided.hpp>
#include <coir/distributed/share.hpp>
#include <coir/distributed/together.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/nbody/detail/checks.hpp>
#include <coir/nbody/detail/staged_field.hpp>
#include <coir/nbody/initial_conditions.hpp>
#include <coir/nbody/noise_file.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace coir::nbody {

namespace detail {

/// Meshes that particles_of() works in, with that of its noise.
inline constexpr std::int64_t meshes_of_start = 5;

/// The particles of this rank's planes of the lattice, without values.
///
/// \param kept  whether in memory of kept_view()
template <class Exec, class T>
Particles<Exec, T> allocate_particles(Exec const& exec, std::int64_t side, double box,
                                      distributed::Share const& planes, bool kept) {
  Particles<Exec, T> particles{side, box, {}, {}};
  particles.sites = {planes.first * side * side, planes.count * side * side};
  using Vectors = typename Particles<Exec, T>::Vectors;
  std::string const label = "coir::nbody::initial_conditions/particles";
  for (auto* vectors : {&particles.position, &particles.momentum}) {
    if (kept) {
      *vectors = kept_view<Vectors>(exec, label, particles.count());
      continue;
    }
    *vectors = Vectors(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), particles.count());
    if constexpr (runs_on_host<Exec>)
      ask_for_large_pages(vectors->data(),
                          3 * particles.count() * static_cast<std::int64_t>(sizeof(T)));
  }
  return particles;
}

/// Particles from white noise in Fourier space, which is overwritten.
template <class Exec, class T>
Particles<Exec, T> particles_of(Exec const& exec, Lpt<Exec, T> const& lpt, Universe const& universe,
                                int order, Kokkos::complex<T>* noise, bool kept = false) {
  std::int64_t const side = universe.side;
  auto const& factors = universe.factors;
  auto const log_amplitude = amplitudes_for(exec, universe.table);
  lpt.colour(amplitudes_of(universe.table, log_amplitude), noise);

  auto meshes = lpt.meshes(order == 1 ? 3 : 4);
  auto &x = meshes[0], &y = meshes[1], &z = meshes[2];
  if (order == 2) {
    auto& source = meshes[3];
    lpt.second_order_source(noise, source, x, y, z);
    for_each("coir::nbody::initial_conditions/combine", exec,
             coir::box<1, std::int64_t>({side * lpt.rows().count * (side / 2 + 1)}),
             Combine<T>{noise, source.data, static_cast<T>(factors.d1), static_cast<T>(factors.d2),
                        static_cast<T>(factors.p1), static_cast<T>(factors.p2)});
  }
  auto const particles = distributed::together(lpt.group(), [&] {  // while devices work
    return allocate_particles<Exec, T>(exec, side, universe.box, lpt.planes(), kept);
  });
  T *const position = particles.position.data(), *const momentum = particles.momentum.data();
  if (order == 1) {
    lpt.displace(noise, x, y, z, position, momentum, factors.d1, factors.p1, universe.box);
  } else {
    lpt.displace(noise, x, y, z, position, nullptr, 1, 0, universe.box);
    lpt.displace(meshes[3].data, x, y, z, nullptr, momentum, 0, 1, universe.box);
  }
  exec.fence();
  return particles;
}

/// Particles from white noise in real space.
template <class Exec, class T>
Particles<Exec, T> particles_from_sites(
    Exec const& exec, distributed::Group const& group, Universe const& universe, int order,
    Kokkos::View<T const***, Kokkos::LayoutStride, typename Exec::memory_space> const& noise,
    bool kept) {
  std::int64_t const side = universe.side;
  auto const sites = distributed::together(group, [&] {
    expects_sites("the noise", noise, group, side);
    expects_memory<typename Exec::memory_space>(
        Lpt<Exec, T>::bytes(group, side, meshes_of_start, true),
        "the initial conditions of " + std::to_string(side) + "^3 particles");
    return staged_field(exec, "the noise", noise, Access::read);
  });
  Lpt<Exec, T> const lpt(exec, group, side, universe.box);
  auto const modes = lpt.modes_of(sites.elements().data);
  return particles_of<Exec, T>(exec, lpt, universe, order, modes.data, kept);
}

template <CompiledSpace Exec, Real T>
Particles<Exec, T> kept_initial_conditions(
    Exec const& exec, distributed::Group const& group, Universe const& universe, int order,
    Kokkos::View<T const***, Kokkos::LayoutStride, typename Exec::memory_space> const& noise) {
  expects_alike_start(group, universe.side, universe.box, universe.power, universe.a, order);
  return particles_from_sites<Exec, T>(exec, group, universe, order, noise, true);
}

}  // namespace detail

template <CompiledSpace Exec, Real T>
std::int64_t initial_conditions_bytes(Exec const& exec, distributed::Group const& group,
                                      std::int64_t side) {
  return detail::Lpt<Exec, T>::bytes(group, side, detail::meshes_of_start, true) +
         fft::PlanOverRanks<Exec, T>::work_bytes(exec, group, {side, side, side},
                                                 detail::Lpt<Exec, T>::effort);
}

template <CompiledSpace Exec, Real T>
Particles<Exec, T> initial_conditions(Exec const& exec, std::int64_t side, double box,
                                      cosmology::LinearPower<double> const& power, double a,
                                      int order,
                                      Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutStride,
                                                   typename Exec::memory_space> const& noise) {
  using Space = typename Exec::memory_space;
  detail::expects_lattice(side, box, order);
  expects(
      static_cast<std::int64_t>(noise.extent(0)) == side &&
          static_cast<std::int64_t>(noise.extent(1)) == side &&
          static_cast<std::int64_t>(noise.extent(2)) == side / 2 + 1,
      "the noise of " + std::to_string(side) + "^3 particles must have extents (n, n, n / 2 + 1)");
  expects_memory<Space>(detail::Lpt<Exec, T>::bytes({}, side, detail::meshes_of_start - 1, true),
                        "the initial conditions of " + std::to_string(side) + "^3 particles");
  auto const modes = detail::staged_field(exec, "the noise", noise, Access::read);
  detail::Lpt<Exec, T> const lpt(exec, distributed::Group::self(), side, box);
  auto const universe = detail::new_universe(power, side, box, a);
  return detail::particles_of<Exec, T>(exec, lpt, *universe, order, modes.elements().data);
}

template <CompiledSpace Exec, Real T>
Particles<Exec, T> initial_conditions(
    Exec const& exec, distributed::Group const& group, std::int64_t side, double box,
    cosmology::LinearPower<double> const& power, double a, int order,
    Kokkos::View<T const***, Kokkos::LayoutStride, typename Exec::memory_space> const& noise) {
  distributed::together(group, [&] {
    detail::expects_lattice(side, box, order);
    detail::expects_sites("the noise", noise, group, side);
  });
  detail::expects_alike_start(group, side, box, power, a, order);
  auto const universe = detail::universe_of_ranks(group, power, side, box, a);
  return detail::particles_from_sites<Exec, T>(exec, group, *universe, order, noise, false);
}

template <CompiledSpace Exec, Real T>
Particles<Exec, T> initial_conditions(Exec const& exec, distributed::Group const& group,
                                      std::int64_t side, double box,
                                      cosmology::LinearPower<double> const& power, double a,
                                      LptOptions const& options) {
  using Space = typename Exec::memory_space;
  distributed::together(group, [&] {
    detail::expects_lattice(side, box, options.order);
    // The plan checks its own memory; to ask for it here would take devices as long as a transform.
    expects_memory<Space>(detail::Lpt<Exec, T>::bytes(group, side, detail::meshes_of_start, true),
                          "the initial conditions of " + std::to_string(side) + "^3 particles");
  });
  detail::expects_alike_start(group, side, box, power, a, options.order);
  distributed::expects_alike(group, {{"seed", options.noise.seed},
                                     {"choice of fixed amplitudes", options.noise.fixed_amplitude},
                                     {"choice to invert modes", options.noise.inverted},
                                     {"choice of a noise file", !options.noise_file.empty()}});
  detail::Lpt<Exec, T> const lpt(exec, group, side, box);
  auto noise = lpt.meshes(1)[0];
  if (options.noise_file.empty()) {
    detail::draw_modes<Exec, T>(exec, options.noise, side, lpt.rows(), noise.data);
  } else {
    distributed::together(group, [&] {
      read_noise(options.noise_file, side, lpt.planes(), fft::real_view_of(lpt.field(noise), side));
    });
    lpt.forward(noise);
    detail::change_modes<Exec, T>(exec, options.noise, side, lpt.rows().count, noise.data);
  }
  auto const universe = detail::universe_of_ranks(group, power, side, box, a);
  return detail::particles_of<Exec, T>(exec, lpt, *universe, options.order, noise.data);
}

}  // namespace coir::nbody

#define COIR_INSTANTIATE_INITIAL_CONDITIONS_OF(Exec, T)                                           \
  template void white_noise<Exec, T>(                                                             \
      Exec const&, NoiseOptions const&,                                                           \
      Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutStride, Exec::memory_space> const&);      \
  template std::int64_t initial_conditions_bytes<Exec, T>(Exec const&, distributed::Group const&, \
                                                          std::int64_t);                          \
  template Particles<Exec, T> initial_conditions<Exec, T>(                                        \
      Exec const&, distributed::Group const&, std::int64_t, double,                               \
      cosmology::LinearPower<double> const&, double, LptOptions const&);                          \
  template Particles<Exec, T> initial_conditions<Exec, T>(                                        \
      Exec const&, std::int64_t, double, cosmology::LinearPower<double> const&, double, int,      \
      Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutStride, Exec::memory_space> const&);      \
  template Particles<Exec, T> initial_conditions<Exec, T>(                                        \
      Exec const&, distributed::Group const&, std::int64_t, double,                               \
      cosmology::LinearPower<double> const&, double, int,                                         \
      Kokkos::View<T const***, Kokkos::LayoutStride, Exec::memory_space> const&);                 \
  template Particles<Exec, T> detail::kept_initial_conditions<Exec, T>(                           \
      Exec const&, distributed::Group const&, detail::Universe const&, int,                       \
      Kokkos::View<T const***, Kokkos::LayoutStride, Exec::memory_space> const&);
#define COIR_INSTANTIATE_INITIAL_CONDITIONS(Exec)      \
  namespace coir::nbody {                              \
  COIR_INSTANTIATE_INITIAL_CONDITIONS_OF(Exec, float)  \
  COIR_INSTANTIATE_INITIAL_CONDITIONS_OF(Exec, double) \
  }
