// Sums, least and largest elements of arrays over ranks.

#include <coir/array/creation.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/over_ranks.hpp>
#include <coir/array/reductions.hpp>

#include <support/message_of.hpp>
#include <support/ranks.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <type_traits>

namespace {

using coir::Array;
using coir::testing::world;

// The example of mpi4jax' readers: ones times the rank, added up, are 6 everywhere on four ranks.
TEST(OverRanks, AnArrayIsAddedUp) {
  Array<float, 2> const mine = static_cast<float>(world().rank()) * coir::ones<float>(2, 3);
  auto const total = coir::distributed::sum(mine, world());
  static_assert(std::is_same_v<decltype(total), Array<float, 2> const>);
  float const expected = static_cast<float>(world().size() * (world().size() - 1) / 2);
  EXPECT_EQ(total.shape(), (coir::Shape<2>{2, 3}));
  EXPECT_TRUE(coir::all(total == expected));
  EXPECT_TRUE(coir::all(mine == static_cast<float>(world().rank())));
}

// By its name alone, beside the sum of an array's own elements.
TEST(OverRanks, ExpressionsAndSlicesAreAddedUp) {
  using namespace coir;
  Array<double, 1> const x = arange<double>(10) + static_cast<double>(world().rank());
  double const ranks = world().size(), together = ranks * (ranks - 1) / 2;
  Array<double, 1> const twice = sum(2 * x, world());
  EXPECT_TRUE(all(twice == 2 * (ranks * arange<double>(10) + together)));
  Array<double, 1> const half = sum(x(range(0, end, 2)), world());
  EXPECT_TRUE(all(half == ranks * arange<double>(0, 10, 2) + together));
  EXPECT_EQ(sum(half), ranks * 20 + 5 * together);
}

TEST(OverRanks, TheLeastAndLargest) {
  Array<std::int64_t, 1> const x = coir::arange(5) * static_cast<std::int64_t>(world().rank() + 1);
  EXPECT_TRUE(coir::all(coir::distributed::min(x, world()) == coir::arange(5)));
  EXPECT_TRUE(coir::all(coir::distributed::max(x, world()) ==
                        coir::arange(5) * static_cast<std::int64_t>(world().size())));
}

TEST(OverRanks, ANumberAndNothing) {
  Array<double, 0> const one(coir::Shape<0>{});
  Array<double, 0> number = one;
  number = 1.5;
  EXPECT_EQ(coir::distributed::sum(number, world()).item(), 1.5 * world().size());
  EXPECT_EQ(coir::distributed::sum(coir::zeros<float>(0, 3), world()).shape(),
            (coir::Shape<2>{0, 3}));
}

TEST(OverRanks, OtherShapesAreRefusedOnAllRanks) {
  if (world().size() == 1) return;
  int const last = world().size() - 1;
  Array<float, 1> const x = coir::zeros<float>(world().rank() == last ? 3 : 2);
  EXPECT_EQ(coir::testing::message_of<coir::PreconditionError>(
                [&] { coir::distributed::sum(x, world()); }),
            "all ranks must be given the same shape of what is combined over ranks: it is (2,) on "
            "rank 0 and (3,) on rank " +
                std::to_string(last));
}

}  // namespace
