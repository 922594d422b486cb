#include <coir/core/errors.hpp>
#include <coir/io/atomic_path.hpp>

#include <gtest/gtest.h>
#include <io/scratch.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
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

/// Another process that begins to write a file, and is then asleep, or killed.
class OtherProgram {
 public:
  OtherProgram(fs::path const& path, bool is_killed) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    process_ = ::fork();
    if (process_ == 0) {
      io::AtomicPath const file(path);
      put(file.temporary(), "half of it");
      (void)!::write(ends[1], "x", 1);
      for (;;) ::pause();
    }
    char byte = 0;
    (void)!::read(ends[0], &byte, 1);
    ::close(ends[0]);
    ::close(ends[1]);
    if (is_killed) kill();
  }
  ~OtherProgram() { kill(); }
  OtherProgram(OtherProgram const&) = delete;
  OtherProgram& operator=(OtherProgram const&) = delete;

 private:
  void kill() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }

  pid_t process_ = 0;
};

/// A file that was written to so many hours ago.
void put_old(fs::path const& path, int hours) {
  put(path, "half of it");
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
}

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

TEST(AtomicPath, TakesTheNameOnCommit) {
  ScratchFolder const folder;
  put(folder / "a", "before");
  io::AtomicPath path(folder / "a");
  EXPECT_EQ(path.temporary().parent_path(), fs::canonical(folder.path()));
  EXPECT_FALSE(path.is_device());
  put(path.temporary(), "after");
  EXPECT_EQ(get(folder / "a"), "before");
  path.commit();
  EXPECT_EQ(get(folder / "a"), "after");
  EXPECT_EQ(folder.entries(), 1);
}

TEST(AtomicPath, LeavesNothingWithoutCommit) {
  ScratchFolder const folder;
  {
    io::AtomicPath const path(folder / "a");
    put(path.temporary(), "half of it");
    EXPECT_EQ(folder.entries(), 1);
  }
  EXPECT_EQ(folder.entries(), 0);
}

