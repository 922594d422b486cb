#pragma once

/// \file
/// The potentials that a reversible simulation keeps for its way back.

#include <coir/core/concepts.hpp>
#include <coir/core/shape.hpp>
#include <coir/distributed/group.hpp>

#include <cstdint>
#include <vector>

namespace coir::nbody::detail {

/// A stack of potentials, one for each kick that was made and not undone, from which the forces of
/// these kicks are computed again. It also has the potential of the force that is on the mesh now,
/// which consecutive kicks share. It computes nothing: callers fill the memory.
///
/// Memory is allocated for several potentials at once, which takes devices no longer than for one.
/// Each rank keeps its part, if all ranks have the memory for theirs.
template <CompiledSpace Exec, Real T>
class PotentialStore {
 public:
  /// As mesh::Force::solve() keeps it; empty where none is kept.
  using Potential =
      Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutRight, typename Exec::memory_space>;

  static constexpr std::int64_t at_a_time = 16;

  /// Whether this is a potential. That of a rank without planes has no numbers.
  static bool is_kept(Potential const& potential) { return potential.extent(2) > 0; }

  /// \param shape  mesh::Force::kept_shape() on this rank
  PotentialStore(Exec const& exec, distributed::Group const& group, Shape<3> const& shape)
      : exec_(exec), group_(group), shape_(shape) {}

  /// Keeps potentials from now on, as long as half of the free memory is left.
  ///
  /// \param kicks  the number of kicks to come, which bounds the memory
  void begin(std::int64_t kicks) { kicks_to_come_ = kicks; }

  /// Keeps no more potentials from now on. Frees memory that no kick needs.
  void end();

  /// To be called before a force is computed: the memory for its potential. Nothing if potentials
  /// aren't kept, or memory is short. Collective.
  Potential const& next();

  /// To be called after a kick: puts the potential of the present force on the stack.
  void push();

  /// To be called before a kick is undone: takes its potential from the stack, and makes it the
  /// present one. Empty if it wasn't kept.
  Potential const& pop();

 private:
  using Block =
      Kokkos::View<Kokkos::complex<T>****, Kokkos::LayoutRight, typename Exec::memory_space>;

  /// Potentials on the stack that memory is held for: kicks in one force share theirs.
  std::int64_t held() const;
  void allocate();

  Exec exec_;
  distributed::Group group_;
  Shape<3> shape_;
  std::int64_t kicks_to_come_ = 0;
  Potential present_;
  std::vector<Potential> kept_;
  Block block_;  // its first `used_` potentials are taken
  std::int64_t used_ = 0;
};

}  // namespace coir::nbody::detail
