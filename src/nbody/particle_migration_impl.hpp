#pragma once

/// \file
/// ParticleMigration, for one execution space.

#include "migrate.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/memory.hpp>
#include <coir/distributed/share.hpp>
#include <coir/distributed/together.hpp>
#include <coir/mesh/cells.hpp>
#include <coir/nbody/detail/particle_migration.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

namespace coir::nbody::detail {

template <CompiledSpace Exec, Real T>
ParticleMigration<Exec, T>::ParticleMigration(Exec const& exec, distributed::Group const& group,
                                              std::int64_t side, double box, std::int64_t mesh_side,
                                              double headroom)
    : exec_(exec),
      group_(group),
      side_(side),
      box_(box),
      mesh_side_(mesh_side),
      headroom_(headroom) {
  expects(side * side * side <= 0xffffffff,
          "particles over ranks must be at most 2^32, 1625 along a side", side);
}

template <CompiledSpace Exec, Real T>
std::int64_t ParticleMigration<Exec, T>::bytes(distributed::Group const& group, std::int64_t side,
                                               double headroom) {
  return places_for(side, group.size(), headroom) *
         static_cast<std::int64_t>(6 * sizeof(T) + sizeof(std::uint32_t));
}

/// Copies particles to larger Views, one View after the other, if they have fewer places than `count`.
template <CompiledSpace Exec, Real T>
void ParticleMigration<Exec, T>::make_room(Particles<Exec, T>& particles,
                                           std::int64_t count) const {
  auto const held = static_cast<std::size_t>(particles.count());
  auto const places = static_cast<std::size_t>(count);
  auto const grow = [&](auto& view) {
    using View = std::remove_reference_t<decltype(view)>;
    if (view.extent(0) >= places) return;
    expects_memory<typename Exec::memory_space>(
        static_cast<std::int64_t>(places * (view.extent(1) * sizeof(typename View::value_type))),
        "the particles that come to this rank");
    View const larger(Kokkos::view_alloc(Kokkos::WithoutInitializing, view.label()), places);
    if constexpr (runs_on_host<Exec>)
      ask_for_large_pages(larger.data(), static_cast<std::int64_t>(
                                             larger.span() * sizeof(typename View::value_type)));
    std::size_t const numbers = std::min(held, view.extent(0)) * view.extent(1);
    if (numbers > 0) {
      using Unmanaged = Kokkos::View<typename View::value_type*, typename Exec::memory_space,
                                     Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
      Kokkos::deep_copy(exec_, Unmanaged(larger.data(), numbers), Unmanaged(view.data(), numbers));
      exec_.fence();
    }
    view = larger;
  };
  grow(particles.position);
  grow(particles.momentum);
  grow(particles.site);
}

template <CompiledSpace Exec, Real T>
void ParticleMigration<Exec, T>::leave_home(Particles<Exec, T>& particles) const {
  distributed::together(group_,
                        [&] { make_room(particles, places_for(side_, group_.size(), headroom_)); });
  for_each("coir::nbody::migrate/sites", exec_, coir::box<1, std::int64_t>({particles.count()}),
           CountFrom{particles.site.data(), particles.sites.first});
}

template <CompiledSpace Exec, Real T>
void ParticleMigration<Exec, T>::to_planes(Particles<Exec, T>& particles) const {
  send(particles, OwnerOfPlane<T>{particles.position.data(),
                                  static_cast<T>(mesh::inverse_spacing(mesh_side_, box_)),
                                  static_cast<T>(mesh_side_), Owner{mesh_side_, group_.size()}});
}

template <CompiledSpace Exec, Real T>
void ParticleMigration<Exec, T>::go_home(Particles<Exec, T>& particles) const {
  send(particles, OwnerOfSite{particles.site.data(), side_ * side_, Owner{side_, group_.size()}});
  auto const planes = distributed::share_of(side_, group_.rank(), group_.size());
  particles.sites = {planes.first * side_ * side_, planes.count * side_ * side_};
  auto const all = coir::box<1, std::int64_t>({particles.count()});
  for_each("coir::nbody::migrate/places", exec_, all,
           Subtract{particles.site.data(), static_cast<std::uint32_t>(particles.sites.first)});
  for (auto* vectors : {&particles.position, &particles.momentum}) {
    Vectors const ordered = distributed::together(group_, [&] {
      expects_memory<typename Exec::memory_space>(
          particles.count() * static_cast<std::int64_t>(3 * sizeof(T)),
          "particles in the order of their lattice");
      return Vectors(Kokkos::view_alloc(Kokkos::WithoutInitializing, vectors->label()),
                     static_cast<std::size_t>(particles.count()));
    });
    for_each("coir::nbody::migrate/order", exec_, all,
             Scatter<T>{vectors->data(), ordered.data(), particles.site.data(), 3});
    exec_.fence();
    *vectors = ordered;
  }
  particles.site = {};
}

template <CompiledSpace Exec, Real T>
template <class Destination>
void ParticleMigration<Exec, T>::send(Particles<Exec, T>& particles,
                                      Destination const& destination) const {
  using Space = typename Exec::memory_space;
  using Indices = PooledNumbers<std::uint32_t, Space>;
  using Vector = PooledNumbers<T, Space>;
  int const me = group_.rank(), ranks = group_.size();
  std::int64_t const held = particles.count();
  auto const leavers = leavers_of(exec_, held, destination, me, ranks);
  std::int64_t const left = leavers.particles.count();

  auto const counts = group_.gather_all(std::span<std::int64_t const>(leavers.counts));
  std::vector<std::int64_t> coming(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    coming[static_cast<std::size_t>(rank)] = counts[static_cast<std::size_t>(rank * ranks + me)];
  std::int64_t const came = std::accumulate(coming.begin(), coming.end(), std::int64_t(0));
  std::int64_t const now = held - left + came;
  if (std::all_of(counts.begin(), counts.end(), [](std::int64_t n) { return n == 0; })) return;

  // The particles that leave, packed in the order of their destinations.
  Vector out[2], in[2];
  Indices sites_out, sites_in, places;
  distributed::together(group_, [&] {
    constexpr auto each = static_cast<std::int64_t>(6 * sizeof(T) + sizeof(std::uint32_t));
    expects_memory<typename Exec::memory_space>((left + came) * each,
                                                "the particles that change their rank");
    for (int v = 0; v < 2; ++v) {
      out[v] = Vector(3 * left);
      in[v] = Vector(3 * came);
    }
    sites_out = Indices(left);
    sites_in = Indices(came);
    places = Indices(came);
    make_room(particles, now);
  });
  auto const leaving = coir::box<1, std::int64_t>({left});
  for (int v = 0; v < 2; ++v)
    for_each("coir::nbody::migrate/pack", exec_, leaving,
             Gather<T>{(v == 0 ? particles.position : particles.momentum).data(), out[v].data(),
                       leavers.particles.data(), 3});
  for_each(
      "coir::nbody::migrate/pack", exec_, leaving,
      Gather<std::uint32_t>{particles.site.data(), sites_out.data(), leavers.particles.data(), 1});

  std::vector<distributed::Send> sends;
  std::vector<distributed::Receive> receives;
  auto const add = [&](auto* from, auto* to, std::int64_t size) {
    std::int64_t sent = 0, received = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      std::int64_t const there = leavers.counts[static_cast<std::size_t>(rank)],
                         here = coming[static_cast<std::size_t>(rank)];
      sends.push_back(
          distributed::Send{rank, reinterpret_cast<char const*>(from) + sent * size, there * size});
      receives.push_back(
          distributed::Receive{rank, reinterpret_cast<char*>(to) + received * size, here * size});
      sent += there;
      received += here;
    }
  };
  for (int v = 0; v < 2; ++v)
    add(out[v].data(), in[v].data(), static_cast<std::int64_t>(3 * sizeof(T)));
  add(sites_out.data(), sites_in.data(), static_cast<std::int64_t>(sizeof(std::uint32_t)));
  group_.exchange(exec_, "nbody/migration", sends, receives);

  // Particles that come take the places of those that left. If fewer come, the last ones that stayed fill the other places.
  Indices holes = leavers.particles;
  std::int64_t holes_count = left;
  if (came < left) {
    std::int64_t const tail = left - came;
    Indices const marks(tail), movers(tail), below(left);
    Kokkos::deep_copy(exec_, marks.view(), 0u);
    for_each("coir::nbody::migrate/mark", exec_, leaving,
             MarkTail{leavers.particles.data(), marks.data(), now});
    using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
    std::uint32_t moving = 0, under = 0;
    Kokkos::parallel_scan("coir::nbody::migrate/movers", Range(exec_, 0, tail),
                          ListUnmarked{marks.data(), movers.data(), now}, moving);
    Kokkos::parallel_scan("coir::nbody::migrate/holes", Range(exec_, 0, left),
                          ListBelow{leavers.particles.data(), below.data(), now}, under);
    exec_.fence();
    // The first `came` holes are for particles that come, all others for those that move up.
    auto const move_up = [&](auto* data, int components) {
      using Number = std::remove_pointer_t<decltype(data)>;
      PooledNumbers<Number, Space> const kept(std::int64_t(moving) * components);
      auto const all = coir::box<1, std::int64_t>({std::int64_t(moving)});
      for_each("coir::nbody::migrate/take", exec_, all,
               Gather<Number>{data, kept.data(), movers.data(), components});
      for_each("coir::nbody::migrate/put", exec_, all,
               Scatter<Number>{kept.data(), data, below.data() + came, components});
    };
    expects(std::int64_t(under) == came + std::int64_t(moving),
            "migration lost count of its holes");
    move_up(particles.position.data(), 3);
    move_up(particles.momentum.data(), 3);
    move_up(particles.site.data(), 1);
    holes = below;
    holes_count = came;
  }
  auto const arriving = coir::box<1, std::int64_t>({came});
  for_each("coir::nbody::migrate/places", exec_, arriving,
           PlacesOfNew{holes.data(), places.data(), holes_count, held});
  for (int v = 0; v < 2; ++v)
    for_each("coir::nbody::migrate/unpack", exec_, arriving,
             Scatter<T>{in[v].data(), (v == 0 ? particles.position : particles.momentum).data(),
                        places.data(), 3});
  for_each("coir::nbody::migrate/unpack", exec_, arriving,
           Scatter<std::uint32_t>{sites_in.data(), particles.site.data(), places.data(), 1});
  exec_.fence();  // the parcels are freed now
  particles.sites.count = now;
}

}  // namespace coir::nbody::detail

#define COIR_INSTANTIATE_PARTICLE_MIGRATION(Exec)                     \
  template class coir::nbody::detail::ParticleMigration<Exec, float>; \
  template class coir::nbody::detail::ParticleMigration<Exec, double>;
