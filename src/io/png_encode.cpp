#include <coir/core/errors.hpp>
#include <coir/io/atomic_file.hpp>
#include <coir/io/png.hpp>

#include <csetjmp>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include <png.h>

namespace coir::io {

namespace {

// libpng reports errors by longjmp, which skips destructors. Members with destructors are here, so
// that the function that calls setjmp has only plain locals.
struct PngEncoder {
  AtomicFile& file;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::exception_ptr failure{};  // of the file
  std::vector<png_byte> row{};
  char message[128] = "";

  ~PngEncoder() { png_destroy_write_struct(&png, &info); }
};

void on_encoding_error(png_structp png, png_const_charp message) {
  auto* const encoder = static_cast<PngEncoder*>(png_get_error_ptr(png));
  std::snprintf(encoder->message, sizeof encoder->message, "%s", message);
  png_longjmp(png, 1);
}

void ignore_encoding_warning(png_structp, png_const_charp) {}

void append(png_structp png, png_bytep data, std::size_t length) {
  auto* const encoder = static_cast<PngEncoder*>(png_get_io_ptr(png));
  try {
    encoder->file.write(std::span(reinterpret_cast<std::byte const*>(data), length));
  } catch (...) {  // must not travel through C
    encoder->failure = std::current_exception();
  }
  if (encoder->failure) png_error(png, "the bytes can't be kept");
}

void flush(png_structp) {}

// The format of a picture, as libpng takes it.
struct PngForm {
  int rows;
  int columns;
  int bits;
  int channels;  // 1 or 3
};

// Samples as they stand in the file: of 16 bits with the high byte first.
void put_samples(std::span<std::uint16_t const> samples, int bits, std::span<png_byte> row) {
  for (std::size_t j = 0; j < samples.size(); ++j) {
    std::uint16_t const sample = samples[j];
    if (bits == 8) {
      row[j] = static_cast<png_byte>(sample);
    } else {
      row[2 * j] = static_cast<png_byte>(sample >> 8);
      row[2 * j + 1] = static_cast<png_byte>(sample & 0xff);
    }
  }
}

using FillRow = std::function<void(int row, std::span<png_byte> bytes)>;

bool encode(PngEncoder& encoder, PngForm const& form, FillRow const& fill) {
  if (setjmp(png_jmpbuf(encoder.png))) return false;
  png_set_write_fn(encoder.png, &encoder, append, flush);
  png_set_user_limits(encoder.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_IHDR(encoder.png, encoder.info, static_cast<png_uint_32>(form.columns),
               static_cast<png_uint_32>(form.rows), form.bits,
               form.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(encoder.png, encoder.info);
  for (int i = 0; i < form.rows; ++i) {
    fill(i, encoder.row);
    png_write_row(encoder.png, encoder.row.data());
  }
  png_write_end(encoder.png, nullptr);
  return true;
}

void write(std::filesystem::path const& path, PngForm const& form, FillRow const& fill) {
  AtomicFile file(path);
  PngEncoder encoder{.file = file};
  encoder.row.resize(static_cast<std::size_t>(form.columns) * form.channels * (form.bits / 8));
  encoder.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &encoder, on_encoding_error,
                                        ignore_encoding_warning);
  if (encoder.png != nullptr) encoder.info = png_create_info_struct(encoder.png);
  if (encoder.info == nullptr)
    throw ResourceError("libpng can't start: memory is short, or it is another version than " +
                        std::string(PNG_LIBPNG_VER_STRING));
  bool const done = encode(encoder, form, fill);
  if (encoder.failure) std::rethrow_exception(encoder.failure);
  if (!done)
    throw ResourceError("a picture of " + std::to_string(form.rows) + " x " +
                        std::to_string(form.columns) + " can't be written as PNG (" +
                        encoder.message + "): make it smaller");
  file.commit();
}

}  // namespace

void write_png(std::filesystem::path const& path, GrayImage const& image) {
  detail::expects_valid(image);
  auto const columns = static_cast<std::size_t>(image.columns);
  write(path, {image.rows, image.columns, image.bits, 1}, [&](int i, std::span<png_byte> row) {
    put_samples(std::span(image.samples).subspan(i * columns, columns), image.bits, row);
  });
}

void write_png(std::filesystem::path const& path, GrayForm const& form, GrayRows const& fill) {
  detail::expects_valid(form);
  std::vector<std::uint16_t> samples(static_cast<std::size_t>(form.columns));
  write(path, {form.rows, form.columns, form.bits, 1}, [&](int i, std::span<png_byte> row) {
    fill(i, samples);
    put_samples(samples, form.bits, row);
  });
}

void write_png(std::filesystem::path const& path, int rows, int columns, RgbRows const& fill) {
  detail::expects_valid(GrayForm{rows, columns, 8});
  write(path, {rows, columns, 8, 3}, fill);
}

}  // namespace coir::io
