#pragma once

/// \file
/// Ghost planes: copies of other ranks' planes, before and after a rank's own planes of a mesh.

#include <coir/core/concepts.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/views.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/share.hpp>
#include <coir/mesh/assignment.hpp>
#include <coir/mesh/cells.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace coir::mesh {

/// Numbers of ghost planes before and after a rank's own ones.
struct GhostWidths {
  int below = 0, above = 0;

  /// The widths that contain both.
  friend GhostWidths widest(GhostWidths const& a, GhostWidths const& b) {
    return GhostWidths{a.below > b.below ? a.below : b.below,
                       a.above > b.above ? a.above : b.above};
  }
  /// These widths with `planes` more on either side.
  GhostWidths widened(int planes) const { return GhostWidths{below + planes, above + planes}; }
  bool operator==(GhostWidths const&) const = default;
};

/// The numbers of planes before and after a slab that its particles touch. A particle belongs to
/// the last plane at or before its position.
///
/// \param astray  planes by which particles may have left the slab
constexpr GhostWidths touched_beyond(Assignment assignment, int astray = 0) {
  // tsc touches one plane above the nearest one, which may be the next.
  bool const cic = assignment == Assignment::cic;
  return GhostWidths{(cic ? 0 : 1) + astray, (cic ? 1 : 2) + astray};
}

/// The ghost planes that the ranks of a group need for the planes that particles touch. One rank
/// needs none, because it has the whole mesh.
inline GhostWidths widths_needed(distributed::Group const& group, GhostWidths const& touched) {
  return group.size() == 1 ? GhostWidths{} : touched;
}

/// \throws PreconditionError if a width is negative
void expects_widths(GhostWidths const& widths);

namespace detail {

/// Consecutive ghost planes of one owner.
struct GhostRun {
  int holder = 0;
  std::int64_t held = 0;  ///< place of the first one among the planes that the holder has in memory
  int owner = 0;
  std::int64_t own = 0;  ///< place of the first one among the owner's own planes
  std::int64_t planes = 0;
};

/// The runs of a rank's ghosts: first those after its planes, then those before.
std::vector<GhostRun> ghost_runs(std::int64_t planes, int rank, int ranks,
                                 GhostWidths const& widths);

}  // namespace detail

/// Ghost planes around the slabs of a periodic mesh. distributed::share_of() shares axis 0 out
/// among ranks. A rank holds its ghosts below, its own planes and its ghosts above in this order in
/// memory, at a distance of `plane` numbers. Ghosts may reach beyond the next rank, around the
/// axis, and to the rank itself.
///
/// fill() and add() are collective, and count as "mesh/ghosts" in the group's traffic. A plane
/// travels with the gaps between its rows.
template <CompiledSpace Exec>
class GhostPlanes {
 public:
  /// \param planes  of the whole mesh, >= 1
  /// \param widths  the same on all ranks, none negative
  /// \throws PreconditionError if there are no planes or a width is negative
  GhostPlanes(distributed::Group const& group, std::int64_t planes, GhostWidths const& widths);

  distributed::Group const& group() const { return group_; }
  /// The number of planes of the whole mesh.
  std::int64_t planes() const { return planes_; }
  /// Ghosts before and after this rank's own planes.
  GhostWidths const& widths() const { return widths_; }
  /// This rank's own planes.
  distributed::Share const& own() const { return own_; }
  /// The number of the first plane held; below 0 for a plane from the other end of the periodic
  /// axis.
  std::int64_t first() const { return own_.first - widths_.below; }
  /// The number of ghosts, on all ranks, that stand for this rank's own planes: so many arrive in
  /// add().
  std::int64_t ghosts_of_own() const;
  /// Planes held.
  std::int64_t held() const { return widths_.below + own_.count + widths_.above; }
  /// Whether the planes held are the whole mesh, each plane once.
  bool hold_all() const { return held() == planes_ && own_.count == planes_; }

  /// The cells of the planes held.
  ///
  /// \param planes  (held(), n_1, n_2), or with the components of vectors last
  /// \throws PreconditionError as cells_of()
  template <class Planes>
  auto window(Planes const& planes) const {
    auto window = window_of(planes, first(), planes_);
    window.whole = hold_all();
    return window;
  }

  /// Copies to each ghost the plane that it stands for.
  ///
  /// \tparam T      float, double, std::int32_t, std::int64_t
  /// \param data    the first plane held
  /// \param plane   numbers from one plane to the next
  /// \param length  numbers of a plane that travel, at most `plane`
  template <class T>
  void fill(Exec const& exec, T* data, std::int64_t plane, std::int64_t length) const;

  /// Adds each ghost to the plane that it stands for, in a fixed order: first ghosts above their
  /// holder's planes, in order of ranks, then ghosts below. Whole numbers wrap around. Parameters
  /// as of fill().
  template <class T>
  void add(Exec const& exec, T* data, std::int64_t plane, std::int64_t length);

 private:
  distributed::Group group_;
  std::int64_t planes_;
  GhostWidths widths_;
  distributed::Share own_;
  std::vector<detail::GhostRun> held_here_, owned_here_;
  Kokkos::View<std::byte*, typename Exec::memory_space> received_;
};

}  // namespace coir::mesh
