// Kernels of devices for short rows, which hosts can call, too, against plain loops.

#include <coir/array/all.hpp>
#include <coir/array/nan_reductions.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace coir;

namespace {

using Space = Kokkos::HostSpace;

/// A copy of a slice by the kernel for short rows, and by a statement.
template <int Rank, class T>
void expect_copied(Slice<T const, Rank, Space> const& x) {
  constexpr int outer = Rank - 1;
  using Body = detail::CopyVectors<T, outer>;
  Array<T, Rank, Space> found(x.shape());
  detail::Fold<Rank> fold(x.shape());
  fold.add(found.strides());
  detail::add_leaves(fold, x);
  fold.close();
  ASSERT_TRUE(
      Body::fits(fold, detail::slice_kernel<T, outer>(found.data(), found.strides(), fold)));
  std::int64_t const cells = x.size();
  auto const columns = static_cast<std::int32_t>(fold.columns());
  Body const body{detail::slice_kernel<T const, outer>(x.data(), x.strides(), fold), found.data(),
                  detail::RowNumbers<outer>::of(fold), columns, static_cast<std::int32_t>(cells)};
  for (std::int64_t v = 0; v < (cells + Body::width - 1) / Body::width; ++v) body(v);
  EXPECT_TRUE(all(found == x)) << columns << " columns";
}

template <class T>
void expect_copies() {
  auto const numbers = cast<T>(arange<std::int64_t, Space>(6007));
  auto const given = evaluate(numbers);
  for (std::int64_t const columns : {1, 2, 3, 5, 30})
    for (std::int64_t const rows : {1, 7, 101}) {
      auto const x = reshape(given(range(0, rows * columns)), {rows, columns});
      expect_copied<3>(Slice<T const, 3, Space>(  // each row three times
          x.data(), {rows, 3, columns}, {columns, 0, 1}, {}));
      expect_copied<2>(Slice<T const, 2, Space>(x.data(), {rows, columns}, {columns, 2}, {}));
    }
}

/// The cell of a box that a device's thread takes.
struct CellOfRow {
  std::int64_t i, column;
};

/// A copy of a slice into every second column of another, four cells at a time.
void expect_copied_by_fours(std::int64_t rows, std::int64_t columns) {
  auto const x =
      reshape(arange<double, Space>(static_cast<double>(rows * columns)), {rows, columns});
  auto found = zeros<double, Space>(rows, 2 * columns);
  auto const to = found(range(), range(1, end, 2));
  detail::Fold<2> fold(x.shape());
  fold.add(to.strides());
  detail::add_leaves(fold, operand(x));
  fold.close();
  using Kernel = detail::SliceKernel<double const, 1>;
  for (bool const narrow : {true, false}) {
    found = 0;
    detail::AssignBody<double, Kernel, 1> const body{
        detail::slice_kernel<double const, 1>(operand(x).data(), operand(x).strides(), fold),
        detail::slice_kernel<double, 1>(to.data(), to.strides(), fold),
        detail::RowNumbers<1>::of(fold), narrow, false};
    auto const cell = [&](std::int64_t n) {
      std::int64_t const last = std::min(n, fold.rows() * fold.columns() - 1);
      return CellOfRow{last / fold.columns(), last % fold.columns()};
    };
    for (std::int64_t n = 0; n < x.size(); n += 4) {
      CellOfRow const cells[4] = {cell(n), cell(n + 1), cell(n + 2), cell(n + 3)};
      body.several(cells);
    }
    EXPECT_TRUE(all(to == x)) << columns << " columns";
    EXPECT_TRUE(all(found(range(), range(0, end, 2)) == 0)) << columns << " columns";
  }
}

/// Folds of short rows, many enough for a thread to have several.
void expect_sums_of_rows(std::int64_t rows, std::int64_t length) {
  Array<double, 2, Space> x(Shape<2>{rows, length});
  for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<double>(i * 7 % 13);
  auto const sums = detail::reduce_axis_by<true>(operand(x), 1, detail::Sum<double, false>{});
  auto const places =
      detail::reduce_axis_by<true>(operand(x), 1, detail::ArgExtreme<double, true>{});
  std::int64_t wrong = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    double const* const row = x.data() + r * length;
    double total = 0;
    for (std::int64_t c = 0; c < length; ++c) total += row[c];
    bool const is_first_largest = places.data()[r] == std::max_element(row, row + length) - row;
    wrong += sums.data()[r] != total || !is_first_largest;
  }
  EXPECT_EQ(wrong, 0) << "rows of " << length;
}

TEST(ShortRows, AreCopiedInVectors) {
  expect_copies<float>();
  expect_copies<std::int8_t>();
  expect_copies<double>();
}

TEST(ShortRows, AreCopiedSeveralCellsAtATime) {
  for (std::int64_t const columns : {1, 3, 5}) expect_copied_by_fours(7, columns);
}

TEST(ShortRows, AreFoldedSeveralByAThread) {
  for (std::int64_t const length : {3, 5, 8}) expect_sums_of_rows((1 << 18) + 131, length);
}

TEST(ShortRows, MeansOfNumbersInOnePass) {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  auto const x = array<double, Space>({{1, nan, 3}, {nan, nan, nan}, {2, 4, 9}});
  auto const means = detail::reduce_axis_by<true>(operand(x), 1, detail::MeanOfNumbers<double>{});
  EXPECT_EQ(means.data()[0], 2);
  EXPECT_TRUE(std::isnan(means.data()[1]));
  EXPECT_EQ(means.data()[2], 5);
}

}  // namespace
