#include <coir/core/errors.hpp>
#include <coir/core/memory.hpp>
#include <coir/io/file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

namespace coir::io {

std::vector<std::byte> read_file(std::filesystem::path const& path, std::int64_t most) {
  namespace fs = std::filesystem;
  auto const fail = [&path](std::string const& what) {
    throw InputError(path.string() + ": " + what);
  };
  auto const fail_to_read = [&fail](int error) {
    fail(std::string("can't be read (") + std::strerror(error) +
         "): check the permissions of the file and its folders");
  };

  std::error_code error;
  fs::file_status const status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) fail("no such file: check the path");
  if (status.type() == fs::file_type::none) fail_to_read(error.value());
  if (status.type() == fs::file_type::directory) fail("is a folder: name a file in it");
  if (status.type() != fs::file_type::regular)
    fail("is a device or a pipe: copy its content to a file first");

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) fail_to_read(errno);
  std::uintmax_t const length = fs::file_size(path, error);
  if (error) fail_to_read(error.value());
  if (length == 0) fail("is empty (0 bytes): write or copy it again");

  auto const wanted = std::min(static_cast<std::int64_t>(length), most);
  expects_memory<Kokkos::HostSpace>(wanted, "reading " + path.string());
  std::vector<std::byte> bytes(static_cast<std::size_t>(wanted));
  std::size_t const got = std::fread(bytes.data(), 1, bytes.size(), file.get());
  if (got < bytes.size() && std::ferror(file.get())) fail_to_read(errno);
  if (got < bytes.size())
    fail("ended at byte " + std::to_string(got) + " of " + std::to_string(length) +
         ": something shortened it while it was read; try again");
  return bytes;
}

}  // namespace coir::io
