#pragma once

/// \file
/// Steps of a simulation, for one execution space.

#include "move_device.hpp"
#include "order_kernels.hpp"
#include "wrapped.hpp"

#include <coir/array/pool.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/timing.hpp>
#include <coir/cosmology/factors.hpp>
#include <coir/mesh/detail/read_out.hpp>
#include <coir/nbody/simulation.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

namespace coir::nbody {

namespace detail {

/// p = keep p + kick F, x += drift p.
template <class T>
struct MoveParticle {
  T *position, *momentum;
  T keep, kick, drift, box;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t particle,
                                              mesh::detail::Value<T, 3> const& force) const {
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) move(3 * particle + d, force.component[d]);
  }

  void stretch(std::int64_t first, int count, mesh::detail::Value<T, 3> const* forces) const {
    T const* const force = forces->component;
    MoveParticle const local = *this;
    COIR_INDEPENDENT_ITERATIONS
    for (std::int64_t at = 0; at < 3 * count; ++at) local.move(3 * first + at, force[at]);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void move(std::int64_t at, T force) const {
    T const p = keep * momentum[at] + kick * force;
    momentum[at] = p;
    position[at] = wrapped(position[at] + drift * p, box);
  }
};

template <class T>
struct Drift {
  T* position;
  T const* momentum;
  T drift, box;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    position[at] = wrapped(position[at] + drift * momentum[at], box);
  }
};

template <class T>
struct CountLost {
  T const* position;
  KOKKOS_FUNCTION void operator()(std::int64_t at, std::int64_t& lost) const {
    lost += position[at] >= T(0) ? 0 : 1;  // of what isn't a number, too
  }
};

/// 1 + delta of numbers of particles.
template <class T>
struct Scale {
  T* data;
  std::int64_t plane, row;
  T factor;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    data[i * plane + j * row + k] *= factor;
  }
};

inline mesh::ForceOptions force_options(SimulationOptions const& options) {
  return {options.kernel, options.softening,
          options.deterministic ? fft::Effort::estimate : fft::Effort::automatic};
}

inline Shape<3> mesh_shape(std::int64_t side) { return {side, side, side}; }

/// Whether sites and bins fit 32 bits, and what sorting needs the meshes: on hosts places that of densities and vectors that
/// of forces, on devices places and sites that of forces; fewer particles don't pay.
template <class Exec>
bool can_sort(std::int64_t side, std::int64_t mesh_side) {
  std::int64_t const count = side * side * side, cells = mesh_side * mesh_side * mesh_side;
  bool const fits = runs_on_host<Exec> ? cells >= count : 3 * cells >= 2 * count;
  return side >= 48 && count <= 0xffffffff && mesh_side <= 4096 && fits;
}

/// Cells of a mesh's row that belong to one bin of particles: what these touch fits the nearest cache. Each thread of a
/// host counts in bins of its own, in a byte per cell of the mesh by all threads at most.
template <class Exec>
std::int32_t cells_of_bin(Exec const& exec, std::int64_t mesh_side) {
  std::int64_t const threads = exec.concurrency();
  return static_cast<std::int32_t>(std::min(mesh_side, std::max<std::int64_t>(32, 4 * threads)));
}

/// On devices tiles pay for particles in the order of the mesh.
template <class Exec>
mesh::PaintScheme scheme_for(SimulationOptions const& options, bool sorted) {
  bool const tiles =
      !runs_on_host<Exec> && sorted && options.scheme == mesh::PaintScheme::automatic;
  return tiles ? mesh::PaintScheme::tiles : options.scheme;
}

/// Gives back what initial conditions have left in the pool of arrays, before the meshes of forces are allocated.
template <class Exec>
void make_room() {
  MemoryPool<typename Exec::memory_space>::release();
}

inline void check(SimulationOptions const& options, std::int64_t side) {
  auto const& a = options.scale_factors;
  expects(a.size() >= 2, "a simulation needs at least two scale factors",
          static_cast<std::int64_t>(a.size()));
  for (std::size_t s = 0; s < a.size(); ++s)
    expects(std::isfinite(a[s]) && a[s] > (s == 0 ? 0 : a[s - 1]),
            "scale factors must be above 0 and rise; number " + std::to_string(s) +
                " must be above " + in_words(s == 0 ? 0.0 : a[s - 1]),
            a[s]);
  expects(options.mesh_ratio >= 0.5 && options.mesh_ratio <= 4,
          "the mesh ratio must be in [0.5, 4]", options.mesh_ratio);
  expects(side >= 1, "there must be at least one particle along a side", side);
}

}  // namespace detail

