#include <coir/core/loops.hpp>
#include <coir/core/tasks.hpp>

#include <support/spaces.hpp>

#include <impl/Kokkos_Profiling.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

/// What is added to each element by tasks.
template <class Exec>
std::vector<int> calls_of_tasks(std::int64_t size, std::int64_t count) {
  Kokkos::View<int*, typename Exec::memory_space> const calls("calls", size);
  Exec const exec;
  coir::for_each_task(
      "coir::test::tasks", exec, count,
      KOKKOS_LAMBDA(std::int64_t task) { calls(task) += 1 + static_cast<int>(task); });
  exec.fence();
  auto const copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, calls);
  return {copy.data(), copy.data() + copy.size()};
}

namespace {

using coir::cells_worth_a_thread;
using coir::testing::Host;

/// The least number of cells that several threads share: two threads' worth, and as long as their
/// start takes.
std::int64_t least_shared() {
  return std::max(2 * cells_worth_a_thread, Host().concurrency() * coir::cells_of_a_start);
}

/// Remembers which threads called it.
class ThreadSet {
 public:
  void add() {
    std::lock_guard const lock(mutex_);
    threads_.insert(std::this_thread::get_id());
  }
  std::int64_t size() const { return static_cast<std::int64_t>(threads_.size()); }

 private:
  std::mutex mutex_;
  std::set<std::thread::id> threads_;
};

std::int64_t threads_of_tasks(std::int64_t count) {
  ThreadSet threads;
  coir::for_each_task("coir::test::threads", Host{}, count, [&](std::int64_t) { threads.add(); });
  return threads.size();
}

/// A body that says how many cells of memory an index stands for.
struct Weighted {
  ThreadSet* threads;
  std::int64_t cells;
  std::int64_t cells_per_index() const { return cells; }
  void operator()(int) const { threads->add(); }
};

std::int64_t threads_of_loop(std::int64_t cells, int indices) {
  ThreadSet threads;
  coir::for_each("coir::test::threads", Host{}, coir::box({indices}), Weighted{&threads, cells});
  return threads.size();
}

template <class C>
class Tasks : public ::testing::Test {};
TYPED_TEST_SUITE(Tasks, coir::testing::Spaces, coir::testing::SpaceName);

}  // namespace

TYPED_TEST(Tasks, EachRunsOnce) {
  for (int count : {1, 2, 3, 17, 1000}) {
    std::vector<int> expected(1000, 0);
    for (int task = 0; task < count; ++task) expected[static_cast<std::size_t>(task)] = 1 + task;
    EXPECT_EQ(calls_of_tasks<TypeParam>(1000, count), expected) << count;
  }
}

TYPED_TEST(Tasks, NoneAreRunForACountThatIsNotPositive) {
  for (int count : {0, -1}) EXPECT_EQ(calls_of_tasks<TypeParam>(3, count), std::vector<int>(3, 0));
}

// CTest runs these for several numbers of threads.
TEST(TasksOnHost, AreWorthAThreadEach) {
  std::int64_t const threads = Host().concurrency();
  for (std::int64_t count = 1; count <= 2 * threads; ++count)
    EXPECT_EQ(threads_of_tasks(count), std::min(count, threads)) << count << " tasks";
}

TEST(TasksOnHost, AreWorthAThreadEachWhileAToolListens) {
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(
      [](char const*, std::uint32_t, std::uint64_t*) {});
  std::int64_t const threads = Host().concurrency();
  EXPECT_EQ(threads_of_tasks(threads), threads);
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
}

TEST(TasksOnHost, ThreadsAreWorthStartingForEnoughCells) {
  Host const exec;
  std::int64_t const threads = exec.concurrency(), enough = cells_worth_a_thread;
  EXPECT_EQ(coir::threads_worth_starting(exec, 0), 1);
  EXPECT_EQ(coir::threads_worth_starting(exec, least_shared() - 1), 1);
  EXPECT_EQ(coir::threads_worth_starting(exec, least_shared()),
            std::min(least_shared() / enough, threads));
  EXPECT_EQ(coir::threads_worth_starting(exec, 1000 * enough), threads);
  EXPECT_EQ(coir::threads_worth_starting(exec, 1000 * enough, 1), 1);
  EXPECT_EQ(coir::threads_worth_starting(exec, 1000 * enough, 0), 1);
}

TEST(LoopsOnHost, UseAsManyThreadsAsTheirCellsAreWorth) {
  std::int64_t const threads = Host().concurrency();
  int const enough = static_cast<int>(cells_worth_a_thread);
  int const least = static_cast<int>(least_shared());
  EXPECT_EQ(threads_of_loop(1, least - 1), 1);
  EXPECT_EQ(threads_of_loop(1, least), std::min<std::int64_t>(least / enough, threads));
  EXPECT_EQ(threads_of_loop(1, 100 * enough), threads);
}

TEST(LoopsOnHost, UseAThreadForFewIndicesThatStandForManyCells) {
  std::int64_t const threads = Host().concurrency();
  std::int64_t const least = least_shared(), few = std::min(least / cells_worth_a_thread, threads);
  EXPECT_EQ(threads_of_loop(64, static_cast<int>(least / 64)), few);
  EXPECT_EQ(threads_of_loop(64, 100 * 64), threads);
  EXPECT_EQ(threads_of_loop(0, static_cast<int>(least)), few);
}

TEST(PiecesOnHost, AreTakenOnceEach) {
  Host const exec;
  for (std::int64_t const count : {0, 1, 7, 1000})
    for (std::int64_t const shares : {1, static_cast<int>(exec.concurrency())}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
      coir::for_each_piece("coir::test::pieces", exec, count, shares,
                           [&](std::int64_t piece) { ++calls[piece]; });
      for (auto const& of_piece : calls) EXPECT_EQ(of_piece, 1) << count << ", " << shares;
    }
}

// The first piece ends when all others have, those of its own thread's share among them.
TEST(PiecesOnHost, AreTakenByWhoeverIsDone) {
  if (Host().concurrency() < 2) GTEST_SKIP() << "two threads are needed";
  std::atomic<int> others = 0;
  bool all = false;
  coir::for_each_piece("coir::test::pieces", Host(), 8, 2, [&](std::int64_t piece) {
    if (piece > 0) {
      ++others;
      return;
    }
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (others < 7 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    all = others == 7;
  });
  EXPECT_TRUE(all);
}
