#pragma once

/// \file
/// What tests of gradients of arrays share: arrays of numbers, and comparisons on the host.
///
/// Gradients are compared with plain loops over analytic derivatives, in double.

#include <coir/array/all.hpp>
#include <coir/autodiff/array_grad.hpp>

#include <support/spaces.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace coir::testing {

template <class T, class Space, int Rank>
std::vector<double> on_host(Array<T, Rank, Space> const& array) {
  Kokkos::View<T const*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const view(
      array.data(), static_cast<std::size_t>(array.size()));
  auto const copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  return {copy.data(), copy.data() + copy.size()};
}

/// Numbers in (low, high) without a pattern, the same on every machine.
template <class T, class Space, int Rank = 1>
Array<T, Rank, Space> scattered(Shape<Rank> const& shape, double low, double high, int seed = 0) {
  Array<T, Rank, Space> result(shape);
  Kokkos::View<T*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const view(
      result.data(), static_cast<std::size_t>(result.size()));
  auto const values = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < values.size(); ++i) {
    double const fraction = std::fmod(0.618033988749895 * double(i + 1) + 0.37 * seed, 1.0);
    values(i) = static_cast<T>(low + (high - low) * fraction);
  }
  Kokkos::deep_copy(view, values);
  return result;
}

inline std::vector<std::int64_t> const sizes = {0, 1, 2, 31, 513, 1009, 5000};

template <class C>
class ArrayGrad : public ::testing::Test {
 public:
  using T = typename C::Real;
  using Space = typename C::Exec::memory_space;
  static constexpr double eps = std::numeric_limits<T>::epsilon();

  static Array<T, 1, Space> numbers(std::int64_t n, double low, double high, int seed = 0) {
    return scattered<T, Space, 1>({n}, low, high, seed);
  }

  /// Each element within `tolerance` eps of `scale`, or of the element if that is more.
  static void expect_near(Array<T, 1, Space> const& got,
                          std::function<double(std::size_t)> expected, double tolerance,
                          double scale = 0) {
    auto const values = on_host(got);
    for (std::size_t i = 0; i < values.size(); ++i) {
      double const exact = expected(i);
      ASSERT_NEAR(values[i], exact, tolerance * eps * std::max(std::abs(exact), scale))
          << "at " << i << " of " << values.size();
    }
  }
};

}  // namespace coir::testing

/// The types of a typed test.
#define USING_CASE                             \
  using T = typename TestFixture::T;           \
  using Space = typename TestFixture::Space;   \
  [[maybe_unused]] auto const eps = this->eps; \
  [[maybe_unused]] Array<T, 1, Space> const none
