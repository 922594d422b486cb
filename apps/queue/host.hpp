#pragma once

#include <string>

namespace coir::apps::queue {

/// The facts of a host that reports name. Their source includes Kokkos, which others do without (coir_plain_sources).
struct HostFacts {
  int threads = 0;
  std::string kokkos_version;
};

HostFacts this_host();

}  // namespace coir::apps::queue
