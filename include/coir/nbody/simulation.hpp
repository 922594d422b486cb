#pragma once

/// \file
/// A particle-mesh simulation.

#include <coir/core/concepts.hpp>
#include <coir/cosmology/growth.hpp>
#include <coir/mesh/force.hpp>
#include <coir/mesh/paint.hpp>
#include <coir/nbody/particles.hpp>
#include <coir/nbody/stepper.hpp>

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace coir::nbody {

/// Where particles get their forces.
enum class ForceSource {
  automatic,  ///< vectors; potential for a spectral gradient, which would take two meshes more, and on devices for mesh
              ///< ratios of 1.5 and more, where it is quicker
  vectors,    ///< from a mesh of forces
  potential,  ///< from differences in the potential around each particle, without a mesh of forces, which is three quarters
  ///< of the meshes' memory. To rounding the same. A spectral gradient is read out component by component.
};

/// "automatic", "vectors", "potential".
constexpr std::string_view name_of(ForceSource source) {
  return source == ForceSource::automatic ? "automatic"
         : source == ForceSource::vectors ? "vectors"
                                          : "potential";
}

struct SimulationOptions {
  /// a at the start and after each step, rising.
  std::vector<double> scale_factors{};
  Stepper stepper = Stepper::fastpm;
  /// Cells of the force mesh along a side, per particle: 0.5 to 4.
  double mesh_ratio = 1;
  mesh::ForceKernel kernel = mesh::ForceKernel::one_four;
  mesh::Softening softening = mesh::Softening::none;
  mesh::Assignment assignment = mesh::Assignment::cic;
  /// automatic: slabs on hosts; on devices tiles while particles are in the order of the mesh, or else atomics.
  mesh::PaintScheme scheme = mesh::PaintScheme::automatic;
  ForceSource force_source = ForceSource::automatic;
  /// Every run gives the same bits, for any number of threads: densities are added up in whole numbers, and transforms are
  /// planned without measuring.
  bool deterministic = false;
};

/// Where the time went.
struct PhaseSeconds {
  double paint = 0;    ///< densities
  double fft = 0;      ///< transforms, and the multiplication and differences between them
  double readout = 0;  ///< forces at particles, and the kicks and drifts in the same pass
  double push = 0;     ///< drifts alone
  double sort = 0;     ///< bringing particles into the order of the mesh, and back
};

/// N-body particles that move in the forces of a periodic mesh,
///
///   dx/dt = p / a^2,  dp/dt = F / a,  F = -grad phi,  laplacian phi = 3/2 omega_m delta,
///
/// with t in units of 1/H0. One force per step; kicks and drifts that follow each other are made in one pass over the
/// particles, and accelerations aren't stored. While steps are made particles are kept roughly in the order of the mesh;
/// between calls they lie in that of the lattice.
///
/// \see Feng et al., Mon. Not. R. Astron. Soc. 463, 2273 (2016); Rampf, List, Hahn, arXiv:2409.19049
template <ExecutionSpace Exec, Real T>
class Simulation {
 public:
  /// \param particles  at options.scale_factors[first]; their memory is the simulation's from now on, and particles() says
  ///   where they are
  /// \param growth     its range must hold the scale factors
  /// \param first      which of the scale factors the particles are at
  /// \throws PreconditionError if an option or the particles' shape is out of its range
  /// \throws ResourceError if there is no memory
  Simulation(Exec const& exec, Particles<Exec, T> particles, cosmology::Growth<double> growth,
             SimulationOptions const& options, int first = 0);

  /// Bytes that a simulation holds, with its particles.
  static std::int64_t bytes(Exec const& exec, std::int64_t side, SimulationOptions const& options);

  /// Cells of the force mesh along a side: mesh_ratio side, rounded.
  static std::int64_t mesh_side(std::int64_t side, SimulationOptions const& options);

  /// Makes steps. Between steps momenta and positions may be apart in time; afterwards both are at a().
  ///
  /// \param steps       at most those that are left
  /// \param after_step  called with the number of steps made so far after each of them; may throw to stop, after
  ///   which positions and momenta are at a(), too
  /// \throws NumericalError if a force isn't a number any more, naming the step. A particle that moves by more than 4096
  ///   boxes at once gets a position that is no number.
  void advance(int steps, std::function<void(int)> const& after_step = {});

  double a() const { return options_.scale_factors[static_cast<std::size_t>(done_)]; }
  /// Steps made, counted from the first scale factor.
  int steps_done() const { return done_; }
  int steps_left() const { return static_cast<int>(options_.scale_factors.size()) - 1 - done_; }

  Particles<Exec, T> const& particles() const { return particles_; }
  SimulationOptions const& options() const { return options_; }
  cosmology::Growth<double> const& growth() const { return growth_; }
  PhaseSeconds const& seconds() const { return seconds_; }

  /// The mesh that forces are made on, free between calls of advance(): 1 + delta after paint_density().
  mesh::Force<Exec, T>& force() { return force_; }

  /// Paints the particles on the mesh of force().density(), as 1 + delta.
  void paint_density();

 private:
  void find_force();
  bool is_finite() const;
  void sort_by_rows();
  void sort_by_lattice();
  void permute(std::uint32_t const* order);
  void permute_sites(std::uint32_t const* order);
  typename Particles<Exec, T>::Vectors room() const;
  std::uint32_t* order() const;
  void drift(double factor);
  void kick_by_components(double keep, double kick);
  void move(Move const& what);
  void finish(Move const& rest);

  Exec exec_;
  Particles<Exec, T> particles_;
  cosmology::Growth<double> growth_;
  SimulationOptions options_;
  int done_;
  mesh::Force<Exec, T> force_;
  bool has_force_ = false;  // of where the particles are
  // While particles lie in the order of the mesh: their sites in the lattice. An order that they are brought into, or
  // without a mesh of forces the second one of two arrays that take turns.
  Kokkos::View<std::uint32_t*, typename Exec::memory_space> site_, order_;
  typename Particles<Exec, T>::Vectors spare_;
  bool sorted_ = false;
  bool in_order_ = true;  // well enough to paint and read out
  int steps_since_sort_ = 0;
  PhaseSeconds seconds_;
};

}  // namespace coir::nbody