template <ExecutionSpace Exec, Real T>
std::int64_t Simulation<Exec, T>::mesh_side(std::int64_t side, SimulationOptions const& options) {
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(side) * options.mesh_ratio));
}

template <ExecutionSpace Exec, Real T>
std::int64_t Simulation<Exec, T>::bytes(Exec const& exec, std::int64_t side,
                                        SimulationOptions const& options) {
  detail::check(options, side);
  std::int64_t const particles = side * side * side;
  std::int64_t const order =
      detail::can_sort<Exec>(side, mesh_side(side, options))
          ? particles * static_cast<std::int64_t>((runs_on_host<Exec> ? 0 : 3 * sizeof(T)) +
                                                  sizeof(std::uint32_t))
          : 0;
  return 6 * particles * static_cast<std::int64_t>(sizeof(T)) + order +
         mesh::Force<Exec, T>::bytes(exec, detail::mesh_shape(mesh_side(side, options)),
                                     detail::force_options(options));
}

template <ExecutionSpace Exec, Real T>
Simulation<Exec, T>::Simulation(Exec const& exec, Particles<Exec, T> particles,
                                cosmology::Growth<double> growth, SimulationOptions const& options,
                                int first)
    : exec_(exec),
      particles_(std::move(particles)),
      growth_(std::move(growth)),
      options_((detail::make_room<Exec>(), detail::check(options, particles_.side), options)),
      done_(first),
      force_(exec, detail::mesh_shape(mesh_side(particles_.side, options)), particles_.box,
             detail::force_options(options)) {
  expects(first >= 0 && first < static_cast<int>(options.scale_factors.size()),
          "the first step must be one of the " + std::to_string(options.scale_factors.size()) +
              " scale factors",
          first);
  auto const count = static_cast<std::size_t>(particles_.count());
  expects(particles_.position.extent(0) == count && particles_.momentum.extent(0) == count,
          "positions and momenta must be " + std::to_string(count) +
              ", the cube of the particles along a side",
          static_cast<std::int64_t>(particles_.position.extent(0)));
}

template <ExecutionSpace Exec, Real T>
void Simulation<Exec, T>::paint_density() {
  mesh::PaintOptions const paint{options_.assignment, options_.scheme, options_.deterministic};
  mesh::paint(exec_, particles_.position, particles_.box, force_.density(), paint);
  has_force_ = false;
  auto const side = force_.shape()[0];
  auto const density = force_.density();
  T const mean =
      static_cast<T>(std::pow(static_cast<double>(side) / static_cast<double>(particles_.side), 3));
  for_each("coir::nbody::simulation/density", exec_, coir::box<3, std::int64_t>({side, side, side}),
           detail::Scale<T>{density.data(), static_cast<std::int64_t>(density.stride(0)),
                            static_cast<std::int64_t>(density.stride(1)), mean});
}

/// Brings positions and momenta into an order: hosts move particle p to order[p], devices particle order[p] to p, for they
/// read quicker from scattered places than they write there. Hosts go by way of the mesh of forces, which is free between
/// steps, and copy back, which takes less time than it takes to get more memory from the system; devices by a second array.
template <ExecutionSpace Exec, Real T>
void Simulation<Exec, T>::permute(std::uint32_t const* order) {
  std::int64_t const count = particles_.count();
  auto const all = coir::box<1, std::int64_t>({count});
  for (auto* vectors : {&particles_.position, &particles_.momentum}) {
    if constexpr (runs_on_host<Exec>) {
      using Vectors = typename Particles<Exec, T>::Vectors;
      Vectors const buffer(force_.force().data(), static_cast<std::size_t>(count));
      for_each("coir::nbody::order/put", exec_, all,
               detail::PutVectors<T>{vectors->data(), buffer.data(), order});
      Kokkos::deep_copy(exec_, *vectors, buffer);
    } else {
      for_each("coir::nbody::order/fetch", exec_, all,
               detail::Fetch<T, 3>{vectors->data(), spare_.data(), order, count});
      std::swap(*vectors, spare_);
    }
  }
}

/// The same for sites.
///
/// \param sites  room for them
template <ExecutionSpace Exec, Real T>
void Simulation<Exec, T>::permute_sites(std::uint32_t const* order, std::uint32_t* sites) {
  std::int64_t const count = particles_.count();
  auto const all = coir::box<1, std::int64_t>({count});
  if constexpr (runs_on_host<Exec>)
    for_each("coir::nbody::order/put", exec_, all, detail::PutNumbers{site_.data(), sites, order});
  else
    for_each("coir::nbody::order/fetch", exec_, all,
             detail::Fetch<std::uint32_t, 1>{site_.data(), sites, order, count});
  for_each("coir::nbody::order/copy", exec_, all, detail::Copy{sites, site_.data()});
}

