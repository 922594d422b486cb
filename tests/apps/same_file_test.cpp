#include <support/command.hpp>
#include <support/message_of.hpp>
#include <support/same_file.hpp>

#include <coir/io/atomic_file.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;
using coir::apps::expects_different_files;
using coir::apps::same_file;
using coir::testing::message_of;
using coir::testing::TemporaryFolder;

}  // namespace

TEST(SameFile, WhateverItsSpelling) {
  TemporaryFolder const folder;
  fs::create_directory(folder / "a");
  coir::io::write_file(folder / "a/there", "text");
  fs::create_symlink("a", folder / "b");
  fs::create_symlink("a/there", folder / "link");
  fs::create_hard_link(folder / "a/there", folder / "second");
  fs::create_symlink("a/new", folder / "link to new");
  for (char const* path : {"a/there", "a/../a/there", "./a//there", "b/there", "link", "second"})
    EXPECT_TRUE(same_file(folder / "a/there", folder / path)) << path;
  for (char const* path : {"a/new", "b/new", "a/../b/./new", "link to new"})
    EXPECT_TRUE(same_file(folder / "a/new", folder / path)) << path;
  for (char const* path : {"a/there", "a/newer", "new", "none/new"})
    EXPECT_FALSE(same_file(folder / "a/new", folder / path)) << path;
}

TEST(SameFile, FromTheCurrentFolderOrTheRoot) {
  EXPECT_TRUE(same_file("new", fs::current_path() / "new"));
  EXPECT_TRUE(same_file("new", fs::path("..") / fs::current_path().filename() / "new"));
  EXPECT_FALSE(same_file("new", "newer"));
}

TEST(DifferentFiles, AreAskedOfOutputsAndOfInputsBesideThem) {
  expects_different_files({{"--output", "a"}, {"--report", "b"}, {"--more", ""}, {"--rest", ""}},
                          {{"INPUT", "c"}, {"--noise", "c"}});
  EXPECT_EQ(message_of([] { expects_different_files({{"--output", "a"}, {"--report", "./a"}}); }),
            "--output and --report must name different files, and a is ./a");
  TemporaryFolder const folder;
  coir::io::write_file(folder / "in", "text");
  fs::create_symlink("in", folder / "link");
  fs::create_hard_link(folder / "in", folder / "second");
  for (char const* path : {"in", "link", "second", "./in"})
    EXPECT_EQ(message_of([&] {
                expects_different_files({{"--other", folder / "new"}, {"--output", folder / path}},
                                        {{"INPUT", folder / "in"}});
              }).substr(0, 48),
              "--output and INPUT must name different files, an")
        << path;
  EXPECT_EQ(message_of([] { expects_different_files({{"--output", "a"}}, {{"INPUT", "a"}}); }),
            "--output and INPUT must name different files, and a is named by both");
}

TEST(GoodFiles, AreThoseThatCanBeWritten) {
  TemporaryFolder const folder;
  coir::apps::expects_good_files({{"--output", folder / "a"}, {"--report", ""}});
  EXPECT_TRUE(fs::is_empty(folder.path()));
  EXPECT_NE(message_of<coir::ResourceError>([&] {
              coir::apps::expects_good_files({{"--output", folder / "none/a"}});
            }).find("none does not exist"),
            std::string::npos);
}
