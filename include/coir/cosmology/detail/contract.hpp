#pragma once

#include <algorithm>
#include <cstddef>

namespace coir::cosmology::detail {

/// c += a b for matrices in C order, of rows x depth and depth x columns numbers. Blocks of 4 x 8
/// sums stay in registers; each is added up in one order, so that compilers vectorise over columns.
template <class U>
void add_product(std::size_t rows, std::size_t depth, std::size_t columns, U const* a, U const* b,
                 U* c) {
  constexpr std::size_t tall = 4, wide = 8;
  for (std::size_t j = 0; j < columns; j += wide) {
    std::size_t const width = std::min(wide, columns - j);
    for (std::size_t i = 0; i < rows; i += tall) {
      std::size_t const height = std::min(tall, rows - i);
      if (width == wide && height == tall) {
        U sums[tall][wide] = {};
        for (std::size_t q = 0; q < depth; ++q) {
          U const* const line = b + q * columns + j;
          for (std::size_t r = 0; r < tall; ++r) {
            U const factor = a[(i + r) * depth + q];
            for (std::size_t s = 0; s < wide; ++s) sums[r][s] += factor * line[s];
          }
        }
        for (std::size_t r = 0; r < tall; ++r)
          for (std::size_t s = 0; s < wide; ++s) c[(i + r) * columns + j + s] += sums[r][s];
      } else {
        for (std::size_t r = i; r < i + height; ++r)
          for (std::size_t q = 0; q < depth; ++q)
            for (std::size_t s = j; s < j + width; ++s)
              c[r * columns + s] += a[r * depth + q] * b[q * columns + s];
      }
    }
  }
}

}  // namespace coir::cosmology::detail
