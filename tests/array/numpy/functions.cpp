// Functions of one or two arguments.

#include <array/numpy/types.hpp>

namespace coir::testing::numpy {
namespace {

template <class T>
struct Unary {
  static Values of(Case const& c) {
    auto const x = array_of<T, 2>(c.operands[0]);
    return value_of_chosen(c.integers.at(0), sqrt(x), cbrt(x), exp(x), exp2(x), expm1(x), log(x),
                           log2(x), log10(x), log1p(x), sin(x), cos(x), tan(x), asin(x), acos(x),
                           atan(x), sinh(x), cosh(x), tanh(x), asinh(x), acosh(x), atanh(x),
                           floor(x), ceil(x), trunc(x), rint(x), abs(x), sign(x), square(x), -x);
  }
};

template <class T>
struct ComplexUnary {
  static Values of(Case const& c) {
    auto const z = array_of<T, 2>(c.operands[0]);
    return value_of_chosen(c.integers.at(0), sqrt(z), exp(z), log(z), log10(z), sin(z), cos(z),
                           tan(z), asin(z), acos(z), atan(z), sinh(z), cosh(z), tanh(z), asinh(z),
                           acosh(z), atanh(z));
  }
};

template <class T>
struct IntegerUnary {
  static Values of(Case const& c) {
    auto const x = array_of<T, 2>(c.operands[0]);
    return value_of_chosen(c.integers.at(0), -x, abs(x), square(x), sign(x), ~x);
  }
};

template <class A, class B>
struct RealBinary {
  static Values of(Case const& c) {
    auto const a = array_of<A, 2>(c.operands[0]);
    auto const b = array_of<B, 2>(c.operands[1]);
    return value_of_chosen(c.integers.at(0), pow(a, b), hypot(a, b), atan2(a, b), copysign(a, b),
                           fmin(a, b), fmax(a, b), nextafter(a, b), fmod(a, b), fdim(a, b),
                           remainder(a, b));
  }
};

template <class From, class To>
Values converted(Case const& c) {
  return values_of(cast<To>(array_of<From, 2>(c.operands[0])));
}
Values casts(Case const& c) {
  constexpr Statement all[] = {converted<double, I32>,  converted<float, U8>,
                               converted<I32, I8>,      converted<I64, U32>,
                               converted<U64, float>,   converted<double, float>,
                               converted<double, bool>, converted<bool, double>};
  return all[c.integers.at(0)](c);
}

Register const unary("unary", with_type<Unary, float, double>);
Register const complex_unary("complex_unary", with_type<ComplexUnary, C32, C64>);
Register const integer_unary("integer_unary", with_type<IntegerUnary, I8, U8, I32, U64>);
Register const real_binary("real_binary",
                           with_types<RealBinary, Pair<float, float>, Pair<double, double>,
                                      Pair<float, double>, Pair<I32, double>>);
Register const cast_("cast", casts);

}  // namespace
}  // namespace coir::testing::numpy
