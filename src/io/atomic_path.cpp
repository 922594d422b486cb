#include <coir/core/errors.hpp>
#include <coir/io/atomic_path.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace coir::io {

namespace fs = std::filesystem;

namespace {

// The folder as a message should name it: "." for a bare file name.
std::string folder_of(fs::path const& path) {
  return path.has_parent_path() ? path.parent_path().string() : ".";
}

std::string remedy(int error, fs::path const& path) {
  std::error_code ignored;
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      if (!fs::exists(folder_of(path), ignored))
        return "the folder " + folder_of(path) + " does not exist: create it or choose another";
      if (!fs::is_directory(folder_of(path), ignored))
        return folder_of(path) + " is not a folder: choose another";
      return "choose another folder";
    case EISDIR: return "name a file in it";
    case ELOOP: return "name another file: the link leads back to itself";
    case EACCES:
    case EPERM:
    case EROFS: return "change its permissions or choose another folder";
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return "free some space, raise the limit, or choose another folder";
    default: return "choose another folder";
  }
}

// The names of existing temporary files. A handler of signals may not wait for the flag: it tries
// once.
auto* const unfinished = new std::vector<fs::path>;
std::atomic_flag is_in_use;

struct Turn {
  Turn() {
    while (is_in_use.test_and_set()) std::this_thread::yield();
  }
  ~Turn() { is_in_use.clear(); }
};

void add_unfinished(fs::path const& name) {
  Turn const turn;
  unfinished->push_back(name);
}

void remove_unfinished_name(fs::path const& name) {
  Turn const turn;
  unfinished->erase(std::find(unfinished->begin(), unfinished->end(), name));
}

// Makes a new file in place of one that another program may have left. Its permissions follow the
// umask.
int create(fs::path const& name) {
  int descriptor = -1;
  do {
    if (::unlink(name.c_str()) != 0 && errno != ENOENT) return -1;  // it is a folder, say
    descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EEXIST);
  return descriptor;
}

// The open file of this program that a path names, as /dev/stdout does; -1 if it names none.
int stream_named_by(fs::path path) {
  std::error_code error;
  for (int links = 0; links < 40; ++links) {
    std::string const name = path.filename().string();
    bool const is_number = !name.empty() && name.size() < 8 &&
                           name.find_first_not_of("0123456789") == std::string::npos;
    if (is_number && fs::equivalent(path.parent_path(), "/proc/self/fd", error))
      return std::atoi(name.c_str());
    if (!fs::is_symlink(path, error)) return -1;
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  return -1;
}

// Waits until a file is on the disk. It goes by parts, so that a signal can end the program between
// two of them. Returns 0 or the errno.
int sync_file(int descriptor) {
#if defined(__linux__)
  constexpr off_t part = 32 << 20;
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0) return errno;
  for (off_t first = 0; first < status.st_size; first += part)
    // An error here is no failure: fsync writes the file all the same, or reports why it can't.
    if (::sync_file_range(
            descriptor, first, part,
            SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER) != 0)
      break;
#endif
  if (::fsync(descriptor) == 0) return 0;
  return errno == EINVAL || errno == ENOSYS ? 0 : errno;  // a file system without a disk
}

}  // namespace

fs::path resolved(fs::path const& path) {
  fs::path target = path;
  std::error_code error;
  // weakly_canonical() follows all links but a last one to a file that doesn't exist.
  for (int links = 0; links < 40 && fs::is_symlink(target, error); ++links)
    target = target.parent_path() / fs::read_symlink(target, error);
  target = fs::weakly_canonical(target, error);
  return error ? path : target;
}

AtomicPath::AtomicPath(fs::path path) : path_(std::move(path)) {
  if (path_.empty()) fail(ENOENT);
  std::error_code error;
  fs::file_status const status = fs::status(path_, error);
  if (status.type() == fs::file_type::none) fail(error.value());
  if (fs::is_directory(status) || !path_.has_filename()) fail(EISDIR);
  stream_ = stream_named_by(path_);
  if (stream_ >= 0 || (fs::exists(status) && !fs::is_regular_file(status))) {
    // Not opened to try, because the reader of a pipe would take the close for the end of the
    // output.
    if (fs::is_socket(status)) fail(ENXIO);
    if (stream_ < 0 && ::access(path_.c_str(), W_OK) != 0) fail(errno);
    destination_ = path_;
    is_device_ = true;
    return;
  }

  destination_ = resolved(path_);
  is_link_ = fs::is_symlink(path_, error);
  // rename would replace a write-protected file without a question.
  if (fs::exists(status) && ::access(path_.c_str(), W_OK) != 0) fail(errno);
  temporary_ = destination_.parent_path() / (".coir-" + destination_.filename().string() + ".part");
  add_unfinished(temporary_);
  descriptor_ = create(temporary_);
  if (descriptor_ < 0) {
    int const cause = errno;
    forget();
    fail(cause);
  }
  if (fs::exists(status))
    // A file system without permissions refuses this, and has none to keep.
    (void)::fchmod(descriptor_, static_cast<mode_t>(status.permissions() & fs::perms::mask));
}

AtomicPath::~AtomicPath() {
  if (is_temporary_there()) ::unlink(temporary_.c_str());
  forget();
}

void AtomicPath::forget() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (temporary_.empty()) return;
  remove_unfinished_name(temporary_);
  temporary_.clear();
}

// Whether the file of that name is this one, and not that of another program that writes to the
// same path.
bool AtomicPath::is_temporary_there() const {
  struct stat own = {}, named = {};
  return descriptor_ >= 0 && ::fstat(descriptor_, &own) == 0 &&
         ::lstat(temporary_.c_str(), &named) == 0 && own.st_dev == named.st_dev &&
         own.st_ino == named.st_ino;
}

void AtomicPath::sync() {
  if (temporary_.empty() || is_synced_) return;
  if (int const error = sync_file(descriptor_); error != 0) fail(error);
  is_synced_ = true;
}

void AtomicPath::commit() {
  if (temporary_.empty()) return;
  sync();
  if (!is_temporary_there())
    throw ResourceError(path_.string() +
                        ": can't be written (its temporary file is gone): does another program "
                        "write to it, too?");
  if (std::rename(temporary_.c_str(), destination_.c_str()) != 0) fail(errno);
  forget();
}

void remove_unfinished() noexcept {
  if (is_in_use.test_and_set()) return;
  for (fs::path const& name : *unfinished) ::unlink(name.c_str());
}

void AtomicPath::fail(int error) const {
  throw ResourceError(path_.string() + ": can't be written (" + std::strerror(error) +
                      "): " + remedy(error, is_link_ ? destination_ : path_));
}

}  // namespace coir::io
