#include <coir/core/errors.hpp>
#include <coir/io/file.hpp>

#include <gtest/gtest.h>
#include <io/scratch.hpp>
#include <support/in_folder.hpp>

#include <filesystem>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;
namespace io = coir::io;
using namespace coir::testing;

namespace {

std::string refusal(fs::path const& path) {
  return message_of<coir::InputError>([&] { (void)io::read_file(path); });
}

}  // namespace

using File = InFolder;

TEST_F(File, IsReadWholeOrInPart) {
  std::string const text("a\0b\r\n", 5);
  put(folder / "a", text);
  EXPECT_EQ(text_of(io::read_file(folder / "a")), text);
  EXPECT_EQ(text_of(io::read_file(folder / "a", 3)), text.substr(0, 3));
  EXPECT_EQ(text_of(io::read_file(folder / "a", 30)), text);
}

TEST_F(File, MissingIsAnError) {
  expect_parts(refusal(folder / "a"), {(folder / "a").string(), "no such file", "check the path"});
  put(folder / "b", "text");
  expect_parts(refusal(folder / "b/c"), {"b/c: "});
}

TEST_F(File, EmptyIsAnError) {
  put(folder / "a", "");
  expect_parts(refusal(folder / "a"), {"is empty (0 bytes)"});
}

TEST_F(File, AFolderIsAnError) {
  expect_parts(refusal(folder.path()), {"is a folder", "name a file in it"});
}

TEST_F(File, ADeviceOrPipeIsAnErrorAndDoesNotBlock) {
  expect_parts(refusal("/dev/zero"), {"/dev/zero: is a device or a pipe", "copy its content"});
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  expect_parts(refusal(folder / "pipe"), {"is a device or a pipe"});
}

TEST_F(File, UnreadableIsAnError) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  put(folder / "a", "text");
  fs::permissions(folder / "a", fs::perms::none);
  expect_parts(refusal(folder / "a"), {"can't be read", "Permission denied", "check the perm"});
}

TEST_F(File, ALoopOfLinksIsAnError) {
  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  expect_parts(refusal(folder / "a"), {"can't be read", "symbolic links"});
}

TEST_F(File, MoreThanMemoryHoldsIsAResourceError) {
  put(folder / "a", "text");
  std::error_code error;
  fs::resize_file(folder / "a", std::uintmax_t(1) << 43, error);  // sparse: takes no space
  if (error) GTEST_SKIP() << "no file of 8 TiB here";
  std::string const text =
      message_of<coir::ResourceError>([&] { (void)io::read_file(folder / "a"); });
  expect_parts(text, {"8.0 TiB"});
  EXPECT_EQ(io::read_file(folder / "a", 4).size(), 4U);
}
