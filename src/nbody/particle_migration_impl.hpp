#pragma once

#include "migrate.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/views.hpp>
#include <coir/distributed/share.hpp>
#include <coir/distributed/together.hpp>
#include <coir/mesh/cells.hpp>
#include <coir/nbody/detail/particle_migration.hpp>
#include <coir/nbody/detail/places.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace coir::nbody::detail {

/// Particles on their way, grouped by the rank that they go to or come from: vectors of each, and
/// its site.
template <class T>
struct Parcels {
  std::vector<T*> vectors;
  std::uint32_t* site = nullptr;
  std::int64_t count = 0;

  Parcels() = default;
  Parcels(void* memory, std::int64_t particles, std::size_t vectors_of_each) : count(particles) {
    auto* next = static_cast<char*>(memory);
    for (; vectors.size() < vectors_of_each; next += bytes_of_vectors(particles))
      vectors.push_back(reinterpret_cast<T*>(next));
    site = reinterpret_cast<std::uint32_t*>(next);
  }
  static std::int64_t bytes(std::int64_t particles, std::size_t vectors_of_each) {
    return static_cast<std::int64_t>(vectors_of_each) * bytes_of_vectors(particles) +
           particles * static_cast<std::int64_t>(sizeof(std::uint32_t));
  }

 private:
  // Copies from and to such addresses are the fastest.
  static std::int64_t bytes_of_vectors(std::int64_t particles) {
    constexpr std::int64_t line = 256, size = 3 * sizeof(T);
    return (particles * size + line - 1) / line * line;
  }
};

/// What travels with a particle: position, momentum and further vectors, and the site.
template <class Exec, class T>
struct Luggage {
  using Vectors = typename Particles<Exec, T>::Vectors;
  std::vector<Vectors*> vectors;
  typename Particles<Exec, T>::Numbers* site;

  Luggage(Particles<Exec, T>& particles, std::span<Vectors* const> further)
      : vectors{&particles.position, &particles.momentum}, site(&particles.site) {
    vectors.insert(vectors.end(), further.begin(), further.end());
  }
};

/// Copies the particles of a list to a parcel.
template <class Exec, class T>
void pack(Exec const& exec, Luggage<Exec, T> const& luggage, std::uint32_t const* list,
          Parcels<T> const& to) {
  constexpr auto label = "coir::nbody::particle_migration/pack";
  auto const all = coir::box<1, std::int64_t>({to.count});
  auto const vectors = [&](std::size_t v) {
    return CopyByList<T, false>{luggage.vectors[v]->data(), to.vectors[v], list, 3};
  };
  for_each(
      label, exec, all,
      CopyParticles<T, false>{vectors(0), vectors(1), {luggage.site->data(), to.site, list, 1}});
  for (std::size_t v = 2; v < to.vectors.size(); ++v) for_each(label, exec, all, vectors(v));
}

/// Copies the particles of a parcel to places of a list.
template <class Exec, class T>
void unpack(Exec const& exec, Parcels<T> const& from, std::uint32_t const* list,
            Luggage<Exec, T> const& luggage) {
  constexpr auto label = "coir::nbody::particle_migration/unpack";
  auto const all = coir::box<1, std::int64_t>({from.count});
  auto const vectors = [&](std::size_t v) {
    return Scatter<T>{from.vectors[v], luggage.vectors[v]->data(), list, 3};
  };
  for_each(
      label, exec, all,
      CopyParticles<T, true>{vectors(0), vectors(1), {from.site, luggage.site->data(), list, 1}});
  for (std::size_t v = 2; v < from.vectors.size(); ++v) for_each(label, exec, all, vectors(v));
}

/// Sends the parts of a parcel to the ranks that they are for, and receives those of another.
///
/// \param leaving, coming  how many particles are for each rank, and from each
template <class Exec, class T>
void exchange(Exec const& exec, distributed::Group const& group, Parcels<T> const& out,
              std::span<std::int64_t const> leaving, Parcels<T> const& in,
              std::span<std::int64_t const> coming) {
  std::vector<distributed::Send> sends;
  std::vector<distributed::Receive> receives;
  auto const add = [&](std::int64_t key, auto const* from, auto* to, std::int64_t components) {
    std::int64_t const size = components * static_cast<std::int64_t>(sizeof *from);
    auto const* there = reinterpret_cast<char const*>(from);
    auto* here = reinterpret_cast<char*>(to);
    for (int rank = 0; rank < group.size(); ++rank) {
      std::int64_t const sent = size * leaving[static_cast<std::size_t>(rank)],
                         received = size * coming[static_cast<std::size_t>(rank)];
      sends.push_back(distributed::Send{rank, there, sent, key});
      receives.push_back(distributed::Receive{rank, here, received, key});
      there += sent;
      here += received;
    }
  };
  add(0, out.site, in.site, 1);
  for (std::size_t v = 0; v < out.vectors.size(); ++v)
    add(static_cast<std::int64_t>(v) + 1, out.vectors[v], in.vectors[v], 3);
  group.exchange(exec, "nbody/migration", sends, receives);
}

