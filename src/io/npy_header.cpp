#include "npy_header.hpp"

#include "text.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/shape.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <system_error>

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

[[noreturn]] void refuse_header(std::string_view name, std::string const& what) {
  throw InputError(std::string(name) + ": the header " + what + ": write it again with numpy.save");
}

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size()));
  return text;
}

// What follows a key and its colon in {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
std::string_view value_of(std::string const& key, std::string_view header, std::string_view name) {
  for (char const quote : {'\'', '"'}) {
    std::string const quoted = quote + key + quote;
    auto const at = header.find(quoted);
    if (at == std::string_view::npos) continue;
    std::string_view const rest = without_blanks(header.substr(at + quoted.size()));
    if (rest.starts_with(':')) return without_blanks(rest.substr(1));
  }
  refuse_header(name, "has no key '" + key + "'");
}

void read_descr(std::string_view value, std::string_view name, NpyHeader& header) {
  if (value.starts_with('['))
    throw InputError(std::string(name) +
                     ": descr is a list of fields, one number for each element is needed: save "
                     "each field as an array of its own");
  bool const is_quoted = value.starts_with('\'') || value.starts_with('"');
  auto const end = is_quoted ? value.find(value.front(), 1) : std::string_view::npos;
  if (end == std::string_view::npos) refuse_header(name, "has no descr in quotes");
  std::string_view const descr = value.substr(1, end - 1);
  char const order = descr.empty() ? '\0' : descr.front();
  auto const* const found = std::find_if(
      std::begin(type_codes), std::end(type_codes),
      [&](TypeCode const& entry) { return !descr.empty() && entry.code == descr.substr(1); });
  bool const known_order = order == '<' || order == '>' || order == '=' || order == '|';
  if (!known_order || found == std::end(type_codes))
    throw InputError(
        std::string(name) + ": the element type descr is '" + printable(descr) +
        "', it must be b1, i1 to i8, u1 to u8, f4, f8, c8 or c16 after <, >, = or |: convert "
        "it with numpy's astype and save it again");
  header.type = found->type;
  header.swapped = size_of(header.type) > 1 && order == (little_endian_machine ? '>' : '<');
}

std::vector<std::int64_t> read_shape(std::string_view value, std::string_view name) {
  auto const end = value.starts_with('(') ? value.find(')') : std::string_view::npos;
  if (end == std::string_view::npos) refuse_header(name, "has no shape in brackets");
  std::vector<std::int64_t> shape;
  std::string_view rest = without_blanks(value.substr(1, end - 1));
  while (!rest.empty()) {
    std::int64_t extent = 0;
    auto const [behind, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    rest.remove_prefix(static_cast<std::size_t>(behind - rest.data()));
    if (rest.starts_with('L')) rest.remove_prefix(1);  // Python 2 wrote long integers as 3L
    rest = without_blanks(rest);
    bool const is_extent =
        error == std::errc() && extent >= 0 && (rest.empty() || rest.starts_with(','));
    if (!is_extent || shape.size() == 64)
      refuse_header(name, "has the shape " + printable(value.substr(0, end + 1)) +
                              ", which must be up to 64 extents from 0 to 9223372036854775807");
    shape.push_back(extent);
    if (!rest.empty()) rest = without_blanks(rest.substr(1));
  }
  return shape;
}

// The header must be followed by exactly the bytes of the shape.
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

NpyHeader parse_npy_header(std::span<std::byte const> file, std::int64_t bytes,
                           std::string_view name) {
  std::string_view const text(reinterpret_cast<char const*>(file.data()), file.size());
  auto const byte = [&](std::size_t n) { return std::to_integer<std::size_t>(file[n]); };
  auto const refuse = [&](std::string const& what) {
    throw InputError(std::string(name) + ": " + what);
  };
  std::string_view const magic = "\x93NUMPY";
  if (!text.starts_with(magic))
    refuse("starts with the bytes " +
           in_hexadecimal(file.first(std::min(file.size(), magic.size()))) +
           ", not with 93 4e 55 4d 50 59: it is not an NPY file; write it with numpy.save");
  auto const expects_length = [&](std::size_t length, char const* what) {
    if (file.size() < length)
      refuse("ends at byte " + std::to_string(file.size()) + ", " + what + " ends at byte " +
             std::to_string(length) + ": it is cut short; copy or save it again");
  };
  expects_length(8, "the version");
  std::size_t const major = byte(6);
  std::size_t const minor = byte(7);
  if (major < 1 || major > 3 || minor != 0)
    refuse("the version at byte 6 is " + std::to_string(major) + "." + std::to_string(minor) +
           ", it must be 1.0, 2.0 or 3.0: write it with numpy.save");
  std::size_t const start = major == 1 ? 10 : 12;
  expects_length(start, "the header's length");
  std::size_t length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > longest_npy_header)
    refuse("the header has " + std::to_string(length) + " bytes, and can have at most " +
           std::to_string(longest_npy_header) + ": it is damaged; write it again with numpy.save");
  expects_length(start + length, "the header");

  std::string_view const dictionary = text.substr(start, length);
  NpyHeader header;
  read_descr(value_of("descr", dictionary, name), name, header);
  std::string_view const order = value_of("fortran_order", dictionary, name);
  header.fortran_order = order.starts_with("True");
  if (!header.fortran_order && !order.starts_with("False"))
    refuse_header(name, "has a fortran_order that is neither True nor False");
  header.shape = read_shape(value_of("shape", dictionary, name), name);
  header.length = start + length;
  expects_elements(header, static_cast<std::size_t>(bytes) - header.length, name);
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
