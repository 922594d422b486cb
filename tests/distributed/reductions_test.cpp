// Sums, least and largest elements of Views over ranks.

#include <coir/core/errors.hpp>
#include <coir/distributed/reductions.hpp>

#include <support/message_of.hpp>
#include <support/ranks.hpp>
#include <support/spaces.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using coir::distributed::Group;
using coir::testing::message_of;
using coir::testing::world;

template <class T, class Exec>
using Numbers = Kokkos::View<T*, typename Exec::memory_space>;

template <class T, class Exec>
Numbers<T, Exec> view_of(std::vector<T> const& values) {
  Numbers<T, Exec> const view("numbers", values.size());
  auto const host = Kokkos::create_mirror_view(view);
  std::copy(values.begin(), values.end(), host.data());
  Kokkos::deep_copy(view, host);
  return view;
}
template <class V>
auto values_of(V const& view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return std::vector<typename V::non_const_value_type>(host.data(), host.data() + host.size());
}

/// Numbers whose sum depends on the order in which they are added.
template <class T>
T number(int rank, std::size_t n) {
  return static_cast<T>(static_cast<double>(rank % 2 == 0 ? 1 : -1) *
                        (1 + static_cast<double>((7 * n + 3) % 11) / 3) /
                        (1 + static_cast<double>(rank)));
}
template <class T>
std::vector<T> numbers(int rank, std::size_t count) {
  std::vector<T> values;
  for (std::size_t n = 0; n < count; ++n) values.push_back(number<T>(rank, n));
  return values;
}

template <class Exec>
class Reductions : public ::testing::Test {};
TYPED_TEST_SUITE(Reductions, coir::testing::Spaces, coir::testing::SpaceName);

template <class T, class Exec>
void compare(std::size_t count) {
  std::vector<T> sum = numbers<T>(0, count), least = sum, largest = sum;
  for (int rank = 1; rank < world().size(); ++rank)
    for (std::size_t n = 0; n < count; ++n) {
      T const one = number<T>(rank, n);
      sum[n] = static_cast<T>(sum[n] + one);
      least[n] = std::min(least[n], one);
      largest[n] = std::max(largest[n], one);
    }
  auto const mine = numbers<T>(world().rank(), count);
  auto const view = view_of<T, Exec>(mine);
  EXPECT_EQ(values_of(coir::distributed::sum(view, world())), sum) << count;
  EXPECT_EQ(values_of(coir::distributed::min(view, world())), least) << count;
  EXPECT_EQ(values_of(coir::distributed::max(view, world())), largest) << count;
  EXPECT_EQ(values_of(view), mine) << "the numbers themselves stay";
  coir::distributed::sum_in_place(Exec(), view, world());
  EXPECT_EQ(values_of(view), sum) << count;
}

// In bits: every rank adds in the order of ranks.
TYPED_TEST(Reductions, AreThoseInTheOrderOfRanks) {
  for (std::size_t const count : {0, 1, 5, 31, 1000, 4099}) {
    compare<float, TypeParam>(count);
    compare<double, TypeParam>(count);
    compare<std::int64_t, TypeParam>(count);
    compare<std::int32_t, TypeParam>(count);
  }
}

TYPED_TEST(Reductions, OfOneRankAreItsNumbers) {
  auto const mine = numbers<double>(world().rank(), 7);
  EXPECT_EQ(values_of(coir::distributed::sum(view_of<double, TypeParam>(mine), Group())), mine);
}

TYPED_TEST(Reductions, AddComplexNumbers) {
  using Complex = Kokkos::complex<double>;
  std::vector<Complex> const mine{Complex(world().rank(), 1), Complex(0, -world().rank())};
  double const ranks = world().size(), together = ranks * (ranks - 1) / 2;
  EXPECT_EQ(values_of(coir::distributed::sum(view_of<Complex, TypeParam>(mine), world())),
            (std::vector<Complex>{Complex(together, ranks), Complex(0, -together)}));
}

TYPED_TEST(Reductions, FindTheLeastAndLargestInPlace) {
  auto const mine = view_of<float, TypeParam>({static_cast<float>(world().rank()), 1.5f});
  coir::distributed::max_in_place(TypeParam(), mine, world());
  auto const largest = static_cast<float>(world().size() - 1);
  EXPECT_EQ(values_of(mine), (std::vector<float>{largest, 1.5f}));
  auto const again = view_of<float, TypeParam>({static_cast<float>(world().rank()), 1.5f});
  coir::distributed::min_in_place(TypeParam(), again, world());
  EXPECT_EQ(values_of(again), (std::vector<float>{0, 1.5f}));
}

TYPED_TEST(Reductions, FindNaNWhereAnyRankHasIt) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  int const rank = world().rank(), last = world().size() - 1;
  auto const view =
      view_of<double, TypeParam>({rank == 0 ? nan : 1.0, rank == last ? nan : 2.0, 3.0});
  for (auto const& found : {values_of(coir::distributed::min(view, world())),
                            values_of(coir::distributed::max(view, world()))}) {
    EXPECT_TRUE(std::isnan(found[0]));
    EXPECT_TRUE(std::isnan(found[1]));
    EXPECT_EQ(found[2], 3.0);
  }
}

TYPED_TEST(Reductions, SendWhatTheFormulaSays) {
  std::int64_t const ranks = world().size(), count = 840 * 2;  // divisible by 1 to 8
  auto const before = world().traffic("distributed/reduction");
  auto const view =
      view_of<double, TypeParam>(numbers<double>(world().rank(), static_cast<std::size_t>(count)));
  static_cast<void>(coir::distributed::sum(view, world()));
  auto const after = world().traffic("distributed/reduction");
  EXPECT_EQ(after.bytes - before.bytes, 2 * count * 8 * (ranks - 1) / ranks);
  EXPECT_EQ(after.messages - before.messages, 2 * (ranks - 1));
}

TYPED_TEST(Reductions, KeepTheShapeAndLayout) {
  Kokkos::View<double**, Kokkos::LayoutLeft, typename TypeParam::memory_space> const view("view", 3,
                                                                                          4);
  Kokkos::deep_copy(view, 1.5);
  auto const total = coir::distributed::sum(view, world());
  static_assert(std::is_same_v<typename decltype(total)::array_layout, Kokkos::LayoutLeft>);
  EXPECT_EQ(total.extent(0), 3u);
  EXPECT_EQ(total.extent(1), 4u);
  EXPECT_EQ(values_of(total), std::vector<double>(12, 1.5 * world().size()));
}

TYPED_TEST(Reductions, RefuseOtherShapesOnAllRanks) {
  bool const is_last = world().rank() == world().size() - 1;
  Kokkos::View<double**, Kokkos::LayoutRight, typename TypeParam::memory_space> const view("view",
                                                                                           4, 6);
  auto const columns = Kokkos::subview(view, Kokkos::ALL, std::pair<int, int>(0, is_last ? 3 : 6));
  if (world().size() == 1) return;
  EXPECT_EQ(
      message_of<coir::PreconditionError>([&] { coir::distributed::sum(columns, world()); }),
      "all ranks must be given the same shape of what is combined over ranks: it is (4, 6) on "
      "rank 0 and (4, 3) on rank " +
          std::to_string(world().size() - 1));
  EXPECT_EQ(message_of<coir::PreconditionError>([&] {
              coir::distributed::sum_in_place(TypeParam(), columns, world());
            }).substr(0, 36),
            "all ranks must be given the same sha");
}

}  // namespace
