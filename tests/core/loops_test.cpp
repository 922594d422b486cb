#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>

#include <support/spaces.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

// Every loop is compared with the plain loop it stands for.

namespace {

template <class Exec>
using Cube = Kokkos::View<int***, Kokkos::LayoutRight, typename Exec::memory_space>;

template <class Exec>
std::vector<int> to_host(Cube<Exec> const& cube) {
  auto const copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, cube);
  return {copy.data(), copy.data() + copy.size()};
}

}  // namespace

/// How often each cell of an extent0 x extent1 x extent2 grid was visited by a loop over [lower,
/// upper).
template <class Exec>
std::vector<int> visits_rank_3(int const (&extents)[3], int const (&lower)[3],
                               int const (&upper)[3]) {
  Cube<Exec> const visits("visits", extents[0], extents[1], extents[2]);
  coir::for_each(
      "coir::test::visit", Exec{}, coir::box(lower, upper),
      KOKKOS_LAMBDA(int i, int j, int k) { visits(i, j, k) += 1 + i + 10 * j + 100 * k; });
  return to_host<Exec>(visits);
}

template <class Exec>
std::vector<int> visits_rank_2(int rows, int columns, int const (&lower)[2],
                               int const (&upper)[2]) {
  Cube<Exec> const visits("visits", 1, rows, columns);
  coir::for_each(
      "coir::test::visit", Exec{}, coir::box(lower, upper),
      KOKKOS_LAMBDA(int i, int j) { visits(0, i, j) += 1 + i + 10 * j; });
  return to_host<Exec>(visits);
}

template <class Exec>
std::vector<int> visits_rank_1(int size, int lower, int upper) {
  Cube<Exec> const visits("visits", 1, 1, size);
  coir::for_each(
      "coir::test::visit", Exec{}, coir::box({lower}, {upper}),
      KOKKOS_LAMBDA(int i) { visits(0, 0, i) += 1 + i; });
  return to_host<Exec>(visits);
}

/// Sum over [0, rows) x [0, columns) of (i + 2 j + 1), in the order that reduce chooses.
template <class Exec, class Number>
Number sum_rank_2(int rows, int columns) {
  Number sum = -1;
  coir::reduce(
      "coir::test::sum", Exec{}, coir::box({rows, columns}),
      KOKKOS_LAMBDA(int i, int j, Number& value) { value += Number(i + 2 * j + 1); },
      Kokkos::Sum<Number>(sum));
  return sum;
}

template <class Exec>
int max_rank_3(int planes, int rows, int columns) {
  int largest = 0;
  coir::reduce(
      "coir::test::max", Exec{}, coir::box({planes, rows, columns}),
      KOKKOS_LAMBDA(int i, int j, int k, int& value) {
        int const term = (i * 7 + j * 5 + k * 3) % 1009;
        if (term > value) value = term;
      },
      Kokkos::Max<int>(largest));
  return largest;
}

template <class Exec>
double harmonic_sum(std::int64_t size) {
  double sum = 0;
  coir::reduce(
      "coir::test::harmonic", Exec{}, coir::box<1, std::int64_t>({size}),
      KOKKOS_LAMBDA(std::int64_t i, double& value) { value += 1.0 / double(i + 1); },
      Kokkos::Sum<double>(sum));
  return sum;
}

/// Numbers that depend on how they are computed: vectors have functions of their own, and products
/// are fused with either sum.
template <class Exec>
std::vector<double> formulas(int rows, int columns) {
  Kokkos::View<double**, Kokkos::LayoutRight, typename Exec::memory_space> const values(
      "values", rows, columns);
  coir::for_each(
      "coir::test::formulas", Exec{}, coir::box({rows, columns}), KOKKOS_LAMBDA(int i, int j) {
        double const x = 1e-3 * j + i;
        values(i, j) = coir::math::cos(x) * x + coir::math::sin(x) * coir::math::exp(-x);
      });
  return {values.data(), values.data() + values.size()};
}

/// Adds 1 to each cell, and 2 where it came as part of a column.
template <class Exec>
struct ColumnCounter {
  static constexpr int cells_per_thread = 4;
  Cube<Exec> counts;