template <ExecutionSpace Exec, Real T>
void Simulation<Exec, T>::sort_by_rows() {
  std::int64_t const count = particles_.count(), side = force_.shape()[0];
  if (!detail::can_sort<Exec>(particles_.side, side)) return;
  Stopwatch<Exec> const watch(exec_);
  if (site_.extent(0) == 0) {
    auto const n = static_cast<std::size_t>(count);
    site_ = decltype(site_)(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::nbody::simulation/site"), n);
    if constexpr (runs_on_host<Exec>)
      ask_for_large_pages(site_.data(), count * static_cast<std::int64_t>(sizeof(std::uint32_t)));
    else
      spare_ = typename Particles<Exec, T>::Vectors(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::nbody::simulation/spare"), n);
  }
  if (!sorted_)
    for_each("coir::nbody::order/sites", exec_, coir::box<1, std::int64_t>({count}),
             detail::Count{site_.data()});
  auto* const room = reinterpret_cast<std::uint32_t*>(force_.force().data());
  if constexpr (runs_on_host<Exec>) {
    auto* const places = reinterpret_cast<std::uint32_t*>(force_.density().data());
    detail::find_places(exec_, particles_.position.data(), count,
                        detail::Bins<T>(side, particles_.box, detail::cells_of_bin(exec_, side)),
                        places);
    permute(places);
    permute_sites(places, room);
  } else {
    detail::find_sources(exec_, particles_.position.data(), count,
                         detail::PencilBins<T>(side, particles_.box, count), room + count, room);
    permute(room);
    permute_sites(room, room + count);
  }
  sorted_ = in_order_ = true;
  steps_since_sort_ = 0;
  seconds_.sort += watch.seconds();
}

template <ExecutionSpace Exec, Real T>
void Simulation<Exec, T>::sort_by_lattice() {
  if (!sorted_) return;
  Stopwatch<Exec> const watch(exec_);
  if constexpr (runs_on_host<Exec>) {
    permute(site_.data());
  } else {
    auto* const sources = reinterpret_cast<std::uint32_t*>(force_.force().data());
    for_each("coir::nbody::order/invert", exec_, coir::box<1, std::int64_t>({particles_.count()}),
             detail::Invert{site_.data(), sources});
    permute(sources);
  }
  sorted_ = false;
  has_force_ = false;
  seconds_.sort += watch.seconds();
}

/// Whether positions and forces are numbers. Transforms spread what isn't over the whole mesh, so that one cell tells; but
/// densities of whole numbers lose it.
template <ExecutionSpace Exec, Real T>
bool Simulation<Exec, T>::is_finite() const {
  if (options_.deterministic) {
    std::int64_t lost = 0;
    reduce("coir::nbody::simulation/finite", exec_,
           coir::box<1, std::int64_t>({3 * particles_.count()}),
           detail::CountLost<T>{particles_.position.data()}, Kokkos::Sum<std::int64_t>(lost));
    if (lost > 0) return false;
  }
  T first;
  Kokkos::deep_copy(
      Kokkos::View<T, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&first),
      Kokkos::subview(force_.force(), 0, 0, 0, 0));
  return std::isfinite(static_cast<double>(first));
}

template <ExecutionSpace Exec, Real T>
void Simulation<Exec, T>::find_force() {
  if (has_force_) return;
  if (!in_order_) sort_by_rows();  // now, when the mesh of forces is free
  Stopwatch<Exec> const painting(exec_);
  mesh::PaintOptions const paint{options_.assignment, detail::scheme_for<Exec>(options_, sorted_),
                                 options_.deterministic};
  mesh::paint(exec_, particles_.position, particles_.box, force_.density(), paint);
  seconds_.paint += painting.seconds();
  Stopwatch<Exec> const solving(exec_);
  double const cells_per_particle =
      std::pow(static_cast<double>(force_.shape()[0]) / static_cast<double>(particles_.side), 3);
  force_.solve(1.5 * growth_.parameters().omega_m * cells_per_particle);
  seconds_.fft += solving.seconds();
  has_force_ = true;
  if (!is_finite())
    throw NumericalError("the force isn't a number in step " + std::to_string(done_ + 1) +
                         ", at a = " + in_words(a()) +
                         ": a position or momentum has overflowed or is no number");
}

template <ExecutionSpace Exec, Real T>
void Simulation<Exec, T>::drift(double factor) {
  if (factor == 0) return;
  Stopwatch<Exec> const watch(exec_);
  for_each("coir::nbody::simulation/drift", exec_,
           coir::box<1, std::int64_t>({3 * particles_.count()}),
           detail::Drift<T>{particles_.position.data(), particles_.momentum.data(),
                            static_cast<T>(factor), static_cast<T>(particles_.box)});
  seconds_.push += watch.seconds();
  has_force_ = false;
}

template <ExecutionSpace Exec, Real T>
void Simulation<Exec, T>::move(Move const& what) {
  drift(what.drift_before);
  find_force();
  Stopwatch<Exec> const watch(exec_);
  auto const force = mesh::detail::cells_of(force_.force());
  mesh::detail::Cells<T const> const cells{
      force.data, {force.extent[0], force.extent[1], force.extent[2]}, force.plane, force.row};
  detail::MoveParticle<T> const body{
      particles_.position.data(), particles_.momentum.data(),       static_cast<T>(what.keep),
      static_cast<T>(what.kick),  static_cast<T>(what.drift_after), static_cast<T>(particles_.box)};
  mesh::detail::with_order(options_.assignment, [&]<int Order>(std::integral_constant<int, Order>) {
    constexpr auto label = "coir::nbody::simulation/move";
    if constexpr (runs_on_host<Exec>)
      mesh::detail::read_out<Order, 3>(label, exec_, particles_.position.data(), particles_.count(),
                                       particles_.box, cells, body);
    else
      detail::move_in_teams<Order>(label, exec_, particles_.count(), particles_.box, cells, body);
  });
  seconds_.readout += watch.seconds();
  if (what.drift_after != 0) has_force_ = false;
}

template <ExecutionSpace Exec, Real T>
void Simulation<Exec, T>::advance(int steps, std::function<void(int)> const& after_step) {
  expects(
      steps >= 0 && steps <= steps_left(),
      "the steps to make must be from 0 to the " + std::to_string(steps_left()) + " that are left",
      steps);
  auto const& parameters = growth_.parameters();
  double const factor = 1.5 * parameters.omega_m;
  // Steps in which particles cross a cell or so; on devices caches and tiles reach further than that.
  constexpr int sort_interval = runs_on_host<Exec> ? 5 : 7;
  Move next;  // what the last step left to do: its second kick, or its second drift
  for (int s = 0; s < steps; ++s) {
    double const from = options_.scale_factors[static_cast<std::size_t>(done_)];
    double const to = options_.scale_factors[static_cast<std::size_t>(done_) + 1];
    bool const good =
        sorted_ || runs_on_host<Exec>;  // tiles want more than the order of the lattice
    in_order_ = (good && ++steps_since_sort_ <= sort_interval) || steps - s == 1;
    if (options_.stepper == Stepper::bullfrog) {
      auto const f = cosmology::bullfrog_dkd(growth_, from, to);
      double const before = growth_.momentum(from), after = growth_.momentum(to);
      // Velocities in D1 are p / momentum().
      next.drift_before += f.half_drift / before;
      next.keep = f.alpha * after / before;
      next.kick = f.force * after / factor;
      move(next);
      next = {.drift_before = f.half_drift / after};
    } else {
      double const middle = 0.5 * (from + to);
      auto const f = options_.stepper == Stepper::fastpm
                         ? cosmology::fastpm_kdk(growth_, from, middle, to)
                         : cosmology::quinn_kdk(parameters, from, middle, to);
      next.kick += f.kick_before;
      next.drift_after = f.drift;
      move(next);
      find_force();
      next = {.kick = f.kick_after};
    }
    ++done_;
    if (s + 1 == steps) finish(next);
    try {
      if (after_step) after_step(done_);
    } catch (...) {
      if (s + 1 < steps) finish(next);
      throw;
    }
  }
}

/// Brings positions and momenta to the same time, and particles into the order of their lattice.
template <ExecutionSpace Exec, Real T>
void Simulation<Exec, T>::finish(Move const& rest) {
  if (options_.stepper == Stepper::bullfrog)
    drift(rest.drift_before);
  else
    move(rest);
  sort_by_lattice();
  exec_.fence();
}

}  // namespace coir::nbody

#define COIR_INSTANTIATE_SIMULATION(Exec) \
  template class Simulation<Exec, float>; \
  template class Simulation<Exec, double>;
