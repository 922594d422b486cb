// Operators, and functions that round and choose, of elements: see support/functions.hpp.

#include <support/functions.hpp>

#include <coir/array/closeness.hpp>

namespace coir::bench {

namespace {

[[maybe_unused]] bool const added = add_functions({
    // clang-format off: it takes products for pointers
    // operators
    COIR_ROW(12, x + y),
    COIR_ROW(12, x - 2 * y),
    COIR_ROW(12, x * y),
    COIR_ROW(12, x / u),
    COIR_ROW(16, 2 * d + 1),
    COIR_ROW(16, z * z),
    COIR_ROW(16, z / (z + 2)),
    COIR_ROW(12, i + i),
    COIR_ROW(16, k * k),
    COIR_ROW(9, x < y),
    COIR_ROW(5, x == 0),
    COIR_ROW(9, k != 5),
    COIR_ROW(6, mask && x < 1),
    COIR_ROW(2, !mask),
    COIR_ROW(12, i & (i >> 3)),
    COIR_ROW(12, (i ^ 5) | ~i),
    COIR_ROW(8, i << 3),
    COIR_ROW(12, out += y),
    COIR_ROW(12, tall * tall(range(), range(0, 1))),
    COIR_ROW(8, tall * x(range(0, 3))),
    COIR_ROW(8, m + x(range(0, side))),
    // clang-format on
    // rounding
    COIR_ROW(8, floor(x)),
    COIR_ROW(8, ceil(x)),
    COIR_ROW(8, trunc(x)),
    COIR_ROW(8, rint(x)),
    COIR_ROW(8, round(x)),
    COIR_ROW(12, fmod(x, u)),
    COIR_ROW(12, remainder(x, u)),
    COIR_ROW(12, mod(x, u)),
    COIR_ROW(12, floor_divide(x, u)),
    COIR_ROW(16, divmod(x, u)),
    COIR_ROW(16, mod(k, 7)),
    COIR_ROW(16, floor_divide(k, 7)),
    COIR_ROW(8, floor_divide(i, 7)),
    // choosing and others
    COIR_ROW(12, minimum(x, y)),
    COIR_ROW(12, maximum(x, y)),
    COIR_ROW(12, fmin(x, y)),
    COIR_ROW(12, fmax(x, y)),
    COIR_ROW(12, fdim(x, y)),
    COIR_ROW(8, clip(x, -1, 1)),
    COIR_ROW(8, where(x > 0, x, -x)),
    COIR_ROW(8, abs(x)),
    COIR_ROW(8, sign(x)),
    COIR_ROW(12, copysign(x, y)),
    COIR_ROW(12, nextafter(x, y)),
    COIR_ROW(5, isnan(x)),
    COIR_ROW(5, isinf(x)),
    COIR_ROW(5, isfinite(x)),
    COIR_ROW(5, signbit(x)),
    COIR_ROW(8, nan_to_num(x)),
    COIR_ROW(9, isclose(x, y)),
    COIR_ROW(12, cast<double>(x)),
    COIR_ROW(16, cast<double>(k)),
    COIR_ROW(12, real(z)),
    COIR_ROW(12, imag(z)),
    COIR_ROW(16, conj(z)),
    COIR_ROW(12, angle(z)),
    COIR_ROW(12, abs(z)),
});

}  // namespace

}  // namespace coir::bench
