#include <coir/core/errors.hpp>
#include <coir/io/checksum.hpp>
#include <coir/io/file.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <zlib.h>

namespace coir::io {

namespace {

std::uint64_t number_at(std::byte const* bytes) {
  std::uint64_t number = 0;
  for (int n = 7; n >= 0; --n) number = (number << 8) | std::to_integer<std::uint64_t>(bytes[n]);
  return number;
}

void put_number(std::uint64_t number, std::byte* bytes) {
  for (int n = 0; n < 8; ++n, number >>= 8) bytes[n] = static_cast<std::byte>(number & 0xff);
}

constexpr char words[] = "coir checksum 2\n";
constexpr std::size_t words_length = sizeof words - 1, end_length = checksum_length;
static_assert(words_length + 16 == end_length);

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
using End = std::array<std::byte, end_length>;

// A file's last bytes, if these are what append_checksum() adds.
bool read_end(std::FILE* file, std::uint64_t length, End& end) {
  return length >= end_length &&
         ::fseeko(file, static_cast<off_t>(length - end_length), SEEK_SET) == 0 &&
         std::fread(end.data(), 1, end_length, file) == end_length &&
         std::memcmp(end.data(), words, words_length) == 0;
}

// The end of a file that has a checksum.
End expected_end(std::FILE* file, std::uint64_t length, std::filesystem::path const& path) {
  End end{};
  if (!read_end(file, length, end))
    throw InputError(path.string() +
                     " has no checksum at its end: it was cut off or damaged, or is of another "
                     "kind or version");
  return end;
}

// A file that is there and can be read.
File open_file(std::filesystem::path const& path, std::uint64_t& length) {
  (void)read_file(path, 1);  // says what is wrong with others
  File file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  std::error_code error;
  length = std::filesystem::file_size(path, error);
  if (!file || error) throw InputError(path.string() + ": went away while it was read: try again");
  return file;
}

// Adds the file's first `length` bytes to a checksum. False if they can't be read, or aren't there.
bool add_file(std::FILE* file, std::uint64_t length, Checksum& sum,
              std::function<void()> const& poll) {
  std::vector<std::byte> block(std::min<std::uint64_t>(length, 1 << 20));
  while (length > 0) {
    if (poll) poll();
    std::size_t const wanted = std::min<std::uint64_t>(length, block.size());
    if (std::fread(block.data(), 1, wanted, file) < wanted) return false;
    sum.add({block.data(), wanted});
    length -= wanted;
  }
  return true;
}

}  // namespace

void Checksum::add(std::span<std::byte const> bytes) {
  auto const* const first = reinterpret_cast<Bytef const*>(bytes.data());
  value_ = static_cast<std::uint32_t>(crc32_z(value_, first, bytes.size()));
}

int append_checksum(std::filesystem::path const& path, std::function<void()> const& poll) {
  std::error_code error;
  std::uintmax_t const length = std::filesystem::file_size(path, error);
  if (error) return error.value();
  File const file(std::fopen(path.c_str(), "r+be"), &std::fclose);
  if (!file) return errno;
  Checksum sum;
  errno = 0;
  if (!add_file(file.get(), length, sum, poll)) return errno != 0 ? errno : EIO;
  End end{};
  std::memcpy(end.data(), words, words_length);
  put_number(length, end.data() + words_length);
  sum.add({end.data(), end_length - 8});
  put_number(sum.value(), end.data() + end_length - 8);
  // Between reading and writing a stream needs a seek.
  bool const written = std::fseek(file.get(), 0, SEEK_END) == 0 &&
                       std::fwrite(end.data(), 1, end.size(), file.get()) == end.size() &&
                       std::fflush(file.get()) == 0;
  return written ? 0 : errno;
}

bool has_checksum(std::filesystem::path const& path) {
  std::uint64_t length = 0;
  File const file = open_file(path, length);
  End end{};
  return read_end(file.get(), length, end);
}

std::uint64_t stored_checksum(std::filesystem::path const& path) {
  std::uint64_t length = 0;
  File const file = open_file(path, length);
  return number_at(expected_end(file.get(), length, path).data() + end_length - 8);
}

void verify_checksum(std::filesystem::path const& path, std::function<void()> const& poll) {
  auto const fail = [&](std::string const& what) { throw InputError(path.string() + what); };
  std::uint64_t length = 0;
  File const file = open_file(path, length);
  End const end = expected_end(file.get(), length, path);
  std::uint64_t const before = length - end_length;
  if (number_at(end.data() + words_length) != before)
    fail(" should have " + std::to_string(number_at(end.data() + words_length)) +
         " bytes before its checksum, and has " + std::to_string(before) +
         ": it is damaged, copy or write it again");
  Checksum sum;
  bool const all =
      std::fseek(file.get(), 0, SEEK_SET) == 0 && add_file(file.get(), before, sum, poll);
  sum.add({end.data(), end_length - 8});
  if (!all || sum.value() != number_at(end.data() + end_length - 8))
    fail(" isn't what its checksum is of: it is damaged, copy or write it again");
}

}  // namespace coir::io
