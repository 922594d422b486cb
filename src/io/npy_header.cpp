#include "npy_header.hpp"

#include "text.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/shape.hpp>

#include <algorithm>
#include <bit>
#include <limits>

namespace coir::io {

namespace {

constexpr bool little_endian_machine = std::endian::native == std::endian::little;

// Each type with the letter and size that descr has for it.
struct TypeCode {
  NpyType type;
  std::string_view code;
};
constexpr TypeCode type_codes[] = {
    {NpyType::boolean, "b1"},     {NpyType::int8, "i1"},    {NpyType::int16, "i2"},
    {NpyType::int32, "i4"},       {NpyType::int64, "i8"},   {NpyType::uint8, "u1"},
    {NpyType::uint16, "u2"},      {NpyType::uint32, "u4"},  {NpyType::uint64, "u8"},
    {NpyType::float32, "f4"},     {NpyType::float64, "f8"}, {NpyType::complex64, "c8"},
    {NpyType::complex128, "c16"},
};

// Reads the dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class DictionaryReader {
 public:
  // `text` starts at byte `offset` of the file
  DictionaryReader(std::string_view text, std::size_t offset, std::string_view name)
      : text_(text), offset_(offset), name_(name) {}

  NpyHeader read() {
    NpyHeader header;
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!accept('}')) {
      std::string_view const key = string("a key");
      expect(':');
      if (key == "descr")
        read_descr(header, has_descr);
      else if (key == "fortran_order")
        read_order(header, has_order);
      else if (key == "shape")
        read_shape(header, has_shape);
      else
        fail("has the unknown key '" + printable(key) +
             "', only descr, fortran_order and shape are allowed");
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_space();
    if (position_ < text_.size()) fail_here("white space up to the header's end");
    expects_key(has_descr, "descr");
    expects_key(has_order, "fortran_order");
    expects_key(has_shape, "shape");
    return header;
  }

 private:
  [[noreturn]] void fail(std::string const& what) const {
    throw InputError(std::string(name_) + ": the header " + what +
                     ": write it again with numpy.save");
  }

  [[noreturn]] void fail_here(std::string const& needed) const {
    std::string const found = position_ < text_.size()
                                  ? "is '" + printable(text_.substr(position_, 1)) + "'"
                                  : "is the header's end";
    throw InputError(std::string(name_) + ": byte " + std::to_string(offset_ + position_) + " " +
                     found + " where the header needs " + needed +
                     ": write it again with numpy.save");
  }

  void skip_space() {
    while (position_ < text_.size() &&
           (text_[position_] == ' ' || (text_[position_] >= '\t' && text_[position_] <= '\r')))
      ++position_;
  }

