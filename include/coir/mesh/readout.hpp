#pragma once

/// \file
/// From a mesh to particles.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/mesh/assignment.hpp>
#include <coir/mesh/detail/cells.hpp>

#include <cstdint>

namespace coir::mesh {

namespace detail {

/// \tparam Components  1 or 3
template <class Exec, class T, int Components>
void readout(Exec const& exec, T const* position, std::int64_t particles, double box,
             Cells<T const> const& cells, T* value, Assignment assignment);

}  // namespace detail

/// What a periodic mesh holds where particles are, with the weights of paint():
///
///   values(p) = sum_g W(x_p - x_g) mesh(g).
///
/// It is paint's adjoint: sum_p v_p values(p) is sum_g mesh(g) paint(v)(g).
///
/// \param positions   (N, 3), in units of the box; coordinates may lie outside of the box, which is periodic
/// \param box         length of the cubic box, > 0
/// \param mesh        (n_0, n_1, n_2), each row contiguous; of vectors (n_0, n_1, n_2, 3)
/// \param values      out: (N); of vectors (N, 3), which are read in one pass
/// \throws PreconditionError if shapes don't fit
/// \see Hockney & Eastwood, Computer Simulation Using Particles (1988), chapter 5
template <CompiledSpace Exec, VectorsOfParticles Positions, class Mesh, class Values>
  requires((RealViewOfRank<Mesh, 3> && WritableRealViewOfRank<Values, 1>) ||
           (RealViewOfRank<Mesh, 4> && VectorsOfParticles<Values> &&
            WritableRealViewOfRank<Values, 2>)) &&
          SameValueType<Positions, Mesh, Values> && CanAccess<Exec, Positions, Mesh, Values>
void readout(Exec const& exec, Positions const& positions, double box, Mesh const& mesh,
             Values const& values, Assignment assignment = Assignment::cic) {
  using T = typename Values::value_type;
  constexpr int components = ViewOfRank<Mesh, 4> ? 3 : 1;
  auto const particles = static_cast<std::int64_t>(positions.extent(0));
  detail::expects_box(box);
  detail::expects_vectors(positions, "positions", particles);
  detail::expects_values(values, mesh, particles);
  auto const cells = detail::cells_of(mesh);
  detail::Cells<T const> const read{
      cells.data, {cells.extent[0], cells.extent[1], cells.extent[2]}, cells.plane, cells.row};
  detail::readout<Exec, T, components>(exec, positions.data(), particles, box, read, values.data(),
                                       assignment);
}

template <class Positions, class... Rest>
  requires(!ExecutionSpace<Positions>)
void readout(Positions const& positions, Rest const&... rest) {
  readout(typename Positions::execution_space{}, positions, rest...);
}

}  // namespace coir::mesh
