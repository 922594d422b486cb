#pragma once

/// \file
/// PNG pictures by libpng: every kind is read as grey; grey and colour pictures are written.

#include <coir/io/gray_image.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace coir::io {

/// The picture in the bytes of a PNG file, as grey.
///
/// Every colour type, bit depth and interlacing is read. Depths 1, 2 and 4 are scaled to 8 bits.
/// Colours become grey by the luma of Rec. 601, round((299 R + 587 G + 114 B) / 1000), without
/// gamma and colour profiles; `had_colours` is true then. Transparency is ignored. Bytes behind the
/// picture's end (IEND) are ignored.
///
/// \param name  the file's name, for messages
/// \throws InputError naming the byte or field, its value, the limit and a remedy
/// \throws ResourceError if memory is short
GrayImage decode_png(std::span<std::byte const> bytes, std::string_view name);

/// Reads a PNG file: read_file, then decode_png.
GrayImage read_png(std::filesystem::path const& path);

/// Writes a grey PNG file of 8 or 16 bits, whole or not at all.
///
/// \throws PreconditionError if the picture's extents, bits and samples don't agree
/// \throws ResourceError if libpng refuses it or memory is short, or as AtomicFile
void write_png(std::filesystem::path const& path, GrayImage const& image);

/// Writes a grey PNG file from rows that are made one by one, so that only one is in memory.
void write_png(std::filesystem::path const& path, GrayForm const& form, GrayRows const& fill);

/// Sets the red, green and blue of each pixel of a row, one after the other, 0 to 255. Called with
/// rows 0, 1, ...
using RgbRows = std::function<void(int row, std::span<std::uint8_t> samples)>;

/// Writes a colour PNG file (sRGB) of 8 bits from rows that are made one by one.
void write_png(std::filesystem::path const& path, int rows, int columns, RgbRows const& fill);

/// Writes a field in grey levels. Values, also infinite ones, are clamped to 0 and the maximum, and
/// rounded to the nearest level, halves upwards. Takes no more than some MiB of memory beside the
/// View's.
///
/// \param view   [rows, columns] in; any layout, memory space and number type; at least 1 x 1
/// \param bits   8 (levels 0 to 255) or 16 (0 to 65535): 0 is black, and the last one white
/// \param shown  turns an element into the grey level that is shown
/// \throws PreconditionError if bits is neither, the View is empty, or an element is not a number
/// \throws ResourceError as the functions above
template <class V, class Shown = std::identity>
  requires ViewOfRank<V, 2> && detail::Number<typename V::non_const_value_type>
void write_png(std::filesystem::path const& path, V const& view, int bits = 8,
               Shown const& shown = {}) {
  GrayForm const form = detail::form_of(view, bits);
  HostRows<V> rows(view);
  std::vector<typename V::non_const_value_type> levels(view.extent(1));
  write_png(path, form, [&](int i, std::span<std::uint16_t> samples) {
    auto const row = rows.row(i);
    std::transform(row.begin(), row.end(), levels.begin(), shown);
    detail::to_samples(std::span<typename V::non_const_value_type const>(levels), form, i, samples);
  });
}

}  // namespace coir::io
