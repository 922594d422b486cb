#pragma once

/// \file
/// What tests of gradients by the tape share: arrays of numbers, and comparisons of gradients with
/// those of JAX and with difference quotients.

#include <coir/array/all.hpp>
#include <coir/autodiff/array_grad.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace coir::testing {

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

/// The gradient by an argument x of f is, element by element, what differences of values say:
///
///   (8 (f(x + h) - f(x - h)) - (f(x + 2 h) - f(x - 2 h))) / 12 h
///
/// Their error is h^4 / 30 times a fifth derivative, and rounding errors of some 10 eps f / h.
template <int Rank, class Space>
void expect_differences(std::function<double()> const& f_of_x, Array<double, Rank, Space>& x,
                        std::vector<double> const& gradient) {
  auto const start = numbers_of(x);
  ASSERT_EQ(gradient.size(), start.size());
  double scale = 1;
  for (double const g : gradient) scale = std::max(scale, std::abs(g));
  auto numbers = start;
  auto const value_at = [&](std::size_t i, double number) {
    numbers[i] = number;
    x = coir::from_span<Space>(std::span<double const>(numbers), x.shape());
    return f_of_x();
  };
  double const h = 0.002;
  for (std::size_t i = 0; i < start.size(); ++i) {
    auto const difference = [&](double step) {
      return value_at(i, start[i] + step) - value_at(i, start[i] - step);
    };
    EXPECT_NEAR(gradient[i], (8 * difference(h) - difference(2 * h)) / (12 * h), 1e-9 * scale)
        << "element " << i;
    value_at(i, start[i]);
  }
}

/// f has the value and the gradient that JAX 0.10.2 gives for the same function in double, and the
/// gradient that differences of values say, element by element.
///
/// Each element is a sum of at most some hundred products of rounded numbers, none larger than
/// about the largest element's terms: 200 eps of the larger of that and 1.
///
/// \param along  for the k-th argument the sum of JAX's gradient times waves(7 + k) of its shape
template <class F, class... X>
void expect_gradient(std::string const& name, double value, std::vector<double> const& along,
                     F const& f, X... x) {
  SCOPED_TRACE(name);
  double const rounding = 200 * std::numeric_limits<double>::epsilon();
  auto const gradient_of = value_and_grad(f);
  auto const result = gradient_of(x...);
  EXPECT_NEAR(result.value, value, rounding * std::max(std::abs(value), 1.0));
  auto const gradients = lists_of(result.gradient);
  ASSERT_EQ(gradients.size(), sizeof...(X));
  ASSERT_EQ(along.size(), sizeof...(X));
  for (std::size_t k = 0; k < gradients.size(); ++k) {
    auto const& found = gradients[k];
    auto const weights = numbers_of(
        waves(7 + static_cast<int>(k), Shape<1>{static_cast<std::int64_t>(found.size())}));
    double sum = 0, scale = 1;
    for (std::size_t i = 0; i < found.size(); ++i) {
      sum += found[i] * weights[i];
      scale = std::max(scale, std::abs(found[i]));
    }
    EXPECT_NEAR(sum, along[k], rounding * scale) << "argument " << k;
  }
  std::size_t k = 0;
  (expect_differences([&] { return double(gradient_of(x...).value); }, x, gradients[k++]), ...);
}

/// In float, f has the value and the gradient that it has in double, to rounding: each element is a
/// sum of at most some hundred products of rounded numbers, none larger than about the largest
/// element's terms.
template <class F, class... X>
void expect_same_in_float(F const& f, X const&... x) {
  auto const in_double = value_and_grad(f)(x...);
  auto const in_float = value_and_grad(f)(coir::evaluate(coir::cast<float>(x))...);
  double const eps = std::numeric_limits<float>::epsilon();
  EXPECT_NEAR(in_float.value, in_double.value,
              200 * eps * std::max(1.0, std::abs(in_double.value)));
  auto const expected = lists_of(in_double.gradient), found = lists_of(in_float.gradient);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    ASSERT_EQ(found[k].size(), expected[k].size());
    double scale = 1;
    for (double const g : expected[k]) scale = std::max(scale, std::abs(g));
    for (std::size_t i = 0; i < found[k].size(); ++i)
      EXPECT_NEAR(found[k][i], expected[k][i], 200 * eps * scale) << "argument " << k << ", " << i;
  }
}

}  // namespace coir::testing
