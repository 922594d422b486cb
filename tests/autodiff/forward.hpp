#pragma once

/// What tests of derivatives along directions share. Each kind of program is a test program of its
/// own: nvcc takes minutes for the second derivatives of one.

#include <autodiff/program_grad.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace coir::testing {

/// The sum of numbers, or of arrays without axes, one by one: all sums are the same statement.
template <class First, class... Rest>
auto added(First const& first, Rest const&... rest) {
  if constexpr (Expression<First>) {
    auto sum = evaluate(first);
    ((sum = sum + evaluate(rest)), ...);
    return sum;
  } else {
    return (first + ... + rest);
  }
}

/// f, its derivative along waves(1), and that of the derivative along waves(2), have JAX's values
/// at waves(0). The tolerance is 1000 eps of the larger of the number and 10: programs have some
/// hundred operations, and condition numbers of some 10.
template <class F>
void expect_derivatives(std::int64_t n, double value, double first, double second) {
  auto const x = waves(0, n), v = waves(1, n), w = waves(2, n);
  auto const near = [](double found, double expected) {
    EXPECT_NEAR(found, expected, 2.2e-13 * std::max(10.0, std::abs(expected)));
  };
  auto const along = jvp(F{})(x, v);
  near(along.value, value);
  near(along.derivative, first);
  near(sum(grad(F{})(x) * v), first);
  near(sum(hvp(F{})(x, v) * w), second);
}

}  // namespace coir::testing
