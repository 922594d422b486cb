// Ghost planes, beside the planes that they stand for.

#include <coir/mesh/ghosts.hpp>

#include <mesh/plain_cells.hpp>
#include <support/ranks.hpp>
#include <support/spaces.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace {

using coir::mesh::GhostPlanes;
using coir::mesh::GhostWidths;
using coir::testing::around;
using coir::testing::world;

template <class T>
class Ghosts : public ::testing::Test {};
TYPED_TEST_SUITE(Ghosts, coir::testing::Spaces, );

struct Case {
  std::int64_t planes;
  GhostWidths widths;
};
std::vector<Case> const cases{{16, {1, 2}}, {17, {0, 1}}, {5, {2, 2}},
                              {3, {4, 3}},  {1, {2, 3}},  {8, {0, 0}}};

TYPED_TEST(Ghosts, GetWhatTheirOwnersHave) {
  using Exec = TypeParam;
  constexpr std::int64_t plane = 7, length = 5;
  for (auto const& [planes, widths] : cases) {
    GhostPlanes<Exec> const ghosts(world(), planes, widths);
    ASSERT_EQ(ghosts.held(), ghosts.own().count + widths.below + widths.above);
    Kokkos::View<float*, typename Exec::memory_space> const data(
        "held", static_cast<std::size_t>(ghosts.held() * plane));
    auto const host = Kokkos::create_mirror_view(data);
    Kokkos::deep_copy(host, -1.0f);
    for (std::int64_t i = 0; i < ghosts.own().count; ++i)
      for (std::int64_t c = 0; c < length; ++c)
        host((widths.below + i) * plane + c) =
            static_cast<float>(100 * (ghosts.own().first + i) + c);
    Kokkos::deep_copy(data, host);
    Exec const exec;
    ghosts.fill(exec, data.data(), plane, length);
    exec.fence();
    Kokkos::deep_copy(host, data);
    for (std::int64_t i = 0; i < ghosts.held(); ++i)
      for (std::int64_t c = 0; c < length; ++c)
        ASSERT_EQ(host(i * plane + c),
                  static_cast<float>(100 * around(ghosts.first() + i, planes) + c))
            << "plane " << i << " of those held of " << planes;
  }
}

TYPED_TEST(Ghosts, AreAddedToTheirOwners) {
  using Exec = TypeParam;
  constexpr std::int64_t plane = 6;
  auto const value = [](int rank, std::int64_t place, std::int64_t c) {
    return static_cast<std::int32_t>(std::numeric_limits<std::int32_t>::max() / 3 * (rank + 1) +
                                     1000 * place + c);
  };
  for (auto const& [planes, widths] : cases) {
    GhostPlanes<Exec> ghosts(world(), planes, widths);
    Kokkos::View<std::int32_t*, typename Exec::memory_space> const data(
        "held", static_cast<std::size_t>(ghosts.held() * plane));
    auto const host = Kokkos::create_mirror_view(data);
    for (std::int64_t i = 0; i < ghosts.held(); ++i)
      for (std::int64_t c = 0; c < plane; ++c)
        host(i * plane + c) = static_cast<std::int32_t>(value(world().rank() % 2, i, c));
    Kokkos::deep_copy(data, host);
    Exec const exec;
    ghosts.add(exec, data.data(), plane, plane);
    exec.fence();
    Kokkos::deep_copy(host, data);
    // What each rank held of each plane; sums wrap around.
    for (std::int64_t i = 0; i < ghosts.own().count; ++i)
      for (std::int64_t c = 0; c < plane; ++c) {
        std::uint32_t sum = 0;
        for (int rank = 0; rank < world().size(); ++rank) {
          auto const share = coir::distributed::share_of(planes, rank, world().size());
          for (std::int64_t place = 0; place < share.count + widths.below + widths.above; ++place)
            if (around(share.first - widths.below + place, planes) == ghosts.own().first + i)
              sum += static_cast<std::uint32_t>(value(rank % 2, place, c));
        }
        ASSERT_EQ(host((widths.below + i) * plane + c), static_cast<std::int32_t>(sum))
            << "plane " << i << " of " << planes;
      }
  }
}

TEST(GhostTraffic, IsWhatNeighboursNeed) {
  using Exec = Kokkos::DefaultHostExecutionSpace;
  if (world().size() == 1) return;
  std::int64_t const planes = 4 * world().size();
  GhostPlanes<Exec> const ghosts(world(), planes, GhostWidths{1, 2});
  std::vector<double> data(static_cast<std::size_t>(10 * ghosts.held()));
  auto const before = world().traffic("mesh/ghosts");
  ghosts.fill(Exec(), data.data(), 10, 10);
  auto const after = world().traffic("mesh/ghosts");
  EXPECT_EQ(after.bytes - before.bytes, 3 * 10 * 8);
  EXPECT_EQ(after.messages - before.messages, 2);
}

}  // namespace
