#pragma once

/// \file
/// A place to write a file that takes its name when it is whole, for libraries that open files themselves.

#include <filesystem>

namespace coir::io {

/// Where a file that is written to a path comes to lie: links are followed, also the last one if it leads to nothing
/// yet. The path itself if that can't be told.
std::filesystem::path resolved(std::filesystem::path const& path);

/// A temporary file beside its destination, ".coir-NAME.part", which takes the destination's name when commit()
/// succeeds.
///
/// The destructor removes it if commit() was not reached, so an exception leaves nothing behind, and a
/// file that was there before is untouched. What a program that was killed has left is overwritten by the
/// next one that writes to the same path. Symbolic links are followed. The permissions of a file that
/// gets replaced are kept. Devices and named pipes (/dev/null) can't be replaced: there temporary() is the
/// path itself, which isn't opened here. Nor are paths replaced that name a file which this program has
/// open (/dev/stdout, /dev/fd/3), because its other output there would be lost: see stream(). Two programs
/// that write to one path at the same time are an error of one of them at least.
///
/// Making one and letting it go checks early, and without a trace, that a path can be written.
///
/// Every member throws ResourceError with the path, the cause and a remedy: folder missing or read-only, path is a
/// folder or a socket, file write-protected, no space left.
class AtomicPath {
 public:
  /// Creates the temporary file, empty and closed.
  explicit AtomicPath(std::filesystem::path path);
  AtomicPath(AtomicPath const&) = delete;
  AtomicPath& operator=(AtomicPath const&) = delete;
  ~AtomicPath();

  /// The path to open and write to.
  std::filesystem::path const& temporary() const {
    return temporary_.empty() ? destination_ : temporary_;
  }

  /// Whether the path is a device or a pipe, so that what is written appears at once.
  bool is_device() const { return is_device_; }

  /// The number of the open file that the path names, whose copy is to be written to in place of temporary(); -1 if it names
  /// none.
  int stream() const { return stream_; }

  /// Waits until the content is on the disk, then gives the temporary file its name; whoever wrote it has closed it.
  /// So when the power fails there is either what was there before, or all that is new.
  void commit();

  /// The first half of commit(), which then only gives the name: waits until the content is on the disk. For several files that
  /// are to appear together or not at all.
  void sync();

  /// Throws the ResourceError that belongs to an errno.
  [[noreturn]] void fail(int error) const;

 private:
  void forget();
  bool is_temporary_there() const;

  std::filesystem::path path_;         // as the caller wrote it, for messages
  std::filesystem::path destination_;  // with symbolic links resolved
  std::filesystem::path temporary_;    // empty for devices and after commit()
  int descriptor_ = -1;                // of temporary_
  int stream_ = -1;
  bool is_device_ = false;
  bool is_link_ = false;
  bool is_synced_ = false;
};

/// Removes the temporary files of all AtomicPaths, for the end of a program: files that are being written
/// afterwards fail. A handler of signals may call it; where it interrupts the making of a temporary file,
/// all are left.
void remove_unfinished() noexcept;

}  // namespace coir::io
