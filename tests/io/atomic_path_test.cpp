#include <coir/core/errors.hpp>
#include <coir/io/atomic_path.hpp>

#include <gtest/gtest.h>
#include <io/scratch.hpp>
#include <support/in_folder.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace fs = std::filesystem;
namespace io = coir::io;
using namespace coir::testing;

namespace {

std::vector<std::string> calls;  // of the system, in their order
bool sync_fails = false;

}  // namespace

// In place of the C library's: whoever is linked to this test calls these.
extern "C" int fsync(int descriptor) {
  calls.push_back("sync");
  if (sync_fails) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}
extern "C" int rename(char const* from, char const* to) noexcept {
  calls.push_back("rename");
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

// What it shares with AtomicFile, which is made of it, is tested there.

using AtomicPath = InFolder;

TEST_F(AtomicPath, APipeIsntOpenedToTryIt) {
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  int const reader = ::open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  {
    io::AtomicPath const path(folder / "pipe");
    EXPECT_TRUE(path.is_device());
  }
  pollfd ends{reader, POLLIN, 0};
  EXPECT_EQ(::poll(&ends, 1, 0), 0);  // nobody has opened and closed it
  ::close(reader);
}

TEST_F(AtomicPath, ASocketAndADeviceOfOthersAreRefusedAtOnce) {
  int const here = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s", (folder / "socket").c_str());
  ASSERT_EQ(::bind(here, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::close(here);
  expect_parts(message_of<coir::ResourceError>([&] { io::AtomicPath{folder / "socket"}; }),
               {"socket: can't be written (No such device or address)"});
  if (::geteuid() == 0) return;  // whom nothing is refused
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0400), 0);
  expect_parts(message_of<coir::ResourceError>([&] { io::AtomicPath{folder / "pipe"}; }),
               {"pipe: can't be written (Permission denied)"});
}

TEST_F(AtomicPath, ErrorsNameThePathTheCauseAndARemedy) {
  io::AtomicPath path(folder / "a");
  expect_parts(message_of<coir::ResourceError>([&] { path.fail(ENOSPC); }),
               {(folder / "a").string(), "can't be written (No space left", "free some space"});
  fs::remove(path.temporary());
  expect_parts(message_of<coir::ResourceError>([&] { path.commit(); }),
               {"its temporary file is gone"});
}

TEST_F(AtomicPath, ContentIsOnTheDiskBeforeTheNameIs) {
  io::AtomicPath path(folder / "a");
  put(path.temporary(), "content");
  calls.clear();
  path.commit();
  EXPECT_EQ(calls, (std::vector<std::string>{"sync", "rename"}));
}

TEST_F(AtomicPath, ContentThatDoesNotReachTheDiskIsAnError) {
  put(folder / "a", "before");
  {
    io::AtomicPath path(folder / "a");
    sync_fails = true;
    expect_parts(message_of<coir::ResourceError>([&] { path.commit(); }), {"Input/output error"});
    sync_fails = false;
  }
  EXPECT_EQ(read_text(folder / "a"), "before");
  EXPECT_EQ(folder.entries(), 1);
}

TEST_F(AtomicPath, ContentIsBroughtToTheDiskOnce) {
  io::AtomicPath path(folder / "a");
  put(path.temporary(), "content");
  calls.clear();
  path.sync();
  EXPECT_FALSE(fs::exists(folder / "a"));
  path.commit();
  EXPECT_EQ(calls, (std::vector<std::string>{"sync", "rename"}));
}

TEST_F(AtomicPath, WhatKilledProgramsLeftIsOverwritten) {
  put(folder / ".coir-a.part", "half of it, and more");
  io::AtomicPath path(folder / "a");
  EXPECT_EQ(path.temporary().filename(), ".coir-a.part");
  EXPECT_EQ(read_text(path.temporary()), "");
  put(path.temporary(), "content");
  path.commit();
  EXPECT_EQ(read_text(folder / "a"), "content");
  EXPECT_EQ(folder.entries(), 1);
}

TEST_F(AtomicPath, AFolderInTheWayIsAnError) {
  fs::create_directory(folder / ".coir-a.part");
  expect_parts(message_of<coir::ResourceError>([&] { io::AtomicPath{folder / "a"}; }),
               {"a: can't be written (Is a directory)"});
}

TEST_F(AtomicPath, OfTwoThatWriteToOnePathTheSecondWins) {
  io::AtomicPath first(folder / "a");
  put(first.temporary(), "first");
  io::AtomicPath second(folder / "a");
  put(second.temporary(), "second");
  expect_parts(message_of<coir::ResourceError>([&] { first.commit(); }),
               {"a: can't be written", "does another program write to it, too?"});
  second.commit();
  EXPECT_EQ(read_text(folder / "a"), "second");
  EXPECT_EQ(folder.entries(), 1);
}

TEST_F(AtomicPath, WhatIsUnfinishedCanBeRemovedAtTheEndOfAProgram) {
  put(folder / "mine", "whole");
  pid_t const child = ::fork();
  if (child == 0) {
    io::AtomicPath const half(folder / "a");
    io::AtomicPath whole(folder / "b");
    whole.commit();
    io::remove_unfinished();
    _exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(read_text(folder / "mine"), "whole");
  EXPECT_TRUE(fs::exists(folder / "b"));
  EXPECT_EQ(folder.entries(), 2);
}
