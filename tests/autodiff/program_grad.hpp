#pragma once

/// \file
/// What tests of gradients by the tape share: arrays of numbers, gradients that JAX gave for them, and difference quotients.

#include <coir/array/all.hpp>
#include <coir/autodiff/array_grad.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace coir::testing {

/// What jax.value_and_grad gives for a function at waves(0, ...), waves(1, ...) in double.
struct JaxGradient {
  char const* name;
  double value;
  std::vector<std::vector<double>> gradients;  // one for each argument, in C order
};

/// sin(0.7 + 1.3 i + 0.9 k) for the i-th element in C order.
template <class T = double, int Rank = 1>
Array<T, Rank> waves(int k, Shape<Rank> const& shape) {
  std::vector<T> values(static_cast<std::size_t>(size_of(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(std::sin(0.7 + 1.3 * double(i) + 0.9 * k));
  return coir::from_span(std::span<T const>(values), shape);
}
template <class T = double, class... Extents>
auto waves(int k, std::int64_t first, Extents... rest) {
  constexpr int rank = 1 + static_cast<int>(sizeof...(Extents));
  return waves<T, rank>(k, Shape<rank>{first, static_cast<std::int64_t>(rest)...});
}

template <class A>
std::vector<double> numbers_of(A const& array) {
  auto const flat = to_host(evaluate(ravel(array)));
  return {flat.span().begin(), flat.span().end()};
}

/// The gradients of one argument or of several, as lists of numbers.
template <class T, int Rank, class Space>
std::vector<std::vector<double>> lists_of(Array<T, Rank, Space> const& gradient) {
  return {numbers_of(gradient)};
}
template <class G>
std::vector<std::vector<double>> lists_of(G const& gradients) {
  return std::apply(
      [](auto const&... g) { return std::vector<std::vector<double>>{numbers_of(g)...}; },
      gradients);
}

/// x + step * direction for each argument, where directions are waves of another number.
template <class F, class... X>
double value_along(F const& gradient_of, double step, X const&... x) {
  int k = 6;
  auto const moved = [&](auto const& argument) {
    using A = std::remove_cvref_t<decltype(argument)>;
    using T = value_t<A>;
    return A(argument + static_cast<T>(step) * waves<T, A::rank>(++k, argument.shape()));
  };
  return std::apply([&](auto const&... m) { return double(gradient_of(m...).value); },
                    std::tuple<X...>{moved(x)...});
}

/// f's value and gradient are JAX's, and its gradient is what differences of values say.
///
/// Each element is a sum of at most some hundred products of rounded numbers, none larger than about the largest
/// element's terms: 200 eps of the larger of that and 1. Differences (f(x + h d) - f(x - h d)) / 2h have an error
/// of h^2 / 6 times a third derivative, and rounding errors of 10 eps f / h.
template <class F, class... X>
void expect_gradient(std::vector<JaxGradient> const& table, std::string const& name, F const& f,
                     X const&... x) {
  SCOPED_TRACE(name);
  auto const found = std::ranges::find_if(table, [&](auto const& g) { return g.name == name; });
  ASSERT_NE(found, table.end());
  auto const gradient_of = value_and_grad(f);
  auto const result = gradient_of(x...);
  using T = std::common_type_t<value_t<X>...>;
  double const eps = std::numeric_limits<T>::epsilon();
  EXPECT_NEAR(result.value, found->value, 200 * eps * std::max(std::abs(found->value), 1.0));
  auto const gradients = lists_of(result.gradient);
  ASSERT_EQ(gradients.size(), found->gradients.size());
  for (std::size_t k = 0; k < gradients.size(); ++k) {
    auto const& expected = found->gradients[k];
    ASSERT_EQ(gradients[k].size(), expected.size());
    double scale = 1;
    for (double const g : expected) scale = std::max(scale, std::abs(g));
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(gradients[k][i], expected[i], 200 * eps * scale) << "argument " << k << ", " << i;
  }

  if constexpr (std::is_same_v<T, double>) {
    double const h = 1e-4;
    double along = 0;
    int k = 6;
    std::vector<std::vector<double>> const directions = {
        numbers_of(waves<double, X::rank>(++k, x.shape()))...};
    for (std::size_t a = 0; a < gradients.size(); ++a)
      for (std::size_t i = 0; i < gradients[a].size(); ++i)
        along += gradients[a][i] * directions[a][i];
    double const difference =
        (value_along(gradient_of, h, x...) - value_along(gradient_of, -h, x...)) / (2 * h);
    EXPECT_NEAR(along, difference, 1e-6 * std::max(1.0, std::abs(along)));
  }
}

}  // namespace coir::testing
