#pragma once

/// \file
/// The adjoints of painting and of readout: from derivatives of a loss J with respect to the
/// results of these functions to derivatives with respect to their arguments.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/distributed/together.hpp>
#include <coir/mesh/assignment.hpp>
#include <coir/mesh/cells.hpp>
#include <coir/mesh/detail/checks.hpp>
#include <coir/mesh/detail/staged.hpp>
#include <coir/mesh/ghosts.hpp>
#include <coir/mesh/paint.hpp>
#include <coir/mesh/readout.hpp>

#include <cstdint>
#include <string>
#include <tuple>

namespace coir::mesh {

/// Whether derivatives overwrite the numbers in their output, or are added to them.
enum class Derivatives { overwrite, add };

namespace detail {

/// to(p, d) = sum_v weight(p, v) sum_g dW(x_p - x_g) / dx_d mesh(g, v), or +=. Without weights they
/// are 1.
///
/// \tparam Components  of the mesh: 1 or 3
template <class Exec, class T, int Components>
void interpolation_slopes(Exec const& exec, T const* position, std::int64_t particles, double box,
                          CellsWindow<T const> const& cells, T const* weight, T* to,
                          Assignment assignment, Derivatives derivatives = Derivatives::overwrite);

}  // namespace detail

/// The adjoint of paint(): the derivatives of a loss of the density with respect to positions,
///
///   slope_of_positions(p, d) = sum_g dW(x_p - x_g) / dx_d slope_of_mesh(g)
///
/// with slope_of_mesh(g) = dJ / d mesh(g). At kinks of W, which cic has at mesh points, this is the
/// derivative towards larger positions.
///
/// \param positions           (N, 3), as they were painted
/// \param box                 length of the cubic box, > 0
/// \param slope_of_mesh       (n_0, n_1, n_2)
/// \param slope_of_positions  out: (N, 3), dJ / d position
/// \param derivatives         whether derivatives overwrite the output or are added to it
///
/// Views may have any layout, and are copied as for paint().
///
/// \throws PreconditionError if shapes don't fit, or the result lies in the memory of an argument
/// \throws ResourceError if there is no memory for copies
template <CompiledSpace Exec, VectorsOfParticles Positions, RealViewOfRank<3> Mesh,
          VectorsOfParticles Slopes>
  requires StridedView<Mesh> && WritableRealViewOfRank<Slopes, 2> &&
           SameValueType<Positions, Mesh, Slopes> && CanAccess<Exec, Positions, Mesh, Slopes>
void paint_pull_back(Exec const& exec, Positions const& positions, double box,
                     Mesh const& slope_of_mesh, Slopes const& slope_of_positions,
                     Assignment assignment = Assignment::cic,
                     Derivatives derivatives = Derivatives::overwrite) {
  using T = typename Slopes::value_type;
  auto const particles = static_cast<std::int64_t>(positions.extent(0));
  detail::expects_box(box);
  detail::expects_vectors(positions, "positions", particles);
  detail::expects_vectors(slope_of_positions, "slopes of positions", particles);
  auto const at = detail::staged_particles(exec, positions, Access::read);
  auto const from = detail::staged_mesh(exec, slope_of_mesh, Access::read);
  auto const to = detail::staged_particles(
      exec, slope_of_positions, derivatives == Derivatives::add ? Access::both : Access::write);
  detail::expects_apart(to, "the slopes", at, "the positions");
  detail::expects_apart(to, "the slopes", from, "the mesh");
  detail::interpolation_slopes<Exec, T, 1>(exec, at.elements().data, particles, box,
                                           read_only(whole_window(cells_of(from.elements()))),
                                           nullptr, to.elements().data, assignment, derivatives);
  to.finish();
}

/// The adjoint of paint() over ranks: each rank gets the derivatives with respect to its particles.
/// Ghosts are filled from their owners, as painting adds them to these. Collective.
///
/// \param ghosts         as they were painted with
/// \param slope_of_held  (ghosts.held(), n_1, n_2), dJ / d mesh in the own planes; its rows lie
///   contiguously. Ghosts are overwritten
template <CompiledSpace Exec, VectorsOfParticles Positions, WritableRealViewOfRank<3> Held,
          VectorsOfParticles Slopes>
  requires StridedView<Held> && WritableRealViewOfRank<Slopes, 2> &&
           SameValueType<Positions, Held, Slopes> && CanAccess<Exec, Positions, Held, Slopes>
void paint_pull_back(Exec const& exec, GhostPlanes<Exec> const& ghosts, Positions const& positions,
                     double box, Held const& slope_of_held, Slopes const& slope_of_positions,
                     Assignment assignment = Assignment::cic,
                     Derivatives derivatives = Derivatives::overwrite) {
  using T = typename Slopes::value_type;
  auto const particles = static_cast<std::int64_t>(positions.extent(0));
  auto const [at, to, window] = distributed::together(ghosts.group(), [&] {
    detail::expects_box(box);
    detail::expects_vectors(positions, "positions", particles);
    detail::expects_vectors(slope_of_positions, "slopes of positions", particles);
    expects(static_cast<std::int64_t>(slope_of_held.extent(0)) == ghosts.held(),
            "a mesh over ranks must have the " + std::to_string(ghosts.held()) +
                " planes that this rank holds",
            static_cast<std::int64_t>(slope_of_held.extent(0)));
    auto staged = std::tuple(
        detail::staged_particles(exec, positions, Access::read),
        detail::staged_particles(exec, slope_of_positions,
                                 derivatives == Derivatives::add ? Access::both : Access::write),
        ghosts.window(slope_of_held));
    detail::expects_apart(std::get<1>(staged), "the slopes", std::get<0>(staged), "the positions");
    return staged;
  });
  ghosts.fill(exec, window.data, window.plane,
              (window.extent[1] - 1) * window.row + window.extent[2]);
  detail::interpolation_slopes<Exec, T, 1>(exec, at.elements().data, particles, box,
                                           read_only(window), nullptr, to.elements().data,
                                           assignment, derivatives);
  to.finish();
}

/// The adjoint of readout(). With slope_of_values(p) = dJ / d value(p),
///
///   slope_of_positions(p, d) = sum_v slope_of_values(p, v) sum_g dW(x_p - x_g) / dx_d mesh(g, v)
///   slope_of_mesh(g, v)      = sum_p W(x_p - x_g) slope_of_values(p, v)
///
/// The second is paint() of the slopes. On devices that adds by atomics: the last bits differ from
/// run to run.
///
/// \param mesh                (n_0, n_1, n_2), as it was read; of vectors (n_0, n_1, n_2, 3)
/// \param slope_of_values     (N); of vectors (N, 3)
/// \param slope_of_positions  out: (N, 3)
/// \param slope_of_mesh       out: of the mesh's shape
/// \throws PreconditionError if shapes don't fit, or a result lies in the memory of an argument
/// \throws ResourceError if there is no memory for copies
template <CompiledSpace Exec, VectorsOfParticles Positions, class Mesh, class Values,
          VectorsOfParticles Slopes, class MeshSlope>
  requires((RealViewOfRank<Mesh, 3> && RealViewOfRank<Values, 1> &&
            WritableRealViewOfRank<MeshSlope, 3>) ||
           (RealViewOfRank<Mesh, 4> && VectorsOfParticles<Values> &&
            WritableRealViewOfRank<MeshSlope, 4>)) &&
          StridedView<Mesh> && StridedView<Values> && StridedView<MeshSlope> &&
          WritableRealViewOfRank<Slopes, 2> &&
          SameValueType<Positions, Mesh, Values, Slopes, MeshSlope> &&
          CanAccess<Exec, Positions, Mesh, Values, Slopes, MeshSlope>
void readout_pull_back(Exec const& exec, Positions const& positions, double box, Mesh const& mesh,
                       Values const& slope_of_values, Slopes const& slope_of_positions,
                       MeshSlope const& slope_of_mesh, Assignment assignment = Assignment::cic) {
  using T = typename Slopes::value_type;
  constexpr int components = ViewOfRank<Mesh, 4> ? 3 : 1;
  auto const particles = static_cast<std::int64_t>(positions.extent(0));
  detail::expects_box(box);
  detail::expects_vectors(positions, "positions", particles);
  detail::expects_vectors(slope_of_positions, "slopes of positions", particles);
  detail::expects_values(slope_of_values, mesh, particles);
  for (unsigned d = 0; d < Mesh::rank; ++d)
    expects(mesh.extent(d) == slope_of_mesh.extent(d),
            "the slopes of a mesh must have its shape, " + std::to_string(mesh.extent(d)) +
                " along axis " + std::to_string(d),
            static_cast<std::int64_t>(slope_of_mesh.extent(d)));
  {
    auto const at = detail::staged_particles(exec, positions, Access::read);
    auto const of = detail::staged_particles(exec, slope_of_values, Access::read);
    auto const from = detail::staged_mesh(exec, mesh, Access::read);
    auto const to = detail::staged_particles(exec, slope_of_positions, Access::write);
    auto const on = detail::staged_mesh(exec, slope_of_mesh, Access::write);
    detail::expects_apart(to, "the slopes", at, "the positions");
    detail::expects_apart(to, "the slopes", of, "the slopes of values");
    detail::expects_apart(to, "the slopes", from, "the mesh");
    detail::expects_apart(on, "the slopes of the mesh", from, "the mesh");
    detail::expects_apart(on, "the slopes of the mesh", to, "the slopes of positions");
    detail::interpolation_slopes<Exec, T, components>(
        exec, at.elements().data, particles, box,
        read_only(whole_window(cells_of(from.elements()))), of.elements().data, to.elements().data,
        assignment);
    to.finish();
  }
  paint(exec, positions, slope_of_values, box, slope_of_mesh, {.assignment = assignment});
}

}  // namespace coir::mesh
