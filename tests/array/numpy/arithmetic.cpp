// Arithmetic of two arrays.

#include <array/numpy/types.hpp>

namespace coir::testing::numpy {
namespace {

template <class A, class B>
struct Arithmetic {
  static Values of(Case const& c) {
    auto const a = array_of<A, 2>(c.operands[0]);
    auto const b = array_of<B, 2>(c.operands[1]);
    std::int64_t const k = c.integers.at(0);
    if constexpr (std::integral<value_t<decltype(a + b)>>)
      return value_of_chosen(k, a + b, a - b, a * b, minimum(a, b), maximum(a, b), mod(a, b),
                             floor_divide(a, b), a / b, a % b);
    else
      return value_of_chosen(k, a + b, a - b, a * b, minimum(a, b), maximum(a, b), mod(a, b),
                             floor_divide(a, b), a / b);
  }
};

template <class A, class B>
struct ComplexArithmetic {
  static Values of(Case const& c) {
    auto const a = array_of<A, 2>(c.operands[0]);
    auto const b = array_of<B, 2>(c.operands[1]);
    return value_of_chosen(c.integers.at(0), a + b, a - b, a * b, a / b);
  }
};

template <class A, class B>
struct Bits {
  static Values of(Case const& c) {
    auto const a = array_of<A, 2>(c.operands[0]);
    auto const b = array_of<B, 2>(c.operands[1]);
    return value_of_chosen(c.integers.at(0), a & b, a | b, a ^ b, a << b, a >> b, pow(a, b));
  }
};

Register const arithmetic("arithmetic", with_real_pairs<Arithmetic>);
Register const complex_arithmetic("complex_arithmetic",
                                  with_types<ComplexArithmetic, Pair<C64, C64>, Pair<C32, C32>,
                                             Pair<C32, double>, Pair<I32, C32>>);
Register const bits("bits",
                    with_types<Bits, Pair<U8, U8>, Pair<I8, U8>, Pair<U64, U64>, Pair<I64, I32>>);

}  // namespace
}  // namespace coir::testing::numpy
