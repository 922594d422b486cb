#pragma once

/// \file
/// Matrices up to rounding, and random ones.

#include <array/naive.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace coir::testing {

/// The elements, in C order, are these to within some roundings of the largest.
template <class E>
void expect_near(E const& found, std::vector<double> const& expected) {
  auto const elements = values(found);
  ASSERT_EQ(elements.size(), expected.size());
  double largest = 1;
  for (double const number : expected) largest = std::max(largest, std::abs(number));
  double const rounding = std::numeric_limits<value_t<E>>::epsilon();
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(elements[i], expected[i], 32 * rounding * largest) << i;
}

/// Numbers from [-1, 1].
template <class T, class Space>
auto random_matrix(std::int64_t rows, std::int64_t columns, std::uint32_t seed) {
  auto const whole = random_array<T, Space>(Shape<2>{rows, columns}, seed, 1000);
  return evaluate(whole / T(1000));
}

}  // namespace coir::testing
