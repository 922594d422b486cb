// Views of any layout and memory space to and from datasets.

#include <coir/core/errors.hpp>
#include <coir/hdf5/reader.hpp>
#include <coir/hdf5/writer.hpp>

#include <gtest/gtest.h>
#include <io/scratch.hpp>

#include <support/layouts.hpp>
#include <support/typed_suite.hpp>

#include <cstdint>
#include <numeric>
#include <vector>

using coir::hdf5::Reader;
using coir::hdf5::Writer;
using namespace coir::testing;

namespace {

template <class C>
class Hdf5Views : public ::testing::Test {};
TYPED_TEST_SUITE(Hdf5Views, Cases, CaseName);

/// 0, 1, 2, ... in C order, in a layout.
template <Laid L, class C, std::size_t Rank>
auto counted(std::array<std::int64_t, Rank> const& extents) {
  using T = typename C::Real;
  auto const right = allocate<Laid::right, T, typename C::Exec::memory_space>(extents);
  auto const host = Kokkos::create_mirror_view(right);
  std::iota(host.data(), host.data() + host.size(), T(0));
  Kokkos::deep_copy(right, host);
  return copy_as<L>(right);
}

template <class V>
std::vector<typename V::non_const_value_type> in_c_order(V const& view) {
  auto const right = copy_as<Laid::right>(view);
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, right);
  return {host.data(), host.data() + host.size()};
}

template <Laid L, class C, std::size_t Rank>
void expect_round_trip(std::array<std::int64_t, Rank> const& extents) {
  using T = typename C::Real;
  TemporaryFolder const folder;
  auto const view = counted<L, C>(extents);
  auto const expected = in_c_order(view);
  Writer writer(folder / "a.hdf5");
  writer.write("view", view);
  writer.commit();
  Reader const reader(folder / "a.hdf5");
  EXPECT_EQ(reader.shape("view"), (coir::hdf5::Shape(extents.begin(), extents.end())));
  EXPECT_EQ(reader.template read<T>("view"), expected);
  auto const back = allocate<L, T, typename C::Exec::memory_space>(extents);
  reader.read("view", back);
  EXPECT_EQ(in_c_order(back), expected);
}

template <class C, std::size_t Rank>
void expect_round_trips(std::array<std::int64_t, Rank> const& extents) {
  SCOPED_TRACE(extents[0]);
  expect_round_trip<Laid::right, C>(extents);
  expect_round_trip<Laid::left, C>(extents);
  expect_round_trip<Laid::apart, C>(extents);
}

}  // namespace

TYPED_TEST(Hdf5Views, AnyLayoutIsWrittenInCOrderAndReadBack) {
  using Two = std::array<std::int64_t, 2>;
  for (Two const& extents : {Two{1, 1}, {3, 5}, {37, 13}, {0, 4}, {4, 0}})
    expect_round_trips<TypeParam>(extents);
  expect_round_trips<TypeParam>(std::array<std::int64_t, 1>{509});
  expect_round_trips<TypeParam>(std::array<std::int64_t, 3>{5, 7, 11});
  expect_round_trips<TypeParam>(std::array<std::int64_t, 4>{2, 3, 5, 7});
}

// More than what goes through memory at once, which is 8 MiB.
TYPED_TEST(Hdf5Views, LargeViewsGoBlockByBlock) {
  expect_round_trip<Laid::left, TypeParam>(std::array<std::int64_t, 2>{5, 1'100'000});
}

TYPED_TEST(Hdf5Views, RowsAreAppendedFromViewsOfElementsThatAreConst) {
  TYPES_OF_CASE;
  TemporaryFolder const folder;
  auto const left = counted<Laid::left, TypeParam>(std::array<std::int64_t, 2>{3, 5});
  Kokkos::View<T const**, Kokkos::LayoutLeft, Space> const read_only = left;
  Writer writer(folder / "a.hdf5");
  writer.make_dataset("rows", coir::hdf5::type_of<T>, {6, 5});
  writer.append("rows", read_only);
  writer.append("rows", left);
  writer.commit();
  auto expected = in_c_order(left);
  expected.insert(expected.end(), expected.begin(), expected.begin() + 15);
  EXPECT_EQ(Reader(folder / "a.hdf5").read<T>("rows"), expected);
}

TYPED_TEST(Hdf5Views, NewViewsHaveTheDatasetsShape) {
  TYPES_OF_CASE;
  TemporaryFolder const folder;
  auto const right = counted<Laid::right, TypeParam>(std::array<std::int64_t, 2>{3, 5});
  Writer writer(folder / "a.hdf5");
  writer.write("view", right);
  writer.commit();
  Reader const reader(folder / "a.hdf5");
  auto const view = reader.read<Kokkos::View<T**, Kokkos::LayoutLeft, Space>>("view");
  EXPECT_EQ(view.extent(0), 3u);
  EXPECT_EQ(in_c_order(view), in_c_order(right));

  using ThreeAxes = Kokkos::View<T***, Space>;
  EXPECT_THROW(reader.read<ThreeAxes>("view"), coir::InputError);
  auto const other = allocate<Laid::left, T, Space>(std::array<std::int64_t, 2>{5, 3});
  EXPECT_THROW(reader.read("view", other), coir::InputError);
}
