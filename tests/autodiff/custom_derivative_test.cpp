// A function whose derivative is written by hand, among statements that value_and_grad
// differentiates.

#include <coir/array/all.hpp>
#include <coir/autodiff/array_grad.hpp>
#include <coir/autodiff/custom_derivative.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

/// y[i] = x[0] + ... + x[i]
template <class Space>
coir::Array<double, 1, Space> running_sum(coir::Slice<double const, 1, Space> const& x) {
  return coir::cumsum(x);
}
template <coir::DualExpression E>
auto running_sum(E const& x) {
  return coir::trial_result<double, 1>(x);
}
template <coir::TracedExpression E>
auto running_sum(E const& x) {
  auto const stored = evaluate(x);
  return coir::with_pull_back(
      stored, running_sum(stored.values()), [stored](auto const& cotangent) {
        coir::add_to_cotangent(stored, coir::flip(coir::cumsum(coir::flip(cotangent, 0)), 0));
      });
}

/// x[i] for i < n with x[i] = 0.5 + i
coir::Array<double, 1> ramp(std::int64_t n) {
  return coir::evaluate(0.5 + coir::arange<double>(n));
}

std::vector<double> values_of(coir::Array<double, 1> const& x) {
  auto const host = coir::to_host(x);
  return {host.data(), host.data() + host.size()};
}

// d/dx_j sum_i w_i (x_0^2 + ... + x_i^2) = 2 x_j (w_j + ... + w_(n-1)), here with w_i = 1 + i.
TEST(CustomDerivative, IsUsedAmongOtherStatements) {
  std::int64_t const n = 5;
  auto const x = ramp(n);
  auto const weights = coir::evaluate(1.0 + coir::arange<double>(n));
  auto const [value, slope] = coir::value_and_grad([&](auto const& at) {
    auto const sums = running_sum(at * at);
    return sum(sums * weights);
  })(x);
  auto const found = values_of(slope);
  double expected = 0, rest = 15, running = 0;
  for (std::size_t j = 0; j < 5; ++j) {
    double const at = 0.5 + double(j);
    running += at * at;
    expected += running * (1 + double(j));
    EXPECT_NEAR(found[j], 2 * at * rest, 1e-12) << j;
    rest -= 1 + double(j);
  }
  EXPECT_NEAR(value, expected, 1e-12);
}

TEST(CustomDerivative, AddsToWhatOtherStatementsContribute) {
  auto const x = ramp(3);
  auto const slope = coir::grad([](auto const& at) {
    auto const sums = running_sum(at);
    return sum(sums) + sum(at * at);
  })(x);
  auto const found = values_of(slope);
  for (std::size_t j = 0; j < 3; ++j)
    EXPECT_NEAR(found[j], double(3 - j) + 2 * (0.5 + double(j)), 1e-12) << j;
}

}  // namespace
