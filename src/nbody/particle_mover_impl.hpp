#pragma once

#include "move_device.hpp"
#include "wrapped.hpp"

#include <coir/core/loops.hpp>
#include <coir/core/pool.hpp>
#include <coir/core/timing.hpp>
#include <coir/mesh/mesh_slopes.hpp>
#include <coir/mesh/mesh_values.hpp>
#include <coir/nbody/detail/particle_mover.hpp>
#include <coir/nbody/detail/places.hpp>
#include <coir/nbody/linear_growth.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace coir::nbody::detail {

/// Kicks as kicked(), then x += drift p.
template <class T>
struct MoveParticle {
  T *position, *momentum;
  T kick_before, keep, kick, drift, box;
  CrossingMarks<T> marks;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t particle,
                                              mesh::Value<T, 3> const& force) const {
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) move(3 * particle + d, force.component[d]);
    if (marks.are_kept() && marks.is_beyond(position[3 * particle])) marks.mark(particle);
  }

  void stretch(std::int64_t first, int count, mesh::Value<T, 3> const* forces) const {
    T const* const force = forces->component;
    MoveParticle const local = *this;
    COIR_INDEPENDENT_ITERATIONS
    for (std::int64_t at = 0; at < 3 * count; ++at) local.move(3 * first + at, force[at]);
    if (marks.are_kept()) mark_crossings(first, count);
  }

 private:
  void mark_crossings(std::int64_t first, int count) const {
    static_assert(mesh::particles_per_stretch <= CrossingMarks<T>::block);
    CrossingMarks<T> const local = marks;
    int beyond = 0;
    for (int p = 0; p < count; ++p) beyond += local.is_beyond(position[3 * (first + p)]) ? 1 : 0;
    if (beyond == 0) return;
    local.mark(first);  // a stretch may end in the next block
    local.mark(first + count - 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION void move(std::int64_t at, T force) const {
    T const p = kicked(momentum[at], force, kick_before, keep, kick);
    momentum[at] = p;
    position[at] = wrapped(position[at] + drift * p, box);
  }
};

/// kicked() of one component d.
template <class T>
struct KickComponent {
  T* momentum;
  T kick_before, keep, kick;
  int d;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t particle,
                                              mesh::Value<T, 1> const& force) const {
    T& p = momentum[3 * particle + d];
    p = kicked(p, force.component[0], kick_before, keep, kick);
  }
};

/// x += drift p.
template <class T>
struct Drift {
  T* position;
  T const* momentum;
  T drift, box;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    position[at] = wrapped(position[at] + drift * momentum[at], box);
  }
};

/// Counts coordinates that are infinite or NaN. wrapped() gives particles NaN that have lost their
/// place in the box.
template <class T>
struct CountLost {
  T const* position;
  KOKKOS_FUNCTION void operator()(std::int64_t at, std::int64_t& lost) const {
    lost += math::isfinite(position[at]) ? 0 : 1;
  }
};

/// Turns particles per cell into 1 + delta.
template <class T>
struct Scale {
  static constexpr bool reads_no_neighbours = true;
  T* data;
  std::int64_t plane, row;
  T factor;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    data[i * plane + j * row + k] *= factor;
  }
};

/// Frees the memory that initial conditions have left in the pool of arrays, before the meshes are
/// allocated. A device keeps it if much more is free than a simulation takes.
template <class Exec, class T>
mesh::Force<Exec, T> allocate_force(Exec const& exec, distributed::Group const& group, double box,
                                    std::int64_t mesh_side, mesh::Assignment assignment,
                                    mesh::ForceOptions const& options) {
  using Space = typename Exec::memory_space;
  Shape<3> const shape{mesh_side, mesh_side, mesh_side};
  std::int64_t const vectors = 3 * size_of(shape) * static_cast<std::int64_t>(sizeof(T));
  if (runs_on_host<Exec> || 20 * vectors > free_bytes<Space>()) MemoryPool<Space>::release();
  return mesh::Force<Exec, T>(exec, group, shape, box, mesh::touched_beyond(assignment), options);
}

template <CompiledSpace Exec, Real T>
bool ParticleMover<Exec, T>::has_vectors(SimulationOptions const& options) {
  if (options.force_source != ForceSource::automatic)
    return options.force_source == ForceSource::vectors;
  // Devices take longer for differences at each cell than at each particle where there are many
  // cells per particle.
  return mesh::gradient_points(options.kernel) > 0 &&
         (runs_on_host<Exec> || options.mesh_ratio < 1.5);
}

