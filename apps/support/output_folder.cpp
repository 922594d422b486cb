#include <support/output_folder.hpp>

#include <coir/core/errors.hpp>
#include <coir/io/atomic_file.hpp>

#include <string>
#include <system_error>
#include <utility>

namespace coir::apps {

namespace fs = std::filesystem;

OutputFolder::OutputFolder(fs::path path, fs::path const& first) : path_(std::move(path)) {
  std::error_code error;
  is_new_ = fs::create_directory(path_, error);
  if (error) {
    bool const lacks_parent = error == std::errc::no_such_file_or_directory;
    throw ResourceError("can't make the folder " + path_.string() + ": " + error.message() +
                        (lacks_parent ? "; make the one that it is in first" : "; name another"));
  }
  try {
    io::AtomicFile{first};  // leaves no trace unless it can't be written
  } catch (...) {
    if (is_new_) fs::remove(path_, error);
    throw;
  }
}

OutputFolder::~OutputFolder() {
  std::error_code not_empty;
  if (is_new_) fs::remove(path_, not_empty);
}

}  // namespace coir::apps
