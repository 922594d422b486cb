#pragma once

#include "wrapped.hpp"

#include <coir/mesh/read_out.hpp>
#include <coir/nbody/detail/crossings.hpp>

#include <cstdint>
#include <string>

namespace coir::nbody::detail {

/// p = keep (p + kick_before F) + kick F.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T kicked(T momentum, T force, T kick_before, T keep, T kick) {
  return keep * (momentum + kick_before * force) + kick * force;
}

/// Stores the force at a particle in a team's scratch memory.
template <class T>
struct KeepForce {
  T* force;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t particle,
                                              mesh::Value<T, 3> const& read) const {
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) force[3 * particle + d] = read.component[d];
  }
};

/// MoveParticle for the particles of a team, one per thread. Positions and forces go by way of
/// scratch memory, so that loads and stores are coalesced.
template <class T, class Reader>
struct MoveTeam {
  static constexpr int team = 256, numbers = 3 * team;
  static constexpr int scratch_bytes = numbers * static_cast<int>(sizeof(T));
  /// Teams that a multiprocessor has room for; with 1 the compiler chooses the number of registers.
  static constexpr int at_a_time = [] {
    if constexpr (requires { Reader::teams_at_a_time; })
      return Reader::teams_at_a_time;
    else
      return 1;
  }();
  T *position, *momentum;
  T kick_before, keep, kick, drift, box;
  CrossingMarks<T> marks;
  std::int64_t particles;
  Reader reader;
  static_assert(team == CrossingMarks<T>::block);

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto* const x = static_cast<T*>(member.team_shmem().get_shmem(+scratch_bytes));
    auto* const force = static_cast<T*>(member.team_shmem().get_shmem(+scratch_bytes));
    int const rank = member.team_rank();
    std::int64_t const begin = std::int64_t(member.league_rank()) * numbers,
                       rest = 3 * particles - begin;
    // All loads come before the first store, which the compiler takes to change what is loaded
    // later.
    T here[3], p[3];
    COIR_UNROLL
    for (int m = 0; m < 3; ++m) {
      int const at = m * team + rank;
      here[m] = at < rest ? position[begin + at] : T(0);
      p[m] = at < rest ? momentum[begin + at] : T(0);
    }
    COIR_UNROLL
    for (int m = 0; m < 3; ++m) x[m * team + rank] = here[m];
    member.team_barrier();
    if (3 * rank < rest) mesh::ReadOutParticle<T, Reader, KeepForce<T>>{x, reader, {force}}(rank);
    member.team_barrier();
    COIR_UNROLL
    for (int m = 0; m < 3; ++m) {
      p[m] = kicked(p[m], force[m * team + rank], kick_before, keep, kick);
      here[m] = wrapped(here[m] + drift * p[m], box);
    }
    COIR_UNROLL
    for (int m = 0; m < 3; ++m) {
      int const at = m * team + rank;
      if (at >= rest) continue;
      momentum[begin + at] = p[m];
      position[begin + at] = here[m];
      if (marks.are_kept() && at % 3 == 0 && marks.is_beyond(here[m]))
        marks.mark(std::int64_t(member.league_rank()) * team);
    }
  }
};

/// Interpolates the force to each particle and moves it: read_out() with a MoveParticle, for
/// devices.
template <class Exec, class Reader, class Body>
void move_in_teams(char const* label, Exec const& exec, std::int64_t particles,
                   Reader const& reader, Body const& what) {
  using Team = MoveTeam<decltype(what.box), Reader>;
  Team const body{what.position, what.momentum, what.kick_before, what.keep, what.kick,
                  what.drift,    what.box,      what.marks,       particles, reader};
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Team::team, Team::at_a_time>>;
  Kokkos::parallel_for(
      label,
      Policy(exec, static_cast<int>((particles + Team::team - 1) / Team::team), Team::team)
          .set_scratch_size(0, Kokkos::PerTeam(2 * Team::scratch_bytes + 64)),
      body);
}

}  // namespace coir::nbody::detail
