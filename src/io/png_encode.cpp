#include <coir/core/errors.hpp>
#include <coir/io/atomic_file.hpp>
#include <coir/io/png.hpp>

#include <algorithm>
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

// What a picture looks like to libpng.
struct PngForm {
  int rows;
  int columns;
  int bits;
  int colour;
  int channels;
};

PngForm form_of(GrayImage const& image) {
  return {image.rows, image.columns, image.bits, PNG_COLOR_TYPE_GRAY, 1};
}
PngForm form_of(RgbImage const& image) {
  return {image.rows, image.columns, 8, PNG_COLOR_TYPE_RGB, 3};
}

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
void fill_row(RgbImage const& image, int i, std::vector<png_byte>& row) {
  std::copy_n(image.pixel(i, 0), row.size(), row.begin());
}

template <class Image>
bool encode(PngEncoder& encoder, Image const& image, PngForm const& form) {
  if (setjmp(png_jmpbuf(encoder.png))) return false;
  png_set_write_fn(encoder.png, &encoder, append, flush);
  png_set_user_limits(encoder.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_IHDR(encoder.png, encoder.info, static_cast<png_uint_32>(form.columns),
               static_cast<png_uint_32>(form.rows), form.bits, form.colour, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(encoder.png, encoder.info);
  for (int i = 0; i < form.rows; ++i) {
    fill_row(image, i, encoder.row);
    png_write_row(encoder.png, encoder.row.data());
  }
  png_write_end(encoder.png, nullptr);
  return true;
}

template <class Image>
std::vector<std::byte> encoded(Image const& image, char const* remedy) {
  PngForm const form = form_of(image);
  PngEncoder encoder;
  encoder.row.resize(static_cast<std::size_t>(form.columns) * form.channels * (form.bits / 8));
  encoder.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &encoder, on_error, on_warning);
  if (encoder.png != nullptr) encoder.info = png_create_info_struct(encoder.png);
  if (encoder.info == nullptr)
    throw ResourceError("libpng can't start: memory is short, or it is another version than " +
                        std::string(PNG_LIBPNG_VER_STRING));
  if (!encode(encoder, image, form))
    throw ResourceError("a picture of " + std::to_string(form.rows) + " x " +
                        std::to_string(form.columns) + " can't be written as PNG (" +
                        encoder.message + "): " + remedy);
  return std::move(encoder.bytes);
}

}  // namespace

std::vector<std::byte> encode_png(GrayImage const& image) {
  detail::expects_valid(image);
  return encoded(image, "write it as PGM");
}

std::vector<std::byte> encode_png(RgbImage const& image) {
  expects(image.rows >= 1, "a picture must have at least 1 row", image.rows);
  expects(image.columns >= 1, "a picture must have at least 1 column", image.columns);
  expects(image.samples.size() == static_cast<std::size_t>(image.rows) * image.columns * 3,
          "a colour picture must have 3 * rows * columns samples", image.samples.size());
  return encoded(image, "make it smaller");
}

void write_png(std::filesystem::path const& path, GrayImage const& image) {
  write_file(path, encode_png(image));
}

void write_png(std::filesystem::path const& path, RgbImage const& image) {
  write_file(path, encode_png(image));
}

}  // namespace coir::io
