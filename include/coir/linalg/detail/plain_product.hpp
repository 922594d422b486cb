#pragma once

/// \file
/// Products of matrices without BLAS: for integers, for numbers of other kinds, and for stacks of
/// matrices that are too small to be worth a call each.

#include <coir/core/loops.hpp>
#include <coir/linalg/detail/stack.hpp>

#include <algorithm>
#include <cstdint>

namespace coir::detail {

/// c[s] = a[s] b[s] for a stack. Rows of the loop are rows of all matrices c[s], one after the
/// other.
template <class T>
struct PlainProduct {
  Stack<T const> a;
  Stack<T const> b;
  Stack<T> c;

  std::int64_t cells_per_index() const { return a.first.columns; }

  // One element, on devices.
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t line, std::int64_t j) const {
    std::int64_t const s = line / c.first.rows, i = line % c.first.rows;
    T const* const left = a.first.data + s * a.step + i * a.first.row;
    T const* const right = b.first.data + s * b.step + j * b.first.column;
    T sum(0);
    for (std::int64_t k = 0; k < a.first.columns; ++k)
      sum += left[k * a.first.column] * right[k * b.first.row];
    c.first.data[s * c.step + i * c.first.row + j * c.first.column] = sum;
  }

  // Part of a row, on hosts: a sum of rows of b.
  void stretch(std::int64_t line, std::int64_t begin, std::int64_t end) const {
    constexpr std::int64_t most = 256;
    std::int64_t const s = line / c.first.rows, i = line % c.first.rows;
    T const* const left = a.first.data + s * a.step + i * a.first.row;
    T* const out = c.first.data + s * c.step + i * c.first.row;
    for (std::int64_t from = begin; from < end; from += most) {
      std::int64_t const count = std::min(most, end - from);
      T sum[most];
      for (std::int64_t j = 0; j < count; ++j) sum[j] = T(0);
      for (std::int64_t k = 0; k < a.first.columns; ++k) {
        T const factor = left[k * a.first.column];
        T const* const right = b.first.data + s * b.step + k * b.first.row + from * b.first.column;
        if (b.first.column == 1) {
          for (std::int64_t j = 0; j < count; ++j) sum[j] += factor * right[j];
        } else {
          for (std::int64_t j = 0; j < count; ++j) sum[j] += factor * right[j * b.first.column];
        }
      }
      for (std::int64_t j = 0; j < count; ++j) out[(from + j) * c.first.column] = sum[j];
    }
  }
};

template <class Exec, class T>
void plain_product(Exec const& exec, Stack<T const> const& a, Stack<T const> const& b,
                   Stack<T> const& c) {
  for_each("coir::linalg::plain_product", exec, box({c.count * c.first.rows, c.first.columns}),
           PlainProduct<T>{a, b, c});
}

}  // namespace coir::detail
