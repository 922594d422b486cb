#include <coir/core/errors.hpp>
#include <coir/io/atomic_file.hpp>
#include <coir/io/png.hpp>

#include <csetjmp>
#include <cstdio>
#include <string>
#include <utility>

#include <png.h>

namespace coir::io {

namespace {

// libpng reports errors by longjmp, which skips destructors: what has one lives here, and the function
// that calls setjmp has only plain locals.
struct PngEncoder {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::vector<std::byte> bytes;
  std::vector<png_byte> row;
  char message[128] = "";

  ~PngEncoder() { png_destroy_write_struct(&png, &info); }
};

void on_error(png_structp png, png_const_charp message) {
  auto* const encoder = static_cast<PngEncoder*>(png_get_error_ptr(png));
  std::snprintf(encoder->message, sizeof encoder->message, "%s", message);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void append(png_structp png, png_bytep data, std::size_t length) {
  auto* const encoder = static_cast<PngEncoder*>(png_get_io_ptr(png));
  auto const* const first = reinterpret_cast<std::byte const*>(data);
  bool enough_memory = true;
  try {
    encoder->bytes.insert(encoder->bytes.end(), first, first + length);
  } catch (...) {  // must not travel through C
    enough_memory = false;
  }
  if (!enough_memory) png_error(png, "out of memory");
}

void flush(png_structp) {}

void fill_row(GrayImage const& image, int i, std::vector<png_byte>& row) {
  for (int j = 0; j < image.columns; ++j) {
    std::uint16_t const sample = image(i, j);
    if (image.bits == 8) {
      row[j] = static_cast<png_byte>(sample);
    } else {
      row[2 * std::size_t(j)] = static_cast<png_byte>(sample >> 8);
      row[2 * std::size_t(j) + 1] = static_cast<png_byte>(sample & 0xff);
    }
  }
}

bool encode(PngEncoder& encoder, GrayImage const& image) {
  if (setjmp(png_jmpbuf(encoder.png))) return false;
  png_set_write_fn(encoder.png, &encoder, append, flush);
  png_set_user_limits(encoder.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_IHDR(encoder.png, encoder.info, static_cast<png_uint_32>(image.columns),
               static_cast<png_uint_32>(image.rows), image.bits, PNG_COLOR_TYPE_GRAY,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(encoder.png, encoder.info);
  for (int i = 0; i < image.rows; ++i) {
    fill_row(image, i, encoder.row);
    png_write_row(encoder.png, encoder.row.data());
  }
  png_write_end(encoder.png, nullptr);
  return true;
}

}  // namespace

std::vector<std::byte> encode_png(GrayImage const& image) {
  detail::expects_valid(image);
  PngEncoder encoder;
  encoder.row.resize(static_cast<std::size_t>(image.columns) * (image.bits / 8));
  encoder.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &encoder, on_error, on_warning);
  if (encoder.png != nullptr) encoder.info = png_create_info_struct(encoder.png);
  if (encoder.info == nullptr)
    throw ResourceError("libpng can't start: memory is short, or it is another version than " +
                        std::string(PNG_LIBPNG_VER_STRING));
  if (!encode(encoder, image))
    throw ResourceError("a picture of " + std::to_string(image.rows) + " x " +
                        std::to_string(image.columns) + " can't be written as PNG (" +
                        encoder.message + "): write it as PGM");
  return std::move(encoder.bytes);
}

void write_png(std::filesystem::path const& path, GrayImage const& image) {
  write_file(path, encode_png(image));
}

}  // namespace coir::io
