#pragma once

/// Kernels of migration: they find the particles that leave a rank, pack them, and close the gaps.

#include <coir/core/contiguous.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/core/tasks.hpp>
#include <coir/core/views.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>
#include <coir/nbody/detail/crossings.hpp>
#include <coir/nbody/detail/migration_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace coir::nbody::detail {

inline constexpr std::int64_t particles_per_mark = CrossingMarks<float>::block;

/// The rank that has index i of n, as distributed::owner_of(). Nearly all indices are those of rank
/// `me`, which has `count` from `first` on: they need no division.
struct Owner {
  std::int64_t n;
  int ranks, me;
  std::int64_t first, count;

  Owner(std::int64_t extent, distributed::Group const& group)
      : n(extent), ranks(group.size()), me(group.rank()) {
    auto const own = distributed::share_of(n, me, ranks);
    first = own.first;
    count = own.count;
  }
  KOKKOS_FORCEINLINE_FUNCTION int operator()(std::int64_t i) const {
    if (i >= first && i < first + count) return me;
    return static_cast<int>(((i + 1) * ranks - 1) / n);
  }
};

/// The rank that has the plane of a particle, computed as in painting: a position that rounding
/// brings to the end of the box is in plane 0, and so is NaN.
template <class T>
struct OwnerOfPlane {
  T const* position;
  T per_cell, planes;
  Owner owner;
  KOKKOS_FORCEINLINE_FUNCTION int operator()(std::int64_t p) const {
    return owner(static_cast<std::int64_t>(plane_of(position[3 * p], per_cell, planes)));
  }
};

/// The rank that has a particle's lattice site.
struct OwnerOfSite {
  std::uint32_t const* site;
  std::int64_t plane;  ///< sites of a plane of the lattice
  Owner owner;
  KOKKOS_FORCEINLINE_FUNCTION int operator()(std::int64_t p) const {
    std::int64_t const behind = std::int64_t(site[p]) - owner.first * plane;
    if (behind >= 0 && behind < owner.count * plane) return owner.me;
    return owner(std::int64_t(site[p]) / plane);
  }
};

/// The particles that leave, grouped by the rank that they go to, and the number for each rank.
/// leavers_of() finds them among all particles, or among those of blocks with marks.
struct LeaverList {
  NumberList particles;
  std::vector<std::int64_t> counts;  ///< for each rank
};

/// Calls a body with the particles of marked blocks, or with all if there are no marks, on hosts.
template <class Body>
void over_marked(std::uint32_t const* marks, std::int64_t begin, std::int64_t end,
                 Body const& body) {
  constexpr std::int64_t block = particles_per_mark;
  for (std::int64_t first = begin; first < end;) {
    std::int64_t const next = std::min(end, (first / block + 1) * block);
    if (marks == nullptr || marks[first / block] != 0)
      for (std::int64_t p = first; p < next; ++p) body(p);
    first = next;
  }
}

/// Lists the blocks that are marked, in any order.
struct ListMarked {
  static constexpr bool reads_no_neighbours = true;
  std::uint32_t const* marks;
  std::uint32_t *count, *list;
  KOKKOS_FUNCTION void operator()(std::int64_t block) const {
    if (marks[block] != 0)
      list[Kokkos::atomic_fetch_add(count, 1u)] = static_cast<std::uint32_t>(block);
  }
};
/// Counts the particles of listed blocks that go to each rank, or lists them in any order. A team
/// has a block at a time, and counts in its own memory first: if each particle counted for itself,
/// all would wait for a few addresses.
template <class Destination, bool Lists>
struct TakeLeavers {
  Destination destination;
  std::int64_t particles;
  int me, ranks;
  std::uint32_t const *blocks, *listed;  ///< the number of blocks, and which they are
  std::uint32_t* next;                   ///< the count of each rank, or its next place in `list`
  std::uint32_t* list;

  KOKKOS_FUNCTION std::size_t scratch_bytes() const {
    return 2 * sizeof(std::uint32_t) * std::size_t(ranks);
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto* const counts =
        static_cast<std::uint32_t*>(member.team_shmem().get_shmem(scratch_bytes()));
    std::uint32_t* const first = counts + ranks;
    int const thread = member.team_rank(), threads = member.team_size();
    for (std::int64_t n = member.league_rank(); n < *blocks; n += member.league_size()) {
      for (int rank = thread; rank < ranks; rank += threads) counts[rank] = 0;
      member.team_barrier();
      std::int64_t const p = std::int64_t(listed[n]) * particles_per_mark + thread;
      int const to = p < particles ? destination(p) : me;
      std::uint32_t const place = to == me ? 0 : Kokkos::atomic_fetch_add(counts + to, 1u);
      member.team_barrier();
      for (int rank = thread; rank < ranks; rank += threads)
        if (counts[rank] != 0) first[rank] = Kokkos::atomic_fetch_add(next + rank, counts[rank]);
      member.team_barrier();
      if (Lists && to != me) list[first[to] + place] = static_cast<std::uint32_t>(p);
    }
  }
};

