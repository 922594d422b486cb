#pragma once

/// \file
/// Files that are removed if the program is ended before they are whole.

#include <filesystem>

namespace coir::io {

/// Names a file, or a folder, that remove_unfinished() removes as long as this lives.
///
/// The capacity is 64 names at once, of up to 4095 bytes. Files beyond it aren't named: the next program that writes to their
/// folder removes them (see AtomicPath).
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