/// Closes the holes that leavers have left, except `came` of them, by moving the last particles
/// that stayed.
///
/// \param lists   memory for three lists of as many as left
/// \param packed  memory for the parcels of as many as left
/// \return  the holes that stay open
template <class Exec, class T>
std::uint32_t const* close_holes(Exec const& exec, Luggage<Exec, T> const& luggage,
                                 std::int64_t particles, NumberList const& leavers,
                                 std::int64_t came, std::uint32_t* lists, void* packed) {
  std::int64_t const left = leavers.count, tail = left - came, now = particles - tail;
  std::uint32_t *const below = lists, *const marks = lists + left, *const movers = marks + left;
  set_to_zero(exec,
              UnmanagedView<std::uint32_t, 1, Kokkos::LayoutRight, typename Exec::memory_space>(
                  marks, std::size_t(tail)));
  for_each("coir::nbody::particle_migration/mark", exec, coir::box<1, std::int64_t>({left}),
           MarkTail{leavers.data, marks, now});
  using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  std::uint32_t moving = 0, under = 0;
  Kokkos::parallel_scan("coir::nbody::particle_migration/movers", Range(exec, 0, tail),
                        ListUnmarked{marks, movers, now}, moving);
  Kokkos::parallel_scan("coir::nbody::particle_migration/holes", Range(exec, 0, left),
                        ListBelow{leavers.data, below, now}, under);
  exec.fence();
  expects(std::int64_t(under) == came + std::int64_t(moving), "migration lost count of its holes");
  // The first `came` holes are for particles that come, the others for those that move up.
  Parcels<T> const kept(packed, moving, luggage.vectors.size());
  pack(exec, luggage, movers, kept);
  unpack(exec, kept, below + came, luggage);
  return below;
}

template <CompiledSpace Exec, Real T>
ParticleMigration<Exec, T>::ParticleMigration(Exec const& exec, distributed::Group const& group,
                                              std::int64_t side, double box, std::int64_t mesh_side,
                                              double headroom)
    : exec_(exec),
      group_(group),
      side_(side),
      box_(box),
      mesh_side_(mesh_side),
      headroom_(headroom),
      leavers_{.usual = usual(places_for(side, group.size(), 0))} {
  expects(side <= most_along_a_side, "particles over ranks must be at most 2^32, 1625 along a side",
          side);
}

template <CompiledSpace Exec, Real T>
auto ParticleMigration<Exec, T>::bytes(distributed::Group const& group, std::int64_t side,
                                       double headroom, int further) -> Held {
  constexpr auto of_index = static_cast<std::int64_t>(sizeof(std::uint32_t)),
                 of_vector = static_cast<std::int64_t>(3 * sizeof(T));
  std::int64_t const of_particle = bytes_of_particle(static_cast<std::size_t>(further));
  std::int64_t const home = places_for(side, group.size(), 0),
                     places = places_for(side, group.size(), headroom);
  // On their way they are packed, and come packed, beside four lists.
  std::int64_t const packed =
                         std::max(places - home, usual(home)) * (2 * of_particle + 4 * of_index),
                     ordered = further > 0 ? 0 : home * of_vector;
  return {places * of_particle + ordered + packed, home * (2 + further) * of_vector + packed};
}

/// Replaces a View by one with so many places, to which `put` copies `numbers` numbers of the
/// first.
///
/// \param lent  if not null, memory to copy by way of: then only one of both Views is held at a
/// time
template <CompiledSpace Exec, Real T>
template <class View, class Put>
void ParticleMigration<Exec, T>::replace(View& view, std::int64_t places, std::int64_t numbers,
                                         typename View::value_type* lent, char const* what,
                                         Put const& put) const {
  using Space = typename Exec::memory_space;
  constexpr auto size = static_cast<std::int64_t>(sizeof(typename View::value_type));
  auto const make = [&, label = view.label()] {
    std::int64_t const bytes = places * static_cast<std::int64_t>(view.extent(1)) * size;
    expects_memory<Space>(bytes, what);
    View const made(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
                    static_cast<std::size_t>(places));
    if constexpr (runs_on_host<Exec>) ask_for_large_pages(made.data(), bytes);
    return made;
  };
  View const made = lent == nullptr ? make() : View();
  put(lent == nullptr ? made.data() : lent);
  exec_.fence();
  view = made;
  if (lent == nullptr) return;
  view = make();
  copy_bytes<Space, Space>(exec_, view.data(), lent, numbers * size);
  exec_.fence();
}