/// Lists all blocks.
struct ListAllBlocks {
  static constexpr bool reads_no_neighbours = true;
  std::int64_t blocks;
  std::uint32_t *count, *list;
  KOKKOS_FUNCTION void operator()(std::int64_t block) const {
    if (block == 0) *count = static_cast<std::uint32_t>(blocks);
    list[block] = static_cast<std::uint32_t>(block);
  }
};

/// The first place of each rank's particles in a list.
inline std::vector<std::uint32_t> first_places(std::vector<std::int64_t> const& counts) {
  std::vector<std::uint32_t> first;
  std::int64_t sum = 0;
  for (auto const count : counts) {
    first.push_back(static_cast<std::uint32_t>(sum));
    sum += count;
  }
  return first;
}

template <class Exec, class Destination>
  requires(!runs_on_host<Exec>)
LeaverList leavers_of(Exec const& exec, LeaverMemory<typename Exec::memory_space>& memory,
                      std::int64_t particles, Destination const& destination, int me, int ranks,
                      std::uint32_t const* marks) {
  using Numbers = UnmanagedView<std::uint32_t, 1, Kokkos::LayoutRight, typename Exec::memory_space>;
  constexpr std::int64_t size = sizeof(std::uint32_t);
  std::int64_t const blocks = (particles + particles_per_mark - 1) / particles_per_mark;
  Numbers const counts(static_cast<std::uint32_t*>(memory.counts.reserve((ranks + 1) * size)),
                       static_cast<std::size_t>(ranks) + 1);  // the last one counts blocks
  auto* const listed = static_cast<std::uint32_t*>(memory.marked.reserve(blocks * size));
  set_to_zero(exec, counts);
  std::uint32_t* const block_count = counts.data() + ranks;
  auto const all = coir::box<1, std::int64_t>({blocks});
  if (marks != nullptr)
    for_each("coir::nbody::migrate/marked", exec, all, ListMarked{marks, block_count, listed});
  else
    for_each("coir::nbody::migrate/blocks", exec, all, ListAllBlocks{blocks, block_count, listed});
  auto const take = [&]<bool Lists>(char const* label, std::uint32_t* list) {
    using Body = TakeLeavers<Destination, Lists>;
    constexpr int team = particles_per_mark;
    Body const body{destination, particles, me, ranks, block_count, listed, counts.data(), list};
    auto const teams = std::clamp<std::int64_t>(exec.concurrency() / team, 1, blocks);
    Kokkos::parallel_for(
        label,
        Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<team>>(exec, static_cast<int>(teams), team)
            .set_scratch_size(0, Kokkos::PerTeam(body.scratch_bytes() + 64)),
        body);
  };
  if (blocks > 0) take.template operator()<false>("coir::nbody::migrate/count", nullptr);
  auto const on_host = Kokkos::create_mirror_view(counts);
  copy_contiguous(exec, on_host, counts);
  exec.fence();
  LeaverList result;
  std::int64_t sum = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    result.counts.push_back(on_host(static_cast<std::size_t>(rank)));
    sum += result.counts.back();
  }
  result.particles = memory.list_of(sum);
  if (sum == 0) return result;
  auto const first = first_places(result.counts);
  for (std::size_t rank = 0; rank < first.size(); ++rank) on_host(rank) = first[rank];
  copy_contiguous(exec, counts, on_host);
  take.template operator()<true>("coir::nbody::migrate/list", result.particles.data);
  return result;
}

/// Counts and lists particles on hosts: for each rank in the order of memory, for any number of
/// threads.
template <class Exec, class Destination>
  requires runs_on_host<Exec>