  bool accept(char c) {
    skip_space();
    if (position_ >= text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail_here(std::string("'") + c + "'");
  }

  bool accept_word(std::string_view word) {
    skip_space();
    if (!text_.substr(position_).starts_with(word)) return false;
    position_ += word.size();
    return true;
  }

  std::string_view string(char const* what) {
    char const quote = accept('\'') ? '\'' : accept('"') ? '"' : '\0';
    if (quote == '\0') fail_here(std::string(what) + " in quotes");
    std::size_t const end = text_.find(quote, position_);
    if (end == std::string_view::npos) {
      position_ = text_.size();
      fail_here(std::string("the quote that ends ") + what);
    }
    std::string_view const content = text_.substr(position_, end - position_);
    position_ = end + 1;
    return content;
  }

  void expects_key(bool seen, char const* key) const {
    if (!seen) fail(std::string("has no key '") + key + "'");
  }

  void once(bool& seen, char const* key) const {
    if (seen) fail(std::string("has the key '") + key + "' twice");
    seen = true;
  }

  void read_descr(NpyHeader& header, bool& seen) {
    once(seen, "descr");
    skip_space();
    if (text_.substr(position_).starts_with('['))
      throw InputError(std::string(name_) + ": descr at byte " +
                       std::to_string(offset_ + position_) +
                       " is a list of fields, one number for each element is needed: save each "
                       "field as an array of its own");
    std::string_view const descr = string("descr");
    char const order = descr.empty() ? '\0' : descr.front();
    auto const* const found = std::find_if(
        std::begin(type_codes), std::end(type_codes),
        [&](TypeCode const& entry) { return !descr.empty() && entry.code == descr.substr(1); });
    bool const known_order = order == '<' || order == '>' || order == '=' || order == '|';
    if (!known_order || found == std::end(type_codes))
      throw InputError(
          std::string(name_) + ": the element type descr is '" + printable(descr) +
          "', it must be b1, i1 to i8, u1 to u8, f4, f8, c8 or c16 after <, >, = or |: convert "
          "it with numpy's astype and save it again");
    header.type = found->type;
    header.swapped = size_of(header.type) > 1 && order == (little_endian_machine ? '>' : '<');
  }

  void read_order(NpyHeader& header, bool& seen) {
    once(seen, "fortran_order");
    if (accept_word("True"))
      header.fortran_order = true;
    else if (accept_word("False"))
      header.fortran_order = false;
    else
      fail_here("True or False");
  }

  void read_shape(NpyHeader& header, bool& seen) {
    once(seen, "shape");
    expect('(');
    while (!accept(')')) {
      header.shape.push_back(extent());
      if (header.shape.size() > 64) fail("has a shape of more than 64 extents, NumPy's limit");
      if (accept(',')) continue;
      if (header.shape.size() == 1) fail_here("',', for (n) is not a tuple in Python");
      expect(')');
      break;
    }
  }

  std::int64_t extent() {
    skip_space();
    std::size_t const start = position_;
    std::int64_t value = 0;
    for (; position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9';
         ++position_) {
      int const digit = text_[position_] - '0';
      if (value > (std::numeric_limits<std::int64_t>::max() - digit) / 10)
        fail("has an extent above 9223372036854775807 in its shape, at byte " +
             std::to_string(offset_ + start));
      value = 10 * value + digit;
    }
    if (position_ == start) fail_here("an extent, 0 or above");
    accept('L');  // Python 2 wrote long integers as 3L
    return value;
  }

  std::string_view text_;
  std::size_t offset_;
  std::string_view name_;
  std::size_t position_ = 0;
};

// Exactly the bytes that the shape asks for must follow the header.
void expects_elements(NpyHeader const& header, std::size_t bytes, std::string_view name) {
  auto const size = static_cast<std::uint64_t>(size_of(header.type));
  bool const empty = std::find(header.shape.begin(), header.shape.end(), 0) != header.shape.end();
  // The other extents of an empty array must make sense too, or their product overflows elsewhere.
  std::uint64_t const most =
      (empty ? std::uint64_t(std::numeric_limits<std::int64_t>::max()) : bytes) / size;
  std::uint64_t elements = 1;
  bool enough = elements <= most;
  for (std::int64_t const extent : header.shape) {
    if (extent == 0) continue;
    enough = enough && elements <= most / static_cast<std::uint64_t>(extent);
    elements *= static_cast<std::uint64_t>(extent);
  }
  std::uint64_t const taken = empty ? 0 : elements * size;
  std::string const claim = std::string(name) + ": the shape " +
                            printable(shape_in_words(header.shape)) + " of " + name_of(header.type);
  std::string const given = std::to_string(bytes);
  if (!enough)
    throw InputError(claim + " needs more than the " + given + " bytes that follow the header: " +
                     "the header is wrong or the file is cut short; save it again");
  if (taken < bytes)
    throw InputError(claim + " takes " + std::to_string(taken) + " bytes, and " + given +
                     " follow the header: the header is wrong or there are several arrays; save " +
                     "one alone");
}

}  // namespace

NpyHeader parse_npy_header(std::span<std::byte const> file, std::string_view name) {
  std::string_view const text(reinterpret_cast<char const*>(file.data()), file.size());
  auto const byte = [&](std::size_t n) { return std::to_integer<std::size_t>(file[n]); };
  auto const fail = [&](std::string const& what) {
    throw InputError(std::string(name) + ": " + what);
  };
  std::string_view const magic = "\x93NUMPY";
  if (!text.starts_with(magic))
    fail("starts with the bytes " +
         in_hexadecimal(file.first(std::min(file.size(), magic.size()))) +
         ", not with 93 4e 55 4d 50 59: it is not an NPY file; write it with numpy.save");
  auto const expects_length = [&](std::size_t length, char const* what) {
    if (file.size() < length)
      fail("ends at byte " + std::to_string(file.size()) + ", " + what + " ends at byte " +
           std::to_string(length) + ": it is cut short; copy or save it again");
  };
  expects_length(8, "the version");
  std::size_t const major = byte(6);
  std::size_t const minor = byte(7);
  if (major < 1 || major > 3 || minor != 0)
    fail("the version at byte 6 is " + std::to_string(major) + "." + std::to_string(minor) +
         ", it must be 1.0, 2.0 or 3.0: write it with numpy.save");
  std::size_t const start = major == 1 ? 10 : 12;
  expects_length(start, "the header's length");
  std::size_t length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  expects_length(start + length, "the header");

  NpyHeader header = DictionaryReader(text.substr(start, length), start, name).read();
  header.length = start + length;
  expects_elements(header, file.size() - header.length, name);
  return header;
}

std::string make_npy_header(NpyType type, std::span<std::int64_t const> shape) {
  auto const* const entry =
      std::find_if(std::begin(type_codes), std::end(type_codes),
                   [&](TypeCode const& candidate) { return candidate.type == type; });
  char const order = size_of(type) == 1 ? '|' : little_endian_machine ? '<' : '>';
  std::string text = "{'descr': '" + std::string(1, order) + std::string(entry->code) +
                     "', 'fortran_order': False, 'shape': " + shape_in_words(shape) + ", }";
  // The elements start at a multiple of 64 bytes, so that they can be mapped and read by vectors.
  std::size_t const unpadded = 10 + text.size() + 1;
  text.append((64 - unpadded % 64) % 64, ' ');
  text += '\n';
  std::string result("\x93NUMPY\x01\x00", 8);
  result += static_cast<char>(text.size() & 0xff);
  result += static_cast<char>(text.size() >> 8);
  return result + text;
}

}  // namespace coir::io
