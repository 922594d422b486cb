// Mathematical functions of elements: see support/functions.hpp.

#include <support/functions.hpp>

namespace coir::bench {

namespace {

[[maybe_unused]] bool const added = add_functions({
    // roots and powers
    COIR_ROW(8, sqrt(u)),
    COIR_ROW(8, cbrt(x)),
    COIR_ROW(8, square(x)),
    COIR_ROW(8, pow(u, 1.7f)),
    COIR_ROW(8, pow(x, 3)),
    COIR_ROW(12, hypot(x, y)),
    COIR_ROW(8, reciprocal(u)),
    COIR_ROW(8, exp(x)),
    COIR_ROW(8, exp2(x)),
    COIR_ROW(8, expm1(x)),
    COIR_ROW(8, log(u)),
    COIR_ROW(8, log2(u)),
    COIR_ROW(8, log10(u)),
    COIR_ROW(8, log1p(u)),
    COIR_ROW(12, logaddexp(x, y)),
    COIR_ROW(16, sqrt(abs(d))),
    COIR_ROW(16, exp(d)),
    COIR_ROW(16, log1p(abs(d))),
    COIR_ROW(16, pow(abs(d), 1.7)),
    COIR_ROW(16, sqrt(z)),
    COIR_ROW(16, exp(z)),
    // angles
    COIR_ROW(8, sin(x)),
    COIR_ROW(8, cos(x)),
    COIR_ROW(8, tan(x)),
    COIR_ROW(8, asin(u)),
    COIR_ROW(8, acos(u)),
    COIR_ROW(8, atan(x)),
    COIR_ROW(12, atan2(x, y)),
    COIR_ROW(8, sinh(x)),
    COIR_ROW(8, cosh(x)),
    COIR_ROW(8, tanh(x)),
    COIR_ROW(8, asinh(x)),
    COIR_ROW(8, acosh(1 + u)),
    COIR_ROW(8, atanh(u / 2)),
    COIR_ROW(8, sinc(x)),
    COIR_ROW(8, degrees(x)),
    COIR_ROW(8, radians(x)),
    COIR_ROW(16, sin(d)),
    COIR_ROW(16, tanh(d)),
    // special functions
    COIR_ROW(8, erf(x)),
    COIR_ROW(8, erfc(x)),
    COIR_ROW(8, tgamma(u)),
    COIR_ROW(8, lgamma(u)),
    COIR_ROW(16, erf(d)),
});

}  // namespace

}  // namespace coir::bench