  KOKKOS_FUNCTION void operator()(int i, int j) const { counts(0, i, j) += 1; }
  template <int Count>
  KOKKOS_FUNCTION void column(int i, int j) const {
    for (int c = 0; c < Count; ++c) counts(0, i + c, j) += 3;
  }
};

template <class Exec>
std::vector<int> visits_by_columns(int rows, int columns, int const (&lower)[2],
                                   int const (&upper)[2]) {
  Cube<Exec> const visits("visits", 1, rows, columns);
  coir::for_each("coir::test::columns", Exec{}, coir::box(lower, upper),
                 ColumnCounter<Exec>{visits});
  return to_host<Exec>(visits);
}

template <class Exec>
class Loops : public ::testing::Test {};
TYPED_TEST_SUITE(Loops, coir::testing::Spaces, coir::testing::SpaceName);

/// Counts visits of a box's cells, none of which reads what others do.
template <class Exec>
struct VisitAlone {
  static constexpr bool reads_no_neighbours = true;
  Cube<Exec> visits;
  KOKKOS_FUNCTION void operator()(int i, int j) const { visits(0, i, j) += 1 + i + 10 * j; }
  KOKKOS_FUNCTION void operator()(int i, int j, int k) const {
    visits(i, j, k) += 1 + i + 10 * j + 100 * k;
  }
};

TYPED_TEST(Loops, Rank1VisitsEachIndexOnce) {
  for (int size : {1, 2, 31, 97, 1024, 1025, 100003}) {
    int const lower = size / 3;
    int const upper = size - size / 5;
    auto const visits = visits_rank_1<TypeParam>(size, lower, upper);
    for (int i = 0; i < size; ++i)
      ASSERT_EQ(visits[i], i >= lower && i < upper ? 1 + i : 0) << "size " << size << " at " << i;
  }
}

