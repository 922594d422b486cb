#include <coir/core/strided.hpp>

#include <support/layouts.hpp>
#include <support/spaces.hpp>

#include <array>
#include <cstdint>

using coir::Strided;
using coir::strided;
using namespace coir::testing;

namespace {

template <class Space>
class StridedTest : public ::testing::Test {};
TYPED_TEST_SUITE(StridedTest, coir::testing::Spaces, coir::testing::SpaceName);

/// 0, 1, 2, ... in C order.
template <class Space>
auto counted(std::array<std::int64_t, 3> const& extents) {
  auto const view = allocate<Laid::right, double, Space>(extents);
  auto const host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < host.size(); ++i) host.data()[i] = static_cast<double>(i);
  Kokkos::deep_copy(view, host);
  return view;
}

/// Whether a View on the host has these numbers by its own indices.
template <class V>
bool counts(V const& view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  double next = 0;
  bool holds = true;
  for (std::size_t i = 0; i < host.extent(0); ++i)
    for (std::size_t j = 0; j < host.extent(1); ++j)
      for (std::size_t k = 0; k < host.extent(2); ++k) holds = holds && host(i, j, k) == next++;
  return holds;
}

}  // namespace

TEST(Strided, MemoryOrderSortsAxesByStride) {
  using Four = std::array<std::int64_t, 4>;
  using Order = std::array<int, 4>;
  Strided<double, 4> const right{nullptr, Four{2, 3, 4, 5}, Four{60, 20, 5, 1}};
  Strided<double, 4> const left{nullptr, Four{2, 3, 4, 5}, Four{1, 2, 6, 24}};
  EXPECT_EQ(coir::memory_order(right), (Order{0, 1, 2, 3}));
  EXPECT_EQ(coir::memory_order(left), (Order{3, 2, 1, 0}));
  EXPECT_TRUE(coir::is_c_order(right));
  EXPECT_FALSE(coir::is_c_order(left));
  EXPECT_TRUE(coir::is_c_order(coir::permuted(left, coir::memory_order(left))));
  Strided<double, 4> const gaps{nullptr, Four{2, 3, 4, 5}, Four{72, 24, 6, 1}};
  EXPECT_EQ(coir::memory_order(gaps), (Order{0, 1, 2, 3}));
  EXPECT_FALSE(coir::is_c_order(gaps));
}

// An index of an only element has no stride to speak of.
TEST(Strided, AxesOfExtentOneAreInAnyOrder) {
  using Three = std::array<std::int64_t, 3>;
  EXPECT_TRUE(coir::is_c_order(Strided<float, 3>{nullptr, Three{1, 4, 1}, Three{9, 1, 7}}));
  EXPECT_TRUE(coir::is_c_order(Strided<float, 3>{nullptr, Three{0, 4, 2}, Three{1, 1, 1}}));
}

TYPED_TEST(StridedTest, CopiesBetweenAnyLayouts) {
  using Space = typename TypeParam::memory_space;
  for (std::array<std::int64_t, 3> const& extents :
       {std::array<std::int64_t, 3>{1, 1, 1}, {3, 5, 7}, {17, 1, 130}, {0, 3, 2}}) {
    auto const right = counted<Space>(extents);
    auto const left = copy_as<Laid::left>(right);
    EXPECT_TRUE(counts(left));
    EXPECT_TRUE(counts(copy_as<Laid::right>(left)));
    EXPECT_TRUE(counts(copy_as<Laid::right>(copy_as<Laid::apart>(left))));
    EXPECT_TRUE(counts(copy_as<Laid::right>(copy_as<Laid::with_gaps>(right))));
    EXPECT_TRUE(counts(copy_as<Laid::left>(copy_as<Laid::turned>(right))));
  }
}

TYPED_TEST(StridedTest, StagesWhatDoesntSuit) {
  using Space = typename TypeParam::memory_space;
  using Three = coir::Staged<TypeParam, double, 3>;
  auto const left = copy_as<Laid::left>(counted<Space>({3, 5, 7}));
  TypeParam const exec;
  Three const as_it_is(exec, strided(left), true, coir::Access::both, "a test");
  EXPECT_FALSE(as_it_is.is_copy());
  EXPECT_EQ(as_it_is.elements().data, left.data());

  Three const copy(exec, strided(left), false, coir::Access::both, "a test");
  EXPECT_TRUE(copy.is_copy());
  EXPECT_TRUE(coir::is_c_order(copy.elements()));
  Kokkos::deep_copy(left, 0);
  copy.finish();
  EXPECT_TRUE(counts(left));

  Kokkos::deep_copy(left, -1);
  Three(exec, strided(left), false, coir::Access::read, "a test").finish();
  auto const left_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, left);
  EXPECT_EQ(left_h(2, 4, 6), -1);
}
