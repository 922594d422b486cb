#pragma once

/// \file
/// What must not stay on the disk if the program is ended before it is whole.

#include <filesystem>

namespace coir::io {

/// Names a file, or a folder, that remove_unfinished() removes as long as this lives.
///
/// There is room for 64 of them at once, and for paths of 4095 bytes: what is beyond isn't named, and is then up to
/// the next program that writes there (see AtomicPath).
class Unfinished {
 public:
  Unfinished() = default;
  explicit Unfinished(std::filesystem::path const& path);
  Unfinished(Unfinished&& other) noexcept;
  Unfinished& operator=(Unfinished&& other) noexcept;
  ~Unfinished();

 private:
  int slot_ = -1;
};

/// Removes every file, and every folder that is empty, that an Unfinished names. For the end of a program only: files
/// that are being written afterwards fail. May be called by a signal handler.
void remove_unfinished() noexcept;

}  // namespace coir::io
