// What trigonometric transforms need on hosts and devices alike.

#include "line_formula.hpp"

#include <coir/core/errors.hpp>
#include <coir/fft/trigonometric.hpp>

#include <algorithm>

namespace coir::fft {

Trigonometric inverse_of(Trigonometric kind) {
  switch (kind) {
    case Trigonometric::dct2: return Trigonometric::dct3;
    case Trigonometric::dct3: return Trigonometric::dct2;
    case Trigonometric::dst2: return Trigonometric::dst3;
    case Trigonometric::dst3: return Trigonometric::dst2;
    default: return kind;
  }
}

std::int64_t logical_size(Trigonometric kind, std::int64_t n) {
  return detail::logical_size(kind, n);
}

std::int64_t largest_prime_factor(std::int64_t n) {
  std::int64_t largest = 1;
  for (std::int64_t p = 2; p * p <= n; ++p)
    while (n % p == 0) {
      largest = p;
      n /= p;
    }
  return std::max(largest, n);
}

namespace detail {

void check_line(Trigonometric kind, std::int64_t length) {
  expects(length >= 1, "extents of a transform must be at least 1", length);
  expects(kind != Trigonometric::dct1 || length >= 2,
          "a cosine transform of type 1 needs at least 2 numbers along its axis", length);
}

}  // namespace detail

}  // namespace coir::fft
