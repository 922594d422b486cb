#pragma once

#include "deposit.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/memory.hpp>
#include <coir/distributed/together.hpp>
#include <coir/mesh/ghosts.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace coir::mesh {

namespace detail {

template <class T>
struct AddPlanes {
  static constexpr bool reads_no_neighbours = true;
  T const* from;
  T* to;
  std::int64_t from_plane, to_plane;
  KOKKOS_FUNCTION void operator()(std::int64_t plane, std::int64_t at) const {
    add_to(to[plane * to_plane + at], from[plane * from_plane + at]);
  }
};

}  // namespace detail

template <CompiledSpace Exec>
GhostPlanes<Exec>::GhostPlanes(distributed::Group const& group, std::int64_t planes,
                               GhostWidths const& widths)
    : group_(group), planes_(planes), widths_(widths) {
  expects(planes >= 1, "a mesh must have at least one cell along axis 0", planes);
  expects_widths(widths);
  int const rank = group.rank(), ranks = group.size();
  own_ = distributed::share_of(planes, rank, ranks);
  held_here_ = detail::ghost_runs(planes, rank, ranks, widths);
  for (int holder = 0; holder < ranks; ++holder)
    for (auto const& run : detail::ghost_runs(planes, holder, ranks, widths))
      if (run.owner == rank) owned_here_.push_back(run);
  // stable_, because the order of additions decides their rounding.
  std::stable_partition(owned_here_.begin(), owned_here_.end(),
                        [&](detail::GhostRun const& run) { return run.held >= widths.below; });
}

template <CompiledSpace Exec>
std::int64_t GhostPlanes<Exec>::ghosts_of_own() const {
  std::int64_t planes = 0;
  for (auto const& run : owned_here_) planes += run.planes;
  return planes;
}

template <CompiledSpace Exec>
template <class T>
void GhostPlanes<Exec>::fill(Exec const& exec, T* data, std::int64_t plane,
                             std::int64_t length) const {
  if (widths_ == GhostWidths{}) return;
  auto const bytes = [=](detail::GhostRun const& run) {
    return ((run.planes - 1) * plane + length) * static_cast<std::int64_t>(sizeof(T));
  };
  std::vector<distributed::Send> sends;
  std::vector<distributed::Receive> receives;
  // The key is the run's place on the rank that holds it as a ghost.
  for (auto const& run : owned_here_)
    sends.push_back(distributed::Send{run.holder, data + (widths_.below + run.own) * plane,
                                      bytes(run), run.held});
  for (auto const& run : held_here_)
    receives.push_back(
        distributed::Receive{run.owner, data + run.held * plane, bytes(run), run.held});
  group_.exchange(exec, "mesh/ghosts", sends, receives);
}

template <CompiledSpace Exec>
template <class T>
void GhostPlanes<Exec>::add(Exec const& exec, T* data, std::int64_t plane, std::int64_t length) {
  if (widths_ == GhostWidths{}) return;
  constexpr std::int64_t size = sizeof(T);
  auto const bytes = [=](detail::GhostRun const& run) {
    return ((run.planes - 1) * plane + length) * size;
  };
  std::int64_t const wanted = ghosts_of_own() * plane * size;
  distributed::together(group_, [&] {
    if (static_cast<std::int64_t>(received_.size()) >= wanted) return;
    expects_memory<typename Exec::memory_space>(wanted, "the ghost planes of other ranks");
    received_ = {};
    received_ = Kokkos::View<std::byte*, typename Exec::memory_space>(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::mesh::ghosts/received"),
        static_cast<std::size_t>(wanted));
  });
  std::vector<distributed::Send> sends;
  std::vector<distributed::Receive> receives;
  T* const received = reinterpret_cast<T*>(received_.data());
  for (auto const& run : held_here_)
    sends.push_back(distributed::Send{run.owner, data + run.held * plane, bytes(run), run.held});
  std::int64_t at = 0;
  for (auto const& run : owned_here_) {
    receives.push_back(
        distributed::Receive{run.holder, received + at * plane, bytes(run), run.held});
    at += run.planes;
  }
  group_.exchange(exec, "mesh/ghosts", sends, receives);
  at = 0;
  for (auto const& run : owned_here_) {
    // One kernel after the other: two runs may contain ghosts of one plane.
    for_each("coir::mesh::ghosts/add", exec, coir::box<2, std::int64_t>({run.planes, length}),
             detail::AddPlanes<T>{received + at * plane, data + (widths_.below + run.own) * plane,
                                  plane, plane});
    at += run.planes;
  }
}

}  // namespace coir::mesh

#define COIR_INSTANTIATE_GHOSTS_OF(Exec, T)                                                    \
  template void GhostPlanes<Exec>::fill<T>(Exec const&, T*, std::int64_t, std::int64_t) const; \
  template void GhostPlanes<Exec>::add<T>(Exec const&, T*, std::int64_t, std::int64_t);
#define COIR_INSTANTIATE_GHOSTS(Exec)            \
  namespace coir::mesh {                         \
  template class GhostPlanes<Exec>;              \
  COIR_INSTANTIATE_GHOSTS_OF(Exec, float)        \
  COIR_INSTANTIATE_GHOSTS_OF(Exec, double)       \
  COIR_INSTANTIATE_GHOSTS_OF(Exec, std::int32_t) \
  COIR_INSTANTIATE_GHOSTS_OF(Exec, std::int64_t) \
  }
