#include "ranks.hpp"

namespace coir::apps {

void keep_slower(std::optional<SlowestLink>& slowest, distributed::Group const& world, int shift,
                 double seconds, std::int64_t bytes) {
  auto const all = world.gather(seconds);
  for (int rank = 0; rank < world.size(); ++rank) {
    double const here = all[static_cast<std::size_t>(rank)];
    if (!slowest || here > slowest->seconds)
      slowest =
          SlowestLink{rank, (rank + shift) % world.size(), here, static_cast<double>(bytes) / here};
  }
}

}  // namespace coir::apps
