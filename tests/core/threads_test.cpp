#include <coir/core/threads.hpp>

#include <coir/core/kokkos.hpp>
#include <coir/core/other_programs.hpp>

#include <gtest/gtest.h>

#include <sched.h>

#include <mutex>
#include <set>

namespace {

/// The CPUs that the threads of the host space may run on, one set a thread.
std::multiset<std::set<int>> affinities() {
  using Host = Kokkos::DefaultHostExecutionSpace;
  std::mutex mutex;
  std::multiset<std::set<int>> result;
  int const threads = static_cast<int>(Host().concurrency());
  Kokkos::parallel_for(Kokkos::RangePolicy<Host>(0, threads), [&](int) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    sched_getaffinity(0, sizeof mask, &mask);
    std::set<int> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &mask)) cpus.insert(cpu);
    std::lock_guard const lock(mutex);
    result.insert(cpus);
  });
  return result;
}

}  // namespace

TEST(Threads, BoundThreadsHaveACpuEach) {
  if (!coir::bind_host_threads()) GTEST_SKIP() << "as many threads as CPUs are needed";
  auto const bound = affinities();
  for (auto const& cpus : bound) {
    EXPECT_EQ(cpus.size(), 1u);
    EXPECT_EQ(bound.count(cpus), 1u);
  }
}

TEST(Threads, LeaveOutProcessorsThatOthersKeepBusy) {
  using coir::threads_beside;
  EXPECT_EQ(threads_beside(16, 16, 0), 16);
  EXPECT_EQ(threads_beside(16, 16, 0.6), 16);
  EXPECT_EQ(threads_beside(16, 16, 1), 15);
  EXPECT_EQ(threads_beside(16, 16, 1.8), 14);
  EXPECT_EQ(threads_beside(8, 16, 7), 8);  // nine are free
  EXPECT_EQ(threads_beside(8, 16, 10), 6);
  EXPECT_EQ(threads_beside(16, 16, 16), 8);  // half at least
  EXPECT_EQ(threads_beside(1, 1, 1), 1);
}

TEST(Threads, FewAndTooManyStayAsTheyAre) {
  using coir::threads_beside_others;
  EXPECT_EQ(threads_beside_others(1), 1);
  EXPECT_EQ(threads_beside_others(3), 3);
  int const processors = static_cast<int>(coir::usable_processors().size());
  EXPECT_EQ(threads_beside_others(processors + 4), processors + 4);
}
