#include <coir/array/all.hpp>
#include <coir/linalg/outer.hpp>

#include <array/naive.hpp>
#include <support/typed_suite.hpp>

using namespace coir;
using coir::testing::random_array;
using coir::testing::values;

COIR_TYPED_SUITE(Outer);

TYPED_TEST(Outer, IsThePlainLoop) {
  TYPES_OF_CASE;
  for (std::int64_t m : {0, 1, 31, 513}) {
    for (std::int64_t n : {0, 1, 2, 1009}) {
      auto const a = random_array<T, Space>(Shape<1>{m}, 1),
                 b = random_array<T, Space>(Shape<1>{n}, 2);
      Array<T, 2, Space> const product = outer(a, b + 1);
      ASSERT_EQ(product.shape(), (Shape<2>{m, n}));
      auto const x = values(a), y = values(b), p = values(product);
      for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t j = 0; j < y.size(); ++j)
          ASSERT_EQ(p[i * y.size() + j], x[i] * (y[j] + 1));
    }
  }
}

TYPED_TEST(Outer, TakesTemporariesAndIntegers) {
  using Space = typename TypeParam::Exec::memory_space;
  auto const product = outer(random_array<int, Space>(Shape<1>{5}, 3) + 1, ones<int, Space>(3));
  auto const x = values(random_array<int, Space>(Shape<1>{5}, 3));
  auto const p = values(product);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(p[3 * i + 2], x[i] + 1);
}
