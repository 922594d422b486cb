#pragma once

/// \file
/// Which file format: by a file's first bytes when reading, by its name when writing.

#include <cstddef>
#include <filesystem>
#include <span>

namespace coir::io {

/// A file format of this module. `pgm` is P2 or P5.
enum class Format { png, pgm, npy, unknown };

/// The format that a file's first bytes announce; 8 bytes are enough.
Format format_of_content(std::span<std::byte const> bytes);

/// The format that the first bytes of the file at `path` announce, whatever its name.
///
/// \throws InputError as read_file: missing, a folder, unreadable, empty
Format format_of_content(std::filesystem::path const& path);

/// The format that a name's ending asks for: .png, .pgm, .npy, in upper or lower case.
Format format_of_name(std::filesystem::path const& path);

}  // namespace coir::io
