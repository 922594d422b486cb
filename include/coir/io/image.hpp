#pragma once

/// \file
/// Pictures in any format of this module.

#include <coir/io/format.hpp>
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

/// The grey picture in the bytes of a PNG or PGM file, told apart by their first bytes.
///
/// \throws InputError if the bytes are neither, or as decode_png and decode_pgm
GrayImage decode_image(std::span<std::byte const> bytes, std::string_view name);

/// Reads a PNG or PGM file, told apart by its first bytes, as a grey picture.
///
/// \throws InputError as read_file and decode_image
GrayImage read_image(std::filesystem::path const& path);

/// Writes a grey picture, whole or not at all, in the format of the name's ending: .png, .pgm.
///
/// \throws PreconditionError if the name has another ending
/// \throws ResourceError as AtomicFile
void write_image(std::filesystem::path const& path, GrayImage const& image);

/// Writes a grey picture from rows that are made one by one, so that only one is in memory.
void write_image(std::filesystem::path const& path, GrayForm const& form, GrayRows const& fill);

/// Writes a field in grey levels as a picture, as to_image makes it, with some MiB of memory beside
/// the View's.
///
/// \param view   [rows, columns] in; 0 is black, 255 (8 bits) or 65535 (16 bits) white
/// \param shown  turns an element into the grey level that is shown
/// \throws PreconditionError and ResourceError as write_image and to_image
template <class V, class Shown = std::identity>
  requires ViewOfRank<V, 2>
void write_image(std::filesystem::path const& path, V const& view, int bits = 8,
                 Shown const& shown = {}) {
  GrayForm const form = detail::form_of(view, bits);
  HostRows<V> rows(view);
  std::vector<typename V::non_const_value_type> levels(view.extent(1));
  write_image(path, form, [&](int i, std::span<std::uint16_t> samples) {
    auto const row = rows.row(i);
    std::transform(row.begin(), row.end(), levels.begin(), shown);
    detail::to_samples(std::span<typename V::non_const_value_type const>(levels), form, i, samples);
  });
}

}  // namespace coir::io
