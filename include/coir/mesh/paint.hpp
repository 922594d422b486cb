#pragma once

/// \file
/// Painting: the density of particles on a mesh.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/distributed/together.hpp>
#include <coir/mesh/assignment.hpp>
#include <coir/mesh/cells.hpp>
#include <coir/mesh/detail/checks.hpp>
#include <coir/mesh/detail/staged.hpp>
#include <coir/mesh/ghosts.hpp>

#include <cstdint>
#include <string>
#include <string_view>
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
  /// Over ranks: check before painting that particles touch none but the planes held, and that all ranks have the same options.
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
void paint(Exec const& exec, Painted<T> const& painted, double box, Cells<T> const& cells,
           PaintOptions const& options);

/// The number of particles that touch planes which aren't held.
template <class Exec, class T>
std::int64_t particles_beyond(Exec const& exec, Painted<T> const& painted, double box,
                              CellsWindow<T> const& cells, Assignment assignment);

template <class Exec, class T>
void paint_on_ranks(Exec const& exec, GhostPlanes<Exec>& ghosts, Painted<T> const& painted,
                    double box, CellsWindow<T> const& cells, PaintOptions const& options);

/// \throws PreconditionError if options can't paint values
inline void expects_to_paint_values(PaintOptions const& options) {
  expects(!options.deterministic,
          "deterministic painting is for masses of 1: leave the values out, or the option");
}

/// The planes that a rank holds, as a window to paint its particles on.
///
/// \throws PreconditionError if positions or the planes held don't fit
template <class Exec, class T, class Positions, class Held>
auto window_to_paint(Exec const& exec, GhostPlanes<Exec> const& ghosts, Painted<T> const& painted,
                     Positions const& positions, double box, Held const& held,
                     PaintOptions const& options) {
  expects_box(box);
  expects_vectors(positions, "positions", painted.particles);
  expects(painted.particles == 0 || is_c_order(strided(positions)),
          "positions of particles over ranks must lie one behind the other, as LayoutRight");
  expects(static_cast<std::int64_t>(held.extent(0)) == ghosts.held(),
          "a mesh over ranks must have the " + std::to_string(ghosts.held()) +
              " planes that this rank holds",
          held.extent(0));
  expects(is_in_order(strided(held)), "planes and rows of a mesh must follow each other");
  if (options.deterministic && options.check_finite)
    expects_finite_positions(exec, painted.position, painted.particles);
  auto const window = window_of(held, ghosts.first(), ghosts.planes());
  if (options.check_planes) {
    auto const beyond = particles_beyond<Exec, T>(exec, painted, box, window, options.assignment);
    expects(beyond == 0, "particles of a rank must touch none but its planes and ghosts, and " +
                             std::to_string(beyond) +
                             " touch others: bring them to their ranks first, or hold more ghosts");
  }
  return window;
}

}  // namespace detail

/// The density of particles of mass 1 on a periodic mesh:
///
///   mesh(g) = sum_p W(x_p - x_g),  x_g = box * (i / n_0, j / n_1, k / n_2),
///
/// with W of PaintOptions::assignment; the cells' sum is the number of particles.
///
/// \param positions  (N, 3), in units of the box; coordinates may lie outside of the box, which is periodic. One that isn't
///                   finite makes a cell NaN
/// \param box        length of the cubic box, > 0
/// \param mesh       out; of any extents
///
/// Views may have any layout. Positions that lie otherwise than LayoutRight has them are copied first; a mesh whose rows
/// aren't contiguous, LayoutLeft for instance, is painted in C order and copied then. Bits are those of LayoutRight.
///
/// \throws PreconditionError if shapes don't fit, the scheme isn't one of the backend's, the mesh lies in the memory
///   of the particles, or, with options.deterministic, a position isn't finite
/// \throws ResourceError if there is no memory for private meshes or copies
/// \see Hockney & Eastwood, Computer Simulation Using Particles (1988), chapter 5
template <CompiledSpace Exec, VectorsOfParticles Positions, WritableRealViewOfRank<3> Mesh>
  requires StridedView<Mesh> && SameValueType<Positions, Mesh> && CanAccess<Exec, Positions, Mesh>
void paint(Exec const& exec, Positions const& positions, double box, Mesh const& mesh,
           PaintOptions const& options = {}) {
  using T = typename Mesh::value_type;
  auto const particles = static_cast<std::int64_t>(positions.extent(0));
  detail::expects_box(box);
  detail::expects_vectors(positions, "positions", particles);
  auto const at = detail::staged_particles(exec, positions, Access::read);
  auto const on = detail::staged_mesh(exec, mesh, Access::write);
  detail::expects_apart(on, "the mesh", at, "the positions");
  if (options.deterministic && options.check_finite)
    detail::expects_finite_positions(exec, at.elements().data, particles);
  detail::paint<Exec, T>(exec, {at.elements().data, particles, nullptr, 0}, box,
                         cells_of(on.elements()), options);
  on.finish();
}

