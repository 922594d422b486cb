#include <coir/core/errors.hpp>
#include <coir/core/memory.hpp>
#include <coir/io/file.hpp>
#include <coir/io/png.hpp>

#include "text.hpp"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string>

#include <png.h>

namespace coir::io {

namespace {

[[noreturn]] void fail(std::string_view name, std::string const& what) {
  throw InputError(std::string(name) + ": " + what);
}

void expects_signature(std::span<std::byte const> bytes, std::string_view name) {
  auto const first = bytes.first(std::min<std::size_t>(8, bytes.size()));
  if (first.size() < 8 || png_sig_cmp(reinterpret_cast<png_const_bytep>(first.data()), 0, 8) != 0)
    fail(name, "starts with the bytes " + in_hexadecimal(first) +
                   ", not with 89 50 4e 47 0d 0a 1a 0a: it is not a PNG, or was copied as text; "
                   "copy or convert it again");
}

// libpng reports errors by longjmp, which skips destructors. Members with destructors are here, so
// that the function that calls setjmp has only plain locals.
struct PngDecoder {
  std::span<std::byte const> bytes;
  std::string_view name;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::size_t position = 0;
  bool cut_short = false;
  std::vector<png_byte> rows{};  // one, or all of an interlaced picture
  char message[128] = "";

  ~PngDecoder() { png_destroy_read_struct(&png, &info, nullptr); }
};

void on_decoding_error(png_structp png, png_const_charp message) {
  auto* const decoder = static_cast<PngDecoder*>(png_get_error_ptr(png));
  std::snprintf(decoder->message, sizeof decoder->message, "%s", message);
  png_longjmp(png, 1);
}

void ignore_decoding_warning(png_structp, png_const_charp) {}

void take(png_structp png, png_bytep data, std::size_t length) {
  auto* const decoder = static_cast<PngDecoder*>(png_get_io_ptr(png));
  if (length > decoder->bytes.size() - decoder->position) {
    decoder->cut_short = true;
    png_error(png, "end of file");
  }
  std::memcpy(data, decoder->bytes.data() + decoder->position, length);
  decoder->position += length;
}

[[noreturn]] void fail(PngDecoder const& decoder) {
  if (decoder.cut_short)
    fail(decoder.name, "ends at byte " + std::to_string(decoder.bytes.size()) +
                           ", before the picture does: it is cut short; copy or export it again");
  std::string what = printable(decoder.message);
  // The library signs some of its messages with its own name.
  if (auto const signature = what.rfind(" (libpng"); signature != std::string::npos)
    what.resize(signature);
  fail(decoder.name, "is damaged before byte " + std::to_string(decoder.position) + " (" + what +
                         "): copy or export it again");
}

// Deflate turns one byte into at most 1032, so that a file's length bounds the picture in it. A
// larger picture is a damaged header, or an attack on memory.
void expects_justified(PngDecoder const& decoder) {
  std::uint64_t const columns = png_get_image_width(decoder.png, decoder.info),
                      rows = png_get_image_height(decoder.png, decoder.info);
  std::uint64_t const bits_each = std::uint64_t(png_get_bit_depth(decoder.png, decoder.info)) *
                                  png_get_channels(decoder.png, decoder.info);
  std::uint64_t const most = std::uint64_t(decoder.bytes.size()) * 1032 * 8 / bits_each;
  if (columns * rows > most)
    fail(decoder.name,
         "the header promises " + std::to_string(columns) + " x " + std::to_string(rows) +
             " pixels, and a file of " + std::to_string(decoder.bytes.size()) +
             " bytes can hold at most " + std::to_string(most) +
             " of them: the header is wrong or the file is cut short; export it again");
}

// One row of 8 or 16 bits (big-endian), grey or RGB, to grey. Returns whether it had a colour.
bool to_gray(png_byte const* row, int bits, int channels, std::span<std::uint16_t> samples) {
  auto const value = [&](std::size_t n) -> std::uint32_t {
    return bits == 8 ? row[n] : row[2 * n] * 256U + row[2 * n + 1];
  };
  bool has_colour = false;
  for (std::size_t j = 0; j < samples.size(); ++j) {
    if (channels == 1) {
      samples[j] = static_cast<std::uint16_t>(value(j));
      continue;
    }
    auto const red = value(3 * j), green = value(3 * j + 1), blue = value(3 * j + 2);
    has_colour |= red != green || green != blue;
    samples[j] = static_cast<std::uint16_t>((299 * red + 587 * green + 114 * blue + 500) / 1000);
  }
  return has_colour;
}

// Returns false where libpng fails.
bool decode(PngDecoder& decoder, GrayImage& image) {
  if (setjmp(png_jmpbuf(decoder.png))) return false;
  png_structp const png = decoder.png;
  png_infop const info = decoder.info;
  png_set_read_fn(png, &decoder, take);
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // expects_justified has a better one
  // Texts, profiles and the like are skipped unread: they can be large when unpacked.
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(png, info);
  expects_justified(decoder);

  png_byte const colour = png_get_color_type(png, info);
  if (colour == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if (colour == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png);
  png_set_strip_alpha(png);
  int const passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  std::size_t const rows = png_get_image_height(png, info);
  std::size_t const columns = png_get_image_width(png, info);
  std::size_t const row_bytes = png_get_rowbytes(png, info);
  std::size_t const kept_rows = passes == 1 ? 1 : rows;
  image.rows = static_cast<int>(rows);
  image.columns = static_cast<int>(columns);
  image.bits = png_get_bit_depth(png, info);
  expects_memory<Kokkos::HostSpace>(
      static_cast<std::int64_t>(2 * rows * columns + kept_rows * row_bytes),
      "reading " + std::string(decoder.name));
  // Reserved memory isn't used until rows are written to it.
  image.samples.reserve(rows * columns);
  decoder.rows.resize(kept_rows * row_bytes);
  for (int pass = 0; pass < passes; ++pass)
    for (std::size_t i = 0; i < rows; ++i) {
      png_byte* const row = decoder.rows.data() + (kept_rows == 1 ? 0 : i * row_bytes);
      png_read_row(png, row, nullptr);
      if (pass < passes - 1) continue;
      image.samples.resize(image.samples.size() + columns);
      image.had_colours |= to_gray(row, image.bits, png_get_channels(png, info),
                                   std::span(image.samples).last(columns));
    }
  png_read_end(png, nullptr);
  return true;
}

}  // namespace

GrayImage decode_png(std::span<std::byte const> bytes, std::string_view name) {
  expects_signature(bytes, name);
  PngDecoder decoder{.bytes = bytes, .name = name};
  decoder.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder, on_decoding_error,
                                       ignore_decoding_warning);
  if (decoder.png != nullptr) decoder.info = png_create_info_struct(decoder.png);
  if (decoder.info == nullptr)
    throw ResourceError("libpng can't start: memory is short, or it is another version than " +
                        std::string(PNG_LIBPNG_VER_STRING));
  GrayImage image;
  if (!decode(decoder, image)) fail(decoder);
  return image;
}

GrayImage read_png(std::filesystem::path const& path) {
  return decode_png(read_file(path), path.string());
}

}  // namespace coir::io
