#include <coir/core/detail/divisor.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

using coir::detail::Divisor;

namespace {

constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();

// Around the multiples of the divisor next to 0, in the middle and at the end of the range, where a
// rounded factor would fail first.
void expect_quotients(std::int32_t divisor) {
  Divisor const by(divisor);
  std::vector<std::int64_t> numbers{0, 1, largest - 1, largest};
  for (std::int64_t times : {1, 2, 3, largest / divisor / 2, largest / divisor})
    for (std::int64_t n = times * divisor - 1; n <= times * divisor + 1; ++n) numbers.push_back(n);
  for (std::int64_t n : numbers)
    if (n >= 0 && n <= largest) {
      EXPECT_EQ(by.quotient(static_cast<std::int32_t>(n)), n / divisor) << n << " / " << divisor;
    }
}

}  // namespace

TEST(Divisor, SmallDivisors) {
  for (std::int32_t divisor = 1; divisor <= 1025; ++divisor) expect_quotients(divisor);
}

TEST(Divisor, AroundPowersOfTwo) {
  for (int power = 2; power <= 30; ++power)
    for (std::int32_t away : {-1, 0, 1}) expect_quotients((std::int32_t(1) << power) + away);
  expect_quotients(largest - 1);
  expect_quotients(largest);
}

TEST(Divisor, AnyDivisorOfAnyNumber) {
  std::uint32_t state = 1;
  auto const next = [&] {
    state = state * 1664525u + 1013904223u;  // Numerical Recipes' generator
    return static_cast<std::int32_t>(state >> 1);
  };
  for (int i = 0; i < 100'000; ++i) {
    std::int32_t const divisor = next() >> (i % 31) | 1, number = next();
    EXPECT_EQ(Divisor(divisor).quotient(number), number / divisor) << number << " / " << divisor;
  }
}