template <CompiledSpace Exec, Real T>
mesh::ForceOptions ParticleMover<Exec, T>::force_options(SimulationOptions const& options,
                                                         distributed::Group const& group,
                                                         std::int64_t side) {
  return {.kernel = options.kernel,
          .softening = softening_of(options),
          .effort = options.deterministic ? fft::Effort::estimate : fft::Effort::automatic,
          .vectors = has_vectors(options),
          .least_capacity =
              particles_migrate(group) ? places_for(side, group.size(), options.headroom) : 0};
}

template <CompiledSpace Exec, Real T>
ParticleMover<Exec, T>::ParticleMover(Exec const& exec, distributed::Group const& group,
                                      std::int64_t side, double box, std::int64_t mesh_side,
                                      SimulationOptions const& options, double omega_m)
    : exec_(exec),
      group_(group),
      options_(options),
      cells_per_particle_(std::pow(static_cast<double>(mesh_side) / static_cast<double>(side), 3)),
      omega_m_(omega_m),
      force_(allocate_force<Exec, T>(exec, group, box, mesh_side, options.assignment,
                                     force_options(options, group, side))),
      crossings_(group, mesh_side, box) {}

/// The particles on this rank: over ranks their Views have more places than particles.
template <class Exec, class T>
auto positions_of(Particles<Exec, T> const& particles) {
  return Kokkos::View<T const* [3], Kokkos::LayoutRight, typename Exec::memory_space,
                      Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
      particles.position.data(), static_cast<std::size_t>(particles.count()));
}

template <CompiledSpace Exec, Real T>
void ParticleMover<Exec, T>::paint(Particles<Exec, T> const& particles,
                                   mesh::PaintOptions const& options) {
  mesh::paint(exec_, force_.ghosts(), positions_of(particles), particles.box, force_.density(),
              options);
}

template <CompiledSpace Exec, Real T>
mesh::PaintScheme ParticleMover<Exec, T>::scheme(ParticleState const& state) const {
  bool const chosen = options_.scheme != mesh::PaintScheme::automatic;
  return chosen || runs_on_host<Exec> || !state.is_sorted() ? options_.scheme
                                                            : mesh::PaintScheme::tiles;
}

template <CompiledSpace Exec, Real T>
void ParticleMover<Exec, T>::find_force(Particles<Exec, T> const& particles, ParticleState& state,
                                        PhaseSeconds& seconds,
                                        typename mesh::Force<Exec, T>::Spectrum const& kept) {
  Stopwatch<Exec> const painting(exec_, options_.measure_phases);
  mesh::PaintOptions paint{options_.assignment, scheme(state), options_.deterministic};
  paint.check_planes = false;  // particles have been brought to their planes
  paint.check_finite = false;  // force_is_finite() looks at positions, on all ranks
  this->paint(particles, paint);
  seconds.paint += painting.seconds();
  Stopwatch<Exec> const solving(exec_, options_.measure_phases);
  double const scale = 1.5 * omega_m_ * cells_per_particle_;
  if (kept.data() != nullptr)
    force_.solve(scale, kept);
  else
    force_.solve(scale);
  seconds.fft += solving.seconds();
  state.has_force = true;
}

template <CompiledSpace Exec, Real T>
void ParticleMover<Exec, T>::find_force_again(typename mesh::Force<Exec, T>::Spectrum const& kept,
                                              ParticleState& state, PhaseSeconds& seconds) {
  Stopwatch<Exec> const solving(exec_, options_.measure_phases);
  force_.solve_again(kept);
  seconds.fft += solving.seconds();
  state.has_force = true;
}

/// Densities of whole numbers lose NaN: then positions are checked, too.
template <CompiledSpace Exec, Real T>
bool ParticleMover<Exec, T>::is_finite_here(Particles<Exec, T> const& particles) const {
  if (options_.deterministic) {
    std::int64_t lost = 0;
    reduce("coir::nbody::particle_mover/finite", exec_,
           coir::box<1, std::int64_t>({3 * particles.count()}),
           CountLost<T>{particles.position.data()}, Kokkos::Sum<std::int64_t>(lost));
    if (lost > 0) return false;
  }
  return force_.is_finite();
}

template <CompiledSpace Exec, Real T>
bool ParticleMover<Exec, T>::force_is_finite(Particles<Exec, T> const& particles) const {
  return group_.all(is_finite_here(particles));
}

template <CompiledSpace Exec, Real T>
void ParticleMover<Exec, T>::drift(Particles<Exec, T> const& particles, ParticleState& state,
                                   double factor, PhaseSeconds& seconds) {
  if (factor == 0) return;
  Stopwatch<Exec> const watch(exec_, options_.measure_phases);
  for_each("coir::nbody::particle_mover/drift", exec_,
           coir::box<1, std::int64_t>({3 * particles.count()}),
           Drift<T>{particles.position.data(), particles.momentum.data(), static_cast<T>(factor),
                    static_cast<T>(particles.box)});
  seconds.push += watch.seconds();
  state.has_force = false;
  crossings_.forget();
}

