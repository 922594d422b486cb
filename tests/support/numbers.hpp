#pragma once

/// \file
/// Lists of numbers that tests compute with on the host.

#include <coir/core/kokkos.hpp>

#include <cstddef>
#include <random>
#include <vector>

namespace coir::testing {

/// Numbers of mean 0 and variance 1, the same for a seed.
inline std::vector<double> normal_numbers(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> numbers(count);
  for (double& number : numbers) number = normal(random);
  return numbers;
}

/// sum_i a_i b_i
inline double product(std::vector<double> const& a, std::vector<double> const& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The elements of a View whose memory has no gaps, in the order in which they lie there.
template <class V>
std::vector<typename V::non_const_value_type> numbers_of(V const& view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  return {host.data(), host.data() + host.size()};
}

}  // namespace coir::testing
