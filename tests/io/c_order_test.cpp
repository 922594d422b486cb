#include <coir/core/errors.hpp>
#include <coir/io/c_order.hpp>

#include <gtest/gtest.h>
#include <support/message_of.hpp>
#include <support/spaces.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

using Device = coir::testing::Device;
using coir::testing::message_of;

namespace {

// Reads 0, 1, 2, ... run after run.
template <class V>
void expect_runs(V const& view) {
  std::size_t n = 0;
  coir::io::for_each_run_in_c_order(view, [&](auto run) {
    for (auto const element : run) {
      ASSERT_EQ(element, static_cast<typename V::value_type>(n)) << n;
      ++n;
    }
  });
  EXPECT_EQ(n, view.size());
}

// Reads them row after row.
template <class V>
void expect_rows(V const& view) {
  std::size_t n = 0;
  coir::io::HostRows<V> rows(view);
  for (std::size_t i = 0; i < view.extent(0); ++i) {
    auto const row = rows.row(static_cast<std::int64_t>(i));
    ASSERT_EQ(row.size(), view.extent(1));
    for (auto const element : row) {
      ASSERT_EQ(element, static_cast<typename V::value_type>(n)) << n;
      ++n;
    }
  }
}

// Fills a View with 0, 1, 2, ... in C order and reads them back in C order.
template <class V>
void expect_round_trip(V const& view) {
  using T = typename V::value_type;
  if constexpr (int(V::rank) > 0) {
    std::size_t const each = view.size() / std::max<std::size_t>(1, view.extent(0));
    coir::io::fill_runs_in_c_order(view, [&](std::int64_t first, std::span<T> rows) {
      std::iota(rows.begin(), rows.end(), static_cast<T>(static_cast<std::size_t>(first) * each));
    });
  }
  expect_runs(view);
  if constexpr (int(V::rank) == 2) expect_rows(view);
}

template <class Layout, class Space>
void expect_round_trips() {
  for (int rows : {1, 2, 7, 31})
    for (int columns : {1, 3, 13}) {
      Kokkos::View<float**, Layout, Space> const view("v", rows, columns);
      expect_round_trip(view);
      auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) ASSERT_EQ(host(i, j), float(i * columns + j));
    }
  expect_round_trip(Kokkos::View<double, Layout, Space>("v"));
  expect_round_trip(Kokkos::View<int*, Layout, Space>("v", 11));
  expect_round_trip(Kokkos::View<long***, Layout, Space>("v", 2, 3, 5));
  expect_round_trip(Kokkos::View<double****, Layout, Space>("v", 2, 1, 3, 4));
  expect_round_trip(Kokkos::View<float******, Layout, Space>("v", 2, 3, 1, 2, 5, 2));
  expect_round_trip(Kokkos::View<double**, Layout, Space>("v", 0, 3));
  expect_round_trip(Kokkos::View<double* [3], Layout, Space>("v", 4));
}

}  // namespace

TEST(COrder, RowMajorViews) { expect_round_trips<Kokkos::LayoutRight, Device>(); }

TEST(COrder, ColumnMajorViews) { expect_round_trips<Kokkos::LayoutLeft, Device>(); }

TEST(COrder, HostViews) {
  expect_round_trips<Kokkos::LayoutRight, Kokkos::HostSpace>();
  expect_round_trips<Kokkos::LayoutLeft, Kokkos::HostSpace>();
}

TEST(COrder, PartsOfAView) {
  Kokkos::View<int***, Kokkos::LayoutRight, Device> const whole("v", 4, 5, 6);
  expect_round_trip(Kokkos::subview(whole, Kokkos::ALL, 2, Kokkos::ALL));
  expect_round_trip(Kokkos::subview(whole, Kokkos::ALL, Kokkos::ALL, 3));
  expect_round_trip(Kokkos::subview(whole, Kokkos::pair(1, 3), Kokkos::pair(0, 2), Kokkos::ALL));
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), whole);
  EXPECT_EQ(host(0, 4, 4), 0) << "elements outside the part must stay";
  EXPECT_EQ(host(2, 1, 5), 23);
}

TEST(COrder, PaddedViews) {
  Kokkos::View<double**, Kokkos::LayoutRight, Device> const view(
      Kokkos::view_alloc("v", Kokkos::AllowPadding), 37, 31);
  expect_round_trip(view);
}

TEST(COrder, UnmanagedViews) {
  std::vector<int> memory(12);
  expect_round_trip(Kokkos::View<int**, Kokkos::LayoutLeft, Kokkos::HostSpace,
                                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>(memory.data(), 3, 4));
}

TEST(COrder, ViewsThatGoThroughTheHostInParts) {
  expect_round_trip(Kokkos::View<double**, Kokkos::LayoutLeft, Device>("v", 2500, 700));
  expect_round_trip(Kokkos::View<double***, Kokkos::LayoutLeft, Device>("v", 3, 700, 700));
  Kokkos::View<double**, Kokkos::LayoutRight, Device> const whole("v", 2002, 702);
  expect_round_trip(Kokkos::subview(whole, Kokkos::pair(1, 2001), Kokkos::pair(1, 701)));
}

TEST(COrder, HostViewsInCOrderAreNotCopied) {
  Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> const view("v", 3, 4);
  coir::io::for_each_run_in_c_order(view, [&](auto run) { EXPECT_EQ(run.data(), view.data()); });
}

TEST(COrder, AllocationBeyondMemoryIsAResourceError) {
  using V = Kokkos::View<double**, Device>;
  using Shape = std::array<std::int64_t, 2>;
  // The second one has 2^64 elements, as many as none.
  for (int const bits : {25, 32})
    EXPECT_THROW(
        coir::io::allocate<V>("v", Shape{std::int64_t(1) << bits, std::int64_t(1) << bits}),
        coir::ResourceError);
  EXPECT_THROW(coir::io::allocate<V>("v", Shape{-1, 1}), coir::ResourceError);
  EXPECT_EQ(coir::io::allocate<V>("v", Shape{std::int64_t(1) << 62, 0}).size(), 0u);
}

TEST(COrder, ElementsInTheSamePlaceAreReadAlone) {
  using V = Kokkos::View<int**, Kokkos::LayoutStride, Kokkos::HostSpace>;
  std::vector<int> memory{1, 2, 3};
  V const view(memory.data(), Kokkos::LayoutStride(2, 0, 3, 1));
  std::vector<int> found;
  coir::io::for_each_run_in_c_order(
      view, [&](auto run) { found.insert(found.end(), run.begin(), run.end()); });
  EXPECT_EQ(found, (std::vector<int>{1, 2, 3, 1, 2, 3}));
  auto const nothing = [](auto&&...) {};
  EXPECT_EQ(message_of([&] { coir::io::fill_runs_in_c_order(view, nothing); }),
            "a View to read into with strides 0, 1 has elements in the same place and can't be "
            "written: copy it first");
}
