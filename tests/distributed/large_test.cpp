// Exchanges of more bytes than MPI counts by an int.

#include <coir/core/memory.hpp>
#include <coir/distributed/group.hpp>

#include <support/ranks.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

using coir::testing::world;

// From one rank to the other, which sends nothing: half of the memory that both ways would take.
// All numbers are alike but for marks where pieces are cut and at the ends.
TEST(Large, MoreThanTwoGibibytesArrive) {
  if (world().size() < 2) GTEST_SKIP() << "two ranks exchange";
  constexpr std::int64_t piece = std::int64_t(1) << 30, bytes = 2 * piece + (std::int64_t(1) << 20);
  constexpr std::int64_t count = bytes / 8;
  bool const fits = world().gather(coir::free_bytes<Kokkos::HostSpace>())[0] > 5 * piece;
  if (!fits) GTEST_SKIP() << "less than 5 GiB of memory are free";
  bool const sends = world().is_first();
  std::unique_ptr<std::int64_t, decltype(&std::free)> const memory(
      static_cast<std::int64_t*>(std::malloc(static_cast<std::size_t>(bytes))), &std::free);
  ASSERT_NE(memory, nullptr);
  std::int64_t* const numbers = memory.get();
  coir::ask_for_large_pages(numbers, bytes);
  std::vector<std::int64_t> const marked{
      0, piece / 8 - 1, piece / 8, 2 * piece / 8 - 1, 2 * piece / 8, count - 1};
  if (sends) {
    std::fill(numbers, numbers + count, 7);
    for (std::int64_t const at : marked) numbers[at] = at + 1000;
  }
  std::vector<coir::distributed::Send> to;
  std::vector<coir::distributed::Receive> from;
  if (sends)
    to.push_back({1, numbers, bytes});
  else
    from.push_back({0, numbers, bytes});
  world().exchange(Kokkos::DefaultHostExecutionSpace(), "test/large", to, from);
  EXPECT_EQ(world().traffic("test/large").bytes, sends ? bytes : 0);
  if (sends) return;
  for (std::int64_t const at : marked) EXPECT_EQ(numbers[at], at + 1000);
  EXPECT_EQ(std::count(numbers, numbers + count, 7),
            count - static_cast<std::int64_t>(marked.size()));
}

}  // namespace
