#pragma once

#include "reader.hpp"
#include "settings.hpp"
#include "statistics.hpp"

#include <string>

namespace coir::apps::queue {

/// The facts of a host that reports name.
struct HostFacts {
  int threads = 0;
  std::string kokkos_version;
};
HostFacts this_host();

/// Reads the texts once, by as many threads as Kokkos has on the host, at most 8: each takes the
/// next piece and counts for itself, and at the end all are added up. The result is the same for
/// any number of threads.
///
/// \throws InputError as AccountingReader, and if there are too many partitions
/// \throws Failure if the user stops the program
Statistics count(AccountingReader& reader, QueueSettings const& settings);

}  // namespace coir::apps::queue
