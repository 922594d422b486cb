#pragma once

/// \file
/// Files that end with a checksum, so that one that was damaged is told before anything is made of it.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

namespace coir::io {

/// CRC-32 of bytes that come part by part, as zlib has it: tells every change within 32 bits in a row, and of
/// any other changes all but one in 2^32.
class Checksum {
 public:
  void add(std::span<std::byte const> bytes);
  std::uint32_t value() const { return value_; }

 private:
  std::uint32_t value_ = 0;
};

/// Bytes that append_checksum() adds.
inline constexpr std::int64_t checksum_length = 32;

/// Adds to a file's end what verify_checksum() looks for: the words "coir checksum 2" and a line feed, then in 8 bytes each,
/// the lowest first, the length of what was there before, and the Checksum of all bytes before itself. Formats that know
/// their own end, as HDF5 does, are read as without.
///
/// \param poll  called every few milliseconds; may throw to stop
/// \return 0, or the errno of what failed
int append_checksum(std::filesystem::path const& path, std::function<void()> const& poll = {});

/// Whether a file ends as append_checksum() leaves it, whatever the sum.
///
/// \throws InputError if the file is missing, unreadable or no regular file
bool has_checksum(std::filesystem::path const& path);

/// The sum that a file ends with, whatever its bytes: which of several files it is.
///
/// \throws InputError if the file is missing, unreadable or no regular file, or has no checksum
std::uint64_t stored_checksum(std::filesystem::path const& path);

/// Reads a file from its beginning to its end and compares.
///
/// \param poll  as above
/// \throws InputError if the file is missing, unreadable or no regular file, has no checksum, or another one than its bytes
void verify_checksum(std::filesystem::path const& path, std::function<void()> const& poll = {});

}  // namespace coir::io
