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
#include <coir/mesh/detail/mesh_slopes.hpp>
#include <coir/mesh/detail/mesh_values.hpp>
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

/// The same of one component of the momentum alone.
template <class T>
struct KickComponent {
  T* momentum;
  T keep, kick;
  int d;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t particle,
                                              mesh::detail::Value<T, 1> const& force) const {
    T& p = momentum[3 * particle + d];
    p = keep * p + kick * force.component[0];
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

/// Whether there is a mesh of forces. On devices differences for each cell take longer than for each particle where there
/// are many cells per particle.
template <class Exec>
bool has_vectors(SimulationOptions const& options) {
  if (options.force_source != ForceSource::automatic)
    return options.force_source == ForceSource::vectors;
  return mesh::gradient_points(options.kernel) > 0 &&
         (runs_on_host<Exec> || options.mesh_ratio < 1.5);
}

template <class Exec>
mesh::ForceOptions force_options(SimulationOptions const& options) {
  return {options.kernel, options.softening,
          options.deterministic ? fft::Effort::estimate : fft::Effort::automatic,
          has_vectors<Exec>(options)};
}

inline Shape<3> mesh_shape(std::int64_t side) { return {side, side, side}; }

/// Whether sites and bins fit 32 bits, and vectors of particles the mesh of forces, or their order that of densities; fewer
/// particles don't pay.
inline bool can_sort(std::int64_t side, std::int64_t mesh_side) {
  std::int64_t const count = side * side * side;
  return side >= 48 && count <= 0xffffffff && mesh_side <= 4096 && mesh_side >= side;
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
  std::size_t const each =
      sizeof(std::uint32_t) +
      (detail::has_vectors<Exec>(options) ? sizeof(std::uint32_t) : 3 * sizeof(T));
  std::int64_t const order = detail::can_sort(side, mesh_side(side, options))
                                 ? particles * static_cast<std::int64_t>(each)
                                 : 0;
  return 6 * particles * static_cast<std::int64_t>(sizeof(T)) + order +
         mesh::Force<Exec, T>::bytes(exec, detail::mesh_shape(mesh_side(side, options)),
                                     detail::force_options<Exec>(options));
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
             detail::force_options<Exec>(options)) {
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

/// A vector for each particle, to bring them into order: in the mesh of forces, which is free between steps, or the second
/// one of two arrays.
template <ExecutionSpace Exec, Real T>
typename Particles<Exec, T>::Vectors Simulation<Exec, T>::room() const {
  if (!force_.options().vectors) return spare_;
  using Vectors = typename Particles<Exec, T>::Vectors;
  return Vectors(force_.force().data(), static_cast<std::size_t>(particles_.count()));
}

/// A number for each particle, for orders: the mesh of densities, which is free between steps, too, unless it lies in that
/// of forces.
template <ExecutionSpace Exec, Real T>
std::uint32_t* Simulation<Exec, T>::order() const {
  return force_.options().vectors ? order_.data()
                                  : reinterpret_cast<std::uint32_t*>(force_.density().data());
}

/// Brings positions and momenta into an order: hosts move particle p to order[p], devices particle order[p] to p, for they
/// read quicker from scattered places than they write there.
template <ExecutionSpace Exec, Real T>
void Simulation<Exec, T>::permute(std::uint32_t const* order) {
  std::int64_t const count = particles_.count();
  auto const all = coir::box<1, std::int64_t>({count});
  for (auto* vectors : {&particles_.position, &particles_.momentum}) {
    auto const to = room();
    if constexpr (runs_on_host<Exec>)
      for_each("coir::nbody::order/put", exec_, all,
               detail::PutVectors<T>{vectors->data(), to.data(), order});
    else
      for_each("coir::nbody::order/fetch", exec_, all,
               detail::Fetch<T, 3>{vectors->data(), to.data(), order, count});
    if (force_.options().vectors)
      Kokkos::deep_copy(exec_, *vectors, to);
    else
      std::swap(*vectors, spare_);
  }
}

/// The same for sites.
template <ExecutionSpace Exec, Real T>
void Simulation<Exec, T>::permute_sites(std::uint32_t const* order) {
  std::int64_t const count = particles_.count();
  auto const all = coir::box<1, std::int64_t>({count});
  auto* const sites = reinterpret_cast<std::uint32_t*>(room().data());
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
  if (!detail::can_sort(particles_.side, side)) return;
  Stopwatch<Exec> const watch(exec_);
  if (site_.extent(0) == 0) {
    auto const make = [count](auto& view, std::string const& label) {
      using View = std::remove_reference_t<decltype(view)>;
      view = View(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
                  static_cast<std::size_t>(count));
      if constexpr (runs_on_host<Exec>)
        ask_for_large_pages(view.data(),
                            static_cast<std::int64_t>(view.span() * sizeof(*view.data())));
    };
    make(site_, "coir::nbody::simulation/site");
    if (force_.options().vectors)
      make(order_, "coir::nbody::simulation/order");
    else
      make(spare_, "coir::nbody::simulation/spare");
  }
  if (!sorted_)
    for_each("coir::nbody::order/sites", exec_, coir::box<1, std::int64_t>({count}),
             detail::Count{site_.data()});
  auto* const order = this->order();
  if constexpr (runs_on_host<Exec>)
    detail::find_places(exec_, particles_.position.data(), count,
                        detail::Bins<T>(side, particles_.box, detail::cells_of_bin(exec_, side)),
                        order);
  else
    detail::find_sources(exec_, particles_.position.data(), count,
                         detail::PencilBins<T>(side, particles_.box, count),
                         reinterpret_cast<std::uint32_t*>(room().data()), order);
  permute(order);
  permute_sites(order);
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
    auto* const sources = order();
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
  Kokkos::View<T, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const to(&first);
  if (force_.options().vectors)
    Kokkos::deep_copy(to, Kokkos::subview(force_.force(), 0, 0, 0, 0));
  else
    Kokkos::deep_copy(to, Kokkos::subview(force_.density(), 0, 0, 0));
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
    throw NumericalError(
        "the force isn't a number in step " + std::to_string(done_ + 1) +
        ", at a = " + in_words(a()) +
        ": a position or momentum has overflowed or is no number, or a particle moves "
        "by more than " +
        std::to_string(detail::most_boxes) + " boxes at once");
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

/// p = keep p + kick F, a component of the spectral gradient at a time.
template <ExecutionSpace Exec, Real T>
void Simulation<Exec, T>::kick_by_components(double keep, double kick) {
  for (int d = 0; d < 3; ++d) {
    Stopwatch<Exec> const solving(exec_);
    auto const component = mesh::detail::read_only(mesh::detail::cells_of(force_.component(d)));
    seconds_.fft += solving.seconds();
    Stopwatch<Exec> const reading(exec_);
    detail::KickComponent<T> const body{particles_.momentum.data(), static_cast<T>(keep),
                                        static_cast<T>(kick), d};
    mesh::detail::with_order(
        options_.assignment, [&]<int Order>(std::integral_constant<int, Order>) {
          mesh::detail::read_out(
              "coir::nbody::simulation/kick", exec_, particles_.position.data(), particles_.count(),
              mesh::detail::MeshValues<Order, 1, T>(component, particles_.box), body);
        });
    seconds_.readout += reading.seconds();
  }
}

template <ExecutionSpace Exec, Real T>
void Simulation<Exec, T>::move(Move const& what) {
  using namespace mesh::detail;
  drift(what.drift_before);
  find_force();
  int const points = mesh::gradient_points(options_.kernel);
  if (!force_.options().vectors && points == 0) {
    kick_by_components(what.keep, what.kick);
    return drift(what.drift_after);
  }
  Stopwatch<Exec> const watch(exec_);
  detail::MoveParticle<T> const body{
      particles_.position.data(), particles_.momentum.data(),       static_cast<T>(what.keep),
      static_cast<T>(what.kick),  static_cast<T>(what.drift_after), static_cast<T>(particles_.box)};
  auto const read = [&](auto const& reader) {
    constexpr auto label = "coir::nbody::simulation/move";
    if constexpr (runs_on_host<Exec>)
      read_out(label, exec_, particles_.position.data(), particles_.count(), reader, body);
    else
      detail::move_in_teams(label, exec_, particles_.count(), reader, body);
  };
  with_order(options_.assignment, [&]<int Order>(std::integral_constant<int, Order>) {
    if (force_.options().vectors)
      read(MeshValues<Order, 3, T>(read_only(cells_of(force_.force())), particles_.box));
    else if (points == 2)
      read(MeshSlopes<Order, 2, T>(read_only(cells_of(force_.density())), particles_.box));
    else
      read(MeshSlopes<Order, 4, T>(read_only(cells_of(force_.density())), particles_.box));
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
  // Steps that a new order isn't worth while for, and to go back to the lattice's.
  constexpr int last_steps = runs_on_host<Exec> ? 3 : 1;
  Move next;  // what the last step left to do: its second kick, or its second drift
  for (int s = 0; s < steps; ++s) {
    double const from = options_.scale_factors[static_cast<std::size_t>(done_)];
    double const to = options_.scale_factors[static_cast<std::size_t>(done_) + 1];
    bool const good =
        sorted_ || runs_on_host<Exec>;  // tiles want more than the order of the lattice
    in_order_ = (good && ++steps_since_sort_ <= sort_interval) || steps - s <= last_steps;
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
