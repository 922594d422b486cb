#pragma once

#include "bins.hpp"
#include "permute.hpp"

#include <coir/core/borrowed.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/loops.hpp>
#include <coir/nbody/detail/particle_sorter.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace coir::nbody::detail {

template <CompiledSpace Exec, Real T>
ParticleSorter<Exec, T>::ParticleSorter(Exec const& exec, std::int64_t side, double box,
                                        std::int64_t mesh_side, bool lends_vectors)
    : exec_(exec),
      box_(box),
      mesh_side_(mesh_side),
      lends_vectors_(lends_vectors),
      can_sort_(can_sort(side, mesh_side)) {}

template <CompiledSpace Exec, Real T>
Buffers ParticleSorter<Exec, T>::Memory::list(Exec const& exec, std::int64_t places,
                                              bool with_sites, bool lends_vectors) {
  Buffers all;
  auto const add = [&](auto& view, std::string const& label) {
    if (static_cast<std::int64_t>(view.extent(0)) < places) all.add_kept(exec, view, label, places);
  };
  if (with_sites) add(site, "coir::nbody::particle_sorter/site");
  if (lends_vectors)
    add(permutation, "coir::nbody::particle_sorter/permutation");
  else
    add(second, "coir::nbody::particle_sorter/second");
  return all;
}

/// Hosts move particle p to permutation[p]. Devices move particle permutation[p] to p, because they
/// read scattered addresses faster than they write them.
template <CompiledSpace Exec, Real T>
void ParticleSorter<Exec, T>::permute_vectors(Vectors const& from, Vectors const& to,
                                              std::int64_t count,
                                              std::uint32_t const* permutation) {
  auto const all = coir::box<1, std::int64_t>({count});
  if constexpr (runs_on_host<Exec>)
    for_each("coir::nbody::particle_sorter/put", exec_, all,
             PutVectors<T>{from.data(), to.data(), permutation});
  else
    for_each("coir::nbody::particle_sorter/fetch", exec_, all,
             Fetch<T, 3>{from.data(), to.data(), permutation, count});
}

template <CompiledSpace Exec, Real T>
void ParticleSorter<Exec, T>::permute(Particles<Exec, T>& particles, LentMemory<T> const& lent,
                                      std::span<Vectors* const> further,
                                      std::uint32_t const* permutation) {
  std::int64_t const count = particles.count();
  auto const by_way_of_scratch = [&](Vectors const& vectors) {
    Vectors const to(scratch(lent), static_cast<std::size_t>(count));
    permute_vectors(vectors, to, count, permutation);
    copy_contiguous(exec_, Unmanaged(vectors.data(), static_cast<std::size_t>(count)), to);
  };
  for (auto* vectors : {&particles.position, &particles.momentum}) {
    if (lends_vectors_) {
      by_way_of_scratch(*vectors);
    } else {
      permute_vectors(*vectors, memory_.second, count, permutation);
      std::swap(*vectors, memory_.second);
    }
  }
  for (auto const* const vectors : further) by_way_of_scratch(*vectors);
}

template <CompiledSpace Exec, Real T>
void ParticleSorter<Exec, T>::permute_sites(Numbers const& site, std::int64_t count, T* scratch,
                                            std::uint32_t const* permutation) {
  auto const all = coir::box<1, std::int64_t>({count});
  Borrowed<std::uint32_t, T> const sites(scratch, count);
  if constexpr (runs_on_host<Exec>)
    for_each("coir::nbody::particle_sorter/put", exec_, all,
             PutNumbers{site.data(), sites.data(), permutation});
  else
    for_each("coir::nbody::particle_sorter/fetch", exec_, all,
             Fetch<std::uint32_t, 1>{site.data(), sites.data(), permutation, count});
  for_each("coir::nbody::particle_sorter/copy", exec_, all, Copy{sites.data(), site.data()});
}

template <CompiledSpace Exec, Real T>
void ParticleSorter<Exec, T>::sort(Particles<Exec, T>& particles, ParticleState& state,
                                   LentMemory<T> const& lent, std::span<Vectors* const> further) {
  std::int64_t const count = particles.count();
  if (count > lent.particles) return;
  memory_
      .list(exec_, static_cast<std::int64_t>(particles.position.extent(0)),
            state.is_in_lattice_order(), lends_vectors_)
      .template make<typename Exec::memory_space>("particles in the order of the mesh");
  if (state.is_in_lattice_order()) {
    particles.site = memory_.site;
    for_each("coir::nbody::particle_sorter/sites", exec_, coir::box<1, std::int64_t>({count}),
             Count{memory_.site.data()});
  }
  std::optional<Borrowed<std::uint32_t, T>> numbers;
  if (!lends_vectors_) numbers.emplace(lent.numbers, count);
  auto* const permutation = numbers ? numbers->data() : memory_.permutation.data();
  if constexpr (runs_on_host<Exec>) {
    find_places(exec_, particles.position.data(), count,
                RowBins<T>(mesh_side_, box_, cells_per_bin(exec_.concurrency(), mesh_side_)),
                permutation);
  } else {
    Borrowed<std::uint32_t, T> const rank(scratch(lent), count);
    find_sources(exec_, particles.position.data(), count,
                 PencilBins<T>(mesh_side_, box_, particles.total()), rank.data(), permutation);
  }
  permute(particles, lent, further, permutation);
  permute_sites(particles.site, count, scratch(lent), permutation);
  state.order = ParticleState::Order::sorted;
  schedule_.has_sorted();
}

template <CompiledSpace Exec, Real T>
void ParticleSorter<Exec, T>::restore_lattice_order(Particles<Exec, T>& particles,
                                                    ParticleState& state, LentMemory<T> const& lent,
                                                    std::span<Vectors* const> further) {
  if (state.is_in_lattice_order()) return;
  std::int64_t const count = particles.count();
  if constexpr (runs_on_host<Exec>) {
    permute(particles, lent, further, particles.site.data());
  } else {
    std::optional<Borrowed<std::uint32_t, T>> numbers;
    if (!lends_vectors_) numbers.emplace(lent.numbers, count);
    auto* const sources = numbers ? numbers->data() : memory_.permutation.data();
    for_each("coir::nbody::particle_sorter/invert", exec_, coir::box<1, std::int64_t>({count}),
             Invert{particles.site.data(), sources});
    permute(particles, lent, further, sources);
  }
  particles.site = {};
  state.order = ParticleState::Order::lattice;
}

}  // namespace coir::nbody::detail

#define COIR_INSTANTIATE_PARTICLE_SORTER(Exec)                     \
  template class coir::nbody::detail::ParticleSorter<Exec, float>; \
  template class coir::nbody::detail::ParticleSorter<Exec, double>;
