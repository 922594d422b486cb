#include <coir/core/errors.hpp>
#include <coir/io/file.hpp>
#include <coir/io/image.hpp>
#include <coir/io/pgm.hpp>
#include <coir/io/png.hpp>

#include "text.hpp"

#include <algorithm>
#include <string>

namespace coir::io {

GrayImage decode_image(std::span<std::byte const> bytes, std::string_view name) {
  switch (format_of_content(bytes)) {
    case Format::png: return decode_png(bytes, name);
    case Format::pgm: return decode_pgm(bytes, name);
    case Format::npy:
      throw InputError(std::string(name) +
                       ": holds a NumPy array, a picture (PNG or PGM) is needed: convert it");
    case Format::unknown: break;
  }
  auto const first = bytes.first(std::min<std::size_t>(bytes.size(), 4));
  throw InputError(
      std::string(name) + ": starts with the bytes " + in_hexadecimal(first) +
      ", and neither as PNG (89 50 4e 47) nor as PGM (50 32, 50 35): convert it to one");
}

GrayImage read_image(std::filesystem::path const& path) {
  return decode_image(read_file(path), path.string());
}

namespace {

// Calls png() or pgm(), as the name's ending asks.
template <class Png, class Pgm>
void write_as_named(std::filesystem::path const& path, Png const& png, Pgm const& pgm) {
  switch (format_of_name(path)) {
    case Format::png: return png();
    case Format::pgm: return pgm();
    default:
      throw PreconditionError(path.string() + ": a picture's name must end in .png or .pgm, not '" +
                              printable(path.extension().string()) + "'");
  }
}

}  // namespace

void write_image(std::filesystem::path const& path, GrayImage const& image) {
  write_as_named(path, [&] { write_png(path, image); }, [&] { write_pgm(path, image); });
}

void write_image(std::filesystem::path const& path, GrayForm const& form, GrayRows const& fill) {
  write_as_named(path, [&] { write_png(path, form, fill); }, [&] { write_pgm(path, form, fill); });
}

}  // namespace coir::io