/// Copies particles to larger Views, one View after the other, if they have fewer places than
/// `count`.
template <CompiledSpace Exec, Real T>
void ParticleMigration<Exec, T>::grow(Particles<Exec, T>& particles, Further further,
                                      std::int64_t count, LentMemory<T> const& lent) const {
  auto const grow_view = [&](auto& view, auto* by_way) {
    auto const places = static_cast<std::int64_t>(view.extent(0));
    if (places >= count) return;
    std::int64_t const numbers =
        std::min(particles.count(), places) * static_cast<std::int64_t>(view.extent(1));
    replace(view, count, numbers, by_way, "the particles that come to this rank", [&](auto* to) {
      using Space = typename Exec::memory_space;
      auto const bytes = numbers * static_cast<std::int64_t>(sizeof *to);
      if (bytes > 0) copy_bytes<Space, Space>(exec_, to, view.data(), bytes);
    });
  };
  Luggage<Exec, T> const luggage(particles, further);
  for (auto* const vectors : luggage.vectors)
    grow_view(*vectors, lent.vectors_of(particles.count()));
  grow_view(particles.site, static_cast<std::uint32_t*>(nullptr));
}

/// Places for `count` particles: where there are too few, an eighth more than there were, so that
/// memory doesn't grow at every step again, or just as many as are needed where memory is short.
template <CompiledSpace Exec, Real T>
std::int64_t ParticleMigration<Exec, T>::places_when_grown(Particles<Exec, T> const& particles,
                                                           Further further,
                                                           std::int64_t count) const {
  auto const places = static_cast<std::int64_t>(particles.position.extent(0));
  if (count <= places) return places;
  std::int64_t const more = std::max(count, places + places / 8);
  std::int64_t const bytes = more * bytes_of_particle(further.size());
  return free_bytes<typename Exec::memory_space>() >= bytes ? more : count;
}

template <CompiledSpace Exec, Real T>
void ParticleMigration<Exec, T>::leave_home(Particles<Exec, T>& particles, ParticleState& state,
                                            Further further, LentMemory<T> const& lent) const {
  distributed::together(
      group_, [&] { grow(particles, further, places_for(side_, group_.size(), headroom_), lent); });
  for_each("coir::nbody::particle_migration/sites", exec_,
           coir::box<1, std::int64_t>({particles.count()}),
           CountFrom{particles.site.data(), particles.sites.first});
  state.place = ParticleState::Place::planes;
  state.order = ParticleState::Order::by_sites;
}

template <CompiledSpace Exec, Real T>
void ParticleMigration<Exec, T>::to_planes(Particles<Exec, T>& particles, ParticleState& state,
                                           Crossings<Exec, T>* crossings, Further further,
                                           LentMemory<T> const& lent) {
  if (state.is_home()) {
    leave_home(particles, state, further, lent);
    if (crossings != nullptr) crossings->forget();
  }
  send(particles, further,
       OwnerOfPlane<T>{particles.position.data(),
                       static_cast<T>(mesh::inverse_spacing(mesh_side_, box_)),
                       static_cast<T>(mesh_side_), Owner(mesh_side_, group_)},
       crossings, lent);
  if (crossings != nullptr) crossings->restart(exec_);
}

/// Places for the particles that come: those of particles that left, and if there are more of them
/// also those behind the last one.
template <CompiledSpace Exec, Real T>
std::uint32_t const* ParticleMigration<Exec, T>::places_of_new(Particles<Exec, T>& particles,
                                                               Further further,
                                                               NumberList const& leavers,
                                                               std::int64_t came) {
  constexpr std::int64_t size = sizeof(std::uint32_t);
  std::int64_t const left = leavers.count;
  auto* const lists = static_cast<std::uint32_t*>(
      places_.reserve(std::max(came, 3 * left) * size, 3 * leavers_.usual * size));
  Luggage<Exec, T> const luggage(particles, further);
  if (came < left)
    // All that left are packed: their parcels' memory is free.
    return close_holes(exec_, luggage, particles.count(), leavers, came, lists,
                       departures_.reserve(0));
  for_each("coir::nbody::particle_migration/places", exec_, coir::box<1, std::int64_t>({came}),
           PlacesOfNew{leavers.data, lists, left, particles.count()});
  return lists;
}

