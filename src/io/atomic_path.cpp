#include <coir/core/errors.hpp>
#include <coir/io/atomic_path.hpp>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

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
    case EACCES:
    case EPERM:
    case EROFS: return "change its permissions or choose another folder";
    case ENAMETOOLONG: return "choose a shorter name";
    case ELOOP: return "name another file: the link leads back to itself";
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return "free some space, raise the limit, or choose another folder";
    default: return "choose another folder";
  }
}

// A file that did not exist before. Its permissions follow the umask, as those of any new file.
int create_beside(fs::path const& destination, fs::path& name) {
  static std::atomic<unsigned> count{0};
  int descriptor = -1;
  do {
    name = destination.parent_path() /
           (".coir-" + std::to_string(::getpid()) + "-" + std::to_string(count++) + ".part");
    descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EEXIST);
  return descriptor;
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
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    destination_ = path_;
    is_device_ = true;
    return;
  }

  destination_ = resolved(path_);
  is_link_ = fs::is_symlink(path_, error);
  // rename would replace a write-protected file without a question
  if (fs::exists(status) && ::access(path_.c_str(), W_OK) != 0) fail(errno);
  int const descriptor = create_beside(destination_, temporary_);
  if (descriptor < 0) {
    int const cause = errno;
    temporary_.clear();
    fail(cause);
  }
  if (fs::exists(status))
    // A file system without permissions refuses this, and has none to keep.
    (void)::fchmod(descriptor, static_cast<mode_t>(status.permissions() & fs::perms::mask));
  ::close(descriptor);
}

AtomicPath::~AtomicPath() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicPath::commit() {
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), destination_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

void AtomicPath::fail(int error) const {
  throw ResourceError(path_.string() + ": can't be written (" + std::strerror(error) +
                      "): " + remedy(error, is_link_ ? destination_ : path_));
}

}  // namespace coir::io
