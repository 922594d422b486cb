#include "reader.hpp"

#include <coir/core/errors.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

namespace coir::apps::queue {

namespace {

bool is_standard_input(std::filesystem::path const& path) { return path == "-"; }

std::string shown_name(std::filesystem::path const& path) {
  return is_standard_input(path) ? "the standard input" : path.string();
}

[[noreturn]] void fail(std::filesystem::path const& path, int error) {
  throw InputError(shown_name(path) + ": can't be read: " + std::strerror(error) +
                   ": check the path and its permissions");
}

void expects_text(std::string_view begin, std::string const& name) {
  if (begin.starts_with("\x1F\x8B"))
    throw InputError(name + ": is compressed: zcat " + name + " | coir-queue -");
  if (begin.starts_with("\xFF\xFE") || begin.starts_with("\xFE\xFF") ||
      begin.substr(0, 100).find('\0') != std::string_view::npos)
    throw InputError(name + ": is no text, or UTF-16: save it as UTF-8");
}

}  // namespace

AccountingReader::AccountingReader(std::vector<std::filesystem::path> paths,
                                   std::function<void(std::int64_t, std::int64_t)> report)
    : paths_(std::move(paths)), report_(std::move(report)) {
  // Missing files are told before any work, and sizes are added up for the progress line.
  bool all_known = true;
  std::set<std::pair<dev_t, ino_t>> files;
  for (auto const& path : paths_) {
    struct stat status = {};
    int const failed =
        is_standard_input(path) ? fstat(STDIN_FILENO, &status) : stat(path.c_str(), &status);
    if (failed != 0) fail(path, errno);
    if (S_ISDIR(status.st_mode))
      throw InputError(shown_name(path) + ": is a folder: name a file of sacct -P");
    if (!is_standard_input(path) && access(path.c_str(), R_OK) != 0) fail(path, errno);
    if (!S_ISREG(status.st_mode)) {
      all_known = false;
      continue;
    }
    expects(files.emplace(status.st_dev, status.st_ino).second,
            shown_name(path) + " is given twice, and its jobs would count twice: leave one out");
    total_ += status.st_size;
  }
  if (!all_known) total_ = 0;
}

AccountingReader::~AccountingReader() {
  if (file_ > STDIN_FILENO) close(file_);
}

bool AccountingReader::open_next() {
  if (file_ > STDIN_FILENO) close(file_);
  file_ = -1;
  if (next_path_ == paths_.size()) return false;
  auto const& path = paths_[next_path_++];
  file_ = is_standard_input(path) ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) fail(path, errno);
  at_end_ = false;
  line_ = 1;
  columns_.reset();
  return true;
}

/// Fills a piece with the rest of the last one, and as much text behind it as there is and fits.
std::string_view AccountingReader::fill(Piece& piece) {
  piece.buffer.resize(most_bytes);
  std::copy(rest_.begin(), rest_.end(), piece.buffer.begin());
  std::size_t size = rest_.size();
  rest_.clear();
  while (size < most_bytes && !at_end_) {
    ssize_t const got = read(file_, piece.buffer.data() + size, most_bytes - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(paths_[next_path_ - 1], errno);
    if (got == 0) at_end_ = true;
    size += static_cast<std::size_t>(got);
    bytes_ += got;
  }
  report_(bytes_, total_ == 0 ? 0 : std::max(total_, bytes_));  // the file may still grow
  return {piece.buffer.data(), size};
}

/// Takes the line of names off the front of the text.
void AccountingReader::read_heading(std::string_view& text) {
  std::string const name = shown_name(paths_[next_path_ - 1]);
  if (text.empty())
    throw InputError(name + ": is empty: sacct -P writes at least its names of columns");
  expects_text(text, name);
  std::size_t const end = std::min(text.find('\n'), text.size());
  if (end == most_bytes)
    throw InputError(name + ": has a first line of more than 1 MiB, which sacct doesn't write");
  std::string_view line = text.substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  columns_ = std::make_shared<Columns const>(line, name + ", line 1");
  text.remove_prefix(std::min(end + 1, text.size()));
  ++line_;
}

bool AccountingReader::read_piece(Piece& piece) {
  piece.odd.reset();
  for (;;) {
    bool const is_done = file_ < 0 || (at_end_ && rest_.empty());
    if (is_done && !open_next()) return false;
    std::string_view text = fill(piece);
    if (!columns_) read_heading(text);
    if (in_long_line_) {
      std::size_t const end = std::min(text.find('\n'), text.size());
      in_long_line_ = end == text.size() && !at_end_;
      text.remove_prefix(std::min(end + 1, text.size()));
      if (!in_long_line_) ++line_;
    }
    std::size_t const whole = text.rfind('\n') + 1;  // 0 if there is none
    std::string_view const left = text.substr(whole);
    piece.lines = text.substr(0, whole);
    piece.columns = columns_;
    piece.file = static_cast<std::int64_t>(next_path_) - 1;
    piece.first_line = line_;
    line_ += std::count(piece.lines.begin(), piece.lines.end(), '\n');
    in_long_line_ = in_long_line_ || left.size() == most_bytes;
    if (left.size() == most_bytes)
      piece.odd = {Flaw::too_long, line_, std::string(left.substr(0, 60))};
    else if (!at_end_)
      rest_.assign(left.begin(), left.end());
    else if (!left.empty())
      piece.odd = {Flaw::unfinished, line_, std::string(left.substr(0, 60))};
    if (!piece.lines.empty() || piece.odd) return true;
  }
}

bool AccountingReader::next(Piece& piece) {
  std::lock_guard const lock(mutex_);
  if (has_failed_) return false;  // the thread that failed tells of it
  try {
    return read_piece(piece);
  } catch (...) {
    has_failed_ = true;
    throw;
  }
}

}  // namespace coir::apps::queue
