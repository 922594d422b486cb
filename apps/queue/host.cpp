#include "host.hpp"

#include <coir/core/kokkos.hpp>
#include <coir/core/machine.hpp>

namespace coir::apps::queue {

HostFacts this_host() {
  return {host_threads(Kokkos::DefaultHostExecutionSpace{}), kokkos_version()};
}

}  // namespace coir::apps::queue
