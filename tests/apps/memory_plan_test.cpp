// What ranks may take, each by itself and all together.

#include <coir/core/errors.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/resident.hpp>

#include <support/memory_plan.hpp>
#include <support/message_of.hpp>
#include <support/ranks.hpp>
#include <support/sanitizers.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace {

using coir::ResourceError;
using coir::apps::expects_memory;
using coir::apps::MemoryPlan;
using coir::testing::message_of;
using coir::testing::world;

constexpr std::int64_t mebibyte = 1 << 20;

/// Lets the process allocate so much more, as by ulimit -v, until this ends.
class Limit {
 public:
  explicit Limit(std::int64_t more) {
    std::ifstream statm("/proc/self/statm");
    std::int64_t pages = 0;
    statm >> pages;
    getrlimit(RLIMIT_AS, &before_);
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGE_SIZE) + more);
    setrlimit(RLIMIT_AS, &limit);
  }
  ~Limit() { setrlimit(RLIMIT_AS, &before_); }
  Limit(Limit const&) = delete;
  Limit& operator=(Limit const&) = delete;

 private:
  rlimit before_{};
};

MemoryPlan plan_of(std::int64_t bytes) { return {coir::resident_bytes(), bytes}; }

TEST(MemoryPlan, RanksAreComparedWithTheirOwnLimitsOneByOne) {
  if (coir::testing::is_sanitized) GTEST_SKIP() << "sanitizers need terabytes of addresses";
  world().barrier();
  Limit const limit(100 * mebibyte);
  // Less than each may take, and from two ranks on more than any of them may.
  EXPECT_NO_THROW(expects_memory(world(), plan_of(60 * mebibyte), "a test", "cores"));
  int const last = world().size() - 1;
  bool const too_much = world().rank() == last;
  std::string const message = message_of<ResourceError>([&] {
    expects_memory(world(), plan_of((too_much ? 200 : 10) * mebibyte), "a test", "cores");
  });
  std::string const whose =
      last == 0 ? ""
                : ": rank " + std::to_string(last) + ", within its own limits (ulimit -v and -d),";
  EXPECT_EQ(message.substr(0, message.find(" needs")), "a test" + whose);
}

TEST(MemoryPlan, RanksTogetherAreComparedWithTheMachine) {
  std::int64_t const free = world().min(coir::free_bytes<Kokkos::HostSpace>());
  // More than there is, in equal parts of which each would fit.
  std::string const message = message_of<ResourceError>([&] {
    expects_memory(world(), plan_of(free * 3 / 2 / world().size() + mebibyte), "a test", "cores");
  });
  std::string const start =
      world().size() == 1 ? "a test needs "
                          : "a test, of which " + std::to_string(world().size()) + " ranks run on ";
  EXPECT_EQ(message.substr(0, start.size()), start);
  EXPECT_NO_THROW(expects_memory(world(), plan_of(free / 4 / world().size()), "a test", "cores"));
}

TEST(MemoryPlan, MessagesTakeMemoryForEachOtherRankOfTheMachine) {
  EXPECT_EQ(coir::apps::bytes_beside(0, world()) - coir::apps::bytes_beside(0),
            5 * mebibyte * (world().size() - 1) / 2);
}

TEST(MemoryPlan, TheMostIsTheLargestInAll) {
  auto const rank = static_cast<std::int64_t>(world().rank());
  std::int64_t const last = world().size() - 1;
  MemoryPlan const here{1000 - 10 * rank, 100 * rank};
  MemoryPlan const most = most_of(world(), here);
  EXPECT_EQ(most.before + most.host, 1000 + 90 * last);
  EXPECT_FALSE(most.device);
  MemoryPlan const on_device{1000, 0, 7 + rank};
  EXPECT_EQ(most_of(world(), on_device).device, 7 + last);
}

}  // namespace
