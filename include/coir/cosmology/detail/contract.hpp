#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

namespace coir::cosmology::detail {

/// A matrix of rows x columns numbers as blocks of 8 columns, one after the other, each in C order.
/// The last block is filled up with zeros.
template <class U>
class BlockedMatrix {
 public:
  static constexpr std::size_t wide = 8;

  BlockedMatrix(std::size_t rows, std::size_t columns)
      : rows_(rows), blocks_((columns + wide - 1) / wide), values_(rows * blocks_ * wide, U(0)) {}

  std::size_t rows() const { return rows_; }
  std::size_t blocks() const { return blocks_; }
  U* block(std::size_t b) { return values_.data() + b * rows_ * wide; }
  U const* block(std::size_t b) const { return values_.data() + b * rows_ * wide; }

  U& operator()(std::size_t i, std::size_t j) { return block(j / wide)[i * wide + j % wide]; }
  U const& operator()(std::size_t i, std::size_t j) const {
    return block(j / wide)[i * wide + j % wide];
  }

 private:
  std::size_t rows_, blocks_;
  std::vector<U> values_;
};

/// 8 numbers as one vector of the compiler. With an array of 8 numbers the compiler vectorises over
/// the depth, and shuffles numbers.
typedef double EightDoubles __attribute__((vector_size(64)));

/// `tall` rows and 8 columns of c = a b. Sums stay in registers.
template <std::size_t tall, class U>
void multiply_block(std::size_t depth, U const* a, U const* b, U* c) {
  constexpr std::size_t wide = BlockedMatrix<U>::wide;
  if constexpr (std::is_same_v<U, double>) {
    EightDoubles sums[tall] = {};
    for (std::size_t q = 0; q < depth; ++q) {
      EightDoubles line;
      std::memcpy(&line, b + q * wide, sizeof line);
      for (std::size_t r = 0; r < tall; ++r) sums[r] += a[r * depth + q] * line;
    }
    std::memcpy(c, sums, sizeof sums);
  } else {
    for (std::size_t r = 0; r < tall; ++r)
      for (std::size_t s = 0; s < wide; ++s) {
        U sum(0);
        for (std::size_t q = 0; q < depth; ++q) sum += a[r * depth + q] * b[q * wide + s];
        c[r * wide + s] = sum;
      }
  }
}

/// a b for `a` in C order, with as many columns as b has rows.
template <class U>
BlockedMatrix<U> product(std::vector<U> const& a, BlockedMatrix<U> const& b) {
  std::size_t const depth = b.rows(), rows = a.size() / depth;
  constexpr std::size_t wide = BlockedMatrix<U>::wide;
  BlockedMatrix<U> c(rows, b.blocks() * wide);
  for (std::size_t j = 0; j < b.blocks(); ++j) {
    U const* const right = b.block(j);
    std::size_t i = 0;
    for (; i + 4 <= rows; i += 4)
      multiply_block<4>(depth, a.data() + i * depth, right, c.block(j) + i * wide);
    for (; i < rows; ++i)
      multiply_block<1>(depth, a.data() + i * depth, right, c.block(j) + i * wide);
  }
  return c;
}

}  // namespace coir::cosmology::detail
