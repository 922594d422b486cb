#include <coir/array/pinned.hpp>

#include <coir/array/creation.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/reductions.hpp>

#include <gtest/gtest.h>

#include <concepts>
#include <cstdint>
#include <limits>

using coir::empty_pinned;
using coir::zeros_pinned;

TEST(Pinned, IsAnArrayInHostMemory) {
  auto x = zeros_pinned<float>(3, 4);
  static_assert(std::same_as<decltype(x), coir::Array<float, 2, Kokkos::HostSpace>>);
  static_assert(
      std::same_as<decltype(empty_pinned({2})), coir::Array<double, 1, Kokkos::HostSpace>>);
  EXPECT_EQ(x.shape(), (coir::Shape<2>{3, 4}));
  EXPECT_EQ(coir::sum(x), 0);
  auto const ordinary = coir::ones<float, Kokkos::HostSpace>(3, 4);
  x += 2 * ordinary;  // statements mix it with others
  EXPECT_EQ(coir::sum(x), 24);
}

TEST(Pinned, GoesToTheDeviceAndBack) {
  auto x = empty_pinned<std::int64_t>({1000});
  x.all() = coir::arange<std::int64_t, Kokkos::HostSpace>(1000);
  auto on_device = coir::to_device(x);
  on_device += 1;
  EXPECT_EQ(coir::sum(coir::to_host(on_device)), 500500);
  EXPECT_EQ(coir::sum(x), 499500);
}

TEST(Pinned, StatementsWriteIntoItsMemory) {
  auto x = zeros_pinned<double>(100);
  double const* const memory = x.data();
  auto const ones = coir::ones<double, Kokkos::HostSpace>(100);
  x = ones + ones;
  x += ones;
  x.all() = coir::sum(ones) + x;
  EXPECT_EQ(x.data(), memory);
  EXPECT_EQ(x(99), 103);
}

TEST(Pinned, MayBeEmpty) {
  auto const nothing = empty_pinned<float>(0, 7);
  EXPECT_TRUE(nothing.has_memory());
  EXPECT_EQ(nothing.size(), 0);
}

TEST(Pinned, RefusesWhatCantBeAllocated) {
  EXPECT_THROW(empty_pinned<float>(-1), coir::PreconditionError);
  EXPECT_THROW(zeros_pinned(std::numeric_limits<std::int64_t>::max(), 2), coir::PreconditionError);
  EXPECT_THROW(empty_pinned<char>(std::int64_t(1) << 60), coir::ResourceError);
}
