#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace coir::bench {

/// The middle one, or the upper of the two middle ones.
inline double median(std::vector<double> numbers) {
  auto const middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

}  // namespace coir::bench
