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
// that functions that call setjmp have only plain locals.
struct PngDecoder {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::span<std::byte const> bytes;
  std::size_t position = 0;
  bool cut_short = false;
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

// The picture, and the format of its rows once libpng has expanded them.
struct RowForm {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  int bits = 8;
  int channels = 1;
  int passes = 1;
  std::size_t bytes = 0;
};

bool read_info(PngDecoder& decoder) {
  if (setjmp(png_jmpbuf(decoder.png))) return false;
  png_structp const png = decoder.png;
  png_set_read_fn(png, &decoder, take);
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // expects_justified has a better one
  // Texts, profiles and the like are skipped unread: they can be large when unpacked.
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(png, decoder.info);
  return true;
}

bool start(PngDecoder& decoder, RowForm& form) {
  if (setjmp(png_jmpbuf(decoder.png))) return false;
  png_structp const png = decoder.png;
  png_byte const colour = png_get_color_type(png, decoder.info);
  if (colour == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if (colour == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png);
  png_set_strip_alpha(png);
  form.passes = png_set_interlace_handling(png);
  png_read_update_info(png, decoder.info);
  form.rows = png_get_image_height(png, decoder.info);
  form.columns = png_get_image_width(png, decoder.info);
  form.bits = png_get_bit_depth(png, decoder.info);
  form.channels = png_get_channels(png, decoder.info);
  form.bytes = png_get_rowbytes(png, decoder.info);
  return true;
}

bool read_row(PngDecoder& decoder, png_bytep row) {
  if (setjmp(png_jmpbuf(decoder.png))) return false;
  png_read_row(decoder.png, row, nullptr);
  return true;
}

bool finish(PngDecoder& decoder) {
  if (setjmp(png_jmpbuf(decoder.png))) return false;
  png_read_end(decoder.png, nullptr);
  return true;
}

[[noreturn]] void fail(PngDecoder const& decoder, std::string_view name) {
  if (decoder.cut_short)
    fail(name, "ends at byte " + std::to_string(decoder.bytes.size()) +
                   ", before the picture does: it is cut short; copy or export it again");
  std::string what = printable(decoder.message);
  // The library signs some of its messages with its own name.
  if (auto const signature = what.rfind(" (libpng"); signature != std::string::npos)
    what.resize(signature);
  fail(name, "is damaged before byte " + std::to_string(decoder.position) + " (" + what +
                 "): copy or export it again");
}

// Deflate turns one byte into at most 1032, so that a file's length bounds the picture in it. A
// larger picture is a damaged header, or an attack on memory.
void expects_justified(PngDecoder const& decoder, std::string_view name) {
  std::uint64_t const columns = png_get_image_width(decoder.png, decoder.info),
                      rows = png_get_image_height(decoder.png, decoder.info);
  std::uint64_t const bits_each = std::uint64_t(png_get_bit_depth(decoder.png, decoder.info)) *
                                  png_get_channels(decoder.png, decoder.info);
  std::uint64_t const most = std::uint64_t(decoder.bytes.size()) * 1032 * 8 / bits_each;
  if (columns * rows > most)
    fail(name, "the header promises " + std::to_string(columns) + " x " + std::to_string(rows) +
                   " pixels, and a file of " + std::to_string(decoder.bytes.size()) +
                   " bytes can hold at most " + std::to_string(most) +
                   " of them: the header is wrong or the file is cut short; export it again");
}

// One row of 8 or 16 bits (big-endian), grey or RGB, to grey. Returns whether it had a colour.
bool to_gray(png_byte const* row, RowForm const& form, int columns, std::uint16_t* samples) {
  auto const value = [&](std::size_t n) -> std::uint32_t {
    return form.bits == 8 ? row[n] : row[2 * n] * 256U + row[2 * n + 1];
  };
  bool has_colour = false;
  for (std::size_t j = 0; j < static_cast<std::size_t>(columns); ++j) {
    if (form.channels == 1) {
      samples[j] = static_cast<std::uint16_t>(value(j));
      continue;
    }
    auto const red = value(3 * j), green = value(3 * j + 1), blue = value(3 * j + 2);
    has_colour |= red != green || green != blue;
    samples[j] = static_cast<std::uint16_t>((299 * red + 587 * green + 114 * blue + 500) / 1000);
  }
  return has_colour;
}

}  // namespace

GrayImage decode_png(std::span<std::byte const> bytes, std::string_view name) {
  expects_signature(bytes, name);
  PngDecoder decoder;
  decoder.bytes = bytes;
  decoder.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder, on_decoding_error,
                                       ignore_decoding_warning);
  if (decoder.png != nullptr) decoder.info = png_create_info_struct(decoder.png);
  if (decoder.info == nullptr)
    throw ResourceError("libpng can't start: memory is short, or it is another version than " +
                        std::string(PNG_LIBPNG_VER_STRING));
  auto const expects_done = [&](bool done) {
    if (!done) fail(decoder, name);
  };
  expects_done(read_info(decoder));
  expects_justified(decoder, name);
  RowForm form;
  expects_done(start(decoder, form));
  GrayImage image{static_cast<int>(form.rows), static_cast<int>(form.columns), form.bits, {}};
  std::size_t const size = static_cast<std::size_t>(image.rows) * form.columns;
  std::size_t const kept_rows = form.passes == 1 ? 1 : form.rows;
  expects_memory<Kokkos::HostSpace>(static_cast<std::int64_t>(2 * size + kept_rows * form.bytes),
                                    "reading " + std::string(name));
  // Reserved memory isn't used until rows are written to it.
  image.samples.reserve(size);
  std::vector<png_byte> rows(kept_rows * form.bytes);
  for (int pass = 0; pass < form.passes; ++pass)
    for (std::size_t i = 0; i < form.rows; ++i) {
      png_byte* const row = rows.data() + (kept_rows == 1 ? 0 : i * form.bytes);
      expects_done(read_row(decoder, row));
      if (pass < form.passes - 1) continue;
      image.samples.resize(image.samples.size() + form.columns);
      image.had_colours |=
          to_gray(row, form, image.columns, image.samples.data() + i * form.columns);
    }
  expects_done(finish(decoder));
  return image;
}

GrayImage read_png(std::filesystem::path const& path) {
  return decode_png(read_file(path), path.string());
}

}  // namespace coir::io
