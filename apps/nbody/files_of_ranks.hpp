#pragma once

#include <coir/distributed/group.hpp>

#include <cstdint>
#include <vector>

namespace coir::apps::nbody {

/// Files of which every rank that has particles writes one. Those without are between the others
/// where there are more ranks than planes of the lattice.
struct FilesOfRanks {
  int number = 0;                      ///< of this rank's file
  std::vector<std::int64_t> counts{};  ///< of particles in each file

  int files() const { return static_cast<int>(counts.size()); }

  /// Collective.
  FilesOfRanks(distributed::Group const& ranks, std::int64_t count) {
    int rank = 0;
    for (std::int64_t const here : ranks.gather(count)) {
      if (rank++ == ranks.rank()) number = files();
      if (here > 0) counts.push_back(here);
    }
  }
};

}  // namespace coir::apps::nbody
