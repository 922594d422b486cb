// libFuzzer's entry, built once for each reader.

#include <fuzz/readers.hpp>

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const* const first = reinterpret_cast<std::byte const*>(data);
  coir::testing::Bytes const file(first, first + size);
  for (auto const& reader : coir::testing::readers())
    if (reader.name == COIR_FUZZED) {
      reader.check(file);
      reader.check(reader.repair(file));
    }
  return 0;
}
