// The kernels by which devices go back through statements, called by hosts, beside difference
// quotients.

#define COIR_TEST_CELL_BY_CELL
#include <autodiff/program_grad.hpp>

using coir::Array;
using coir::end;
using coir::range;
using coir::testing::waves;

namespace {

template <class F>
void expect_gradient(F const& f) {
  auto x = waves(2, 4, 3);
  auto const [value, gradient] = coir::value_and_grad(f)(x);
  EXPECT_NEAR(value, f(x), 1e-13 * std::abs(value));
  coir::testing::expect_differences([&] { return double(f(x)); }, x,
                                    coir::testing::numbers_of(gradient));
}

}  // namespace

// The cotangent of x is written where x is read in place, and the sums of its stretched row are
// added then.
TEST(CellByCell, AnArrayAndItsStretchedRow) {
  auto const first = [](auto const& x) { return x(range(0, 1), range()); };
  expect_gradient([&](auto const& x) { return sum(square(x - first(x))); });
  expect_gradient([&](auto const& x) { return sum(square(evaluate(x - first(x)))); });
  expect_gradient([&](auto const& x) { return sum(exp(x) * first(x)); });
}

TEST(CellByCell, PartsOfAnArrayAndItsStretchedRow) {
  auto const first = [](auto const& x) { return x(range(0, 1), range()); };
  expect_gradient([&](auto const& x) { return sum(x(range(1, end), range()) * first(x)); });
  expect_gradient([&](auto const& x) { return sum(x * flip(x, 0) * first(x)); });
  expect_gradient([&](auto const& x) { return sum(roll(x, 1, 0) * x * first(x)); });
}

TEST(CellByCell, OneArrayAlone) {
  expect_gradient([](auto const& x) { return sum(square(evaluate(exp(x)))); });
  expect_gradient([](auto const& x) { return sum(square(evaluate(3 * x))); });
}

TEST(CellByCell, SeveralStretchedRows) {
  auto const row = [](auto const& x, int r) { return x(range(r, r + 1), range()); };
  auto const column = [](auto const& x) { return x(range(), range(1, 2)); };
  expect_gradient([&](auto const& x) { return sum(sin(x) * row(x, 0) * row(x, 2) * column(x)); });
  expect_gradient([&](auto const& x) { return sum(exp(row(x, 1) * column(x))); });
}
