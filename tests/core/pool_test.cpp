#include <coir/core/errors.hpp>
#include <coir/core/kept_views.hpp>
#include <coir/core/pool.hpp>

#include <gtest/gtest.h>

#include <impl/Kokkos_Profiling.hpp>

#include <cstdint>
#include <limits>
#include <string>

using namespace coir;

using Pool = MemoryPool<Kokkos::DefaultExecutionSpace::memory_space>;

class ThePool : public ::testing::Test {
 protected:
  void SetUp() override { Pool::release(); }
  void TearDown() override { Pool::set_limit(); }
};

TEST_F(ThePool, HandsMemoryOn) {
  void* first = nullptr;
  {
    auto const a = Pool::allocate(100'000);
    first = a.get();
  }
  auto const before = Pool::statistics();
  auto const b = Pool::allocate(100'100);  // of nearly the same size
  EXPECT_EQ(b.get(), first);
  auto const after = Pool::statistics();
  EXPECT_EQ(after.reuses, before.reuses + 1);
  EXPECT_EQ(after.allocations, before.allocations + 1);
  EXPECT_EQ(after.in_use - before.in_use, before.cached - after.cached);
}

TEST_F(ThePool, GivesEveryArrayItsOwn) {
  auto const a = Pool::allocate(1000), b = Pool::allocate(1000);
  EXPECT_NE(a.get(), b.get());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.get()) % 64, 0u);
  EXPECT_NE(Pool::allocate(0).get(), nullptr);
}

TEST_F(ThePool, WastesAnEighthAtMost) {
  for (std::int64_t bytes : {513, 1000, 4097, 100'000, 1'000'001}) {
    auto const before = Pool::statistics().in_use;
    auto const block = Pool::allocate(bytes);
    auto const taken = Pool::statistics().in_use - before;
    EXPECT_GE(taken, bytes);
    EXPECT_LE(taken, bytes + bytes / 8 + 64);
  }
}

TEST_F(ThePool, ReleasesWhatItKeeps) {
  {
    auto const a = Pool::allocate(80'000);
  }
  EXPECT_GE(Pool::statistics().cached, 80'000);
  Pool::release();
  EXPECT_EQ(Pool::statistics().cached, 0);
}

TEST_F(ThePool, KeepsToItsLimit) {
  auto const used = Pool::statistics().in_use;
  Pool::set_limit(used + 1'000'000);
  {
    auto const a = Pool::allocate(600'000);
  }
  auto const b = Pool::allocate(900'000);  // frees what was kept
  EXPECT_LE(Pool::statistics().cached + Pool::statistics().in_use, used + 1'000'000);
  try {
    Pool::allocate(500'000);
    FAIL();
  } catch (ResourceError const& error) {
    EXPECT_NE(std::string(error.what()).find("raise the limit or keep fewer arrays"),
              std::string::npos)
        << error.what();
  }
  Pool::set_limit();
  EXPECT_NO_THROW(Pool::allocate(500'000));
  EXPECT_THROW(Pool::set_limit(-1), PreconditionError);
}

TEST_F(ThePool, PredictsWhatCantBe) {
  auto const before = Pool::statistics();
  EXPECT_THROW(Pool::allocate(std::int64_t(1) << 55), ResourceError);
  EXPECT_THROW(Pool::allocate(std::numeric_limits<std::int64_t>::max()), ResourceError);
  EXPECT_EQ(Pool::statistics().in_use, before.in_use);
}

using Numbers = Kokkos::View<double*, Kokkos::DefaultExecutionSpace::memory_space>;

TEST_F(ThePool, KeepsViewsOfALabelForTheSameExtents) {
  Kokkos::DefaultExecutionSpace const exec;
  auto const numbers = [&](std::string const& label, int count) {
    return detail::KeptViews<Numbers>::all().take(exec, label, count);
  };
  auto first = numbers("one", 1000);
  auto const second = numbers("one", 1000), other = numbers("two", 1000);
  EXPECT_NE(first.data(), second.data());
  EXPECT_NE(first.data(), other.data());
  double const* const memory = first.data();
  first = {};
  EXPECT_EQ(numbers("one", 1000).data(), memory);
  EXPECT_EQ(numbers("one", 1001).extent(0), 1001u);
  EXPECT_EQ(numbers("one", 1001).label(), "one");
}

TEST_F(ThePool, ReleasesViewsThatNobodyHolds) {
  static int freed = 0;
  Kokkos::DefaultExecutionSpace const exec;
  auto& views = detail::KeptViews<Numbers>::all();
  auto const held = views.take(exec, "released", 10);
  views.take(exec, "released", 10);
  Kokkos::Tools::Experimental::set_deallocate_data_callback(
      [](Kokkos_Profiling_SpaceHandle, char const* label, void const*, std::uint64_t) {
        freed += std::string(label) == "released";
      });
  Pool::release();
  Kokkos::Tools::Experimental::set_deallocate_data_callback(nullptr);
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(held.use_count(), 2);  // the pool's and the caller's
}
