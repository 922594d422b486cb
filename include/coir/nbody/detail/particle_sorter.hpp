#pragma once

/// \file
/// Particles sorted by the mesh, and back.

#include <coir/core/buffers.hpp>
#include <coir/core/concepts.hpp>
#include <coir/nbody/detail/particle_state.hpp>
#include <coir/nbody/particles.hpp>

#include <cstdint>
#include <span>

namespace coir::nbody::detail {

/// Decides at the start of each step whether particles are to be sorted before their density is
/// painted.
class SortSchedule {
 public:
  /// \param on_host  Hosts sort every sixth step, in which particles cross about a cell. Devices
  ///   sort every eighth, because their caches and tiles reach further, and at the start, for
  ///   painting by tiles
  explicit constexpr SortSchedule(bool on_host)
      : interval_(on_host ? 5 : 7), last_steps_(on_host ? 3 : 1), lattice_will_do_(on_host) {}

  /// \param steps_to_go  steps before particles must be in the order of their lattice, including
  ///   this one; for the last few steps sorting doesn't pay
  /// \param is_sorted    whether particles are sorted now
  constexpr void begin_step(int steps_to_go, bool is_sorted) {
    bool const will_do = (is_sorted || lattice_will_do_) && ++steps_since_sort_ <= interval_;
    is_due_ = !will_do && steps_to_go > last_steps_;
  }

  constexpr bool is_due() const { return is_due_; }

  /// To be called when particles have been sorted.
  constexpr void has_sorted() {
    is_due_ = false;
    steps_since_sort_ = 0;
  }

 private:
  int interval_, last_steps_;
  bool lattice_will_do_;
  int steps_since_sort_ = 0;
  bool is_due_ = false;
};

/// Sorts particles by the mesh during steps, and puts them back in the order of their lattice.
/// Sorted particles that follow each other in memory touch the same few rows of the mesh, which
/// stay in cache.
///
/// It holds the lattice site of each sorted particle, and the memory that isn't lent: beside lent
/// vectors the permutation, beside lent numbers a second buffer for positions or momenta.
template <CompiledSpace Exec, Real T>
class ParticleSorter {
 public:
  using Vectors = typename Particles<Exec, T>::Vectors;
  using Numbers = typename Particles<Exec, T>::Numbers;

  /// Allocates nothing before the first sort.
  ///
  /// \param side           particles along a side of their lattice
  /// \param mesh_side      cells of the mesh along a side
  /// \param lends_vectors  whether the LentMemory of later calls has vectors
  ParticleSorter(Exec const& exec, std::int64_t side, double box, std::int64_t mesh_side,
                 bool lends_vectors);

  /// Whether particles are sorted at all: sites and bins fit 32 bits, vectors of particles fit the
  /// mesh of forces (and a permutation that of the potential), and there are enough particles for
  /// sorting to pay.
  static bool can_sort(std::int64_t side, std::int64_t mesh_side) {
    return side >= 48 && side * side * side <= 0xffffffff && mesh_side <= 4096 && mesh_side >= side;
  }

  /// What it holds after the first sort, listed where there are fewer places than are needed.
  struct Memory {
    Numbers site, permutation;
    Vectors second;
    /// \param exec        where kernels use it
    /// \param places      for particles
    /// \param with_sites  whether their sites are among these, as particles at home have none
    Buffers list(Exec const& exec, std::int64_t places, bool with_sites, bool lends_vectors);
  };

  /// To be called at the start of a step.
  /// \param steps_to_go  steps before restore_lattice_order(), including this one
  void begin_step(int steps_to_go, ParticleState const& state) {
    schedule_.begin_step(steps_to_go, state.is_sorted());
  }

  /// True if sort() is to be called before the next density is painted.
  bool is_due() const { return can_sort_ && schedule_.is_due(); }

  /// Sorts particles by the mesh, with their sites. Does nothing if there are more particles than
  /// the lent memory is for. Hosts sort into stretches of the mesh's rows, devices into pencils of
  /// 16 x 16 cells. On hosts particles of a bin keep their order, for any number of threads.
  ///
  /// \param particles  The Views are replaced by others if no vectors are lent.
  /// \param further    vectors of particles that are to be sorted with them, where vectors are lent
  void sort(Particles<Exec, T>& particles, ParticleState& state, LentMemory<T> const& lent,
            std::span<Vectors* const> further = {});

  /// Memory of a number for each particle, free until the next sort(); null while particles are
  /// sorted.
  std::uint32_t* lend_permutation(ParticleState const& state) const {
    return state.is_sorted() ? nullptr : memory_.permutation.data();
  }

  /// Undoes all sorting of particles at home.
  void restore_lattice_order(Particles<Exec, T>& particles, ParticleState& state,
                             LentMemory<T> const& lent, std::span<Vectors* const> further = {});

 private:
  using Unmanaged = Kokkos::View<T* [3], Kokkos::LayoutRight, typename Exec::memory_space,
                                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  T* scratch(LentMemory<T> const& lent) const {
    return lends_vectors_ ? lent.vectors : memory_.second.data();
  }
  void permute(Particles<Exec, T>& particles, LentMemory<T> const& lent,
               std::span<Vectors* const> further, std::uint32_t const* permutation);
  void permute_vectors(Vectors const& from, Vectors const& to, std::int64_t count,
                       std::uint32_t const* permutation);
  void permute_sites(Numbers const& site, std::int64_t count, T* scratch,
                     std::uint32_t const* permutation);

  Exec exec_;
  double box_;
  std::int64_t mesh_side_;
  bool lends_vectors_, can_sort_;
  SortSchedule schedule_{runs_on_host<Exec>};
  Memory memory_;
};

}  // namespace coir::nbody::detail
