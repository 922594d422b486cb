#pragma once

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

/// The same as numbers in double.
template <class V>
std::vector<double> doubles_of(V const& view) {
  auto const numbers = numbers_of(view);
  return {numbers.begin(), numbers.end()};
}

/// Writes numbers to a View whose memory has no gaps, in the order in which its elements lie there.
///
/// \return the View
template <class V>
V filled(V const& view, std::vector<double> const& numbers) {
  auto const host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    host.data()[i] = static_cast<typename V::value_type>(numbers[i]);
  Kokkos::deep_copy(view, host);
  return view;
}

/// f'(0) by differences whose error falls with the fourth power of the step.
template <class F>
double slope_of(F const& f, double step) {
  return (8 * (f(step) - f(-step)) - (f(2 * step) - f(-2 * step))) / (12 * step);
}

}  // namespace coir::testing
