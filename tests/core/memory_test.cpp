#include <coir/core/errors.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/resident.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <support/message_of.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using Memory = Kokkos::DefaultExecutionSpace::memory_space;

TEST(Memory, SomeIsFree) {
  EXPECT_GT(coir::free_bytes<Memory>(), 1 << 20);
  EXPECT_GT(coir::free_bytes<Kokkos::HostSpace>(), 1 << 20);
}

namespace {

std::int64_t number_in(std::string const& path) {
  std::ifstream file(path);
  std::int64_t number = -1;
  file >> number;
  return number;
}

/// Ends with 0 if a limit of the process is one of what is free.
[[noreturn]] void limit_and_look(decltype(RLIMIT_AS) resource, int statm_field) {
  std::ifstream statm("/proc/self/statm");
  std::int64_t pages = 0;
  for (int n = 0; n <= statm_field; ++n) statm >> pages;
  constexpr std::int64_t left = 64 << 20, slack = 4 << 20;
  auto const limit = static_cast<rlim_t>(pages * sysconf(_SC_PAGE_SIZE) + left);
  rlimit const both = {limit, limit};
  std::int64_t const before = coir::free_bytes_of_machine();
  bool const set = setrlimit(resource, &both) == 0;
  bool passed = set && std::abs(coir::free_bytes_of_machine() - before) < before / 2;
  for (std::int64_t const free :
       {coir::free_bytes<Kokkos::HostSpace>(), coir::free_bytes_of_process()})
    passed = passed && free > left - slack && free <= left;
  _exit(passed ? 0 : 1);
}

/// Ends with 0 if the limit of a control group is one of what is free.
[[noreturn]] void enter_and_look(std::string const& group, std::int64_t limit) {
  std::ofstream(group + "/cgroup.procs") << getpid() << std::flush;
  std::int64_t const free = coir::free_bytes<Kokkos::HostSpace>();
  _exit(free > limit / 2 && free <= limit ? 0 : 1);
}

}  // namespace

TEST(MemoryDeathTest, LimitsOfTheProcessCount) {
  EXPECT_EXIT(limit_and_look(RLIMIT_AS, 0), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(limit_and_look(RLIMIT_DATA, 5), ::testing::ExitedWithCode(0), "");
}

TEST(MemoryDeathTest, LimitsOfControlGroupsCount) {
  constexpr std::int64_t limit = 256 << 20;
  for (auto const& [mount, file] :
       {std::pair<std::string, std::string>{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
        {"/sys/fs/cgroup", "memory.max"}}) {
    std::string const outer = mount + "/coir-test-" + std::to_string(getpid()),
                      inner = outer + "/inner";
    bool const made = mkdir(outer.c_str(), 0700) == 0;
    if (made) std::ofstream(outer + "/" + file) << limit << std::flush;
    if (made && number_in(outer + "/" + file) == limit && mkdir(inner.c_str(), 0700) == 0) {
      EXPECT_EXIT(enter_and_look(inner, limit), ::testing::ExitedWithCode(0), "") << outer;
      rmdir(inner.c_str());
      rmdir(outer.c_str());
      return;
    }
    if (made) rmdir(outer.c_str());
  }
  GTEST_SKIP() << "no control group can be made here";
}

TEST(Memory, WhatIsHeldIsCounted) {
  std::int64_t const before = coir::resident_bytes();
  EXPECT_GT(before, 1 << 20);
  {
    std::vector<char> const held(64 << 20, 'x');
    char const* const volatile seen =
        held.data();  // a compiler may leave out memory that nobody sees
    ASSERT_NE(seen, nullptr);
    EXPECT_GE(coir::resident_bytes(), before + (60 << 20));
  }
  EXPECT_GE(coir::peak_resident_bytes(), before + (60 << 20));
}

TEST(Memory, CountsAreReadable) {
  EXPECT_EQ(coir::readable_bytes(0), "0 B");
  EXPECT_EQ(coir::readable_bytes(1023), "1023 B");
  EXPECT_EQ(coir::readable_bytes(1536), "1.5 KiB");
  EXPECT_EQ(coir::readable_bytes(std::int64_t(3) << 30), "3.0 GiB");
}

TEST(Memory, NeedBelowWhatIsFreePasses) {
  EXPECT_NO_THROW(coir::expects_memory<Memory>(1024, "a test"));
}

TEST(Memory, NeedBeyondWhatIsFreeNamesNeedLimitAndRemedy) {
  EXPECT_EQ(coir::testing::message_of<coir::ResourceError>([] {
              coir::expects_memory(std::int64_t(4) << 40, std::int64_t(1) << 30, "the solve");
            }),
            "the solve needs 4.0 TiB of memory, and 1.0 GiB are free: use a smaller grid or single "
            "precision");
}

TEST(Memory, NoMachineHasSevenExbibytes) {
  EXPECT_THROW(
      coir::expects_memory<Kokkos::HostSpace>(std::numeric_limits<std::int64_t>::max(), "a test"),
      coir::ResourceError);
}

TEST(Memory, LargeViewsOfADeviceFillLargePages) {
  struct OfADevice {};
  constexpr std::int64_t page = 1 << 21, header = 128;
  for (std::int64_t const bytes : {16 * page, 16 * page + 1, 17 * page - header,
                                   17 * page - header + 1, std::int64_t(1000003) * 4099}) {
    auto const longer = coir::bytes_in_large_pages<OfADevice>(bytes);
    EXPECT_EQ((longer + header) % page, 0) << bytes;
    EXPECT_GE(longer, bytes);
    EXPECT_LT(longer, bytes + page);
    EXPECT_EQ(coir::bytes_in_large_pages<Kokkos::HostSpace>(bytes), bytes);
  }
  for (std::int64_t const bytes : {std::int64_t(0), std::int64_t(1), 16 * page - 1})
    EXPECT_EQ(coir::bytes_in_large_pages<OfADevice>(bytes), bytes);
}

TEST(Memory, LargePagesLeaveTheContentAlone) {
  for (std::size_t const size : {0u, 1u, 5000u, (1u << 22) + 3, 3u << 22}) {
    std::vector<char> block(size, 'x');
    coir::ask_for_large_pages(block.data(), static_cast<std::int64_t>(size));
    EXPECT_EQ(std::count(block.begin(), block.end(), 'x'), static_cast<std::ptrdiff_t>(size));
  }
}
