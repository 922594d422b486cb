#include <coir/array/queue.hpp>

#include <coir/array/all.hpp>

#include <gtest/gtest.h>
#include <support/message_of.hpp>

#include <cstdint>
#include <string>

namespace {

using coir::Array;
using coir::end;
using coir::Queue;
using coir::range;
using coir::testing::message_of;
using Pool = coir::MemoryPool<coir::DefaultSpace>;

Array<double, 1> numbers() { return coir::sin(coir::arange<double>(10'000)); }

}  // namespace

TEST(Queue, StatementsGiveWhatTheyGiveElsewhere) {
  Array<double, 1> const x = numbers();
  Array<double, 1> sorted, running, noise, product, different, positive;
  Array<double, 1> y = 1 * x, shifted = 1 * x;
  double total = 0;
  Kokkos::fence();
  Queue<> queue;
  queue.run([&] {
    y = 2 * x + 1;
    shifted(range(1, end)) = shifted(range(0, -1));  // by a copy, whose memory must last
    total = coir::sum(y);
    sorted = coir::sort(x);
    running = coir::cumsum(x);
    noise = coir::random::normal(coir::random::key(3), {100});
    different = coir::unique(y);
    positive = coir::compress(y, y > 1);
  });
  queue.wait();
  EXPECT_EQ(total, coir::sum(2 * x + 1));
  EXPECT_TRUE(coir::all(y == 2 * x + 1));
  EXPECT_TRUE(coir::all(shifted(range(1, end)) == x(range(0, -1))));
  EXPECT_TRUE(coir::all(sorted == coir::sort(x)));
  EXPECT_TRUE(coir::all(running == coir::cumsum(x)));
  EXPECT_TRUE(coir::all(noise == coir::random::normal(coir::random::key(3), {100})));
  EXPECT_TRUE(coir::all(different == coir::unique(2 * x + 1)));
  EXPECT_TRUE(coir::all(positive == coir::compress(2 * x + 1, 2 * x + 1 > 1)));
}

TEST(Queue, RunsInTheOrderInWhichItIsGivenThings) {
  auto from = coir::empty_pinned<std::int64_t>(5000);
  from.all() = coir::arange<std::int64_t, Kokkos::HostSpace>(5000);
  auto to = coir::zeros_pinned<std::int64_t>(5000);
  Array<std::int64_t, 1> between = coir::zeros<std::int64_t>(5000);
  Kokkos::fence();
  Queue<> queue;
  for (int pass = 0; pass < 20; ++pass) {
    queue.copy(from, between);
    queue.run([&] { between += pass; });
    queue.copy(between, to);
  }
  queue.wait();
  EXPECT_TRUE(coir::all(to == from + 19));
}

TEST(Queue, CopiesPartsOfArrays) {
  auto from = coir::zeros_pinned<float>(4, 8);
  from(range(2, 4)) = 7;
  Array<float, 2> to = coir::zeros<float>(4, 8);
  Kokkos::fence();
  Queue<> queue;
  queue.copy(from(range(2, 3)), to(range(0, 1)));
  queue.copy(from(range(0, 0)), to(range(1, 1)));  // nothing
  queue.wait();
  EXPECT_EQ(coir::sum(to), 56);
  EXPECT_EQ(coir::sum(to(0)), 56);
}

TEST(Queue, TwoOfThemHaveNothingInCommon) {
  Queue<> one, other;
  Array<double, 1> const x = numbers();
  Array<double, 1> a = 1 * x, b = 1 * x;
  Kokkos::fence();
  for (int pass = 0; pass < 50; ++pass) {
    one.run([&] { a = 0.5 * a + 1; });
    other.run([&] { b = 0.5 * b - 1; });
  }
  one.wait();
  other.wait();
  EXPECT_LT(coir::max(coir::abs(a - 2)), 1e-9);
  EXPECT_LT(coir::max(coir::abs(b + 2)), 1e-9);
}

TEST(Queue, KeepsTheMemoryOfTemporariesUntilItIsWaitedFor) {
  Array<double, 1> x = numbers();
  Queue<> queue(Queue<>::Exec{});
  auto const before = Pool::statistics().in_use;
  queue.run([&] { x(range(1, end)) = x(range(0, -1)); });
  EXPECT_GT(Pool::statistics().in_use, before);
  queue.wait();
  EXPECT_EQ(Pool::statistics().in_use, before);
}

TEST(Queue, KeepsWhatItCopiesAlive) {
  auto to = coir::zeros_pinned<double>(1000);
  Queue<> queue;
  {
    Array<double, 1> const from = coir::ones<double>(1000);
    Kokkos::fence();
    queue.copy(from, to);
  }
  Array<double, 1> const others = coir::zeros<double>(1000);  // must not get the same memory
  queue.wait();
  EXPECT_EQ(coir::sum(to), 1000);
}

TEST(Queue, LeavesOtherStatementsWhereTheyWere) {
  Queue<> queue;
  EXPECT_THROW(queue.run([] { throw 1; }), int);
  auto const before = Pool::statistics().in_use;
  {
    Array<double, 1> const x = numbers();
  }
  EXPECT_EQ(Pool::statistics().in_use, before);  // nobody keeps it
}

TEST(Queue, RefusesWhatItCantCopy) {
  Queue<> queue;
  auto from = coir::zeros_pinned<float>(4, 8);
  Array<float, 2> to = coir::zeros<float>(8, 4);
  EXPECT_EQ(message_of([&] { queue.copy(from, to); }),
            "a copy needs two arrays of one shape, and these have (4, 8) and (8, 4)");
  EXPECT_EQ(message_of([&] { queue.copy(from(range(), range(0, 4)), to(range(0, 4))); }),
            "a copy takes arrays, and slices whose elements lie side by side in C order: copy the "
            "slice to an array first");
}

TEST(Queue, RefusesCopiesBetweenPartsThatOverlap) {
  Queue<> queue;
  auto x = coir::arange<float>(8);
  auto const before = Pool::statistics().in_use;
  EXPECT_EQ(message_of([&] { queue.copy(x(range(0, 5)), x(range(1, 6))); }),
            "a copy takes arrays or slices that don't overlap: copy one to an array first");
  EXPECT_EQ(Pool::statistics().in_use, before);
  Kokkos::fence();  // x was filled by the default instance
  queue.copy(x(range(0, 4)), x(range(4, 8)));
  queue.copy(x, x);  // nothing to do
  queue.wait();
  EXPECT_EQ(coir::sum(x), 12);
}

TEST(Queue, MayBeWaitedForByWhatItRuns) {
  Array<double, 1> x = numbers();
  Queue<> queue;
  auto const before = Pool::statistics().in_use;
  queue.run([&] {
    {
      Array<double, 1> const y = x + 1;
      queue.wait();
      x = 2 * y;
    }
    // The statement before may still read it.
    EXPECT_GT(Pool::statistics().in_use, before);
  });
  queue.wait();
  EXPECT_EQ(Pool::statistics().in_use, before);
}

TEST(Queue, CantBeRecorded) {
  Queue<> queue;
  Array<double, 1> x = numbers();
  EXPECT_NE(message_of([&] {
              coir::record([&] { queue.run([&] { x += 1; }); }).run();
            }).find("Queue::run() can't be recorded"),
            std::string::npos);
}
