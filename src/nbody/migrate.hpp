#pragma once

/// Kernels of migration: they find the particles that leave a rank, pack them, and close the gaps.

#include <coir/core/contiguous.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/core/pool.hpp>
#include <coir/core/tasks.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>
#include <coir/nbody/detail/crossings.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
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

/// Numbers in memory of the pool of arrays, because allocation by a device's driver takes long.
template <class Number, class Space>
class PooledNumbers {
 public:
  PooledNumbers() = default;
  explicit PooledNumbers(std::int64_t count)
      : memory_(MemoryPool<Space>::allocate(count * static_cast<std::int64_t>(sizeof(Number)))),
        count_(count) {}

  Number* data() const { return static_cast<Number*>(memory_.get()); }
  std::int64_t count() const { return count_; }
  auto view() const {
    return Kokkos::View<Number*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        data(), static_cast<std::size_t>(count_));
  }

 private:
  std::shared_ptr<void> memory_;
  std::int64_t count_ = 0;
};

/// The particles that leave, grouped by the rank that they go to, and the number for each rank.
/// leavers_of() finds them among all particles, or among those of blocks with marks.
template <class Space>
struct LeaverList {
  PooledNumbers<std::uint32_t, Space> particles;
  std::vector<std::int64_t> counts;  ///< for each rank
  /// What the kernels read that list them, which may still run.
  PooledNumbers<std::uint32_t, Space> numbers = {}, marked = {};
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
/// Calls a body with the particles of listed blocks, by as many threads as a device runs at a time:
/// the host needn't know how many blocks there are.
template <class Body>
struct OverListed {
  static constexpr bool reads_no_neighbours = true;
  std::uint32_t const *count, *list;
  std::int64_t particles, threads;
  Body body;
  KOKKOS_FUNCTION void operator()(std::int64_t thread) const {
    std::int64_t const all = std::int64_t(*count) * particles_per_mark;
    for (std::int64_t n = thread; n < all; n += threads) {
      std::int64_t const p =
          std::int64_t(list[n / particles_per_mark]) * particles_per_mark + n % particles_per_mark;
      if (p < particles) body(p);
    }
  }
};

/// Counts and lists the particles that go to each rank; on devices in any order.
template <class Destination>
struct CountLeavers {
  Destination destination;
  int me;
  std::uint32_t* counts;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    int const to = destination(p);
    if (to != me) Kokkos::atomic_fetch_add(counts + to, 1u);
  }
};
template <class Destination>
struct ListLeavers {
  Destination destination;
  int me;
  std::uint32_t* next;
  std::uint32_t* list;
  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    int const to = destination(p);
    if (to != me) list[Kokkos::atomic_fetch_add(next + to, 1u)] = static_cast<std::uint32_t>(p);
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
LeaverList<typename Exec::memory_space> leavers_of(Exec const& exec, std::int64_t particles,
                                                   Destination const& destination, int me,
                                                   int ranks, std::uint32_t const* marks) {
  using Numbers = PooledNumbers<std::uint32_t, typename Exec::memory_space>;
  Numbers const numbers(ranks + 1);  // the last one counts marked blocks
  set_to_zero(exec, numbers.view());
  std::int64_t const blocks = (particles + particles_per_mark - 1) / particles_per_mark;
  Numbers const marked(marks == nullptr ? 0 : blocks);
  if (marks != nullptr)
    for_each("coir::nbody::migrate/marked", exec, coir::box<1, std::int64_t>({blocks}),
             ListMarked{marks, numbers.data() + ranks, marked.data()});
  auto const over = [&]<class Body>(char const* label, Body const& body) {
    std::int64_t const threads = std::min<std::int64_t>(particles, exec.concurrency());
    if (marks == nullptr)
      for_each(label, exec, coir::box<1, std::int64_t>({particles}), body);
    else
      for_each(label, exec, coir::box<1, std::int64_t>({threads}),
               OverListed<Body>{numbers.data() + ranks, marked.data(), particles, threads, body});
  };
  over("coir::nbody::migrate/count", CountLeavers<Destination>{destination, me, numbers.data()});
  auto const on_host = Kokkos::create_mirror_view(numbers.view());
  copy_contiguous(exec, on_host, numbers.view());
  exec.fence();
  LeaverList<typename Exec::memory_space> result;
  result.numbers = numbers;
  result.marked = marked;
  std::int64_t sum = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    result.counts.push_back(on_host(static_cast<std::size_t>(rank)));
    sum += result.counts.back();
  }
  result.particles = Numbers(sum);
  if (sum == 0) return result;
  auto const first = first_places(result.counts);
  for (std::size_t rank = 0; rank < first.size(); ++rank) on_host(rank) = first[rank];
  copy_contiguous(exec, numbers.view(), on_host);
  over("coir::nbody::migrate/list",
       ListLeavers<Destination>{destination, me, numbers.data(), result.particles.data()});
  return result;
}

/// Counts and lists particles on hosts: for each rank in the order of memory, for any number of
/// threads.
template <class Exec, class Destination>
  requires runs_on_host<Exec>
LeaverList<typename Exec::memory_space> leavers_of(Exec const& exec, std::int64_t particles,
                                                   Destination const& destination, int me,
                                                   int ranks, std::uint32_t const* marks) {
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
  LeaverList<typename Exec::memory_space> result;
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
  result.particles = PooledNumbers<std::uint32_t, typename Exec::memory_space>(sum);
  std::uint32_t* const list = result.particles.data();
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
