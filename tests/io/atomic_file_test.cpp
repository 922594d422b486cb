#include <coir/core/errors.hpp>
#include <coir/io/atomic_file.hpp>

#include <gtest/gtest.h>
#include <io/file_size_limit.hpp>
#include <io/scratch.hpp>
#include <support/in_folder.hpp>

#include <filesystem>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;
namespace io = coir::io;
using namespace coir::testing;

namespace {

std::string refusal(fs::path const& path) {
  return message_of<coir::ResourceError>([&] { io::write_file(path, std::string_view("text")); });
}

}  // namespace

using AtomicFile = InFolder;

TEST_F(AtomicFile, HoldsWhatWasWritten) {
  io::AtomicFile file(folder / "a.txt");
  file.write(std::string_view("one "));
  file.write(bytes_of("two"));
  file.commit();
  EXPECT_EQ(read_text(folder / "a.txt"), "one two");
  EXPECT_EQ(folder.entries(), 1);
}

TEST_F(AtomicFile, AnExceptionLeavesNothing) {
  try {
    io::AtomicFile file(folder / "a.txt");
    file.write(std::string_view("half of it"));
    throw std::runtime_error("interrupted");
  } catch (std::runtime_error const&) {
  }
  EXPECT_EQ(folder.entries(), 0);
}

TEST_F(AtomicFile, ReplacesAFileAndKeepsItsPermissions) {
  put(folder / "a.txt", "before");
  fs::permissions(folder / "a.txt", fs::perms::owner_read | fs::perms::owner_write);
  io::write_file(folder / "a.txt", std::string_view("after"));
  EXPECT_EQ(read_text(folder / "a.txt"), "after");
  EXPECT_EQ(fs::status(folder / "a.txt").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(AtomicFile, ANewFileFollowsTheUmask) {
  mode_t const before = ::umask(027);
  io::write_file(folder / "a.txt", std::string_view("text"));
  ::umask(before);
  EXPECT_EQ(static_cast<unsigned>(fs::status(folder / "a.txt").permissions()), 0640U);
}

TEST_F(AtomicFile, FollowsASymbolicLink) {
  fs::create_directory(folder / "elsewhere");
  put(folder / "elsewhere/a.txt", "before");
  fs::create_symlink("elsewhere/a.txt", folder / "link.txt");
  io::write_file(folder / "link.txt", std::string_view("after"));
  EXPECT_TRUE(fs::is_symlink(folder / "link.txt"));
  EXPECT_EQ(read_text(folder / "elsewhere/a.txt"), "after");
}

TEST_F(AtomicFile, FollowsASymbolicLinkThatLeadsToNothingYet) {
  fs::create_directory(folder / "elsewhere");
  fs::create_symlink("elsewhere/a.txt", folder / "second.txt");
  fs::create_symlink("second.txt", folder / "first.txt");
  io::write_file(folder / "first.txt", std::string_view("text"));
  EXPECT_TRUE(fs::is_symlink(folder / "first.txt"));
  EXPECT_TRUE(fs::is_symlink(folder / "second.txt"));
  EXPECT_EQ(read_text(folder / "elsewhere/a.txt"), "text");
}

TEST_F(AtomicFile, ASymbolicLinkIntoAMissingFolderIsAnError) {
  fs::create_symlink("missing/a.txt", folder / "link.txt");
  expect_parts(refusal(folder / "link.txt"), {"link.txt: can't be written", "missing does not"});
  EXPECT_TRUE(fs::is_symlink(folder / "link.txt"));
}

TEST_F(AtomicFile, ASymbolicLinkToItselfIsAnError) {
  fs::create_symlink("link.txt", folder / "link.txt");
  expect_parts(refusal(folder / "link.txt"), {"link.txt: can't be written", "back to itself"});
  EXPECT_TRUE(fs::is_symlink(folder / "link.txt"));
}

TEST_F(AtomicFile, ADeviceIsWrittenToAndStaysADevice) {
  io::write_file("/dev/null", std::string_view("text"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(AtomicFile, AnOpenFileThatIsNamedAsSuchIsContinued) {
  if (!fs::exists("/proc/self/fd")) GTEST_SKIP() << "no /proc here";
  put(folder / "a", "before, ");
  int const stream = ::open((folder / "a").c_str(), O_WRONLY | O_APPEND);
  fs::create_symlink("/proc/self/fd/" + std::to_string(stream), folder / "link");
  for (fs::path const& path : {fs::path("/dev/fd/" + std::to_string(stream)), folder / "link"})
    io::write_file(path, std::string_view("text, "));
  EXPECT_EQ(::write(stream, "after", 5), 5);
  ::close(stream);
  EXPECT_EQ(read_text(folder / "a"), "before, text, text, after");
  EXPECT_EQ(folder.entries(), 2);
}

TEST_F(AtomicFile, AFullDeviceIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  expect_parts(refusal("/dev/full"), {"/dev/full: can't be written", "No space left", "free some"});
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(AtomicFile, AFullDiskIsAnErrorAndLeavesNothing) {
  put(folder / "a.txt", "before");
  std::string const text = message_of<coir::ResourceError>([&] {
    FileSizeLimit const limit(1 << 16);
    io::write_file(folder / "a.txt", std::string(1 << 20, 'x'));
  });
  expect_parts(text, {(folder / "a.txt").string(), "can't be written", "free some space"});
  EXPECT_EQ(read_text(folder / "a.txt"), "before");
  EXPECT_EQ(folder.entries(), 1);
}

TEST_F(AtomicFile, ADiskThatIsFullOnlyAtTheEndIsAnError) {
  message_of<coir::ResourceError>([&] {
    FileSizeLimit const limit(0);  // the text stays in the buffer until the file is closed
    io::write_file(folder / "a.txt", std::string_view("text"));
  });
  EXPECT_EQ(folder.entries(), 0);
}

TEST_F(AtomicFile, AMissingFolderIsAnError) {
  expect_parts(refusal(folder / "missing/a.txt"),
               {"missing/a.txt: can't be written", "does not exist", "create it"});
  EXPECT_EQ(folder.entries(), 0);
}

TEST_F(AtomicFile, AFileInPlaceOfAFolderIsAnError) {
  put(folder / "file", "");
  expect_parts(refusal(folder / "file/a.txt"), {"file is not a folder", "choose another"});
}

TEST_F(AtomicFile, AFolderIsAnError) {
  expect_parts(refusal(folder.path()), {"Is a directory", "name a file in it"});
  expect_parts(refusal(folder / "new/"), {"Is a directory", "name a file in it"});
  EXPECT_EQ(folder.entries(), 0);
}

TEST_F(AtomicFile, NoNameIsAnError) { expect_parts(refusal(""), {"can't be written"}); }

TEST_F(AtomicFile, AReadOnlyFolderIsAnError) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  fs::create_directory(folder / "locked");
  fs::permissions(folder / "locked", fs::perms::owner_read | fs::perms::owner_exec);
  std::string const text = refusal(folder / "locked/a.txt");
  fs::permissions(folder / "locked", fs::perms::owner_all);
  expect_parts(text, {"locked/a.txt: can't be written", "Permission denied", "change its"});
}

TEST_F(AtomicFile, AWriteProtectedFileIsAnError) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  put(folder / "a.txt", "before");
  fs::permissions(folder / "a.txt", fs::perms::owner_read);
  expect_parts(refusal(folder / "a.txt"), {"Permission denied"});
  EXPECT_EQ(read_text(folder / "a.txt"), "before");
}
