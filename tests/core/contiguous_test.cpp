#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>

#include <support/spaces.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

template <class Space>
class ContiguousTest : public ::testing::Test {};
TYPED_TEST_SUITE(ContiguousTest, coir::testing::Spaces, coir::testing::SpaceName);

std::size_t const sizes[] = {0, 1, 31, 127, 1000, 100'003};

template <class T>
using HostNumbers = Kokkos::View<T*, Kokkos::HostSpace>;
template <class Exec, class T>
using Numbers = Kokkos::View<T*, typename Exec::memory_space>;

/// 1, 2, 3, ... of a type, as far as it counts.
template <class T>
HostNumbers<T> counted(std::size_t size) {
  HostNumbers<T> const numbers("numbers", size);
  for (std::size_t i = 0; i < size; ++i) numbers(i) = static_cast<T>(i % 120 + 1);
  return numbers;
}

template <class T>
std::vector<T> values(HostNumbers<T> const& view) {
  return {view.data(), view.data() + view.size()};
}

template <class Exec, class T>
void expect_copies_there_and_back(std::size_t size) {
  auto const numbers = counted<T>(size);
  Numbers<Exec, T> const there("there", size), also_there("also_there", size);
  HostNumbers<T> const back("back", size), by_instance("by_instance", size);
  Exec const exec;

  coir::copy_contiguous(there, numbers);
  coir::copy_contiguous(exec, also_there, there);
  coir::copy_contiguous(exec, by_instance, also_there);
  exec.fence();
  coir::copy_contiguous(back, there);

  EXPECT_EQ(values(back), values(numbers)) << size;
  EXPECT_EQ(values(by_instance), values(numbers)) << size;
}

template <class Exec, class T>
void expect_zeros(std::size_t size) {
  // The numbers on both sides stay.
  auto const numbers = counted<T>(size + 2);
  Numbers<Exec, T> const there("there", size + 2);
  coir::copy_contiguous(there, numbers);
  Exec const exec;
  using Part =
      Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  coir::set_to_zero(exec, Part(there.data() + 1, size));
  exec.fence();
  auto const back = coir::host_view_of(there);
  for (std::size_t i = 0; i < size + 2; ++i)
    ASSERT_EQ(back(i), i == 0 || i == size + 1 ? numbers(i) : T(0)) << i << " of " << size;
}

}  // namespace

TYPED_TEST(ContiguousTest, CopiesThereAndBack) {
  for (std::size_t const size : sizes) {
    expect_copies_there_and_back<TypeParam, float>(size);
    expect_copies_there_and_back<TypeParam, double>(size);
    expect_copies_there_and_back<TypeParam, std::uint8_t>(size);
    expect_copies_there_and_back<TypeParam, std::int64_t>(size);
  }
}

TYPED_TEST(ContiguousTest, SetsToZeroWhatItIsGivenAndNoMore) {
  for (std::size_t const size : sizes) {
    expect_zeros<TypeParam, float>(size);
    expect_zeros<TypeParam, double>(size);
    expect_zeros<TypeParam, std::int32_t>(size);
    expect_zeros<TypeParam, std::uint64_t>(size);
  }
}

TYPED_TEST(ContiguousTest, CopiesViewsOfSeveralIndices) {
  using Memory = typename TypeParam::memory_space;
  for (auto const& [m, n] : {std::pair<std::size_t, std::size_t>{7, 5}, {1, 33}, {0, 4}}) {
    Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> const host("host", m, n);
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) host(i, j) = static_cast<double>(10 * i + j);
    Kokkos::View<double**, Kokkos::LayoutLeft, Memory> const there("there", m, n);
    coir::copy_contiguous(there, host);
    auto const back = coir::host_view_of(there);
    ASSERT_EQ(back.extent(0), m);
    ASSERT_EQ(back.extent(1), n);
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) EXPECT_EQ(back(i, j), host(i, j));
  }
}

TYPED_TEST(ContiguousTest, HostViewCopiesWhatIsElsewhereAlone) {
  Numbers<TypeParam, float> const there("there", 3);
  auto const back = coir::host_view_of(there);
  bool const is_the_same =
      static_cast<void const*>(back.data()) == static_cast<void const*>(there.data());
  bool const is_there = std::is_same_v<typename TypeParam::memory_space, Kokkos::HostSpace>;
  EXPECT_EQ(is_the_same, is_there);
}

TYPED_TEST(ContiguousTest, RefusesOtherExtentsAndGaps) {
  using Memory = typename TypeParam::memory_space;
  using Grid = Kokkos::View<double**, Kokkos::LayoutRight, Memory>;
  TypeParam const exec;
  Grid const grid("grid", 4, 6), tall("tall", 6, 4);
  EXPECT_THROW(coir::copy_contiguous(grid, tall), coir::PreconditionError);
  EXPECT_THROW(coir::copy_contiguous(exec, grid, tall), coir::PreconditionError);

  using Range = std::pair<std::size_t, std::size_t>;
  Kokkos::View<double**, Kokkos::LayoutStride, Memory> const columns =
      Kokkos::subview(grid, Kokkos::ALL, Range(0, 3));
  EXPECT_THROW(coir::set_to_zero(exec, columns), coir::PreconditionError);
  EXPECT_THROW(coir::copy_contiguous(columns, columns), coir::PreconditionError);

  // The same extents without gaps, but another order of the elements.
  using Strided = Kokkos::View<double**, Kokkos::LayoutStride, Memory>;
  Kokkos::View<double*, Memory> const memory("memory", 48);
  Strided const by_rows(memory.data(), Kokkos::LayoutStride(4, 6, 6, 1));
  Strided const by_columns(memory.data() + 24, Kokkos::LayoutStride(4, 1, 6, 4));
  EXPECT_THROW(coir::copy_contiguous(by_rows, by_columns), coir::PreconditionError);
  EXPECT_THROW(coir::clear_bytes(exec, memory.data(), 7), coir::PreconditionError);
}
