#pragma once

/// Readout for a body that moves particles and reduces numbers of theirs to a result.

#include "reversible_moves.hpp"

#include <coir/core/kokkos.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/reducer.hpp>
#include <coir/mesh/read_out.hpp>
#include <coir/nbody/particles.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace coir::nbody::detail {

/// The particles of a team, one per thread. Coordinates and the numbers read at particles are
/// copied through scratch memory, so that loads and stores are coalesced. A team processes many
/// groups of particles one after the other, so that there are few results to join.
template <class T, class Reader, class Body>
struct ReadAndFind {
  using value_type = Found<T>;
  using Coordinate = typename Body::Coordinate;
  static constexpr int team = 256, numbers = 3 * team;
  static constexpr int vectors = Reader::components / 3;  // that are read at a particle
  /// The slopes of a force need the cotangents of momenta, too.
  static constexpr bool has_slopes = vectors == 2;
  static constexpr int scratch_bytes =
      (1 + has_slopes + vectors) * numbers * static_cast<int>(sizeof(T));
  std::int64_t particles, stretches;
  Reader reader;
  Body body;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member, Found<T>& found) const {
    auto* const x = static_cast<T*>(member.team_shmem().get_shmem(+scratch_bytes));
    auto* const c = x + numbers;
    auto* const read = x + (1 + has_slopes) * numbers;
    int const rank = member.team_rank();
    for (std::int64_t s = member.league_rank(); s < stretches; s += member.league_size()) {
      std::int64_t const begin = s * numbers, rest = 3 * particles - begin;
      // All loads before the first store: the compiler must assume that stores change what is
      // loaded after them.
      Coordinate here[3];
      COIR_UNROLL
      for (int m = 0; m < 3; ++m) {
        int const at = m * team + rank;
        here[m] = at < rest ? body.load(begin + at) : Coordinate{};
      }
      COIR_UNROLL
      for (int m = 0; m < 3; ++m) {
        x[m * team + rank] = here[m].x;
        if constexpr (has_slopes) c[m * team + rank] = here[m].pi;
      }
      member.team_barrier();
      if (3 * rank < rest) {
        auto const value = at_particle(x, c, rank);
        COIR_UNROLL
        for (int n = 0; n < 3 * vectors; ++n)
          read[n / 3 * numbers + 3 * rank + n % 3] = value.component[n];
      }
      member.team_barrier();
      COIR_UNROLL
      for (int m = 0; m < 3; ++m) {
        int const at = m * team + rank;
        if (at >= rest) continue;
        T of_coordinate[vectors];
        COIR_UNROLL
        for (int v = 0; v < vectors; ++v) of_coordinate[v] = read[v * numbers + at];
        body.move(here[m], of_coordinate, found);
        body.store(begin + at, here[m]);
      }
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION mesh::Value<T, Reader::components> at_particle(T const* x, T const* c,
                                                                             int particle) const {
    if constexpr (has_slopes)
      return reader(x + 3 * particle, c + 3 * particle);
    else
      return reader(x + 3 * particle);
  }
};

/// Reads a mesh out for a body of reversible_moves.hpp.
template <class Exec, class T, class Reader, class Body>
Found<T> read_and_find(char const* label, Exec const& exec, Particles<Exec, T> const& particles,
                       Reader const& reader, Body body) {
  Found<T> found;
  std::int64_t const count = particles.count();
  MonoidReducer<FoundMonoid<T>> const reducer({}, found);
  if constexpr (runs_on_host<Exec>) {
    std::vector<Found<T>> of_shares(static_cast<std::size_t>(exec.concurrency()));
    body.found = of_shares.data();
    mesh::read_out(label, exec, particles.position.data(), count, reader, body);
    for (auto const& share : of_shares) reducer.join(found, share);
  } else if (count > 0) {
    using Teams = ReadAndFind<T, Reader, Body>;
    std::int64_t const stretches = (count + Teams::team - 1) / Teams::team;
    // No more teams than run at a time with the registers that they need: a single warp joins their
    // results one after the other.
    constexpr int of_multiprocessor = sizeof(T) == 8 ? 2 : Teams::has_slopes ? 3 : 4;
    constexpr int threads_of_multiprocessor = 2048;
    std::int64_t const at_a_time =
        std::int64_t(exec.concurrency()) * of_multiprocessor / threads_of_multiprocessor;
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Teams::team, of_multiprocessor>>;
    Kokkos::parallel_reduce(
        label,
        Policy(exec, static_cast<int>(std::clamp<std::int64_t>(at_a_time, 1, stretches)),
               Teams::team)
            .set_scratch_size(0, Kokkos::PerTeam(Teams::scratch_bytes + 64)),
        Teams{count, stretches, reader, body}, reducer);
  }
  return found;
}

}  // namespace coir::nbody::detail
