#include <coir/core/errors.hpp>
#include <coir/mesh/ghosts.hpp>

#include <algorithm>

namespace coir::mesh {

void expects_widths(GhostWidths const& widths) {
  expects(widths.below >= 0 && widths.above >= 0, "numbers of ghost planes must not be negative",
          std::min(widths.below, widths.above));
}

namespace detail {

std::vector<GhostRun> ghost_runs(std::int64_t planes, int rank, int ranks,
                                 GhostWidths const& widths) {
  std::vector<GhostRun> runs;
  auto const own = distributed::share_of(planes, rank, ranks);
  auto const append = [&](std::int64_t held, std::int64_t count) {
    bool follows = false;
    for (std::int64_t place = held; place < held + count; ++place) {
      std::int64_t const shifted = (own.first - widths.below + place) % planes;
      std::int64_t const plane = shifted < 0 ? shifted + planes : shifted;
      int const owner = distributed::owner_of(plane, planes, ranks);
      std::int64_t const at = plane - distributed::share_of(planes, owner, ranks).first;
      if (follows && runs.back().owner == owner && runs.back().own + runs.back().planes == at)
        ++runs.back().planes;
      else
        runs.push_back(GhostRun{rank, place, owner, at, 1});
      follows = true;
    }
  };
  append(widths.below + own.count, widths.above);
  append(0, widths.below);
  return runs;
}

}  // namespace detail

}  // namespace coir::mesh
