#pragma once

/// \file
/// File formats, told by a file's first bytes when reading, and by its name when writing.

#include <filesystem>

namespace coir::io {

/// A file format of this module.
enum class Format { png, npy, unknown };

/// The format of a file by its first bytes, whatever its name.
///
/// \throws InputError as read_file: missing, a folder, unreadable, empty
Format format_of_content(std::filesystem::path const& path);

/// The format of a name's ending: .png, .npy, in upper or lower case.
Format format_of_name(std::filesystem::path const& path);

}  // namespace coir::io
