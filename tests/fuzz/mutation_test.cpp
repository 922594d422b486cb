// Damages small files in thousands of ways, the same ones in every run: each must be read or
// refused, with no more memory than the file's length justifies.

#include <coir/core/errors.hpp>
#include <coir/cosmology/power_table.hpp>
#include <coir/io/file.hpp>
#include <coir/io/npy.hpp>
#include <coir/io/png.hpp>

#include <gtest/gtest.h>
#include <io/scratch.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cosmology = coir::cosmology;
namespace io = coir::io;
using coir::InputError;
using coir::testing::TemporaryFolder;

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

using Bytes = std::vector<std::byte>;

/// A reader of untrusted bytes, what to start from, and what must hold for any input.
struct Reader {
  std::vector<Bytes> seeds;  ///< small files, all of which it accepts

  /// Reads and forgets. Every exception but InputError gets through.
  /// \returns whether the file was accepted
  bool (*read)(Bytes const& file);

  /// Bytes that reading a file of this length may allocate, all allocations added up.
  std::size_t (*allowance)(std::size_t length);

  /// Reads, and checks what was read; throws std::logic_error if that contradicts itself.
  void (*check)(Bytes const& file);

  /// Makes a mutated file's checksums right again, without which nothing behind them is reached.
  Bytes (*repair)(Bytes file);
};

// Files of a few small pictures' worth of fixed costs: messages, and asking how much memory is
// free.
constexpr std::size_t fixed_costs = std::size_t(1) << 17;

Bytes bytes_of(std::string_view text) {
  auto const bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void require(bool holds, char const* what) {
  if (!holds) throw std::logic_error(what);
}

// Runs `action`; false if it refuses the file, with a message as it should be.
template <class Action>
bool accepts(Action const& action) {
  try {
    action();
    return true;
  } catch (InputError const& error) {
    std::string_view const text = error.what();
    require(text.starts_with("file: ") && text.size() < 500, "a message names the file, briefly");
    for (char const c : text) require(c >= ' ' && c <= '~', "a message is one printable line");
    return false;
  }
}

Bytes unchanged(Bytes file) { return file; }

io::GrayImage pattern(int rows, int columns, int bits) {
  io::GrayImage image{rows, columns, bits, {}};
  for (int n = 0; n < rows * columns; ++n)
    image.samples.push_back(static_cast<std::uint16_t>(n * 7919 % (image.maximum() + 1)));
  return image;
}

Bytes written(io::GrayImage const& image) {
  TemporaryFolder const folder;
  io::write_png(folder / "a.png", image);
  return io::read_file(folder / "a.png");
}

void check_image(Bytes const& file) {
  accepts([&] {
    io::GrayImage const image = io::decode_png(file, "file");
    require(image.rows >= 1 && image.columns >= 1 &&
                std::ssize(image.samples) == std::int64_t{image.rows} * image.columns,
            "a picture has pixels");
  });
}

std::uint32_t crc_of(std::span<std::byte const> bytes) {
  std::uint32_t sum = 0xffffffff;
  for (std::byte const b : bytes) {
    sum ^= std::to_integer<std::uint32_t>(b);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320U : 0);
  }
  return ~sum;
}

void put_big_endian(Bytes& bytes, std::size_t at, std::uint32_t value) {
  for (int n = 0; n < 4; ++n) bytes[at + n] = static_cast<std::byte>(value >> (24 - 8 * n) & 0xff);
}

Bytes repair_png(Bytes file) {
  std::size_t at = 8;
  while (at + 12 <= file.size()) {
    std::size_t length = 0;
    for (std::size_t n = 0; n < 4; ++n)
      length = length << 8 | std::to_integer<std::size_t>(file[at + n]);
    if (length > file.size() - at - 12) break;
    put_big_endian(file, at + 8 + length, crc_of(std::span(file).subspan(at + 4, length + 4)));
    at += 12 + length;
  }
  return file;
}

void append_chunk(Bytes& file, std::string_view type, Bytes const& data) {
  std::size_t const at = file.size();
  file.resize(at + 12 + data.size());
  put_big_endian(file, at, static_cast<std::uint32_t>(data.size()));
  for (std::size_t n = 0; n < 4; ++n) file[at + 4 + n] = static_cast<std::byte>(type[n]);
  std::copy(data.begin(), data.end(), file.begin() + static_cast<std::ptrdiff_t>(at + 8));
}

// A PNG whose pixels are stored, not compressed, so that changing a byte changes a pixel or a
// filter.
Bytes stored_png(std::uint32_t columns, std::uint32_t rows, int depth, int colour, bool interlaced,
                 std::size_t raw_length) {
  Bytes file = bytes_of("\x89PNG\r\n\x1a\n");
  Bytes header(13);
  put_big_endian(header, 0, columns);
  put_big_endian(header, 4, rows);
  header[8] = static_cast<std::byte>(depth);
  header[9] = static_cast<std::byte>(colour);
  header[12] = static_cast<std::byte>(interlaced);
  append_chunk(file, "IHDR", header);
  if (colour == 3) append_chunk(file, "PLTE", bytes_of("abcdefghijkl"));
  if (colour == 3) append_chunk(file, "tRNS", bytes_of("xy"));
  append_chunk(file, "tEXt", bytes_of("Comment"));
  Bytes stream = bytes_of("\x78\x01\x01");  // zlib, one last block, stored
  for (int const shift : {0, 8})
    stream.push_back(static_cast<std::byte>(raw_length >> shift & 0xff));
  for (int const shift : {0, 8})
    stream.push_back(static_cast<std::byte>(~raw_length >> shift & 0xff));
  stream.resize(stream.size() + raw_length);  // filter 0, samples 0
  stream.resize(stream.size() + 4);
  // Adler's checksum of zeros: 1 in the low half, the count in the high one
  put_big_endian(stream, stream.size() - 4, static_cast<std::uint32_t>(raw_length) << 16 | 1);
  append_chunk(file, "IDAT", stream);
  append_chunk(file, "IEND", {});
  return repair_png(std::move(file));
}

