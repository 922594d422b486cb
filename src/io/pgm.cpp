#include <coir/core/errors.hpp>
#include <coir/core/memory.hpp>
#include <coir/io/atomic_file.hpp>
#include <coir/io/file.hpp>
#include <coir/io/pgm.hpp>

#include "text.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace coir::io {

namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads the words of a PGM one after the other.
class PgmReader {
 public:
  PgmReader(std::span<std::byte const> bytes, std::string_view name)
      : text_(reinterpret_cast<char const*>(bytes.data()), bytes.size()), name_(name) {}

  [[noreturn]] void fail(std::string const& what) const {
    throw InputError(std::string(name_) + ": " + what);
  }

  // "P2" or "P5"
  std::string_view magic() {
    std::string_view const word = text_.substr(0, 2);
    if (word != "P2" && word != "P5")
      fail("starts with '" + printable(word) + "', not with P2 or P5: it is not a PGM; convert it");
    position_ = 2;
    if (!at_end() && !is_space(text_[2]) && text_[2] != '#')
      fail("byte 2 is '" + printable(text_.substr(2, 1)) + "', white space must follow " +
           std::string(word) + ": it is not a PGM; convert it");
    return word;
  }

  // `what` names the number, and is only called when there is something to say: a P2 has one per pixel.
  template <class What>
  int number(What const& what, int least, int most) {
    skip_space_and_comments();
    auto const range = [&] { return std::to_string(least) + " to " + std::to_string(most); };
    if (at_end())
      fail("ends at byte " + std::to_string(position_) + ", before " + what() +
           ": it is cut short; copy or export it again");
    std::size_t const start = position_;
    std::int64_t value = 0;
    while (!at_end() && is_digit(text_[position_])) {
      value = std::min<std::int64_t>(value * 10 + (text_[position_] - '0'), 10'000'000'000);
      ++position_;
    }
    bool const ends_as_a_word = at_end() || is_space(text_[position_]) || text_[position_] == '#';
    if (position_ == start || !ends_as_a_word)
      fail("byte " + std::to_string(position_) + " is '" + printable(text_.substr(position_, 1)) +
           "' in " + what() + ", a number from " + range() + " is needed: export it again");
    if (value < least || value > most)
      fail(what() + " at byte " + std::to_string(start) + " is " +
           printable(text_.substr(start, position_ - start)) + ", it must be " + range() +
           ": export it again");
    return static_cast<int>(value);
  }

  void skip_space_and_comments() {
    while (!at_end() && (is_space(text_[position_]) || text_[position_] == '#')) {
      if (text_[position_] == '#')
        position_ = std::min(text_.find_first_of("\r\n", position_), text_.size());
      else
        ++position_;
    }
  }

  // The one byte of white space between maxval and the samples of P5.
  void skip_separator() {
    if (at_end() || !is_space(text_[position_]))
      fail("no white space follows the maxval at byte " + std::to_string(position_) +
           ": it is cut short; copy or export it again");
    ++position_;
  }

  bool at_end() const { return position_ >= text_.size(); }
  std::size_t position() const { return position_; }
  std::size_t left() const { return text_.size() - position_; }
  std::string_view rest() const { return text_.substr(position_); }

 private:
  std::string_view text_;
  std::string_view name_;
  std::size_t position_ = 0;
};

struct PgmHeader {
  int rows;
  int columns;
  int maxval;
  std::size_t size() const { return static_cast<std::size_t>(rows) * columns; }
};

void expects_bytes(PgmReader const& reader, PgmHeader const& header, std::size_t least,
                   std::size_t most, std::string const& each) {
  std::string const claim =
      std::to_string(header.columns) + " x " + std::to_string(header.rows) + " samples of " + each;
  if (reader.left() < least)
    reader.fail("the header promises " + claim + ", " + std::to_string(least) +
                " bytes from byte " + std::to_string(reader.position()) + ", and " +
                std::to_string(reader.left()) +
                " are there: the header is wrong or the file is cut short; export it again");
  if (reader.left() > most)
    reader.fail(std::to_string(reader.left() - most) + " bytes follow the " + claim +
                " that the header promises, none must: the header is wrong or there are several "
                "pictures; export one alone");
}

void read_plain(PgmReader& reader, PgmHeader const& header, GrayImage& image) {
  image.samples.resize(header.size());
  for (std::size_t n = 0; n < header.size(); ++n) {
    auto const name = [&] {
      return "the sample in row " + std::to_string(n / header.columns) + ", column " +
             std::to_string(n % header.columns);
    };
    image.samples[n] = static_cast<std::uint16_t>(reader.number(name, 0, header.maxval));
  }
  reader.skip_space_and_comments();
  if (!reader.at_end())
    reader.fail("byte " + std::to_string(reader.position()) + " is '" +
                printable(reader.rest().substr(0, 1)) +
                "' behind the last sample, nothing must follow: export one picture alone");
}

void read_binary(PgmReader& reader, PgmHeader const& header, GrayImage& image) {
  image.samples.resize(header.size());
  std::string_view const raster = reader.rest();
  auto const byte = [&](std::size_t n) { return static_cast<unsigned char>(raster[n]); };
  for (std::size_t n = 0; n < header.size(); ++n) {
    int const sample = image.bits == 8 ? byte(n) : byte(2 * n) * 256 + byte(2 * n + 1);
    if (sample > header.maxval)
      reader.fail("the sample in row " + std::to_string(n / header.columns) + ", column " +
                  std::to_string(n % header.columns) + " is " + std::to_string(sample) +
                  ", above the header's maxval " + std::to_string(header.maxval) +
                  ": export it again");
    image.samples[n] = static_cast<std::uint16_t>(sample);
  }
}

}  // namespace

