#pragma once

/// \file
/// Reading whole files.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <vector>

namespace coir::io {

/// The first `most` bytes of a file, all of it by default.
///
/// \param path  a regular file; pipes and devices are refused, because their length is not known
/// \throws InputError if the file is missing, a folder, not a regular file, unreadable or empty
/// \throws ResourceError if there is not enough memory
std::vector<std::byte> read_file(std::filesystem::path const& path,
                                 std::int64_t most = std::numeric_limits<std::int64_t>::max());

}  // namespace coir::io
