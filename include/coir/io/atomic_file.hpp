#pragma once

/// \file
/// Output files that appear whole or not at all.

#include <coir/io/atomic_path.hpp>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string_view>

namespace coir::io {

/// A file that appears under its name when commit() succeeds, and not before.
///
/// Until then it has another name beside its destination (see AtomicPath). The destructor removes
/// it if commit() was not reached: an exception leaves nothing behind, and an earlier file is
/// untouched. Symbolic links are followed. Permissions of a replaced file are kept. Devices and
/// pipes (/dev/null, /dev/stdout) are written to directly; a named pipe is opened once, when
/// somebody reads it.
///
/// Every member throws ResourceError with the path, the cause and a remedy: folder missing or
/// read-only, path is a folder, file write-protected, no space left.
class AtomicFile {
 public:
  /// Creates the temporary file.
  explicit AtomicFile(std::filesystem::path path);
  AtomicFile(AtomicFile const&) = delete;
  AtomicFile& operator=(AtomicFile const&) = delete;
  ~AtomicFile();

  /// Appends bytes.
  void write(std::span<std::byte const> bytes);

  /// Appends text as it is.
  void write(std::string_view text);

  /// Closes the file, waits until it is on the disk and gives it its name. Nothing may be written
  /// afterwards.
  void commit();

 private:
  AtomicPath path_;
  std::FILE* file_ = nullptr;
};

/// Writes a file that holds exactly these bytes, whole or not at all.
///
/// \throws ResourceError as AtomicFile
void write_file(std::filesystem::path const& path, std::span<std::byte const> bytes);

/// Writes a text file, whole or not at all.
void write_file(std::filesystem::path const& path, std::string_view text);

}  // namespace coir::io
