#include <coir/core/errors.hpp>
#include <coir/io/atomic_path.hpp>

#include <gtest/gtest.h>
#include <io/scratch.hpp>

#include <cerrno>
#include <filesystem>

namespace fs = std::filesystem;
namespace io = coir::io;
using namespace coir::testing;

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

TEST(AtomicPath, ErrorsNameThePathTheCauseAndARemedy) {
  ScratchFolder const folder;
  io::AtomicPath path(folder / "a");
  expect_parts(message_of<coir::ResourceError>([&] { path.fail(ENOSPC); }),
               {(folder / "a").string(), "can't be written (No space left", "free some space"});
  fs::remove(path.temporary());
  expect_parts(message_of<coir::ResourceError>([&] { path.commit(); }), {"No such file"});
}
