#pragma once

/// \file
/// The state of the particles of a simulation, and memory that its parts lend each other.

#include <cstdint>

namespace coir::nbody::detail {

/// Where particles are, in which order they lie in memory, and whether their forces are there. The
/// parts of a simulation that move particles, change their order or find forces keep it up to date.
struct ParticleState {
  enum class Place {
    home,   ///< on the ranks that have their planes of the lattice
    planes  ///< on the ranks that have the planes of the mesh that they lie in
  };
  enum class Order {
    lattice,   ///< that of their sites
    by_sites,  ///< any: Particles::site has the site of each
    sorted     ///< roughly that of the mesh: Particles::site has the site of each
  };
  Place place = Place::home;
  Order order = Order::lattice;
  /// The meshes hold the force of the present positions.
  bool has_force = false;

  bool is_home() const { return place == Place::home; }
  bool is_sorted() const { return order == Order::sorted; }
  bool is_in_lattice_order() const { return order == Order::lattice; }
};

/// The memory of meshes, lent between two forces, while the meshes hold nothing of use.
template <class T>
struct LentMemory {
  T* vectors = nullptr;        ///< three numbers per particle, or null
  T* numbers = nullptr;        ///< one number per particle; not used if there are vectors
  std::int64_t particles = 0;  ///< how many particles this memory is for

  /// Null unless there is a vector for each of so many particles.
  T* vectors_of(std::int64_t count) const { return count <= particles ? vectors : nullptr; }
};

}  // namespace coir::nbody::detail