/// Paints a number for each particle in place of mass 1: mesh(g) = sum_p v_p W(x_p - x_g).
///
/// \param values  (N); for vectors (N, 3), and the mesh is (n_0, n_1, n_2, 3)
/// \throws PreconditionError also if options.deterministic, which is for masses of 1
template <CompiledSpace Exec, VectorsOfParticles Positions, class Values, class Mesh>
  requires((RealViewOfRank<Values, 1> && WritableRealViewOfRank<Mesh, 3>) ||
           (VectorsOfParticles<Values> && WritableRealViewOfRank<Mesh, 4>)) &&
          StridedView<Values> && StridedView<Mesh> && SameValueType<Positions, Values, Mesh> &&
          CanAccess<Exec, Positions, Values, Mesh>
void paint(Exec const& exec, Positions const& positions, Values const& values, double box,
           Mesh const& mesh, PaintOptions const& options = {}) {
  using T = typename Mesh::value_type;
  auto const particles = static_cast<std::int64_t>(positions.extent(0));
  detail::expects_box(box);
  detail::expects_vectors(positions, "positions", particles);
  detail::expects_values(values, mesh, particles);
  detail::expects_to_paint_values(options);
  auto const at = detail::staged_particles(exec, positions, Access::read);
  auto const of = detail::staged_particles(exec, values, Access::read);
  auto const on = detail::staged_mesh(exec, mesh, Access::write);
  detail::expects_apart(on, "the mesh", at, "the positions");
  detail::expects_apart(on, "the mesh", of, "the values");
  detail::paint<Exec, T>(
      exec, {at.elements().data, particles, of.elements().data, ViewOfRank<Values, 2> ? 3 : 1}, box,
      cells_of(on.elements()), options);
  on.finish();
}

namespace detail {

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

}  // namespace detail

/// The density of all ranks' particles, of mass 1, on a mesh that ranks share: each paints its particles on the planes
/// that it holds, and then ghosts are added to their owners' planes. Collective.
///
/// Deterministic painting gives the same bits for any number of ranks.
///
/// \param ghosts     hold the planes that this rank's particles touch: touched_beyond() tells for those of its slab
/// \param positions  (N, 3), of this rank's particles, as LayoutRight; N may differ
/// \param box        length of the whole mesh's cubic box, > 0
/// \param held       (ghosts.held(), n_1, n_2) out: the density in the own planes, and of no use in ghosts and in gaps
///                   between rows and planes. Rows are contiguous and follow each other
/// \throws PreconditionError on all ranks if on one shapes don't fit, particles touch planes that aren't held, or, with
///   options.deterministic, a position isn't finite
/// \throws ResourceError on all ranks if there is no memory for ghosts of others
template <CompiledSpace Exec, VectorsOfParticles Positions, WritableRealViewOfRank<3> Held>
  requires StridedView<Held> && SameValueType<Positions, Held> && CanAccess<Exec, Positions, Held>
void paint(Exec const& exec, GhostPlanes<Exec>& ghosts, Positions const& positions, double box,
           Held const& held, PaintOptions const& options = {}) {
  using T = typename Held::value_type;
  detail::Painted<T> const painted{positions.data(), static_cast<std::int64_t>(positions.extent(0)),
                                   nullptr, 0};
  auto const cells = distributed::together(ghosts.group(), [&] {
    return detail::window_to_paint(exec, ghosts, painted, positions, box, held, options);
  });
  detail::expects_alike_options(ghosts, box, options);
  detail::paint_on_ranks<Exec, T>(exec, ghosts, painted, box, cells, options);
}

/// Paints a number for each particle of all ranks in place of mass 1. Collective. What ranks add up differs from one rank's mesh by
/// rounding.
///
/// \param values  (N), of this rank's particles; for vectors (N, 3), as LayoutRight, and the planes held are (ghosts.held(), n_1,
///                n_2, 3)
/// \throws PreconditionError also if options.deterministic, which is for masses of 1
template <CompiledSpace Exec, VectorsOfParticles Positions, class Values, class Held>
  requires((RealViewOfRank<Values, 1> && WritableRealViewOfRank<Held, 3>) ||
           (VectorsOfParticles<Values> && WritableRealViewOfRank<Held, 4>)) &&
          StridedView<Values> && StridedView<Held> && SameValueType<Positions, Values, Held> &&
          CanAccess<Exec, Positions, Values, Held>
void paint(Exec const& exec, GhostPlanes<Exec>& ghosts, Positions const& positions,
           Values const& values, double box, Held const& held, PaintOptions const& options = {}) {
  using T = typename Held::value_type;
  detail::Painted<T> const painted{positions.data(), static_cast<std::int64_t>(positions.extent(0)),
                                   values.data(), ViewOfRank<Values, 2> ? 3 : 1};
  auto const cells = distributed::together(ghosts.group(), [&] {
    detail::expects_values(values, held, painted.particles);
    expects(painted.particles == 0 || is_c_order(strided(values)),
            "values of particles over ranks must lie one behind the other, as LayoutRight");
    detail::expects_to_paint_values(options);
    return detail::window_to_paint(exec, ghosts, painted, positions, box, held, options);
  });
  detail::expects_alike_options(ghosts, box, options);
  detail::paint_on_ranks<Exec, T>(exec, ghosts, painted, box, cells, options);
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
