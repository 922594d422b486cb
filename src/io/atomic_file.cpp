#include <coir/io/atomic_file.hpp>

#include <cerrno>
#include <cstdio>
#include <utility>

#include <fcntl.h>

namespace coir::io {

namespace fs = std::filesystem;

namespace {

// Programs that this one starts don't inherit the file.
std::FILE* open_stream(AtomicPath const& path) {
  if (path.stream() < 0) return std::fopen(path.temporary().c_str(), "wbe");
  int const copy = ::fcntl(path.stream(), F_DUPFD_CLOEXEC, 0);
  return copy < 0 ? nullptr : ::fdopen(copy, "wb");
}

}  // namespace

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)), file_(open_stream(path_)) {
  if (file_ == nullptr) path_.fail(errno);
}

AtomicFile::~AtomicFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void AtomicFile::write(std::span<std::byte const> bytes) {
  if (bytes.empty()) return;  // its pointer may be null, which fwrite must not be given
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) < bytes.size()) path_.fail(errno);
}

void AtomicFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void AtomicFile::commit() {
  // Some file systems report a full disk or quota only when the file is closed.
  if (std::fclose(std::exchange(file_, nullptr)) != 0) path_.fail(errno);
  path_.commit();
}

void write_file(fs::path const& path, std::span<std::byte const> bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void write_file(fs::path const& path, std::string_view text) {
  write_file(path, std::as_bytes(std::span(text)));
}

}  // namespace coir::io
