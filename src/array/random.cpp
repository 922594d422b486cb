#include "random_impl.hpp"

#include <cstdint>

namespace coir::random::detail {

Words threefry(Words const& counter, Words const& key) {
  PlainWords const w = threefry(plain(counter), plain(key));
  return {w.v[0], w.v[1], w.v[2], w.v[3]};
}

Words words_at(Words const& key, std::uint64_t index, Purpose purpose) {
  return threefry({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), 0,
                   static_cast<std::uint32_t>(purpose)},
                  key);
}

}  // namespace coir::random::detail
