#pragma once

/// \file
/// Files that take their name when they are whole, for libraries that open files themselves.

#include <filesystem>

namespace coir::io {

/// The path of the file that writing to `path` makes: links are followed, also a last one that
/// leads to nothing yet. If this fails, the path itself.
std::filesystem::path resolved(std::filesystem::path const& path);

/// A temporary file beside its destination, ".coir-NAME.part", which takes the destination's name
/// when commit() succeeds.
///
/// The destructor removes it if commit() was not reached: an exception leaves nothing behind, and
/// an earlier file is untouched. A temporary file of a killed program is overwritten by the next
/// one that writes to the same path. If two programs write to one path at the same time, at least
/// one gets an error. Symbolic links are followed. Permissions of a replaced file are kept.
///
/// Devices and named pipes (/dev/null) aren't replaced: temporary() is the path itself, which isn't
/// opened here. Paths of files that this program has open (/dev/stdout, /dev/fd/3) aren't replaced
/// either, because other output there would be lost: see stream().
///
/// To check early that a path can be written, make an AtomicPath and destroy it: it leaves no
/// trace.
///
/// Every member throws ResourceError with the path, the cause and a remedy: folder missing or
/// read-only, path is a folder or a socket, file write-protected, no space left.
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

  /// Whether the path is a device or a pipe, where output appears at once.
  bool is_device() const { return is_device_; }

  /// The descriptor of the open file that the path names; -1 if it names none. Write to a copy of
  /// the descriptor in place of temporary().
  int stream() const { return stream_; }

  /// Waits until the content is on the disk, then gives the temporary file, which must be closed,
  /// its name. If the power fails, the path has either the earlier file or all of the new one.
  void commit();

  /// The first half of commit(), which then only gives the name: waits until the content is on the
  /// disk. For files that are to appear together or not at all.
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

/// Removes the temporary files of all AtomicPaths, for the end of a program: writing them fails
/// afterwards. Handlers of signals may call it. If it interrupts the making of a temporary file, it
/// removes none.
void remove_unfinished() noexcept;

}  // namespace coir::io
