#pragma once

/// \file
/// Kicks and drifts that can be undone to the bit, and their adjoints.

#include <coir/core/concepts.hpp>
#include <coir/distributed/group.hpp>
#include <coir/mesh/assignment.hpp>
#include <coir/mesh/cells.hpp>
#include <coir/mesh/force.hpp>
#include <coir/nbody/cotangents.hpp>
#include <coir/nbody/detail/made_move.hpp>
#include <coir/nbody/moves.hpp>
#include <coir/nbody/particles.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace coir::nbody::detail {

/// The type of whole numbers that momenta are held in, as wide as a T.
template <class T>
using Whole = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

/// Momenta stay below so many quanta. The sum of two fits into a Whole<T>. A float and 8 more bits
/// hold any momentum, and so does a double.
template <class T>
inline constexpr Whole<T> most_quanta = Whole<T>(1) << (sizeof(T) == 4 ? 30 : 51);

/// The quanta of a reversible simulation: positions and momenta are whole multiples of them.
///
/// Positions, and the box, are multiples of q, the distance of neighbouring numbers of type T at
/// the far end of the box. T adds and subtracts these without rounding, so that x -= rint(f p / q)
/// q undoes x += rint(f p / q) q to the bit. Momenta are whole numbers n of the quantum u, and n +=
/// rint(g F(x) / u) is undone likewise. This is the idea of JANUS, for positions as painting and
/// readout take them.
///
/// \see Rein & Tamayo, Mon. Not. R. Astron. Soc. 473, 3351 (2018)
template <class T>
struct Quanta {
  T position;       ///< q
  double momentum;  ///< u
  T box;
};

/// Below this part of the largest scale momenta would have too few bits: a move stores them
/// instead.
inline constexpr double least_scale = 1.0 / 64;

/// Moves particles by multiples of Quanta. It doesn't find forces: callers pass a mesh that holds
/// them. Each rank moves its own particles. Check sums, largest numbers and derivatives are those
/// of all ranks' particles, with the same bits for any number of ranks; the functions that find
/// them are collective.
template <CompiledSpace Exec, Real T>
class ParticleReverser {
 public:
  using Vectors = typename Particles<Exec, T>::Vectors;
  using Force = mesh::Force<Exec, T>;

  /// \param largest_momentum  a component's, > 0: momenta are multiples of it over most_quanta<T>
  ParticleReverser(Exec const& exec, distributed::Group const& group, double box,
                   double largest_momentum, mesh::Assignment assignment);

  /// The largest momentum that can be held at the scale 1.
  double largest_held() const { return quanta_.momentum * static_cast<double>(most_quanta<T> - 1); }

  /// Brings positions into the box, and positions and momenta to the nearest multiples.
  void round(Particles<Exec, T> const& particles);

  /// hold() turns momenta into whole numbers of p / scale, which all functions below need;
  /// release() turns them back into numbers, rounded to T. The next hold() gives the same whole
  /// numbers, because a byte for each component keeps the remainder of a float's rounding.
  ///
  /// \param lent  4 bytes for each particle, which nobody may change until the next hold(); or
  ///   null: release() then allocates 3 bytes, and hold() frees them
  void hold(Particles<Exec, T> const& particles, double scale);
  void release(Particles<Exec, T> const& particles, std::uint32_t* lent);

  /// Prepares a move: how momenta are held during it.
  MadeMove begin(Move const& move) const;

  /// x += factor p, or with `back` x -= factor p.
  /// \param scale  by which momenta are held
  void drift(Particles<Exec, T> const& particles, double factor, double scale, bool back) const;

  /// To be called before kick_and_drift() of a move with made.stored >= 0, with the particles of
  /// this rank's sites: stores their momenta in lattice order, and then multiplies them by `keep`.
  /// Not collective.
  /// \param site  the particles' lattice sites, or null if they are in that order
  /// \throws ResourceError if there is no memory
  void store(Particles<Exec, T> const& particles, std::uint32_t const* site, MadeMove const& made);
  /// To be called after undo_kick() or pull_back_kick() of such a move: restores what store() has
  /// stored. Not collective.
  void restore(Particles<Exec, T> const& particles, std::uint32_t const* site,
               MadeMove const& made);

  /// p = keep p + kick F, x += drift_after p. Completes `made`.
  void kick_and_drift(Force const& force, Particles<Exec, T> const& particles, MadeMove& made);

  /// Undoes the kick of `made`, and then a drift by `drift_back` p, but if momenta are to be
  /// restored in between.
  /// \throws NumericalError if particles aren't where they were
  void undo_kick(Force const& force, Particles<Exec, T> const& particles, MadeMove const& made,
                 double drift_back);

  /// Undoes a kick and a drift as undo_kick() does, and pulls cotangents back through both. The
  /// mesh of vectors holds the force. `potential` is Force::pull_back() of the cotangents of
  /// momenta times made.move.kick.
  ///
  /// \param drift_back  as for undo_kick()
  /// \param slopes      the derivatives with respect to kick, keep and drift_after are added to
  ///   these
  /// \throws NumericalError if particles aren't where they were, or cotangents overflow
  void pull_back_kick(Force const& force, mesh::CellsWindow<T const> const& potential,
                      Particles<Exec, T> const& particles, MadeMove const& made, double drift_back,
                      Cotangents<Exec, T> const& cotangents, FactorSlopes& slopes);

  /// The adjoint of the multiplication by move.keep, where momenta were stored before it and have
  /// been restored.
  void pull_back_keep(Particles<Exec, T> const& particles, Cotangents<Exec, T> const& cotangents,
                      MadeMove const& made, FactorSlopes& slopes);

  /// x -= factor p, and momenta's cotangents += factor times those of positions.
  void pull_back_drift(Particles<Exec, T> const& particles, Cotangents<Exec, T> const& cotangents,
                       double factor, double scale);

  /// sum xi p over all particles, of momenta p that are held by `scale`.
  double along_drift(Particles<Exec, T> const& particles, Cotangents<Exec, T> const& cotangents,
                     double scale) const;

  /// An upper bound of the components of the cotangents of momenta.
  double largest_momentum_slope() const { return largest_momentum_slope_; }

  /// To be called before cotangents are pulled back. Finds their largest components, by which later
  /// sums are rounded, so that sums have the same bits in any order.
  /// \throws NumericalError if one is infinite or NaN
  void find_largest(Particles<Exec, T> const& particles, Cotangents<Exec, T> const& cotangents);

 private:
  /// The factor of a drift, in quanta of position for each quantum of momentum at `scale`: the same
  /// number forward and back.
  T quanta_of_drift(double factor, double scale) const;
  /// The factor of a kick, in quanta of momentum for a force of 1.
  T quanta_of_kick(MadeMove const& made) const;
  /// sum slope n over all particles, of the whole numbers n of momenta.
  /// \param largest  no slope is larger
  double product_with_momenta(Particles<Exec, T> const& particles, Vectors const& slopes,
                              double largest) const;

  Exec exec_;
  distributed::Group group_;
  mesh::Assignment assignment_;
  Quanta<T> quanta_;
  double scale_ = 1, largest_scale_ = 1;
  double largest_position_slope_ = 0, largest_momentum_slope_ = 0;
  bool holds_ = false;
  // The remainders of released momenta, in lent or own memory; null if there are none.
  std::int8_t* remainder_ = nullptr;
  Kokkos::View<std::int8_t*, typename Exec::memory_space> own_remainder_;
  std::vector<Vectors> stored_;
};

}  // namespace coir::nbody::detail