TEST(AtomicPath, ADeviceIsItself) {
  io::AtomicPath path("/dev/null");
  EXPECT_TRUE(path.is_device());
  EXPECT_EQ(path.temporary(), "/dev/null");
  path.commit();
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(AtomicPath, APipeIsntOpenedToTryIt) {
  ScratchFolder const folder;
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

TEST(AtomicPath, ASocketAndADeviceOfOthersAreRefusedAtOnce) {
  ScratchFolder const folder;
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

TEST(AtomicPath, ErrorsNameThePathTheCauseAndARemedy) {
  ScratchFolder const folder;
  io::AtomicPath path(folder / "a");
  expect_parts(message_of<coir::ResourceError>([&] { path.fail(ENOSPC); }),
               {(folder / "a").string(), "can't be written (No space left", "free some space"});
  fs::remove(path.temporary());
  expect_parts(message_of<coir::ResourceError>([&] { path.commit(); }), {"No such file"});
}

TEST(AtomicPath, RemediesAreThoseOfTheCause) {
  ScratchFolder const folder;
  io::AtomicPath const path(folder / "a");
  for (int const error : {EMFILE, ENFILE})
    expect_parts(message_of<coir::ResourceError>([&] { path.fail(error); }), {"(ulimit -n)"});
}

/// What a child process, which may give up what it may do, says of an attempt to write a file.
template <class Prepare>
std::string refusal_of_child(fs::path const& file, Prepare const& prepare) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  pid_t const process = ::fork();
  if (process == 0) {
    std::string said = prepare() ? "written" : "not prepared";
    if (said == "written") try {
        io::AtomicPath const path(file);
      } catch (std::exception const& error) {
        said = error.what();
      }
    (void)!::write(ends[1], said.data(), said.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  char said[2000];
  ssize_t const size = ::read(ends[0], said, sizeof said);
  ::close(ends[0]);
  ::waitpid(process, nullptr, 0);
  return {said, said + std::max<ssize_t>(size, 0)};
}

// Where the name can't be taken once all is written, that is said before.

TEST(AtomicPath, AnothersFileInAStickyFolderIsRefusedAtOnce) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file another user's";
  ScratchFolder const folder;
  put(folder / "a", "before");
  fs::permissions(folder / "a", fs::perms(0666));
  fs::permissions(folder.path(), fs::perms(01777));
  auto const become_nobody = [] { return ::setgid(65534) == 0 && ::setuid(65534) == 0; };
  expect_parts(refusal_of_child(folder / "a", become_nobody),
               {"can't be written (Operation not permitted)", "choose another folder"});
  EXPECT_EQ(refusal_of_child(folder / "b", become_nobody), "written");
  EXPECT_EQ(refusal_of_child(folder / "a", [] { return true; }), "written");
  EXPECT_EQ(get(folder / "a"), "before");
}

TEST(AtomicPath, AMountPointIsRefusedAtOnce) {
  ScratchFolder const folder;
  put(folder / "a", "before");
  put(folder / "b", "mounted");
  auto const mount_there = [&] {
    return ::unshare(CLONE_NEWNS) == 0 &&
           ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount((folder / "b").c_str(), (folder / "a").c_str(), nullptr, MS_BIND, nullptr) == 0;
  };
  std::string const said = refusal_of_child(folder / "a", mount_there);
  if (said == "not prepared") GTEST_SKIP() << "nothing can be mounted here";
  expect_parts(said, {"can't be written (Device or resource busy)", "mount its folder instead"});
}

TEST(AtomicPath, ContentIsOnTheDiskBeforeTheNameIs) {
  ScratchFolder const folder;
  io::AtomicPath path(folder / "a");
  put(path.temporary(), "content");
  calls.clear();
  path.commit();
  EXPECT_EQ(calls, (std::vector<std::string>{"sync", "rename"}));
}

TEST(AtomicPath, ContentThatDoesNotReachTheDiskIsAnError) {
  ScratchFolder const folder;
  put(folder / "a", "before");
  {
    io::AtomicPath path(folder / "a");
    sync_fails = true;
    expect_parts(message_of<coir::ResourceError>([&] { path.commit(); }), {"Input/output error"});
    sync_fails = false;
  }
  EXPECT_EQ(get(folder / "a"), "before");
  EXPECT_EQ(folder.entries(), 1);
}

TEST(AtomicPath, ContentIsBroughtToTheDiskOnce) {
  ScratchFolder const folder;
  io::AtomicPath path(folder / "a");
  put(path.temporary(), "content");
  calls.clear();
  path.sync();
  EXPECT_FALSE(fs::exists(folder / "a"));
  path.commit();
  EXPECT_EQ(calls, (std::vector<std::string>{"sync", "rename"}));
}

TEST(AtomicPath, WhatWasThereComesBack) {
  ScratchFolder const folder;
  put(folder / "a", "before");
  for (bool const is_taken_back : {true, false}) {
    {
      io::AtomicPath path(folder / "a");
      put(path.temporary(), "after");
      path.undo();  // nothing yet
      path.commit_for_now();
      EXPECT_EQ(get(folder / "a"), "after");
      EXPECT_EQ(folder.entries(), 2);
      if (is_taken_back) path.undo();
      if (is_taken_back) path.undo();  // once
    }
    EXPECT_EQ(get(folder / "a"), is_taken_back ? "before" : "after");
    EXPECT_EQ(folder.entries(), 1);
  }
}

TEST(AtomicPath, NothingComesBackWhereNothingWas) {
  ScratchFolder const folder;
  io::AtomicPath path(folder / "a");
  put(path.temporary(), "after");
  path.commit_for_now();
  EXPECT_EQ(get(folder / "a"), "after");
  path.undo();
  EXPECT_EQ(folder.entries(), 0);
}

TEST(AtomicPath, WhatIsKeptForNowIsRemovedAtTheEndOfAProgram) {
  ScratchFolder const folder;
  put(folder / "a", "before");
  pid_t const child = ::fork();
  if (child == 0) {
    io::AtomicPath path(folder / "a");
    put(path.temporary(), "after");
    path.commit_for_now();
    io::remove_unfinished();
    _exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(get(folder / "a"), "after");
  EXPECT_EQ(folder.entries(), 1);
}

TEST(AtomicPath, WhatKilledProgramsLeftIsRemoved) {
  ScratchFolder const folder;
  OtherProgram const killed(folder / "a", true);
  EXPECT_EQ(folder.entries(), 1);
  {
    io::AtomicPath const path(folder / "b");
  }
  EXPECT_EQ(folder.entries(), 0);
}

TEST(AtomicPath, WhatOthersWriteIsLeftAlone) {
  ScratchFolder const folder;
  OtherProgram const alive(folder / "a", false);
  {
    io::AtomicPath const path(folder / "b");
  }
  EXPECT_EQ(folder.entries(), 1);
}

TEST(AtomicPath, WhatOtherHostsLeftIsRemovedAfterADay) {
  ScratchFolder const folder;
  put_old(folder / ".coir-00000000-1-0.part", 25);
  put_old(folder / ".coir-4711-0.part", 25);
  put_old(folder / ".coir-00000000-1-1.part", 23);
  put_old(folder / "mine.part", 25);
  {
    io::AtomicPath const path(folder / "b");
  }
  EXPECT_EQ(folder.entries(), 2);
  EXPECT_TRUE(fs::exists(folder / ".coir-00000000-1-1.part"));
  EXPECT_TRUE(fs::exists(folder / "mine.part"));
}

TEST(AtomicPath, WhatIsUnfinishedCanBeRemovedAtTheEndOfAProgram) {
  ScratchFolder const folder;
  put(folder / "mine", "whole");
  pid_t const child = ::fork();
  if (child == 0) {
    fs::create_directory(folder / "empty");
    fs::create_directory(folder / "full");
    io::Unfinished const empty(folder / "empty"), full(folder / "full");
    put(folder / "full" / "mine", "whole");
    io::AtomicPath const half(folder / "empty" / "a");
    io::AtomicPath whole(folder / "b");
    whole.commit();
    io::remove_unfinished();
    _exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(get(folder / "mine"), "whole");
  EXPECT_TRUE(fs::exists(folder / "full" / "mine"));
  EXPECT_TRUE(fs::exists(folder / "b"));
  EXPECT_EQ(folder.entries(), 3);
}
