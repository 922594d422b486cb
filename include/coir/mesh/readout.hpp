#pragma once

/// \file
/// Readout: the values of a mesh interpolated to particles.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/mesh/assignment.hpp>
#include <coir/mesh/cells.hpp>
#include <coir/mesh/detail/checks.hpp>
#include <coir/mesh/detail/staged.hpp>

#include <cstdint>

namespace coir::mesh {

namespace detail {

/// \tparam Components  1 or 3
template <class Exec, class T, int Components>
void readout(Exec const& exec, T const* position, std::int64_t particles, double box,
             Cells<T const> const& cells, T* value, Assignment assignment);

}  // namespace detail

/// Interpolates a periodic mesh to particles, with the weights of paint():
///
///   values(p) = sum_g W(x_p - x_g) mesh(g).
///
/// It is the adjoint of paint(): sum_p v_p values(p) = sum_g mesh(g) paint(v)(g).
///
/// \param positions   (N, 3), in units of the box, which is periodic. If a coordinate isn't finite,
///   the values are NaN
/// \param box         length of the cubic box, > 0
/// \param mesh        (n_0, n_1, n_2); of vectors (n_0, n_1, n_2, 3)
/// \param values      out: (N); of vectors (N, 3), which are read in one pass
///
/// Views may have any layout, and are copied as for paint().
///
/// \throws PreconditionError if shapes don't fit, or the values lie in the memory of the positions
///   or the mesh
/// \throws ResourceError if there is no memory for copies
/// \see Hockney & Eastwood, Computer Simulation Using Particles (1988), chapter 5
template <CompiledSpace Exec, VectorsOfParticles Positions, class Mesh, class Values>
  requires((RealViewOfRank<Mesh, 3> && WritableRealViewOfRank<Values, 1>) ||
           (RealViewOfRank<Mesh, 4> && VectorsOfParticles<Values> &&
            WritableRealViewOfRank<Values, 2>)) &&
          StridedView<Mesh> && StridedView<Values> && SameValueType<Positions, Mesh, Values> &&
          CanAccess<Exec, Positions, Mesh, Values>
void readout(Exec const& exec, Positions const& positions, double box, Mesh const& mesh,
             Values const& values, Assignment assignment = Assignment::cic) {
  using T = typename Values::value_type;
  constexpr int components = ViewOfRank<Mesh, 4> ? 3 : 1;
  auto const particles = static_cast<std::int64_t>(positions.extent(0));
  detail::expects_box(box);
  detail::expects_vectors(positions, "positions", particles);
  detail::expects_values(values, mesh, particles);
  auto const at = detail::staged_particles(exec, positions, Access::read);
  auto const from = detail::staged_mesh(exec, mesh, Access::read);
  auto const to = detail::staged_particles(exec, values, Access::write);
  detail::expects_apart(to, "the values", at, "the positions");
  detail::expects_apart(to, "the values", from, "the mesh");
  detail::readout<Exec, T, components>(exec, at.elements().data, particles, box,
                                       read_only(cells_of(from.elements())), to.elements().data,
                                       assignment);
  to.finish();
}

/// Reads out on the default instance of the execution space of the positions.
template <class Positions, class... Rest>
  requires(!ExecutionSpace<Positions>) &&
          requires(typename Positions::execution_space exec, Positions positions, Rest... rest) {
            readout(exec, positions, rest...);
          }
void readout(Positions const& positions, Rest const&... rest) {
  readout(typename Positions::execution_space{}, positions, rest...);
}

}  // namespace coir::mesh
