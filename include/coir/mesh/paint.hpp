#pragma once

/// \file
/// Painting: the density of particles on a mesh.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/together.hpp>
#include <coir/mesh/assignment.hpp>
#include <coir/mesh/cells.hpp>
#include <coir/mesh/detail/checks.hpp>
#include <coir/mesh/detail/staged.hpp>
#include <coir/mesh/ghosts.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace coir::mesh {

/// How threads share the work. The results of all schemes agree to rounding.
enum class PaintScheme {
  automatic,  ///< slabs on hosts, atomics on devices
  slabs,  ///< hosts: each thread owns a slab of the mesh; best if particles lie roughly in the mesh's order
  private_meshes,  ///< hosts: each thread has a mesh of its own; takes memory for one more per thread
  atomics,         ///< devices: a thread per particle
  /// devices: chunks of 1024 to 4096 particles are first added up in fast memory, in multiples of 2^-18 of a particle (float) or
  /// 2^-50 (double) or finer ones, or for values of 2^-30 or 2^-62 of the sum of the chunk's |value|. Best if particles that
  /// follow each other lie close together
  tiles,
};

constexpr std::string_view name_of(PaintScheme scheme) {
  switch (scheme) {
    case PaintScheme::slabs: return "slabs";
    case PaintScheme::private_meshes: return "private_meshes";
    case PaintScheme::atomics: return "atomics";
    case PaintScheme::tiles: return "tiles";
    default: return "automatic";
  }
}

struct PaintOptions {
  Assignment assignment = Assignment::cic;
  PaintScheme scheme = PaintScheme::automatic;
  /// Add up whole numbers: the density then has the same bits for any scheme, number of threads and order of the
  /// particles. A particle's mass is cut into 2^18 parts (float) or 2^40 (double), or into fewer where a cell would
  /// hold more than 8192 (float) or 2^23 (double) particles. For masses of 1.
  bool deterministic = false;
  /// With `deterministic`: check before painting that positions are finite. Whole numbers have no NaN: without the check
  /// particles elsewhere are painted on cell 0. Other painting has NaN in that cell.
  bool check_finite = true;
  /// Check before painting that particles touch none but the planes held, and that all ranks have the same options.
  /// Without the check particles whose planes aren't held are painted on other planes.
  bool check_planes = true;
};