GrayImage decode_pgm(std::span<std::byte const> bytes, std::string_view name) {
  constexpr int most = std::numeric_limits<int>::max();
  PgmReader reader(bytes, name);
  bool const plain = reader.magic() == "P2";
  PgmHeader header{};
  header.columns = reader.number([] { return std::string("the width"); }, 1, most);
  header.rows = reader.number([] { return std::string("the height"); }, 1, most);
  header.maxval = reader.number([] { return std::string("the maxval"); }, 1, 65535);
  GrayImage image{header.rows, header.columns, header.maxval < 256 ? 8 : 16, {}};
  if (header.maxval != image.maximum()) image.white = header.maxval;

  // Memory is only asked for once the file is known to be long enough for its samples.
  std::size_t const count = header.size();
  if (plain) {
    // white space and a digit for each
    expects_bytes(reader, header, 2 * count, std::string_view::npos, "2 bytes or more");
  } else {
    reader.skip_separator();
    std::size_t const need = image.bits == 8 ? count : 2 * count;
    expects_bytes(reader, header, need, need, image.bits == 8 ? "1 byte" : "2 bytes");
  }
  expects_memory<Kokkos::HostSpace>(static_cast<std::int64_t>(2 * count),
                                    "reading " + std::string(name));
  if (plain)
    read_plain(reader, header, image);
  else
    read_binary(reader, header, image);
  return image;
}

namespace {

/// Of a GrayForm or a GrayImage.
template <class Form>
std::string header_of(Form const& form) {
  return "P5\n" + std::to_string(form.columns) + " " + std::to_string(form.rows) + "\n" +
         std::to_string(form.maximum()) + "\n";
}

// Appends samples as they stand in the file: of 16 bits with the high byte first.
void append_samples(std::span<std::uint16_t const> samples, int bits,
                    std::vector<std::byte>& bytes) {
  for (std::uint16_t const sample : samples) {
    if (bits == 16) bytes.push_back(static_cast<std::byte>(sample >> 8));
    bytes.push_back(static_cast<std::byte>(sample & 0xff));
  }
}

}  // namespace

std::vector<std::byte> encode_pgm(GrayImage const& image) {
  detail::expects_valid(image);
  std::string const header = header_of(image);
  std::vector<std::byte> bytes;
  bytes.reserve(header.size() + image.samples.size() * (image.bits / 8));
  for (char const c : header) bytes.push_back(static_cast<std::byte>(c));
  append_samples(image.samples, image.bits, bytes);
  return bytes;
}

GrayImage read_pgm(std::filesystem::path const& path) {
  return decode_pgm(read_file(path), path.string());
}

namespace {

void write(std::filesystem::path const& path, std::string const& header, GrayForm const& form,
           GrayRows const& fill) {
  AtomicFile file(path);
  file.write(header);
  std::vector<std::uint16_t> samples(static_cast<std::size_t>(form.columns));
  std::vector<std::byte> bytes;
  for (int i = 0; i < form.rows; ++i) {
    fill(i, samples);
    bytes.clear();
    append_samples(samples, form.bits, bytes);
    file.write(bytes);
  }
  file.commit();
}

}  // namespace

void write_pgm(std::filesystem::path const& path, GrayImage const& image) {
  detail::expects_valid(image);
  auto const columns = static_cast<std::size_t>(image.columns);
  write(path, header_of(image), {image.rows, image.columns, image.bits},
        [&](int i, std::span<std::uint16_t> samples) {
          std::copy_n(image.samples.begin() + static_cast<std::ptrdiff_t>(i * columns), columns,
                      samples.begin());
        });
}

void write_pgm(std::filesystem::path const& path, GrayForm const& form, GrayRows const& fill) {
  detail::expects_valid(form);
  write(path, header_of(form), form, fill);
}

}  // namespace coir::io
