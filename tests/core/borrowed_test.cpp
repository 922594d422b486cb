#include <coir/core/borrowed.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

using coir::Borrowed;

namespace {

/// Writes numbers of one type, and others in their place; optimisers may mix them up if nobody
/// tells them.
template <class T, class Owner>
double mixed_sums(std::vector<Owner>& memory, std::int64_t count) {
  double sum = 0;
  for (auto& number : memory) number = Owner(1);
  sum += std::accumulate(memory.begin(), memory.end(), 0.0);
  {
    Borrowed<T, Owner> const borrowed(memory.data(), count);
    T* const data = borrowed.data();
    for (std::int64_t i = 0; i < count; ++i) data[i] = static_cast<T>(i);
    for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(data[i]);
  }
  for (auto& number : memory) number = Owner(2);
  return sum + std::accumulate(memory.begin(), memory.end(), 0.0);
}

}  // namespace

TEST(BorrowedMemory, HoldsNumbersOfAnotherTypeForAWhile) {
  std::vector<float> floats(7);
  EXPECT_EQ((mixed_sums<std::int32_t>(floats, 7)), 7 + 21 + 14);
  std::vector<double> doubles(7);
  for (std::int64_t const count : {0, 1, 13, 14})
    EXPECT_EQ((mixed_sums<std::uint32_t>(doubles, count)), 7 + count * (count - 1) / 2 + 14);
}

TEST(BorrowedMemory, LiesWhereTheOwnersDoes) {
  std::vector<double> memory(4, 1.5);
  Borrowed<std::uint32_t, double> const borrowed(memory.data(), 5);
  EXPECT_EQ(static_cast<void*>(borrowed.data()), static_cast<void*>(memory.data()));
}
