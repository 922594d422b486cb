#include "ranks.hpp"

#include <unistd.h>

#include <array>

namespace coir::apps {

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::vector<std::string> texts_of(distributed::Group const& world, std::string const& mine) {
  std::vector<std::string> all;
  for (int rank = 0; rank < world.size(); ++rank) all.push_back(world.broadcast(mine, rank));
  return all;
}

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
