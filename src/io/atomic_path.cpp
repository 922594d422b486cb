#include <coir/core/errors.hpp>
#include <coir/io/atomic_path.hpp>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
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
    case EMFILE:
    case ENFILE: return "raise the limit on open files (ulimit -n)";
    case EBUSY:
      return "it is a mount point and can't be replaced: mount its folder instead, or name another "
             "file";
    case ELOOP: return "name another file: the link leads back to itself";
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return "free some space, raise the limit, or choose another folder";
    default: return "choose another folder";
  }
}

// A mark that tells this host's processes from those of other hosts and containers that share a folder with it.
std::string const& host_mark() {
  static std::string const mark = [] {
    char host[256] = "", processes[64] = "";
    (void)::gethostname(host, sizeof host - 1);
    (void)!::readlink("/proc/self/ns/pid", processes, sizeof processes - 1);
    std::uint32_t hash = 2166136261u;  // FNV-1a
    for (char const* text : {host, processes})
      for (; *text != '\0'; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 16777619u;
    char digits[16];
    std::snprintf(digits, sizeof digits, "%08x", hash);
    return std::string(digits);
  }();
  return mark;
}

constexpr std::string_view prefix = ".coir-", ending = ".part";

// The beginning of the names of this host's temporary files.
std::string our_prefix() { return std::string(prefix) + host_mark() + "-"; }

// Whether a file with the name of a temporary one has nobody who writes it.
bool is_left_over(std::string const& name, fs::path const& path) {
  std::string const ours = our_prefix();
  if (name.starts_with(ours)) {
    long const process = std::strtol(name.c_str() + ours.size(), nullptr, 10);
    if (process > 0 && ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH) return true;
  }
  // The process is another host's, or its number is another process' by now.
  constexpr std::time_t day = 86400;
  struct stat status = {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         status.st_mtime < std::time(nullptr) - day;
}

// Removes what killed programs left in a folder. Once per folder: a look at every name in it takes a while.
void remove_left_over(fs::path const& folder) {
  static std::mutex mutex;
  static std::set<fs::path> seen;
  std::lock_guard const lock(mutex);
  if (!seen.insert(folder).second) return;
  std::error_code error;  // a folder that can't be read is left as it is
  for (fs::directory_iterator entry(folder, error), last; !error && entry != last;
       entry.increment(error)) {
    std::string const name = entry->path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(ending) && is_left_over(name, entry->path()))
      ::unlink(entry->path().c_str());
  }
}

// A name that this process has not used before.
fs::path name_beside(fs::path const& destination) {
  static std::atomic<unsigned> count{0};
  return destination.parent_path() / (our_prefix() + std::to_string(::getpid()) + "-" +
                                      std::to_string(count++) + std::string(ending));
}

// A file that did not exist before. Its permissions follow the umask, as those of any new file.
int create_beside(fs::path const& destination, fs::path& name, Unfinished& unfinished) {
  int descriptor = -1;
  do {
    name = name_beside(destination);
    unfinished = Unfinished(name);
    descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EEXIST);
  return descriptor;
}

// Why a file that exists couldn't be replaced by another one of its folder; 0 if it can, or if nobody knows.
int rename_error(fs::path const& file) {
  struct stat status = {}, folder = {};
  if (::stat(file.c_str(), &status) != 0 || ::stat(file.parent_path().c_str(), &folder) != 0)
    return 0;
  uid_t const user = ::geteuid();
  bool const is_sticky = (folder.st_mode & S_ISVTX) != 0;
  if (is_sticky && user != 0 && user != status.st_uid && user != folder.st_uid) return EPERM;
#if defined(__linux__) && defined(STATX_ATTR_MOUNT_ROOT)
  struct statx more = {};
  if (::statx(AT_FDCWD, file.c_str(), 0, 0, &more) == 0 &&
      (more.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0)
    return EBUSY;
#endif
  return 0;
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

// Waits until a file is on the disk. By parts, between which a signal can end the program: fsync alone would keep it
// for as long as it takes. Returns 0 or the errno.
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
    // Not opened to try: whoever reads a pipe would take its end for that of the output.
    if (fs::is_socket(status)) fail(ENXIO);
    if (stream_ < 0 && ::access(path_.c_str(), W_OK) != 0) fail(errno);
    destination_ = path_;
    is_device_ = true;
    return;
  }

  destination_ = resolved(path_);
  is_link_ = fs::is_symlink(path_, error);
  if (fs::exists(status)) {
    // rename would replace a write-protected file without a question
    if (::access(path_.c_str(), W_OK) != 0) fail(errno);
    // and would fail when all is written
    if (int const cause = rename_error(destination_); cause != 0) fail(cause);
  }
  remove_left_over(destination_.parent_path());
  descriptor_ = create_beside(destination_, temporary_, unfinished_);
  if (descriptor_ < 0) {
    int const cause = errno;
    temporary_.clear();
    fail(cause);
  }
  if (fs::exists(status))
    // A file system without permissions refuses this, and has none to keep.
    (void)::fchmod(descriptor_, static_cast<mode_t>(status.permissions() & fs::perms::mask));
}

AtomicPath::~AtomicPath() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (!previous_.empty()) ::unlink(previous_.c_str());
}

void AtomicPath::sync() {
  if (temporary_.empty() || is_synced_) return;
  if (int const error = sync_file(descriptor_); error != 0) fail(error);
  is_synced_ = true;
}

void AtomicPath::commit_for_now() {
  if (temporary_.empty()) return;
  sync();
  int error = 0;
  do {
    previous_ = name_beside(destination_);
    unfinished_previous_ = Unfinished(previous_);
    error = ::link(destination_.c_str(), previous_.c_str()) == 0 ? 0 : errno;
  } while (error == EEXIST);
  was_there_ = error != ENOENT;
  if (error != 0) {
    previous_.clear();
    unfinished_previous_ = Unfinished();
  }
  commit();
  is_for_now_ = true;
}

void AtomicPath::undo() noexcept {
  if (!std::exchange(is_for_now_, false)) return;
  if (!was_there_) {
    ::unlink(destination_.c_str());
  } else if (!previous_.empty() && std::rename(previous_.c_str(), destination_.c_str()) == 0) {
    previous_.clear();
    unfinished_previous_ = Unfinished();
  }
}

void AtomicPath::commit() {
  if (temporary_.empty()) return;
  sync();
  if (std::rename(temporary_.c_str(), destination_.c_str()) != 0) fail(errno);
  temporary_.clear();
  unfinished_ = Unfinished();
  ::close(std::exchange(descriptor_, -1));
}

void AtomicPath::fail(int error) const {
  throw ResourceError(path_.string() + ": can't be written (" + std::strerror(error) +
                      "): " + remedy(error, is_link_ ? destination_ : path_));
}

}  // namespace coir::io
