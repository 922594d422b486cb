#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace coir::apps {

/// The middle one of the values, of which there is one at least, or the mean of the two in the
/// middle.
inline double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::size_t const middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace coir::apps
