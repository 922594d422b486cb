#include <coir/core/errors.hpp>
#include <coir/core/memory.hpp>
#include <coir/io/file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace coir::io {

namespace {

/// A regular file that is open for reading.
class OpenFile {
 public:
  explicit OpenFile(std::filesystem::path const& path) : path_(path) {
    namespace fs = std::filesystem;
    std::error_code error;
    fs::file_status const status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) fail("no such file: check the path");
    if (status.type() == fs::file_type::none) fail_to_read(error.value());
    if (status.type() == fs::file_type::directory) fail("is a folder: name a file in it");
    if (status.type() != fs::file_type::regular)
      fail("is a device or a pipe: copy its content to a file first");
    file_.reset(std::fopen(path.c_str(), "rb"));
    if (!file_) fail_to_read(errno);
    std::uintmax_t const length = fs::file_size(path, error);
    if (error) fail_to_read(error.value());
    if (length == 0) fail("is empty (0 bytes): write or copy it again");
    length_ = static_cast<std::int64_t>(length);
  }

  std::int64_t length() const { return length_; }

  void go_to(std::int64_t offset) {
    if (fseeko(file_.get(), static_cast<off_t>(offset), SEEK_SET) != 0) fail_to_read(errno);
    at_ = offset;
  }
  void read(std::byte* to, std::int64_t bytes) {
    auto const wanted = static_cast<std::size_t>(bytes);
    std::size_t const got = std::fread(to, 1, wanted, file_.get());
    at_ += static_cast<std::int64_t>(got);
    if (got < wanted && std::ferror(file_.get())) fail_to_read(errno);
    if (got < wanted)
      fail("ended at byte " + std::to_string(at_) + " of " + std::to_string(length_) +
           ": something shortened it while it was read; try again");
  }

 private:
  [[noreturn]] void fail(std::string const& what) const {
    throw InputError(path_.string() + ": " + what);
  }
  [[noreturn]] void fail_to_read(int error) const {
    fail(std::string("can't be read (") + std::strerror(error) +
         "): check the permissions of the file and its folders");
  }

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, &std::fclose};
  std::int64_t length_ = 0, at_ = 0;
};

std::vector<std::byte> room_for(std::int64_t bytes, std::filesystem::path const& path) {
  expects_memory<Kokkos::HostSpace>(bytes, "reading " + path.string());
  return std::vector<std::byte>(static_cast<std::size_t>(bytes));
}

}  // namespace

FileBegin read_begin(std::filesystem::path const& path, std::int64_t most) {
  OpenFile file(path);
  auto bytes = room_for(std::min(file.length(), most), path);
  file.read(bytes.data(), static_cast<std::int64_t>(bytes.size()));
  return {std::move(bytes), file.length()};
}

std::vector<std::byte> read_file(std::filesystem::path const& path, std::int64_t most) {
  return read_begin(path, most).bytes;
}

std::vector<std::byte> read_runs(std::filesystem::path const& path, std::int64_t offset,
                                 std::int64_t run, std::int64_t stride, std::int64_t runs) {
  OpenFile file(path);
  auto bytes = room_for(run * runs, path);
  if (run == stride && runs > 0) run *= std::exchange(runs, 1);  // without gaps
  for (std::int64_t r = 0; r < runs && run > 0; ++r) {
    file.go_to(offset + r * stride);
    file.read(bytes.data() + r * run, run);
  }
  return bytes;
}

}  // namespace coir::io