namespace detail {

/// Particles to paint: of mass 1 if there are no values, or with a number or a vector for each particle.
template <class T>
struct Painted {
  T const* position;
  std::int64_t particles;
  T const* value;
  int components;  ///< of the values: 1 or 3
};

template <class Exec, class T>
void paint(Exec const& exec, GhostPlanes<Exec>& ghosts, Painted<T> const& painted, double box,
           CellsWindow<T> const& cells, PaintOptions const& options);

/// The number of particles that touch planes which aren't held.
template <class Exec, class T>
std::int64_t particles_beyond(Exec const& exec, Painted<T> const& painted, double box,
                              CellsWindow<T> const& cells, Assignment assignment);

/// \throws PreconditionError if options can't paint values
inline void expects_to_paint_values(PaintOptions const& options) {
  expects(!options.deterministic,
          "deterministic painting is for masses of 1: leave the values out, or the option");
}

/// The planes that a rank holds, as a window to paint its particles on.
///
/// \throws PreconditionError if positions or the planes held don't fit
template <class Exec, class T, class Held>
auto window_to_paint(Exec const& exec, GhostPlanes<Exec> const& ghosts, Painted<T> const& painted,
                     double box, Held const& held, PaintOptions const& options) {
  expects(held.extents[0] == ghosts.held(),
          "a mesh over ranks must have the " + std::to_string(ghosts.held()) +
              " planes that this rank holds",
          held.extents[0]);
  auto const window = ghosts.window(held);
  if (options.deterministic && options.check_finite)
    expects_finite_positions(exec, painted.position, painted.particles);
  if (options.check_planes && !ghosts.hold_all()) {
    auto const beyond = particles_beyond<Exec, T>(exec, painted, box, window, options.assignment);
    expects(beyond == 0, "particles of a rank must touch none but its planes and ghosts, and " +
                             std::to_string(beyond) +
                             " touch others: bring them to their ranks first, or hold more ghosts");
  }
  return window;
}

/// Checks nothing without options.check_planes.
///
/// \throws PreconditionError on all ranks if options differ between ranks that the exchange of ghosts depends on
template <class Exec>
void expects_alike_options(GhostPlanes<Exec> const& ghosts, double box,
                           PaintOptions const& options) {
  if (!options.check_planes) return;
  distributed::expects_alike(ghosts.group(),
                             {{"box length", box},
                              {"assignment", name_of(options.assignment)},
                              {"choice to be deterministic", options.deterministic}});
}

/// Stages a caller's Views, checks them, and paints. Collective.
///
/// \param values  of the particles, or nullptr
template <class Exec, class Positions, class Values, class Held>
void paint_staged(Exec const& exec, GhostPlanes<Exec>& ghosts, Positions const& positions,
                  Values const& values, double box, Held const& held, PaintOptions const& options) {
  using T = typename Held::value_type;
  constexpr bool has_values = !std::is_null_pointer_v<Values>;
  auto const particles = static_cast<std::int64_t>(positions.extent(0));
  auto const staged_values = [&] {
    if constexpr (has_values)
      return staged_particles(exec, values, Access::read);
    else
      return nullptr;
  };
  auto const [at, of, on] = distributed::together(ghosts.group(), [&] {
    expects_box(box);
    expects_vectors(positions, "positions", particles);
    if constexpr (has_values) {
      expects_values(values, held, particles);
      expects_to_paint_values(options);
    }
    std::tuple const staged(staged_particles(exec, positions, Access::read), staged_values(),
                            staged_mesh(exec, held, Access::write));
    auto const& mesh = std::get<2>(staged);
    expects_apart(mesh, "the mesh", std::get<0>(staged), "the positions");
    if constexpr (has_values) expects_apart(mesh, "the mesh", std::get<1>(staged), "the values");
    return staged;
  });
  Painted<T> painted{at.elements().data, particles, nullptr, 0};
  if constexpr (has_values) {
    painted.value = of.elements().data;
    painted.components = ViewOfRank<Values, 2> ? 3 : 1;
  }
  auto const& mesh = on.elements();
  auto const window = distributed::together(
      ghosts.group(), [&] { return window_to_paint(exec, ghosts, painted, box, mesh, options); });
  expects_alike_options(ghosts, box, options);
  paint<Exec, T>(exec, ghosts, painted, box, window, options);
  on.finish();
}

}  // namespace detail

/// The density of particles of mass 1 on a periodic mesh:
///
///   mesh(g) = sum_p W(x_p - x_g),  x_g = box * (i / n_0, j / n_1, k / n_2),
///
/// with W of PaintOptions::assignment; the cells' sum is the number of particles. The particles are
/// those of all ranks that share the mesh: each paints its particles on the planes that it holds,
/// and then ghosts are added to their owners' planes. Collective.
///
/// Deterministic painting gives the same bits for any number of ranks.
///
/// \param ghosts     hold the planes that this rank's particles touch: touched_beyond() tells for
///                   those of its slab
/// \param positions  (N, 3), of this rank's particles, in units of the box; coordinates may lie
///                   outside of the box, which is periodic. One that isn't finite makes a cell NaN
/// \param box        length of the cubic box, > 0
/// \param held       (ghosts.held(), n_1, n_2) out: the density in the own planes, and of no use in
///                   ghosts and, over several ranks, in gaps between rows and planes
///
/// Views may have any layout. Positions that lie otherwise than LayoutRight has them are copied
/// first; a mesh whose rows aren't contiguous, LayoutLeft for instance, is painted in C order and
/// copied then. Bits are those of LayoutRight.
///
/// \throws PreconditionError on all ranks if on one shapes don't fit, the scheme isn't one of the
///   backend's, the mesh lies in the memory of the particles, particles touch planes that aren't
///   held, or, with options.deterministic, a position isn't finite
/// \throws ResourceError on all ranks if there is no memory for private meshes, copies, or ghosts
///   of others
/// \see Hockney & Eastwood, Computer Simulation Using Particles (1988), chapter 5
template <CompiledSpace Exec, VectorsOfParticles Positions, WritableRealViewOfRank<3> Held>
  requires StridedView<Held> && SameValueType<Positions, Held> && CanAccess<Exec, Positions, Held>
