// libFuzzer's entry, built once for each reader.

#include "readers.hpp"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const* const first = reinterpret_cast<std::byte const*>(data);
  coir::testing::Bytes const file(first, first + size);
  static auto const& reader = coir::testing::reader(COIR_FUZZED);
  reader.check(file);
  reader.check(reader.repair(file));
  return 0;
}
