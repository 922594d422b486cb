#pragma once

/// \file
/// Migration of particles between ranks.

#include <coir/core/concepts.hpp>
#include <coir/distributed/group.hpp>
#include <coir/nbody/detail/crossings.hpp>
#include <coir/nbody/detail/migration_memory.hpp>
#include <coir/nbody/detail/particle_state.hpp>
#include <coir/nbody/particles.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace coir::nbody::detail {

/// Brings particles to the ranks of their planes of the mesh, and home to the ranks of their
/// lattice sites. While particles are away from home, Particles::site holds their lattice sites and
/// Particles::sites.count their number on this rank, and the Views have more places than particles.
/// On hosts the order of particles depends on their positions and the number of ranks alone.
///
/// Further vectors of the particles, such as derivatives, travel with them. Their Views are
/// replaced by others wherever those of positions are.
///
/// All functions are collective.
template <CompiledSpace Exec, Real T>
class ParticleMigration {
 public:
  using Vectors = typename Particles<Exec, T>::Vectors;
  using Numbers = typename Particles<Exec, T>::Numbers;
  using Further = std::span<Vectors* const>;

  /// \param side       particles along a side of their lattice
  /// \param mesh_side  cells of the mesh along a side
  /// \param headroom   the share of additional particles that a rank has memory for
  ParticleMigration(Exec const& exec, distributed::Group const& group, std::int64_t side,
                    double box, std::int64_t mesh_side, double headroom);

  /// Bytes of the particles on the rank that has most.
  struct Held {
    /// With their sites, a vector more for each to put them in order unless memory is lent, and
    /// what as many as there is headroom for are packed in.
    std::int64_t most;
    /// Of particles at home, and of what they were packed in, which stays in the pool of arrays.
    std::int64_t at_rest;
  };
  /// \param further  the number of further vectors; with some, memory must be lent
  static Held bytes(distributed::Group const& group, std::int64_t side, double headroom,
                    int further = 0);

  /// Gives particles that are at home places for more of them, and sites.
  ///
  /// \param lent  without it vectors are held twice, one after the other, while they are copied
  /// \throws ResourceError on all ranks if one has no memory
  void leave_home(Particles<Exec, T>& particles, ParticleState& state, Further further = {},
                  LentMemory<T> const& lent = {}) const;

  /// Sends each particle to the rank that has the plane it lies in.
  ///
  /// \param crossings  if it has marks, no other particles are looked at; their marks are removed
  /// \throws ResourceError on all ranks if one has no memory for those that come
  void to_planes(Particles<Exec, T>& particles, ParticleState& state,
                 Crossings<Exec, T>* crossings = nullptr, Further further = {},
                 LentMemory<T> const& lent = {});

  /// Sends particles home and puts them in the order of their lattice.
  ///
  /// \throws NumericalError on all ranks if on one not as many come as there are sites
  void go_home(Particles<Exec, T>& particles, ParticleState& state, Further further = {},
               LentMemory<T> const& lent = {});

 private:
  /// Bytes of a particle with its site and further vectors.
  static constexpr std::int64_t bytes_of_particle(std::size_t further) {
    return static_cast<std::int64_t>((6 + 3 * further) * sizeof(T) + sizeof(std::uint32_t));
  }

  /// As many as there is memory for when the first are on their way.
  static constexpr std::int64_t usual(std::int64_t home) { return home / 64; }

  template <class Destination>
  void send(Particles<Exec, T>& particles, Further further, Destination const& destination,
            Crossings<Exec, T>* crossings, LentMemory<T> const& lent);
  std::uint32_t const* places_of_new(Particles<Exec, T>& particles, Further further,
                                     NumberList const& leavers, std::int64_t came);
  template <class View, class Put>
  void replace(View& view, std::int64_t places, std::int64_t numbers,
               typename View::value_type* lent, char const* what, Put const& put) const;
  void grow(Particles<Exec, T>& particles, Further further, std::int64_t count,
            LentMemory<T> const& lent) const;
  std::int64_t places_when_grown(Particles<Exec, T> const& particles, Further further,
                                 std::int64_t count) const;

  Exec exec_;
  distributed::Group group_;
  std::int64_t side_;
  double box_;
  std::int64_t mesh_side_;
  double headroom_;
  using Kept = KeptMemory<typename Exec::memory_space>;
  Kept departures_, arrivals_;  ///< where particles go packed, and come packed
  Kept places_;                 ///< lists of places of those that come
  LeaverMemory<typename Exec::memory_space> leavers_;
};

}  // namespace coir::nbody::detail
