#pragma once

/// Which particles may have left the planes of their rank: kernels that move particles note it, so
/// that migration needn't look at all of them.

#include <coir/core/concepts.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/math.hpp>
#include <coir/core/memory.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>
#include <coir/mesh/cells.hpp>
#include <coir/nbody/detail/places.hpp>

#include <cstddef>
#include <cstdint>

namespace coir::nbody::detail {

/// The plane of the mesh in which a particle lies, computed as in painting: a position that
/// rounding brings to the end of the box is in plane 0, and so is NaN.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T plane_of(T x, T per_cell, T planes) {
  T plane = math::floor(x * per_cell);
  plane = plane > T(0) ? plane : T(0);
  return plane < planes ? plane : T(0);
}

/// Marks blocks of particles that are next to each other in memory.
template <class T>
struct CrossingMarks {
  static constexpr int block = 256;    ///< particles
  std::uint32_t* of_blocks = nullptr;  ///< none: nothing is marked
  T per_cell = 0, planes = 0, first = 0, end = 0;

  KOKKOS_FORCEINLINE_FUNCTION bool are_kept() const { return of_blocks != nullptr; }
  /// Whether a particle isn't in this rank's planes.
  KOKKOS_FORCEINLINE_FUNCTION bool is_beyond(T x) const {
    T const plane = plane_of(x, per_cell, planes);
    return plane < first || plane >= end;
  }
  KOKKOS_FORCEINLINE_FUNCTION void mark(std::int64_t particle) const {
    Kokkos::atomic_fetch_or(of_blocks + particle / block, 1u);
  }
};

/// The marks of a rank's particles.
template <CompiledSpace Exec, Real T>
class Crossings {
 public:
  Crossings(distributed::Group const& group, std::int64_t mesh_side, double box)
      : is_used_(particles_migrate(group)) {
    auto const own = distributed::share_of(mesh_side, group.rank(), group.size());
    marks_.per_cell = static_cast<T>(mesh::inverse_spacing(mesh_side, box));
    marks_.planes = static_cast<T>(mesh_side);
    marks_.first = static_cast<T>(own.first);
    marks_.end = static_cast<T>(own.end());
  }

  static std::int64_t bytes(std::int64_t particles) { return 4 * blocks(particles); }

  /// Makes room for marks of so many particles. Marks may be lost.
  ///
  /// \throws ResourceError if there is no memory
  void reserve(std::int64_t particles) {
    auto const count = static_cast<std::size_t>(blocks(particles));
    if (!is_used_ || memory_.extent(0) >= count) return;
    expects_memory<typename Exec::memory_space>(bytes(particles), "marks of particles that cross");
    forget();
    memory_ = Memory(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::nbody::crossings/marks"), count);
  }
  /// All particles are in this rank's planes now, and kernels that move them take marks().
  void restart(Exec const& exec) {
    if (!is_used_) return;
    set_to_zero(exec, memory_);
    marks_.of_blocks = memory_.data();
  }
  /// Particles have moved without marks.
  void forget() { marks_.of_blocks = nullptr; }
  CrossingMarks<T> const& marks() const { return marks_; }

 private:
  using Memory = Kokkos::View<std::uint32_t*, typename Exec::memory_space>;
  static std::int64_t blocks(std::int64_t particles) {
    return (particles + CrossingMarks<T>::block - 1) / CrossingMarks<T>::block;
  }

  bool is_used_;
  CrossingMarks<T> marks_;
  Memory memory_;
};

}  // namespace coir::nbody::detail
