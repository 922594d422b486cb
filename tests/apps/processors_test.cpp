#include <support/command.hpp>
#include <support/processors.hpp>
#include <support/thread_choice.hpp>

#include <coir/core/other_programs.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace {

namespace fs = std::filesystem;
using coir::core_count;
using coir::core_times;
using coir::load_between;
using coir::OtherPrograms;
using coir::apps::processor_quota;
using coir::testing::TemporaryFolder;

constexpr char stat_text[] =
    "cpu  100 10 20 800 40 5 5 20 70 7\ncpu0 50 5 10 400 20 2 2 10 0 0\n"
    "cpu1 50 5 10 400 20 3 3 10 0 0\nintr 12345\n";

void write(fs::path const& path, std::string const& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text << '\n';
}

}  // namespace

TEST(Processors, WorkInAllButIdleTimes) {
  auto const times = core_times(stat_text);
  ASSERT_TRUE(times.has_value());
  EXPECT_EQ(times->busy, 160);  // guests' time is in the users'
  EXPECT_EQ(times->idle, 840);
  EXPECT_EQ(core_count(stat_text), 2);
  EXPECT_EQ(core_times("cpu  1 2 3 4\n")->busy, 6);  // as old kernels say it
  for (char const* const text : {"", "cpu0 1 2 3 4\n", "cpu  1 2 x\n"})
    EXPECT_FALSE(core_times(text).has_value()) << text;
}

TEST(Processors, LoadIsThatBetweenTwoMoments) {
  EXPECT_EQ(load_between({100, 100}, {103, 101}), 0.75);
  EXPECT_EQ(load_between({100, 100}, {100, 101}), 0.0);
  EXPECT_EQ(load_between({100, 100}, {110, 99}), 1.0);  // the kernel's idle times may go back
  EXPECT_FALSE(load_between({100, 100}, {100, 100}).has_value());
}

TEST(Processors, QuotaIsTheLeastOfTheGroupAndThoseAroundIt) {
  TemporaryFolder const folder;
  fs::path const groups = folder.path() / "groups", own = folder.path() / "own";
  write(own, "0::/outer/inner");
  EXPECT_FALSE(processor_quota(own, groups).has_value());
  write(groups / "outer/inner/cpu.max", "max 100000");
  EXPECT_FALSE(processor_quota(own, groups).has_value());
  write(groups / "outer/cpu.max", "150000 100000");
  EXPECT_EQ(processor_quota(own, groups), 1.5);
  write(groups / "outer/inner/cpu.max", "50000 200000");
  EXPECT_EQ(processor_quota(own, groups), 0.25);
  // In a container the mount point is its own group, whatever the path says.
  write(own, "0::/system.slice/elsewhere");
  write(groups / "cpu.max", "200000 100000");
  EXPECT_EQ(processor_quota(own, groups), 2);
  write(own, "0::/");
  EXPECT_EQ(processor_quota(own, groups), 2);
}

TEST(Processors, QuotaOfTheFirstVersionOfGroups) {
  TemporaryFolder const folder;
  fs::path const groups = folder.path() / "groups", own = folder.path() / "own";
  write(own, "5:memory:/a\n4:cpu,cpuacct:/a/b\n1:cpuset:/c\nno group");
  write(groups / "cpu/a/b/cpu.cfs_quota_us", "-1");
  write(groups / "cpu/a/b/cpu.cfs_period_us", "100000");
  EXPECT_FALSE(processor_quota(own, groups).has_value());
  write(groups / "cpu/a/cpu.cfs_quota_us", "300000");
  write(groups / "cpu/a/cpu.cfs_period_us", "100000");
  EXPECT_EQ(processor_quota(own, groups), 3);
  EXPECT_FALSE(processor_quota(folder.path() / "nowhere", groups).has_value());
  write(own, "0::relative");
  EXPECT_FALSE(processor_quota(own, groups).has_value());
}

TEST(Processors, OthersAreAllButThisProcess) {
  TemporaryFolder const folder;
  fs::path const stat = folder.path() / "stat";
  std::string const cores = "cpu0 0\ncpu1 0\ncpu2 0\ncpu3 0";
  write(stat, "cpu  100 0 0 100\n" + cores);
  OtherPrograms const others(stat);
  EXPECT_FALSE(others.processors().has_value());  // too short for the system's ticks
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  write(stat, "cpu  175 0 0 125\n" + cores);  // three of four
  ASSERT_TRUE(others.processors().has_value());
  EXPECT_GT(*others.processors(), 2.5);  // less what this process took
  EXPECT_LE(*others.processors(), 3);
  write(stat, "cpu  100 0 0 200\n" + cores);
  EXPECT_EQ(others.processors(), 0);
  EXPECT_FALSE(OtherPrograms(folder.path() / "nowhere").processors().has_value());
}

TEST(Threads, CoresAreCountedOnce) {
  TemporaryFolder const folder;
  for (int cpu = 0; cpu < 8; ++cpu)  // processors n and n + 4 share a core
    write(folder.path() / ("cpu" + std::to_string(cpu)) / "topology/thread_siblings_list",
          std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4));
  using Numbers = std::vector<int>;
  using coir::apps::first_of_each_core;
  EXPECT_EQ(first_of_each_core({0, 1, 2, 3, 4, 5, 6, 7}, folder.path()), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(first_of_each_core({2, 5, 6, 7}, folder.path()), (Numbers{2, 5, 7}));
  EXPECT_EQ(first_of_each_core({0, 8, 9}, folder.path()), (Numbers{0, 8, 9}));  // unknown ones
  EXPECT_EQ(first_of_each_core({}, folder.path()), Numbers{});
}

TEST(Threads, OthersAreThoseThatRunNow) {
  using coir::apps::running_beside;
  EXPECT_EQ(running_beside("3.50 3.00 2.00 9/240 12345\n"), 8);
  EXPECT_EQ(running_beside("16.0 3.00 2.00 1/240 12345\n"), 0);  // the others have ended
  EXPECT_EQ(running_beside("0.00 0.00 0.00 0/240 12345\n"), 0);
  for (char const* const text : {"", "1 2", "a b c d"}) EXPECT_EQ(running_beside(text), 0) << text;
}

TEST(Threads, AreAsManyAsCoresThatAreFree) {
  using coir::apps::choose_threads;
  std::vector<int> const eight{0, 1, 2, 3, 4, 5, 6, 7}, four{0, 1, 2, 3};
  auto const all = choose_threads({eight, four, {}, 0});
  EXPECT_EQ(all.threads, 4);
  EXPECT_EQ(all.processors, four);
  EXPECT_EQ(all.reason, "physical cores of 8 processors");
  auto const beside = choose_threads({eight, eight, {}, 1});
  EXPECT_EQ(beside.threads, 7);
  EXPECT_TRUE(beside.processors.empty());
  EXPECT_EQ(beside.reason, "physical cores, without 1 that other programs keep busy");
  EXPECT_EQ(choose_threads({eight, eight, {}, 20}).threads, 4);
  EXPECT_EQ(choose_threads({{3}, {3}, {}, 5}).threads, 1);
  auto const granted = choose_threads({eight, eight, 2.5, 0});
  EXPECT_EQ(granted.threads, 2);
  EXPECT_TRUE(granted.processors.empty());
  EXPECT_EQ(granted.reason, "the quota of this process' control group");
  EXPECT_EQ(choose_threads({eight, eight, 0.5, 0}).threads, 1);
  EXPECT_EQ(choose_threads({eight, eight, 8.0, 0}).threads, 8);
  EXPECT_EQ(choose_threads({}).threads, 0);  // where the system doesn't tell
}
