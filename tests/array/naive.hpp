#pragma once

/// \file
/// Arrays of any rank in plain loops, to compare coir's with.

#include <coir/array/all.hpp>

#include <support/message_of.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace coir::testing {

/// An array on the host, elements in C order.
template <class T>
struct Naive {
  std::vector<std::int64_t> shape;
  std::vector<T> elements;

  Naive(std::vector<std::int64_t> extents, std::vector<T> values)
      : shape(std::move(extents)), elements(std::move(values)) {}
  explicit Naive(std::vector<std::int64_t> extents) : shape(std::move(extents)) {
    std::int64_t size = 1;
    for (auto const extent : shape) size *= extent;
    elements.resize(static_cast<std::size_t>(size));
  }

  int rank() const { return static_cast<int>(shape.size()); }
  std::size_t size() const { return elements.size(); }

  std::size_t offset(std::vector<std::int64_t> const& index) const {
    std::size_t result = 0;
    for (std::size_t d = 0; d < shape.size(); ++d)
      result = result * static_cast<std::size_t>(shape[d]) + static_cast<std::size_t>(index[d]);
    return result;
  }
  T& at(std::vector<std::int64_t> const& index) { return elements[offset(index)]; }
  T const& at(std::vector<std::int64_t> const& index) const { return elements[offset(index)]; }

  /// The element that an index of a larger shape sees by broadcasting.
  T const& stretched(std::vector<std::int64_t> const& index) const {
    std::vector<std::int64_t> mine(shape.size());
    for (std::size_t d = 0; d < shape.size(); ++d) {
      std::int64_t const i = index[index.size() - shape.size() + d];
      mine[d] = shape[d] == 1 ? 0 : i;
    }
    return at(mine);
  }
};

/// Calls visit(index) for all indices of a shape, in C order.
template <class Visit>
void for_each_index(std::vector<std::int64_t> const& shape, Visit const& visit) {
  for (auto const extent : shape)
    if (extent == 0) return;
  std::vector<std::int64_t> index(shape.size(), 0);
  for (;;) {
    visit(static_cast<std::vector<std::int64_t> const&>(index));
    std::size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

// What depends on an expression's type is compiled for each of them: no more than the kernel.
template <class T>
std::vector<T> elements_of(T const* first, std::int64_t size) {
  return std::vector<T>(first, first + size);
}

/// The values of an array or expression, on the host.
template <class E>
Naive<value_t<E>> naive(E const& expression) {
  auto const host = to_host(expression);
  return {{host.shape().begin(), host.shape().end()},
          elements_of<value_t<E>>(host.data(), host.size())};
}

template <class E>
std::vector<value_t<E>> values(E const& expression) {
  auto const host = to_host(expression);
  return elements_of<value_t<E>>(host.data(), host.size());
}

/// An array with these elements, in C order.
template <class Space, class T, std::size_t Rank>
auto array_of(std::vector<T> const& elements, std::array<std::int64_t, Rank> const& shape) {
  return from_span<Space>(std::span<T const>(elements), shape);
}

/// Whole numbers from [-limit, limit], different in each place.
template <class T, class Space, std::size_t Rank>
auto random_array(std::array<std::int64_t, Rank> const& shape, std::uint32_t seed,
                  int limit = 100) {
  std::mt19937 generator(seed);
  std::vector<T> elements(static_cast<std::size_t>(size_of(shape)));
  for (T& element : elements)
    element = static_cast<T>(static_cast<int>(generator() % (2 * limit + 1)) - limit);
  return array_of<Space>(elements, shape);
}

}  // namespace coir::testing