Reader png() {
  return {
      {written(pattern(5, 7, 8)), written(pattern(3, 4, 16)), stored_png(9, 2, 1, 0, false, 2 * 3),
       stored_png(5, 3, 8, 2, false, 3 * 16), stored_png(3, 2, 16, 6, false, 2 * 25),
       stored_png(4, 4, 2, 3, false, 4 * 2), stored_png(2, 2, 8, 4, false, 2 * 5),
       stored_png(5, 5, 8, 0, true, 36), stored_png(2, 2, 4, 3, true, 6)},
      [](Bytes const& file) { return accepts([&] { (void)io::decode_png(file, "file"); }); },
      // A byte holds 1032 bytes unpacked, each of them 8 pixels, each of which takes 2 bytes as a
      // sample and, when interlaced, 3 more.
      [](std::size_t length) { return length * 1032 * 8 * 5 + fixed_costs; },
      check_image,
      repair_png};
}

Bytes npy_of(std::string_view dictionary, std::string_view elements, char version = 1) {
  std::string text = std::string("\x93NUMPY") + version + '\0';
  text += static_cast<char>(dictionary.size());
  text.append(version == 1 ? 1 : 3, '\0');
  text.append(dictionary);
  text.append(elements);
  return bytes_of(text);
}

// Every conversion either works or names what does not fit.
void check_npy(Bytes const& file) {
  accepts([&] {
    io::NpyArray const array = io::decode_npy(file, "file");
    std::size_t count = 1;
    for (std::int64_t const extent : array.shape) count *= static_cast<std::size_t>(extent);
    require(array.bytes.size() == count * static_cast<std::size_t>(io::size_of(array.type)),
            "shape and bytes agree");
    for (auto const type : {io::NpyType::float64, io::NpyType::float32, io::NpyType::int8,
                            io::NpyType::uint64, io::NpyType::boolean, io::NpyType::complex64}) {
      Bytes out(count * static_cast<std::size_t>(io::size_of(type)));
      accepts([&] { io::convert(array, type, io::Rounding::allow, out.data()); });
    }
  });
}

Reader npy() {
  using namespace std::string_view_literals;
  return {{npy_of("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }\n", "abcdefgh"),
           npy_of("{'descr': '>f8', 'fortran_order': True, 'shape': (2,)}", "0123456789abcdef", 2),
           npy_of("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 1, 3), }", "abcdef", 3),
           npy_of("{'shape': (), 'descr': \"<i8\", 'fortran_order': False}", "abcdefgh"),
           npy_of("{'descr': '|b1', 'fortran_order': False, 'shape': (0, 3), }", ""),
           npy_of("{'descr': '>c8', 'fortran_order': False, 'shape': (1,), }", "abcdefgh"),
           npy_of("{'descr': '>i2', 'fortran_order': False, 'shape': (3L,), }", "abcdef")},
          [](Bytes const& file) { return accepts([&] { (void)io::decode_npy(file, "file"); }); },
          // the reader keeps the file that it is given, which is one more copy here
          [](std::size_t length) { return length + fixed_costs; },
          check_npy,
          unchanged};
}

cosmology::PowerTable decode_table(Bytes const& file) {
  return cosmology::decode_power_table({reinterpret_cast<char const*>(file.data()), file.size()},
                                       "file");
}

// A table that was accepted has its rows in order, and covers what lies between them.
void check_table(Bytes const& file) {
  accepts([&] {
    auto const table = decode_table(file);
    require(table.size() >= 4 && table.k_min() > 0 && table.k_min() < table.k_max(),
            "a table has rows in order");
    require(table(table.k_min()) >= 0 && table(table.k_max()) >= 0, "a table has its ends");
  });
}

Reader power_table() {
  return {
      {bytes_of("# k P\n1e-3 100\n0.01 2e4\n0.1\t5000\n1 70\n"),
       bytes_of("1 4\r\n 2 3 # note\r\n\r\n3 2\r\n4 1"),
       bytes_of("1E-5 1.5e-300\n+2E-5 1e300\n3e-5 7\n4e200 7\n5e201 8\n")},
      [](Bytes const& file) { return accepts([&] { (void)decode_table(file); }); },
      // 14 numbers a row of at least 4 bytes, in vectors that grow twofold, or columns of 2 bytes
      [](std::size_t length) { return length * 100 + fixed_costs; },
      check_table,
      unchanged};
}

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

TEST(Mutation, OfPngFilesIsReadOrRefused) { expect_read_or_refused(png()); }

TEST(Mutation, OfNpyFilesIsReadOrRefused) { expect_read_or_refused(npy()); }

TEST(Mutation, OfPowerTablesIsReadOrRefused) { expect_read_or_refused(power_table()); }