LeaverList leavers_of(Exec const& exec, LeaverMemory<typename Exec::memory_space>& memory,
                      std::int64_t particles, Destination const& destination, int me, int ranks,
                      std::uint32_t const* marks) {
  std::int64_t const threads = threads_worth_starting(exec, particles);
  auto const size = static_cast<std::size_t>(ranks);
  std::vector<std::vector<std::uint32_t>> counts(static_cast<std::size_t>(threads),
                                                 std::vector<std::uint32_t>(size));
  auto const first_of = [=](std::int64_t t) { return particles * t / threads; };
  for_each_task("coir::nbody::migrate/count", exec, threads, [&](std::int64_t t) {
    auto& mine = counts[static_cast<std::size_t>(t)];
    over_marked(marks, first_of(t), first_of(t + 1), [&](std::int64_t p) {
      if (int const to = destination(p); to != me) ++mine[static_cast<std::size_t>(to)];
    });
  });
  LeaverList result;
  std::uint32_t sum = 0;
  for (std::size_t rank = 0; rank < size; ++rank) {
    std::uint32_t const before = sum;
    for (auto& of_thread : counts) {
      std::uint32_t const here = of_thread[rank];
      of_thread[rank] = sum;
      sum += here;
    }
    result.counts.push_back(sum - before);
  }
  result.particles = memory.list_of(sum);
  std::uint32_t* const list = result.particles.data;
  for_each_task("coir::nbody::migrate/list", exec, threads, [&](std::int64_t t) {
    auto& next = counts[static_cast<std::size_t>(t)];
    over_marked(marks, first_of(t), first_of(t + 1), [&](std::int64_t p) {
      if (int const to = destination(p); to != me)
        list[next[static_cast<std::size_t>(to)]++] = static_cast<std::uint32_t>(p);
    });
  });
  return result;
}

/// Copies `components` numbers each: from[list[n]] to to[n], or with ToList from[n] to to[list[n]].
template <class T, bool ToList>
struct CopyByList {
  T const* from;
  T* to;
  std::uint32_t const* list;
  int components;
  KOKKOS_FUNCTION void operator()(std::int64_t n) const {
    std::int64_t const listed = list[n], source = components * (ToList ? n : listed),
                       target = components * (ToList ? listed : n);
    for (int c = 0; c < components; ++c) to[target + c] = from[source + c];
  }
};
template <class T>
using Scatter = CopyByList<T, true>;

/// CopyByList for all that particles have.
template <class T, bool ToList>
struct CopyParticles {
  CopyByList<T, ToList> position, momentum;
  CopyByList<std::uint32_t, ToList> site;
  KOKKOS_FUNCTION void operator()(std::int64_t n) const {
    position(n);
    momentum(n);
    site(n);
  }
};

/// marks[list[n] - first] = 1 for all list[n] >= first.
struct MarkTail {
  std::uint32_t const* list;
  std::uint32_t* marks;
  std::int64_t first;
  KOKKOS_FUNCTION void operator()(std::int64_t n) const {
    if (list[n] >= first) marks[list[n] - first] = 1;
  }
};
/// Writes first + n for each unmarked n, in their order, to consecutive places of `to`.
struct ListUnmarked {
  std::uint32_t const* marks;
  std::uint32_t* to;
  std::int64_t first;
  KOKKOS_FUNCTION void operator()(std::int64_t n, std::uint32_t& sum, bool last) const {
    if (marks[n] != 0) return;
    if (last) to[sum] = static_cast<std::uint32_t>(first + n);
    ++sum;
  }
};
/// Writes the numbers of a list that are below `end`, in their order, to consecutive places of
/// `to`.
struct ListBelow {
  std::uint32_t const* list;
  std::uint32_t* to;
  std::int64_t end;
  KOKKOS_FUNCTION void operator()(std::int64_t n, std::uint32_t& sum, bool last) const {
    if (list[n] >= end) return;
    if (last) to[sum] = list[n];
    ++sum;
  }
};
/// to[n] = n < holes ? list[n] : first + (n - holes)
struct PlacesOfNew {
  std::uint32_t const* list;
  std::uint32_t* to;
  std::int64_t holes, first;
  KOKKOS_FUNCTION void operator()(std::int64_t n) const {
    to[n] = n < holes ? list[n] : static_cast<std::uint32_t>(first + (n - holes));
  }
};
/// numbers[p] = first + p.
struct CountFrom {
  std::uint32_t* numbers;
  std::int64_t first;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    numbers[p] = static_cast<std::uint32_t>(first + p);
  }
};
/// numbers[p] -= first.
struct Subtract {
  std::uint32_t* numbers;
  std::uint32_t first;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const { numbers[p] -= first; }
};

}  // namespace coir::nbody::detail
