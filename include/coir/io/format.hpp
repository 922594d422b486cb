#pragma once

/// \file
/// File formats, told by a file's first bytes when reading, and by its name when writing.

#include <cstddef>
#include <filesystem>
#include <span>

namespace coir::io {

/// A file format of this module. `pgm` is P2 or P5.
enum class Format { png, pgm, npy, unknown };

/// The format that starts with these bytes; 8 bytes are enough.
Format format_of_content(std::span<std::byte const> bytes);

/// The format of a file by its first bytes, whatever its name.
///
/// \throws InputError as read_file: missing, a folder, unreadable, empty
Format format_of_content(std::filesystem::path const& path);

/// The format of a name's ending: .png, .pgm, .npy, in upper or lower case.
Format format_of_name(std::filesystem::path const& path);

}  // namespace coir::io
