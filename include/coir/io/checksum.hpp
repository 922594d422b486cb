#pragma once

/// \file
/// Files that end with a checksum, so that damaged files are found before they are used.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

namespace coir::io {

/// zlib's CRC-32 of bytes that come part by part. It finds every change within 32 bits in a row,
/// and all but one in 2^32 of other changes.
class Checksum {
 public:
  void add(std::span<std::byte const> bytes);
  std::uint32_t value() const { return value_; }

 private:
  std::uint32_t value_ = 0;
};

/// Bytes that append_checksum() adds.
inline constexpr std::int64_t checksum_length = 32;

/// Appends a checksum to a file: the words "coir checksum 2" and a line feed, the earlier length,
/// and the Checksum of all bytes before it. The two numbers have 8 bytes each, the lowest first.
/// Readers of formats that know their own end, as HDF5, ignore it.
///
/// \param poll  called every few milliseconds; may throw to stop
/// \return 0, or the errno of what failed
int append_checksum(std::filesystem::path const& path, std::function<void()> const& poll = {});

/// Whether a file ends with a checksum, right or wrong.
///
/// \throws InputError if the file is missing, unreadable or no regular file
bool has_checksum(std::filesystem::path const& path);

/// The checksum at the end of a file, which isn't verified. It tells files apart.
///
/// \throws InputError if the file is missing, unreadable or no regular file, or has no checksum
std::uint64_t stored_checksum(std::filesystem::path const& path);

/// Reads a file and compares its checksum.
///
/// \param poll  called every few milliseconds; may throw to stop
/// \throws InputError if the file is missing, unreadable or no regular file, has no checksum, or a
///   wrong one
void verify_checksum(std::filesystem::path const& path, std::function<void()> const& poll = {});

}  // namespace coir::io
