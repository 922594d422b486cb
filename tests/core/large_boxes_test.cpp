// Boxes of more than 2^31 cells on devices, which cut some of them into parts: every cell once.

#include <coir/core/loops.hpp>
#include <coir/core/memory.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

using coir::box;

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Counts = Kokkos::View<unsigned char*, Exec::memory_space>;

/// The visits of each cell of a box, whose cells are numbered row by row.
struct Visits {
  unsigned char* count;
  std::int64_t rows, columns;  // of a plane

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { ++count[i]; }
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j) const {
    ++count[i * columns + j];
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    ++count[(i * rows + j) * columns + k];
  }
};

/// The same by stretches of cells alone.
struct VisitsOfStretches : Visits {
  static constexpr bool reads_no_neighbours = true;
};

/// The sum of all cells' numbers modulo a prime: it tells if any cell is left out, or taken twice.
struct AddNumbers {
  std::int64_t rows, columns;
  static constexpr std::int64_t prime = 1009;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum) const { sum += i % prime; }
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t& sum) const {
    sum += (i * columns + j) % prime;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k,
                                  std::int64_t& sum) const {
    sum += ((i * rows + j) * columns + k) % prime;
  }
};

struct CountOthers {
  unsigned char const* count;
  int expected;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& others) const {
    others += count[i] != expected;
  }
};

template <class Box, class Body>
std::int64_t sum(Box const& cells, Body const& body) {
  std::int64_t result = -1;
  coir::reduce("coir::test::sum", Exec(), cells, body, Kokkos::Sum<std::int64_t>(result));
  return result;
}

void expect_each_cell_once(std::int64_t planes, std::int64_t rows, std::int64_t columns) {
  std::int64_t const cells = planes * rows * columns;
  SCOPED_TRACE(std::to_string(planes) + " x " + std::to_string(rows) + " x " +
               std::to_string(columns));
  ASSERT_GT(cells, std::int64_t(1) << 31);
  Counts const counts("counts", static_cast<std::size_t>(cells));
  Visits const visits{counts.data(), rows, columns};
  auto const line = box<1, std::int64_t>({cells});
  auto const plane = box<2, std::int64_t>({planes * rows, columns});
  auto const whole = box<3, std::int64_t>({planes, rows, columns});
  coir::for_each("coir::test::visit", Exec(), line, visits);
  EXPECT_EQ(sum(line, CountOthers{counts.data(), 1}), 0);
  coir::for_each("coir::test::visit", Exec(), plane, visits);
  EXPECT_EQ(sum(line, CountOthers{counts.data(), 2}), 0);
  coir::for_each("coir::test::visit", Exec(), whole, visits);
  EXPECT_EQ(sum(line, CountOthers{counts.data(), 3}), 0);

  VisitsOfStretches const of_stretches{visits};
  coir::for_each("coir::test::visit", Exec(), plane, of_stretches);
  EXPECT_EQ(sum(line, CountOthers{counts.data(), 4}), 0);
  coir::for_each("coir::test::visit", Exec(), whole, of_stretches);
  EXPECT_EQ(sum(line, CountOthers{counts.data(), 5}), 0);

  std::int64_t const turns = cells / AddNumbers::prime, rest = cells % AddNumbers::prime;
  std::int64_t const expected =
      turns * (AddNumbers::prime * (AddNumbers::prime - 1) / 2) + rest * (rest - 1) / 2;
  AddNumbers const numbers{rows, columns};
  EXPECT_EQ(sum(line, numbers), expected);
  EXPECT_EQ(sum(plane, numbers), expected);
  EXPECT_EQ(sum(whole, numbers), expected);
}

}  // namespace

TEST(LargeBoxes, HaveEachCellOnce) {
  constexpr std::int64_t needed = 9'000'000'000;
  if (coir::free_bytes<Exec::memory_space>() < needed)
    GTEST_SKIP() << "the device has less than " << needed << " bytes left";
  expect_each_cell_once(1, 1'431'655'777, 3);
  expect_each_cell_once(3, 700'000'001, 2);
  expect_each_cell_once(1300, 1300, 1301);
  expect_each_cell_once(8'589'935, 1, 511);
  expect_each_cell_once(1, 3, 1'500'000'001);
  expect_each_cell_once(1, 2, 2'147'483'651);
  expect_each_cell_once(1, 5'000'001, 600);
  expect_each_cell_once(70'000, 3, 41'000);
}
