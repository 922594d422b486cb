#pragma once

/// \file
/// Matrices as the kernels of products see them: pointers, extents and strides.

#include <coir/array/array.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace coir::detail {

/// A matrix in memory: element (i, j) is data[i * row + j * column].
template <class T>
struct Matrix {
  T* data;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t row;
  std::int64_t column;

  Matrix transposed() const { return {data, columns, rows, column, row}; }

  /// Whether columns are contiguous and follow each other without overlap: the order of BLAS.
  bool column_major() const {
    return (row == 1 || rows == 1) && (column >= std::max<std::int64_t>(rows, 1) || columns == 1);
  }
  /// From one column to the next, for BLAS. For column_major() ones.
  std::int64_t leading_dimension() const {
    return columns == 1 ? std::max<std::int64_t>(rows, 1) : column;
  }

  /// Whether BLAS can read it as it is or transposed. It counts in int.
  bool fits_blas() const {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    return rows <= most && columns <= most &&
           ((column_major() && leading_dimension() <= most) ||
            (transposed().column_major() && transposed().leading_dimension() <= most));
  }

  bool is_transpose_of(Matrix const& other) const {
    return data == other.data && rows == other.columns && columns == other.rows &&
           row == other.column && column == other.row;
  }
};

/// Matrices of one shape at even distances. A step of 0 stands for the same matrix each time.
template <class T>
struct Stack {
  Matrix<T> first;
  std::int64_t count;
  std::int64_t step;

  Matrix<T> operator[](std::int64_t i) const {
    Matrix<T> result = first;
    result.data += i * step;
    return result;
  }

  Stack transposed() const { return {first.transposed(), count, step}; }

  /// All matrices below each other as one.
  Matrix<T> joined() const {
    Matrix<T> result = first;
    result.rows *= count;
    return result;
  }
  /// Whether they lie so.
  bool joins() const { return count == 1 || step == first.rows * first.row; }
};

template <class T, class Space>
Stack<T> stack_of(Slice<T, 2, Space> const& x) {
  return {{x.data(), x.shape()[0], x.shape()[1], x.strides()[0], x.strides()[1]}, 1, 0};
}
template <class T, class Space>
Stack<T> stack_of(Slice<T, 3, Space> const& x) {
  return {{x.data(), x.shape()[1], x.shape()[2], x.strides()[1], x.strides()[2]},
          x.shape()[0],
          x.shape()[0] == 1 ? 0 : x.strides()[0]};
}
/// A vector as a matrix of one column, vectors along the first axis as a stack of them.
template <class T, class Space>
Stack<T> columns_of(Slice<T, 1, Space> const& x) {
  return {{x.data(), x.shape()[0], 1, x.strides()[0], x.shape()[0]}, 1, 0};
}
template <class T, class Space>
Stack<T> columns_of(Slice<T, 2, Space> const& x) {
  return {{x.data(), x.shape()[1], 1, x.strides()[1], x.shape()[1]},
          x.shape()[0],
          x.shape()[0] == 1 ? 0 : x.strides()[0]};
}

}  // namespace coir::detail
