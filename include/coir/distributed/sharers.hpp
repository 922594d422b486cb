#pragma once

/// \file
/// Which ranks share a memory.

#include <coir/core/concepts.hpp>
#include <coir/core/machine.hpp>
#include <coir/distributed/group.hpp>

#include <string>

namespace coir::distributed {

namespace detail {
int ranks_of_memory(Group const& group, std::string const& device);
}

/// The number of ranks, this one among them, whose kernels work in this rank's memory: those of its
/// machine, and of its device if kernels run on one. What is free there is free for all of them
/// together. Collective.
template <CompiledSpace Exec>
int ranks_of_memory(Group const& group, Exec const& exec) {
  return group.size() == 1 ? 1 : detail::ranks_of_memory(group, device_identity(exec));
}

}  // namespace coir::distributed
