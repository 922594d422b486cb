#include <support/command.hpp>
#include <support/message_of.hpp>
#include <support/output_folder.hpp>

#include <coir/core/errors.hpp>
#include <coir/io/atomic_file.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;
using coir::ResourceError;
using coir::apps::OutputFolder;
using coir::testing::message_of;
using coir::testing::TemporaryFolder;

}  // namespace

TEST(OutputFolder, IsMadeAndStaysOnceItHoldsAFile) {
  TemporaryFolder const folder;
  {
    OutputFolder const made(folder / "run", folder / "run/a.txt");
    EXPECT_TRUE(fs::is_empty(folder / "run"));
    coir::io::write_file(folder / "run/a.txt", "text");
  }
  EXPECT_TRUE(fs::exists(folder / "run/a.txt"));
  {
    OutputFolder const again(folder / "run", folder / "run/a.txt");
  }
  EXPECT_TRUE(fs::exists(folder / "run/a.txt"));
}

TEST(OutputFolder, GoesAgainIfNothingCameIntoIt) {
  TemporaryFolder const folder;
  {
    OutputFolder const made(folder / "run", folder / "run/a.txt");
  }
  EXPECT_FALSE(fs::exists(folder / "run"));
}

TEST(OutputFolder, AnEmptyOneThatWasThereStays) {
  TemporaryFolder const folder;
  fs::create_directory(folder / "run");
  {
    OutputFolder const there(folder / "run", folder / "run/a.txt");
  }
  EXPECT_TRUE(fs::exists(folder / "run"));
}

TEST(OutputFolder, IsOneProgramsAtATime) {
  TemporaryFolder const folder;
  fs::create_directory_symlink("run", folder / "link");
  {
    OutputFolder const one(folder / "run", folder / "run/a.txt");
    for (char const* name : {"run", "link"})
      EXPECT_NE(message_of<ResourceError>([&] {
                  OutputFolder const two(folder / name, folder / name / "a.txt");
                }).find("another program is writing to the folder"),
                std::string::npos);
    OutputFolder const other(folder / "other", folder / "other/a.txt");
    EXPECT_TRUE(fs::exists(folder / "run"));
  }
  OutputFolder const afterwards(folder / "run", folder / "run/a.txt");
}

TEST(OutputFolder, WhatCantBeMadeOrWrittenIsAnError) {
  TemporaryFolder const folder;
  EXPECT_NE(message_of<ResourceError>([&] {
              OutputFolder const none(folder / "none/run", folder / "none/run/a.txt");
            }).find("make the one that it is in first"),
            std::string::npos);
  coir::io::write_file(folder / "file", "text");
  EXPECT_NE(message_of<ResourceError>([&] {
              OutputFolder const none(folder / "file", folder / "file/a.txt");
            }).find("can't make the folder"),
            std::string::npos);
  EXPECT_NE(message_of<ResourceError>([&] {
              OutputFolder const none(folder / "run", folder / "other/a.txt");
            }).find("other"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(folder / "run"));
}
