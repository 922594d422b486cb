#pragma once

/// \file
/// Reading files, whole or in part.

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

/// The first bytes of a file, and how many there are in all.
struct FileBegin {
  std::vector<std::byte> bytes;
  std::int64_t length;
};

/// The first `most` bytes of a file, and its length.
///
/// \throws InputError, ResourceError as read_file()
FileBegin read_begin(std::filesystem::path const& path, std::int64_t most);

/// Runs of `run` bytes each, which begin `stride` bytes apart, the first one at `offset`.
///
/// \throws InputError as read_file(), or if the file ends before them
/// \throws ResourceError as read_file()
std::vector<std::byte> read_runs(std::filesystem::path const& path, std::int64_t offset,
                                 std::int64_t run, std::int64_t stride, std::int64_t runs);

}  // namespace coir::io
