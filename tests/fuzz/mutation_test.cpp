// Damages small files in thousands of ways, the same ones in every run: each must be read or refused, with
// no more memory than the file's length justifies.

#include "readers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <random>
#include <string>
#include <string_view>

using coir::testing::Bytes;
using coir::testing::Reader;

namespace {

std::atomic<std::size_t> allocated{0};

void* counted(std::size_t size) {
  allocated += size;
  if (void* const memory = std::malloc(std::max<std::size_t>(1, size))) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

constexpr int mutations = 20'000;

class Mutator {
 public:
  explicit Mutator(Reader const& reader) : reader_(reader), random_(20'240'607) {}

  Bytes next() {
    Bytes file = any_seed();
    for (std::size_t n = 1 + below(4); n > 0; --n) mutate(file);
    return below(4) == 0 ? file : reader_.repair(std::move(file));
  }

 private:
  // not std::uniform_int_distribution, which differs between standard libraries
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  Bytes const& any_seed() { return reader_.seeds[below(reader_.seeds.size())]; }

  std::byte any_byte() {
    constexpr std::string_view telling("\x00\x01\x7f\x80\xff 09#-{}(),'L\n", 18);
    return static_cast<std::byte>(below(2) == 0 ? random_() & 0xff
                                                : std::uint64_t(telling[below(telling.size())]));
  }

  void insert(Bytes& file, std::size_t at, Bytes const& what) {
    file.insert(file.begin() + static_cast<std::ptrdiff_t>(at), what.begin(), what.end());
  }

  void erase(Bytes& file, std::size_t at, std::size_t count) {
    auto const first = file.begin() + static_cast<std::ptrdiff_t>(at);
    file.erase(first, first + static_cast<std::ptrdiff_t>(count));
  }

  void insert_number(Bytes& file, std::size_t at) {
    constexpr std::string_view numbers[] = {
        "0",          "-1",         "65535",      "65536",
        "2147483647", "4294967296", "9999999999", "9223372036854775807"};
    auto const text = std::as_bytes(std::span(numbers[below(std::size(numbers))]));
    insert(file, at, {text.begin(), text.end()});
  }

  void mutate(Bytes& file) {
    std::size_t const at = below(file.size());
    std::size_t const rest = file.size() - at;
    if (file.empty()) return file.push_back(any_byte());
    switch (below(9)) {
      case 0: file[at] ^= static_cast<std::byte>(1U << below(8)); break;
      case 1: file[at] = any_byte(); break;
      case 2: insert(file, at, Bytes(1 + below(8), any_byte())); break;
      case 3: erase(file, at, 1 + below(std::min<std::size_t>(rest, 8))); break;
      case 4: erase(file, at, rest); break;
      case 5: {  // repeat a part
        auto const first = file.begin() + static_cast<std::ptrdiff_t>(at);
        Bytes const part(first, first + static_cast<std::ptrdiff_t>(below(rest + 1)));
        insert(file, below(file.size()), part);
        break;
      }
      case 6: {  // go on as another file does
        Bytes const& other = any_seed();
        std::size_t const from = below(other.size());
        file.resize(at);
        insert(file, at, {other.begin() + static_cast<std::ptrdiff_t>(from), other.end()});
        break;
      }
      case 7: insert_number(file, at); break;
      case 8:  // four bytes that may be a length or an extent
        for (std::size_t n = 0; n < std::min<std::size_t>(rest, 4); ++n)
          file[at + n] = static_cast<std::byte>(below(3) == 0 ? 0xff : 0);
        break;
    }
  }

  Reader const& reader_;
  std::mt19937_64 random_;
};

// Reads, within the allowance.
bool read(Reader const& reader, Bytes const& file) {
  std::size_t const before = allocated;
  bool const accepted = reader.read(file);
  EXPECT_LE(allocated - before, reader.allowance(file.size()))
      << "for a file of " << file.size() << " bytes";
  return accepted;
}

void expect_read_or_refused(Reader const& reader) {
  for (Bytes const& seed : reader.seeds) EXPECT_TRUE(read(reader, seed));
  Mutator mutator(reader);
  int accepted = 0;
  for (int n = 0; n < mutations && !::testing::Test::HasFailure(); ++n) {
    SCOPED_TRACE("mutation " + std::to_string(n));
    Bytes const file = mutator.next();
    ASSERT_NO_THROW(accepted += read(reader, file) ? 1 : 0);
    ASSERT_NO_THROW(reader.check(file));
  }
  // or else the mutations never reach what lies behind the first check
  EXPECT_GT(accepted, mutations / 100);
  EXPECT_LT(accepted, mutations / 2);
}

}  // namespace

TEST(Mutation, OfPngFilesIsReadOrRefused) { expect_read_or_refused(coir::testing::reader("png")); }

TEST(Mutation, OfNpyFilesIsReadOrRefused) { expect_read_or_refused(coir::testing::reader("npy")); }

TEST(Mutation, OfPowerTablesIsReadOrRefused) {
  expect_read_or_refused(coir::testing::reader("power_table"));
}