template <CompiledSpace Exec, Real T>
void ParticleMigration<Exec, T>::go_home(Particles<Exec, T>& particles, ParticleState& state,
                                         Further further, LentMemory<T> const& lent) {
  if (state.is_home()) return;
  send(particles, further, OwnerOfSite{particles.site.data(), side_ * side_, Owner(side_, group_)},
       nullptr, lent);
  exec_.fence();  // the parcels may be taken for kernels of other instances
  for (auto* const memory : {&departures_, &arrivals_, &places_, &leavers_.list}) memory->release();
  auto const planes = distributed::share_of(side_, group_.rank(), group_.size());
  distributed::together(group_, [&] {
    std::int64_t const sites = planes.count * side_ * side_;
    if (particles.count() == sites) return;
    throw NumericalError("of the particles of this rank's " + std::to_string(sites) +
                         " lattice sites " + std::to_string(particles.count()) +
                         " came home: particles were lost, or their sites were overwritten");
  });
  particles.sites = {planes.first * side_ * side_, planes.count * side_ * side_};
  auto const all = coir::box<1, std::int64_t>({particles.count()});
  for_each("coir::nbody::particle_migration/places", exec_, all,
           Subtract{particles.site.data(), static_cast<std::uint32_t>(particles.sites.first)});
  for (auto* const vectors : Luggage<Exec, T>(particles, further).vectors)
    distributed::together(group_, [&] {
      replace(*vectors, particles.count(), 3 * particles.count(),
              lent.vectors_of(particles.count()), "particles in the order of their lattice",
              [&](T* to) {
                for_each("coir::nbody::particle_migration/to_lattice_order", exec_, all,
                         Scatter<T>{vectors->data(), to, particles.site.data(), 3});
              });
    });
  particles.site = {};
  state.place = ParticleState::Place::home;
  state.order = ParticleState::Order::lattice;
}

template <CompiledSpace Exec, Real T>
template <class Destination>
void ParticleMigration<Exec, T>::send(Particles<Exec, T>& particles, Further further,
                                      Destination const& destination, Crossings<Exec, T>* crossings,
                                      LentMemory<T> const& lent) {
  int const me = group_.rank(), ranks = group_.size();
  auto const* const marks = crossings == nullptr ? nullptr : crossings->marks().of_blocks;
  auto const leavers = distributed::together(group_, [&] {
    return leavers_of(exec_, leavers_, particles.count(), destination, me, ranks, marks);
  });
  std::int64_t const left = leavers.particles.count;
  auto const coming = group_.all_to_all(std::span<std::int64_t const>(leavers.counts));
  std::int64_t const came = std::accumulate(coming.begin(), coming.end(), std::int64_t(0));

  Luggage<Exec, T> const luggage(particles, further);
  std::size_t const vectors = luggage.vectors.size();
  Parcels<T> out, in;
  distributed::together(group_, [&] {
    auto const parcels = [&](auto& memory, std::int64_t count) {
      auto const bytes_for = [&](std::int64_t n) { return Parcels<T>::bytes(n, vectors); };
      return Parcels<T>(memory.reserve(bytes_for(count), bytes_for(leavers_.usual)), count,
                        vectors);
    };
    out = parcels(departures_, left);
    in = parcels(arrivals_, came);
    grow(particles, further, places_when_grown(particles, further, particles.count() - left + came),
         lent);
    if (crossings != nullptr)
      crossings->reserve(static_cast<std::int64_t>(particles.position.extent(0)));
    pack(exec_, luggage, leavers.particles.data, out);
  });
  exchange(exec_, group_, out, leavers.counts, in, coming);
  distributed::together(group_, [&] {
    unpack(exec_, in, places_of_new(particles, further, leavers.particles, came), luggage);
  });
  particles.sites.count += came - left;
}

}  // namespace coir::nbody::detail

#define COIR_INSTANTIATE_PARTICLE_MIGRATION(Exec)                     \
  template class coir::nbody::detail::ParticleMigration<Exec, float>; \
  template class coir::nbody::detail::ParticleMigration<Exec, double>;