// The last three have more than a million cells: whole short rows, parts of short rows, and parts
// of longer ones. Devices treat each of these differently.
TYPED_TEST(Loops, Rank2VisitsEachIndexOnce) {
  for (auto [rows, columns] : {std::pair{1, 1},
                               {1, 5000},
                               {5000, 1},
                               {3, 127},
                               {17, 300},
                               {2, 100003},
                               {400'009, 4},
                               {50'021, 61},
                               {30'011, 131}}) {
    int const lower[2] = {rows / 4, columns == 4 ? 0 : columns / 3};
    int const upper[2] = {rows, columns - columns / 7};
    auto const visits = visits_rank_2<TypeParam>(rows, columns, lower, upper);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j)
        ASSERT_EQ(visits[std::size_t(i) * columns + j],
                  i >= lower[0] && j >= lower[1] && j < upper[1] ? 1 + i + 10 * j : 0)
            << rows << " x " << columns << " at " << i << ", " << j;
  }
}

// Devices take large boxes by columns of four cells, as far as these are whole; hosts never do.
TYPED_TEST(Loops, BodiesMayTakeColumnsOnDevices) {
  int const rows = 1013, columns = 1021;
  int const lower[2] = {2, 3}, upper[2] = {rows - 1, columns - 5};
  auto const visits = visits_by_columns<TypeParam>(rows, columns, lower, upper);
  int const whole = coir::runs_on_host<TypeParam> ? 0 : (upper[0] - lower[0]) / 4 * 4;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      bool const inside = i >= lower[0] && i < upper[0] && j >= lower[1] && j < upper[1];
      ASSERT_EQ(visits[std::size_t(i) * columns + j], inside ? i < lower[0] + whole ? 3 : 1 : 0)
          << "at " << i << ", " << j;
    }
}

// Large boxes, too, which devices cut into blocks otherwise.
TYPED_TEST(Loops, BodiesThatReadNoNeighboursVisitEachIndexOnce) {
  using Visits = Cube<TypeParam>;
  for (auto const [planes, rows, columns] :
       {std::array{1, 1, 1}, {1, 3, 127}, {1, 1013, 1021}, {1, 50021, 31}, {3, 601, 613}}) {
    Visits const visits("visits", planes, rows, columns);
    VisitAlone<TypeParam> const visit{visits};
    if (planes == 1)
      coir::for_each("coir::test::visit", TypeParam{}, coir::box({0, 1}, {rows, columns}), visit);
    else
      coir::for_each("coir::test::visit", TypeParam{},
                     coir::box({0, 0, 1}, {planes, rows, columns}), visit);
    auto const found = to_host<TypeParam>(visits);
    std::size_t cell = 0;
    for (int i = 0; i < planes; ++i)
      for (int j = 0; j < rows; ++j)
        for (int k = 0; k < columns; ++k, ++cell) {
          int const expected = planes == 1 ? 1 + j + 10 * k : 1 + i + 10 * j + 100 * k;
          ASSERT_EQ(found[cell], k >= 1 ? expected : 0) << "at " << i << ", " << j << ", " << k;
        }
  }
}

TYPED_TEST(Loops, Rank3VisitsEachIndexOnce) {
  int const shapes[][3] = {{1, 1, 1},   {2, 3, 5},  {1, 1, 1000},
                           {1, 257, 3}, {64, 1, 2}, {7, 11, 130}};
  for (auto const& shape : shapes) {
    int const lower[3] = {shape[0] / 3, shape[1] / 4, shape[2] / 5};
    auto const visits = visits_rank_3<TypeParam>(shape, lower, shape);
    std::size_t cell = 0;
    for (int i = 0; i < shape[0]; ++i)
      for (int j = 0; j < shape[1]; ++j)
        for (int k = 0; k < shape[2]; ++k, ++cell)
          ASSERT_EQ(visits[cell],
                    i >= lower[0] && j >= lower[1] && k >= lower[2] ? 1 + i + 10 * j + 100 * k : 0)
              << "at " << i << ", " << j << ", " << k;
  }
}

TYPED_TEST(Loops, EmptyBoxVisitsNothing) {
  EXPECT_EQ(visits_rank_1<TypeParam>(4, 2, 2), std::vector<int>(4, 0));
  EXPECT_EQ(visits_rank_1<TypeParam>(4, 3, 1), std::vector<int>(4, 0));
  EXPECT_EQ(visits_rank_2<TypeParam>(3, 4, {2, 0}, {1, 4}), std::vector<int>(12, 0));
  EXPECT_EQ(visits_rank_3<TypeParam>({2, 2, 2}, {0, 1, 0}, {2, 1, 2}), std::vector<int>(8, 0));
}

TYPED_TEST(Loops, SumOfIntegersIsExact) {
  for (auto [rows, columns] :
       {std::pair{1, 1}, {1, 63}, {1, 64}, {1, 65}, {300, 7}, {7, 9001}, {1000, 129}}) {
    std::int64_t expected = 0;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) expected += i + 2 * j + 1;
    EXPECT_EQ((sum_rank_2<TypeParam, std::int64_t>(rows, columns)), expected)
        << rows << " x " << columns;
  }
}

TYPED_TEST(Loops, MaximumAgreesWithAPlainLoop) {
  int expected = 0;
  for (int i = 0; i < 13; ++i)
    for (int j = 0; j < 17; ++j)
      for (int k = 0; k < 71; ++k) expected = std::max(expected, (i * 7 + j * 5 + k * 3) % 1009);
  EXPECT_EQ(max_rank_3<TypeParam>(13, 17, 71), expected);
}

TYPED_TEST(Loops, ReductionOverAnEmptyBoxIsNeutral) {
  EXPECT_EQ((sum_rank_2<TypeParam, double>(0, 5)), 0.0);
  EXPECT_EQ((sum_rank_2<TypeParam, double>(5, 0)), 0.0);
}

// Partial sums keep the rounding error near that of pairwise summation: about log2(n) half-ulps,
// with room for the sequential part inside one lane (4096 / 32 terms).
TYPED_TEST(Loops, SumIsAccurate) {
  std::int64_t const n = 3'000'017;
  double const euler_gamma = 0.57721566490153286061;
  double const x = double(n);
  double const expected = std::log(x) + euler_gamma + 1 / (2 * x) - 1 / (12 * x * x);
  double const bound = (128 + 22) * 0.5 * std::numeric_limits<double>::epsilon() * expected;
  EXPECT_NEAR(harmonic_sum<TypeParam>(n), expected, bound);
}

TYPED_TEST(Loops, SumHasTheSameBitsInEveryRun) {
  double const first = harmonic_sum<TypeParam>(1'000'003);
  for (int repeat = 0; repeat < 5; ++repeat) EXPECT_EQ(harmonic_sum<TypeParam>(1'000'003), first);
}

#ifdef COIR_KOKKOS_HAS_SERIAL
TEST(LoopsOnHost, StatementsHaveTheSameBitsForAnyThreadCount) {
  // Sizes that no number of threads divides, so that shares begin within vectors unless something
  // is done.
  for (int const size : {20'011, 100'003}) {
    for (int const rows : {1, 3}) {
      auto const threads = formulas<Kokkos::DefaultHostExecutionSpace>(rows, size);
      auto const one = formulas<Kokkos::Serial>(rows, size);
      int differing = 0;
      for (std::size_t i = 0; i < one.size(); ++i) differing += threads[i] != one[i];
      EXPECT_EQ(differing, 0) << rows << " x " << size;
    }
  }
}

TEST(LoopsOnHost, SumHasTheSameBitsForAnyThreadCount) {
  for (std::int64_t const size : {1'000'003, 5'000'011})  // threads share out the latter as they go
    EXPECT_EQ(harmonic_sum<Kokkos::DefaultHostExecutionSpace>(size),
              harmonic_sum<Kokkos::Serial>(size));
}
#endif

/// Counts cells by stretches of rows alone: hosts must not call the call operator.
template <int Rank>
struct StretchCounter {
  std::int64_t* counts;
  bool* cell_by_cell;

  template <class... I>
  void operator()(I...) const {
    *cell_by_cell = true;
  }
  void stretch(int begin, int end) const
    requires(Rank == 1)
  {
    for (int j = begin; j < end; ++j) ++counts[j];
  }
  void stretch(int i, int begin, int end) const
    requires(Rank == 2)
  {
    for (int j = begin; j < end; ++j) ++counts[i * 1000 + j];
  }
  void stretch(int i, int j, int begin, int end) const
    requires(Rank == 3)
  {
    for (int k = begin; k < end; ++k) ++counts[(i * 10 + j) * 1000 + k];
  }
};

TEST(LoopsOnHost, BodiesMayTakeStretchesOfRows) {
  Kokkos::DefaultHostExecutionSpace const exec;
  std::vector<std::int64_t> counts(10'000, 0);
  bool cell_by_cell = false;
  coir::for_each("coir::test::stretch", exec, coir::box({10'000}),
                 StretchCounter<1>{counts.data(), &cell_by_cell});
  EXPECT_EQ(counts, std::vector<std::int64_t>(10'000, 1));
  coir::for_each("coir::test::stretch", exec, coir::box({10, 1000}),
                 StretchCounter<2>{counts.data(), &cell_by_cell});
  EXPECT_EQ(counts, std::vector<std::int64_t>(10'000, 2));
  coir::for_each("coir::test::stretch", exec, coir::box({1, 10, 1000}),
                 StretchCounter<3>{counts.data(), &cell_by_cell});
  EXPECT_EQ(counts, std::vector<std::int64_t>(10'000, 3));
  EXPECT_FALSE(cell_by_cell);
}

/// Sums i + j over stretches of at most 300 columns.
struct StretchTerms {
  std::int64_t* longest;
  void operator()(int, int, std::int64_t&) const { *longest = -1; }
  static std::int64_t longest_terms() { return 300; }
  auto terms(int i, int begin, int end) const {
    *longest = std::max<std::int64_t>(*longest, end - begin);
    return [i](int j, std::int64_t& value) { value += i + j; };
  }
};

TEST(LoopsOnHost, BodiesMayPrepareTermsOfStretches) {
  std::int64_t sum = -1, longest = 0;
  coir::reduce("coir::test::terms", Kokkos::DefaultHostExecutionSpace{}, coir::box({3, 700}),
               StretchTerms{&longest}, Kokkos::Sum<std::int64_t>(sum));
  EXPECT_EQ(sum, 3 * (699 * 700 / 2) + 700 * (0 + 1 + 2));
  EXPECT_EQ(longest, 300);
}
