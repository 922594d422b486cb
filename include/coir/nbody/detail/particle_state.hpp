#pragma once

/// \file
/// The state of the particles of a simulation.

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

}  // namespace coir::nbody::detail