/// The kick alone, for a spectral gradient whose components are on the mesh one after the other.
template <CompiledSpace Exec, Real T>
void ParticleMover<Exec, T>::kick_by_components(Particles<Exec, T> const& particles,
                                                Move const& move, double kick_before,
                                                PhaseSeconds& seconds) {
  for (int d = 0; d < 3; ++d) {
    Stopwatch<Exec> const solving(exec_, options_.measure_phases);
    auto const component = force_.component_window(d);
    seconds.fft += solving.seconds();
    Stopwatch<Exec> const reading(exec_, options_.measure_phases);
    KickComponent<T> const body{particles.momentum.data(), static_cast<T>(kick_before),
                                static_cast<T>(move.keep), static_cast<T>(move.kick), d};
    mesh::with_support(options_.assignment, [&]<int support>(std::integral_constant<int, support>) {
      mesh::read_out("coir::nbody::particle_mover/kick", exec_, particles.position.data(),
                     particles.count(), mesh::MeshValues<support, 1, T>(component, particles.box),
                     body);
    });
    seconds.readout += reading.seconds();
  }
}

template <CompiledSpace Exec, Real T>
void ParticleMover<Exec, T>::kick_and_drift(Particles<Exec, T> const& particles,
                                            ParticleState& state, Move const& move,
                                            PhaseSeconds& seconds, double kick_before) {
  int const points = mesh::gradient_points(options_.kernel);
  if (!force_.options().vectors && points == 0) {
    kick_by_components(particles, move, kick_before, seconds);
    return drift(particles, state, move.drift_after, seconds);
  }
  Stopwatch<Exec> const watch(exec_, options_.measure_phases);
  MoveParticle<T> const body{particles.position.data(),     particles.momentum.data(),
                             static_cast<T>(kick_before),   static_cast<T>(move.keep),
                             static_cast<T>(move.kick),     static_cast<T>(move.drift_after),
                             static_cast<T>(particles.box), crossings_.marks()};
  auto const read = [&](auto const& reader) {
    constexpr auto label = "coir::nbody::particle_mover/move";
    if constexpr (runs_on_host<Exec>)
      mesh::read_out(label, exec_, particles.position.data(), particles.count(), reader, body);
    else
      move_in_teams(label, exec_, particles.count(), reader, body);
  };
  if (particles.count() > 0)
    mesh::with_support(options_.assignment, [&]<int support>(std::integral_constant<int, support>) {
      if (force_.options().vectors)
        return read(mesh::MeshValues<support, 3, T>(force_.force_window(), particles.box));
      if (points == 2)
        read(mesh::MeshSlopes<support, 2, T>(force_.potential_window(), particles.box));
      else
        read(mesh::MeshSlopes<support, 4, T>(force_.potential_window(), particles.box));
    });
  seconds.readout += watch.seconds();
  if (move.drift_after != 0) state.has_force = false;
}

template <CompiledSpace Exec, Real T>
void ParticleMover<Exec, T>::paint_density(Particles<Exec, T> const& particles,
                                           ParticleState& state) {
  mesh::PaintOptions options{options_.assignment, options_.scheme, options_.deterministic};
  options.check_planes = false;
  paint(particles, options);
  state.has_force = false;
  auto const density = force_.density();
  auto const extent = [&](int d) { return static_cast<std::int64_t>(density.extent(d)); };
  for_each(
      "coir::nbody::particle_mover/density", exec_,
      coir::box<3, std::int64_t>({extent(0), extent(1), extent(2)}),
      Scale<T>{density.data(), static_cast<std::int64_t>(density.stride(0)),
               static_cast<std::int64_t>(density.stride(1)), static_cast<T>(cells_per_particle_)});
}

template <CompiledSpace Exec, Real T>
LentMemory<T> ParticleMover<Exec, T>::lend_meshes(ParticleState& state) {
  state.has_force = false;
  auto const& memory = force_.memory();
  auto const numbers = static_cast<std::int64_t>(memory.extent(0));
  if (force_.options().vectors) return {.vectors = memory.data(), .particles = numbers / 3};
  return {.numbers = memory.data(), .particles = numbers};
}

}  // namespace coir::nbody::detail

#define COIR_INSTANTIATE_PARTICLE_MOVER(Exec)                     \
  template class coir::nbody::detail::ParticleMover<Exec, float>; \
  template class coir::nbody::detail::ParticleMover<Exec, double>;
