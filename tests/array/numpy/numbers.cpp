// Comparisons, and arrays beside single numbers.

#include <array/comparisons.hpp>
#include <array/numpy/types.hpp>

namespace coir::testing::numpy {
namespace {

template <class A, class B>
struct Comparisons {
  static Values of(Case const& c) {
    return values_of(six_comparisons(array_of<A, 2>(c.operands[0]), array_of<B, 2>(c.operands[1])));
  }
};

template <class A, class S>
struct NumberComparisons {
  static Values of(Case const& c) {
    return values_of(six_comparisons(array_of<A, 2>(c.operands[0]), number_of<S>(c.operands[1])));
  }
};

template <class A, class S>
struct Number {
  static Values of(Case const& c) {
    auto const a = array_of<A, 2>(c.operands[0]);
    S const n = number_of<S>(c.operands[1]);
    return value_of_chosen(c.integers.at(0), a + n, n - a, a * n, minimum(a, n), maximum(n, a),
                           mod(a, n), floor_divide(n, a));
  }
};

template <class T>
struct ClipTo {
  static Values of(Case const& c) {
    return values_of(clip(array_of<T, 2>(c.operands[0]), number_of<I64>(c.operands[1]),
                          number_of<I64>(c.operands[2])));
  }
};

Register const comparisons("comparisons", with_real_pairs<Comparisons>);
Register const number("number", with_number_pairs<Number>);
Register const number_comparisons("number_comparisons", with_number_pairs<NumberComparisons>);
Register const clips("clip", with_type<ClipTo, U8, I32, float, double>);

}  // namespace
}  // namespace coir::testing::numpy
