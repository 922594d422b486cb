#pragma once

/// \file
/// Callers' fields of any layout as initial conditions and losses need them.

#include <coir/core/overlap.hpp>
#include <coir/core/strided.hpp>

#include <string>
#include <string_view>

namespace coir::nbody::detail {

/// A caller's field, or a copy in C order without gaps.
///
/// \param what  the field, for messages: "the noise"
/// \throws PreconditionError if it is to be written and elements lie in the same place
/// \throws ResourceError if the copy doesn't fit into the free memory
template <class Exec, StridedView Field>
auto staged_field(Exec const& exec, std::string_view what, Field const& field, Access access) {
  auto const at = strided(field);
  if (access != Access::read) expects_distinct_elements(at.extents, at.strides, what);
  return Staged(exec, at, is_c_order(at), access, "a copy of " + std::string(what) + " in C order");
}

}  // namespace coir::nbody::detail
