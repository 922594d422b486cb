#pragma once

/// \file
/// Pictures in any format of this module.

#include <coir/io/format.hpp>
#include <coir/io/gray_image.hpp>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace coir::io {

/// The grey picture in the bytes of a PNG or PGM file, told apart by their first bytes.
///
/// \throws InputError if they are neither, or as decode_png and decode_pgm
GrayImage decode_image(std::span<std::byte const> bytes, std::string_view name);

/// Reads a PNG or PGM file, told apart by its first bytes, as a grey picture.
///
/// \throws InputError as read_file and decode_image
GrayImage read_image(std::filesystem::path const& path);

/// Writes a grey picture, whole or not at all, in the format that the name's ending asks for: .png, .pgm.
///
/// \throws PreconditionError if the ending is another
/// \throws ResourceError as AtomicFile
void write_image(std::filesystem::path const& path, GrayImage const& image);

/// Writes a field in grey levels as a picture: to_image, then write_image.
///
/// \param view  [rows, columns] in; 0 is black, 255 (8 bits) or 65535 (16 bits) white
/// \throws PreconditionError and ResourceError as those two
template <class V>
  requires ViewOfRank<V, 2>
void write_image(std::filesystem::path const& path, V const& view, int bits = 8) {
  write_image(path, to_image(view, bits));
}

}  // namespace coir::io
