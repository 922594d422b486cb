#pragma once

/// \file
/// Callers' Views as painting, readout and power spectra need them.

#include <coir/core/overlap.hpp>
#include <coir/core/strided.hpp>
#include <coir/mesh/cells.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace coir::mesh::detail {

/// Whether planes, and rows within them, don't interleave, as kernels that write require.
template <class T, int Rank>
bool is_in_order(Strided<T, Rank> const& mesh) {
  std::int64_t const row = mesh.extents[2] * (Rank == 4 ? mesh.extents[3] : 1);
  std::int64_t const plane = (mesh.extents[1] - 1) * mesh.strides[1] + row;
  return (mesh.extents[1] == 1 || mesh.strides[1] >= row) &&
         (mesh.extents[0] == 1 || mesh.strides[0] >= plane);
}

/// A caller's mesh. It is copied in C order if its rows aren't contiguous, or if it is to be
/// written and rows or planes interleave.
template <class Exec, StridedView Mesh>
auto staged_mesh(Exec const& exec, Mesh const& mesh, Access access) {
  auto const at = strided(mesh);
  if (access != Access::read) expects_distinct_elements(at.extents, at.strides, "a mesh");
  return Staged(exec, at, has_contiguous_rows(at) && (access == Access::read || is_in_order(at)),
                access, "a copy of the mesh in C order");
}

/// A caller's numbers or vectors of particles, or a copy in C order without gaps.
template <class Exec, StridedView Particles>
auto staged_particles(Exec const& exec, Particles const& particles, Access access) {
  auto const at = strided(particles);
  if (access != Access::read) expects_distinct_elements(at.extents, at.strides, "a View of values");
  return Staged(exec, at, is_c_order(at), access, "a copy of particles in C order");
}

/// Checks that a kernel's output shares no memory with an input. Views that are staged as copies
/// don't count.
///
/// \param output, input  what they are, for the message: "the mesh", "the positions"
/// \throws PreconditionError if they share memory
template <class Exec, class T, int A, class S, int B>
void expects_apart(Staged<Exec, T, A> const& written, std::string_view output,
                   Staged<Exec, S, B> const& read, std::string_view input) {
  if (share_memory(written.elements(), read.elements()))
    throw PreconditionError(std::string(output) + " must have other memory than " +
                            std::string(input) + ": copy one of them first");
}

}  // namespace coir::mesh::detail