void paint(Exec const& exec, GhostPlanes<Exec>& ghosts, Positions const& positions, double box,
           Held const& held, PaintOptions const& options = {}) {
  detail::paint_staged(exec, ghosts, positions, nullptr, box, held, options);
}

/// Paints a number for each particle in place of mass 1: mesh(g) = sum_p v_p W(x_p - x_g). What
/// several ranks add up differs from one rank's mesh by rounding.
///
/// \param values  (N), of this rank's particles; for vectors (N, 3), and the planes held are
///                (ghosts.held(), n_1, n_2, 3)
/// \throws PreconditionError also if options.deterministic, which is for masses of 1
template <CompiledSpace Exec, VectorsOfParticles Positions, class Values, class Held>
  requires((RealViewOfRank<Values, 1> && WritableRealViewOfRank<Held, 3>) ||
           (VectorsOfParticles<Values> && WritableRealViewOfRank<Held, 4>)) &&
          StridedView<Values> && StridedView<Held> && SameValueType<Positions, Values, Held> &&
          CanAccess<Exec, Positions, Values, Held>
void paint(Exec const& exec, GhostPlanes<Exec>& ghosts, Positions const& positions,
           Values const& values, double box, Held const& held, PaintOptions const& options = {}) {
  detail::paint_staged(exec, ghosts, positions, values, box, held, options);
}

/// Paints the particles of one rank on a whole mesh.
template <CompiledSpace Exec, VectorsOfParticles Positions, WritableRealViewOfRank<3> Mesh>
  requires StridedView<Mesh> && SameValueType<Positions, Mesh> && CanAccess<Exec, Positions, Mesh>
void paint(Exec const& exec, Positions const& positions, double box, Mesh const& mesh,
           PaintOptions const& options = {}) {
  GhostPlanes<Exec> all(distributed::Group::self(), static_cast<std::int64_t>(mesh.extent(0)), {});
  detail::paint_staged(exec, all, positions, nullptr, box, mesh, options);
}
/// Paints a number or a vector for each particle of one rank on a whole mesh.
template <CompiledSpace Exec, VectorsOfParticles Positions, class Values, class Mesh>
  requires((RealViewOfRank<Values, 1> && WritableRealViewOfRank<Mesh, 3>) ||
           (VectorsOfParticles<Values> && WritableRealViewOfRank<Mesh, 4>)) &&
          StridedView<Values> && StridedView<Mesh> && SameValueType<Positions, Values, Mesh> &&
          CanAccess<Exec, Positions, Values, Mesh>
void paint(Exec const& exec, Positions const& positions, Values const& values, double box,
           Mesh const& mesh, PaintOptions const& options = {}) {
  GhostPlanes<Exec> all(distributed::Group::self(), static_cast<std::int64_t>(mesh.extent(0)), {});
  detail::paint_staged(exec, all, positions, values, box, mesh, options);
}

/// Paints on the default instance of the execution space of the positions.
template <class Positions, class... Rest>
  requires(!ExecutionSpace<Positions>) &&
          requires(typename Positions::execution_space exec, Positions positions, Rest... rest) {
            paint(exec, positions, rest...);
          }
void paint(Positions const& positions, Rest const&... rest) {
  paint(typename Positions::execution_space{}, positions, rest...);
}

}  // namespace coir::mesh
