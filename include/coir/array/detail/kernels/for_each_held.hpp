#pragma once

/// \file
/// Visits the indices for which a condition is true, and numbers them.

#include <coir/array/array.hpp>
#include <coir/array/detail/sort_rows.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/tasks.hpp>

#include <algorithm>
#include <cstdint>

namespace coir::detail {

/// Teams of devices have a tile of indices each. The first kernel counts those that hold, the
/// second one lists them in the team's memory, so that neighbouring threads visit neighbours.
struct HeldTile {
  static constexpr int threads = 256, each = 16, size = threads * each;
  static constexpr int flags_bytes = size, list_bytes = size * int(sizeof(std::uint16_t));
};

template <class Holds>
struct CountHeld : HeldTile {
  std::int64_t indices;
  Holds holds;
  std::int64_t* counts;  // of tiles

  CountHeld(std::int64_t indices_, Holds const& holds_, std::int64_t* counts_)
      : indices(indices_), holds(holds_), counts(counts_) {}

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    std::int64_t const first = std::int64_t(member.league_rank()) * size;
    int count = 0;
    COIR_UNROLL
    for (int l = 0; l < each; ++l) {
      std::int64_t const i = first + l * threads + member.team_rank();
      count += i < indices && holds(i) ? 1 : 0;
    }
    member.team_reduce(Kokkos::Sum<int>(count));
    if (member.team_rank() == 0) counts[member.league_rank()] = count;
  }
};

template <class Holds, class Visit>
struct VisitHeld : HeldTile {
  std::int64_t indices;
  Holds holds;
  Visit visit;
  std::int64_t const* ends;  // how many hold up to the end of each tile

  VisitHeld(std::int64_t indices_, Holds const& holds_, Visit const& visit_,
            std::int64_t const* ends_)
      : indices(indices_), holds(holds_), visit(visit_), ends(ends_) {}

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    int const thread = member.team_rank();
    std::int64_t const tile = member.league_rank(), first = tile * size;
    auto* const flags = static_cast<std::uint8_t*>(member.team_shmem().get_shmem(+flags_bytes));
    auto* const list = static_cast<std::uint16_t*>(member.team_shmem().get_shmem(+list_bytes));
    bool is_held[each];
    COIR_UNROLL
    for (int l = 0; l < each; ++l) {
      std::int64_t const i = first + l * threads + thread;
      is_held[l] = i < indices && holds(i);
    }
    COIR_UNROLL
    for (int l = 0; l < each; ++l) flags[l * threads + thread] = is_held[l] ? 1 : 0;
    member.team_barrier();
    int count = 0;
    COIR_UNROLL
    for (int l = 0; l < each; ++l) {
      is_held[l] = flags[thread * each + l] != 0;
      count += is_held[l] ? 1 : 0;
    }
    int place = member.team_scan(count);
    COIR_UNROLL
    for (int l = 0; l < each; ++l)
      if (is_held[l]) list[place++] = static_cast<std::uint16_t>(thread * each + l);
    member.team_barrier();
    std::int64_t const before = tile > 0 ? ends[tile - 1] : 0;
    int const listed = static_cast<int>(ends[tile] - before);
    for (int n = thread; n < listed; n += threads) visit(before + n, first + list[n]);
  }
};

/// The indices in [0, size) for which holds(i) is true.
template <class Exec, class Holds>
class HeldIndices {
 public:
  /// Counts them. Waits.
  ///
  /// \param exec  where to run
  HeldIndices(Exec const& exec, std::int64_t size, Holds const& holds)
      : exec_(exec), size_(size), holds_(holds), ends_(Shape<1>{parts_of(exec, size)}) {
    std::int64_t const parts = ends_.size();
    if (parts == 0) return;
    std::int64_t* const counts = ends_.data();
    if constexpr (on_host) {
      for_each_task(label, exec, parts, [=](std::int64_t part) {
        constexpr std::int64_t block =
            4096;  // whose count is as narrow as the elements of most arrays
        std::int64_t const end = size * (part + 1) / parts;
        std::int64_t count = 0;
        for (std::int64_t first = size * part / parts; first < end; first += block) {
          std::int32_t here = 0;
          for (std::int64_t i = first; i < std::min(end, first + block); ++i)
            here += holds(i) ? 1 : 0;
          count += here;
        }
        counts[part] = count;
      });
      for (std::int64_t part = 1; part < parts; ++part) counts[part] += counts[part - 1];
      count_ = counts[parts - 1];
    } else {
      Kokkos::parallel_for(label, policy(), CountHeld<Holds>(size, holds, counts));
      add_up_counts(exec, counts, parts);
      copy_bytes<Kokkos::HostSpace, Space>(&count_, counts + parts - 1, sizeof count_);
    }
  }

  std::int64_t count() const { return count_; }

  /// Calls visit(n, i) for each, where n is the number of such indices before i. Doesn't wait on
  /// devices.
  template <class Visit>
  void visit(Visit const& visit) const {
    if (count_ == 0) return;
    std::int64_t const* const ends = ends_.data();
    if constexpr (on_host) {
      // Block by block, without a branch for each index.
      for_each_task(label, exec_, ends_.size(),
                    [=, parts = ends_.size(), size = size_, holds = holds_](std::int64_t part) {
                      constexpr std::int64_t block = 1024;
                      std::int64_t held[block];
                      std::int64_t const end = size * (part + 1) / parts;
                      std::int64_t number = part > 0 ? ends[part - 1] : 0;
                      for (std::int64_t first = size * part / parts; first < end; first += block) {
                        std::int64_t count = 0;
                        for (std::int64_t i = first; i < std::min(end, first + block); ++i) {
                          held[count] = i;
                          count += holds(i) ? 1 : 0;
                        }
                        for (std::int64_t n = 0; n < count; ++n) visit(number + n, held[n]);
                        number += count;
                      }
                    });
    } else {
      using Tiles = VisitHeld<Holds, Visit>;
      Kokkos::parallel_for(label,
                           policy().set_scratch_size(0, Kokkos::PerTeam(HeldTile::flags_bytes +
                                                                        HeldTile::list_bytes + 64)),
                           Tiles(size_, holds_, visit, ends));
    }
  }

 private:
  using Space = typename Exec::memory_space;
  static constexpr bool on_host = runs_on_host<Exec>;
  static constexpr char const* label = "coir::array::for_each_held";

  /// Parts that threads, or teams of devices, have.
  static std::int64_t parts_of(Exec const& exec, std::int64_t size) {
    if constexpr (on_host)
      return threads_worth_starting(exec, size);
    else
      return (size + HeldTile::size - 1) / HeldTile::size;
  }
  auto policy() const {
    return Kokkos::TeamPolicy<Exec>(exec_, static_cast<int>(ends_.size()), HeldTile::threads);
  }

  Exec exec_;
  std::int64_t size_;
  Holds holds_;
  Array<std::int64_t, 1, Space> ends_;  // how many hold up to the end of each part
  std::int64_t count_ = 0;
};

}  // namespace coir::detail
