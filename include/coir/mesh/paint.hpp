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
  automatic,       ///< slabs on hosts, atomics on devices
  slabs,           ///< hosts: each thread owns a slab of the mesh; best for particles in its order
  private_meshes,  ///< hosts: each thread has a mesh of its own, which takes memory
  atomics,         ///< devices: a thread per particle
  /// devices: chunks of 1024 to 4096 particles are first added up in scratch memory. Best if
  /// consecutive particles lie close together. Masses are rounded there to multiples of 2^-18
  /// (float) or 2^-50 (double) or finer ones; values to 2^-30 or 2^-62 of the sum of the chunk's
  /// |value|
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
  /// Add up whole numbers, so that the density has the same bits for any scheme, number of threads
  /// and order of particles. A particle's mass is cut into 2^18 parts (float) or 2^40 (double), or
  /// into fewer if a cell may hold more than 8192 (float) or 2^23 (double) particles. For masses of
  /// 1.
  bool deterministic = false;
  /// With `deterministic`: check before painting that positions are finite. Without the check
  /// particles at infinity or NaN are painted on cell 0. (Other painting makes that cell NaN.)
  bool check_finite = true;
  /// Check before painting that particles touch only planes that are held, and that all ranks have
  /// the same options. Without the check other particles are painted on wrong planes.
  bool check_planes = true;
  /// Add ghosts to their owners' planes. Without it each rank's planes are its particles' part of
  /// the sums. Deterministic painting always adds them.
  bool add_ghosts = true;
};

namespace detail {

/// Particles to paint: of mass 1, or with a number or a vector for each particle.
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

/// Checks, if options.check_planes, the options that the exchange of ghosts depends on.
///
/// \throws PreconditionError on all ranks if these options differ between ranks
template <class Exec>
void expects_alike_options(GhostPlanes<Exec> const& ghosts, double box,
                           PaintOptions const& options) {
  if (!options.check_planes) return;
  distributed::expects_alike(ghosts.group(), {{"box length", box},
                                              {"assignment", name_of(options.assignment)},
                                              {"choice to be deterministic", options.deterministic},
                                              {"choice to add ghosts", options.add_ghosts}});
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
/// with W of PaintOptions::assignment. The sum over cells is the number of particles. Each rank
/// paints its particles on the planes that it holds, and then ghosts are added to their owners'
/// planes. Collective.
///
/// Deterministic painting gives the same bits for any number of ranks.
///
/// \param ghosts     hold the planes that this rank's particles touch; for particles in its slab
///   touched_beyond() says which
/// \param positions  (N, 3), of this rank's particles, in units of the box, which is periodic. A
///   coordinate that isn't finite makes a cell NaN
/// \param box        length of the cubic box, > 0
/// \param held       (ghosts.held(), n_1, n_2) out: the density in the own planes. Ghosts, and over
///   several ranks gaps between rows and planes, hold nothing of use
///
/// Views may have any layout. Positions that aren't LayoutRight are copied first. A mesh whose rows
/// aren't contiguous, as with LayoutLeft, is painted in C order and copied back. Bits are those of
/// LayoutRight.
///
/// \throws PreconditionError on all ranks if on one shapes don't fit, the scheme isn't one of the
///   backend's, the mesh lies in the memory of the particles, particles touch planes that aren't
///   held, or, with options.deterministic, a position isn't finite
/// \throws ResourceError on all ranks if there is no memory for private meshes, copies, or ghosts
/// \see Hockney & Eastwood, Computer Simulation Using Particles (1988), chapter 5
template <CompiledSpace Exec, VectorsOfParticles Positions, WritableRealViewOfRank<3> Held>
  requires StridedView<Held> && SameValueType<Positions, Held> && CanAccess<Exec, Positions, Held>
void paint(Exec const& exec, GhostPlanes<Exec>& ghosts, Positions const& positions, double box,
           Held const& held, PaintOptions const& options = {}) {
  detail::paint_staged(exec, ghosts, positions, nullptr, box, held, options);
}

/// Paints a number for each particle in place of mass 1: mesh(g) = sum_p v_p W(x_p - x_g). The
/// meshes of one rank and of several differ by rounding.
///
/// \param values  (N), of this rank's particles; for vectors (N, 3), and `held` is
///   (ghosts.held(), n_1, n_2, 3)
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
