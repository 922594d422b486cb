#include <coir/core/errors.hpp>
#include <coir/io/atomic_file.hpp>
#include <coir/io/png.hpp>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <png.h>

namespace coir::io {

namespace {

using Sink = std::function<void(std::span<std::byte const>)>;

// libpng reports errors by longjmp, which skips destructors: what has one lives here, and the function
// that calls setjmp has only plain locals.
struct PngEncoder {
  png_structp png = nullptr;
  png_infop info = nullptr;
  Sink sink;
  std::exception_ptr failure;  // of the sink
  std::vector<png_byte> row;
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
    encoder->sink({reinterpret_cast<std::byte const*>(data), length});
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
  int colour;
  int channels;
  char const* remedy;  // if libpng refuses it
};

PngForm form_of(GrayForm const& form) {
  return {form.rows, form.columns, form.bits, PNG_COLOR_TYPE_GRAY, 1, "write it as PGM"};
}
PngForm rgb_form(int rows, int columns) {
  return {rows, columns, 8, PNG_COLOR_TYPE_RGB, 3, "make it smaller"};
}

void expects_extents(int rows, int columns) {
  expects(rows >= 1, "a picture must have at least 1 row", rows);
  expects(columns >= 1, "a picture must have at least 1 column", columns);
}

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
               static_cast<png_uint_32>(form.rows), form.bits, form.colour, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(encoder.png, encoder.info);
  for (int i = 0; i < form.rows; ++i) {
    fill(i, encoder.row);
    png_write_row(encoder.png, encoder.row.data());
  }
  png_write_end(encoder.png, nullptr);
  return true;
}

void encode_to(Sink const& sink, PngForm const& form, FillRow const& fill) {
  PngEncoder encoder;
  encoder.sink = sink;
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
                        encoder.message + "): " + form.remedy);
}

std::vector<std::byte> encoded(PngForm const& form, FillRow const& fill) {
  std::vector<std::byte> bytes;
  encode_to([&](auto part) { bytes.insert(bytes.end(), part.begin(), part.end()); }, form, fill);
  return bytes;
}

void write(std::filesystem::path const& path, PngForm const& form, FillRow const& fill) {
  AtomicFile file(path);
  encode_to([&](auto part) { file.write(part); }, form, fill);
  file.commit();
}

// White is the largest sample of its bits in every PNG.
FillRow rows_of(GrayImage const& image) {
  auto const white = static_cast<std::uint32_t>(image.maximum());
  std::uint32_t const largest = image.bits == 8 ? 255 : 65535;
  return
      [=, &image, scaled = std::vector<std::uint16_t>()](int i, std::span<png_byte> row) mutable {
        auto const columns = static_cast<std::size_t>(image.columns);
        auto const samples = std::span(image.samples).subspan(i * columns, columns);
        if (white == largest) return put_samples(samples, image.bits, row);
        scaled.resize(columns);
        std::transform(samples.begin(), samples.end(), scaled.begin(), [=](std::uint32_t sample) {
          return static_cast<std::uint16_t>((sample * largest + white / 2) / white);
        });
        put_samples(scaled, image.bits, row);
      };
}

FillRow rows_of(RgbImage const& image) {
  return [&image](int i, std::span<png_byte> row) {
    std::copy_n(image.pixel(i, 0), row.size(), row.begin());
  };
}

void expects_valid(RgbImage const& image) {
  expects_extents(image.rows, image.columns);
  expects(image.samples.size() == static_cast<std::size_t>(image.rows) * image.columns * 3,
          "a colour picture must have 3 * rows * columns samples", image.samples.size());
}

PngForm form_of(GrayImage const& image) {
  return form_of(GrayForm{image.rows, image.columns, image.bits});
}

}  // namespace

std::vector<std::byte> encode_png(GrayImage const& image) {
  detail::expects_valid(image);
  return encoded(form_of(image), rows_of(image));
}

std::vector<std::byte> encode_png(RgbImage const& image) {
  expects_valid(image);
  return encoded(rgb_form(image.rows, image.columns), rows_of(image));
}

void write_png(std::filesystem::path const& path, GrayImage const& image) {
  detail::expects_valid(image);
  write(path, form_of(image), rows_of(image));
}

void write_png(std::filesystem::path const& path, RgbImage const& image) {
  expects_valid(image);
  write(path, rgb_form(image.rows, image.columns), rows_of(image));
}

void write_png(std::filesystem::path const& path, GrayForm const& form, GrayRows const& fill) {
  detail::expects_valid(form);
  std::vector<std::uint16_t> samples(static_cast<std::size_t>(form.columns));
  write(path, form_of(form), [&](int i, std::span<png_byte> row) {
    fill(i, samples);
    put_samples(samples, form.bits, row);
  });
}

void write_png(std::filesystem::path const& path, int rows, int columns, RgbRows const& fill) {
  expects_extents(rows, columns);
  write(path, rgb_form(rows, columns), fill);
}

}  // namespace coir::io
