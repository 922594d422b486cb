#include <support/interrupt.hpp>
#include <support/output_folder.hpp>

#include <coir/core/errors.hpp>
#include <coir/io/atomic_path.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace coir::apps {

namespace fs = std::filesystem;

OutputFolder::OutputFolder(fs::path path, fs::path const& first) : path_(std::move(path)) {
  std::error_code error;
  is_new_ = fs::create_directory(path_, error);
  if (is_new_) remove_empty_folder_when_stopped(path_);
  if (error) {
    bool const lacks_parent = error == std::errc::no_such_file_or_directory;
    throw ResourceError("can't make the folder " + path_.string() + ": " + error.message() +
                        (lacks_parent ? "; make the one that it is in first" : "; name another"));
  }
  try {
    lock();
    io::AtomicPath{first};  // leaves no trace unless it can't be written
  } catch (...) {
    if (is_new_) fs::remove(path_, error);
    if (lock_ >= 0) close(lock_);
    throw;
  }
}

OutputFolder::~OutputFolder() {
  std::error_code not_empty;
  if (is_new_) fs::remove(path_, not_empty);
  if (lock_ >= 0) close(lock_);
}

// The system forgets the lock when the program ends, however it does. Where a file system has no
// locks for folders, nobody is kept out.
void OutputFolder::lock() {
  lock_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ >= 0 && flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw ResourceError("another program is writing to the folder " + path_.string() +
                        ": name another folder, or wait for it to end");
}

}  // namespace coir::apps
