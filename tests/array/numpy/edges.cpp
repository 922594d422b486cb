// What edges.py asks beside the statements of generate.py: reductions of one axis in every type,
// joins of mixed types, complex quotients, medians and histograms of numbers at the ends of their
// range.

#include <coir/array/histogram.hpp>
#include <coir/array/joining.hpp>
#include <coir/array/nan_reductions.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/quantile.hpp>
#include <coir/array/reductions.hpp>

#include <array/numpy/types.hpp>

namespace coir::testing::numpy {
namespace {

/// By number as in edges.py.
template <class T>
struct Reduced {
  static Values of(Case const& c) {
    auto const x = array_of<T, 1>(c.operands[0]);
    switch (c.integers.at(0)) {
      case 0: return values_of(sum(x));
      case 1: return values_of(prod(x));
      case 2: return values_of(min(x));
      case 3: return values_of(max(x));
      case 4: return values_of(mean(x));
      case 5: return values_of(var(x));
      case 6: return values_of(any(x));
      case 7: return values_of(all(x));
      case 8: return values_of(count_nonzero(x));
      case 9: return values_of(argmin(x));
      case 10: return values_of(argmax(x));
    }
    if constexpr (std::is_floating_point_v<T>) switch (c.integers[0]) {
        case 11: return values_of(nansum(x));
        case 12: return values_of(nanprod(x));
        case 13: return values_of(nanmin(x));
        case 14: return values_of(nanmax(x));
        case 15: return values_of(nanmean(x));
        case 16: return values_of(nanargmin(x));
        case 17: return values_of(nanargmax(x));
      }
    throw std::logic_error("this reduction isn't compiled for these elements");
  }
};

template <class T>
struct Product {
  static Values of(Case const& c) {
    return values_of(dot(array_of<T, 1>(c.operands[0]), array_of<T, 1>(c.operands[1])));
  }
};

template <class A, class B>
struct Joined {
  static Values of(Case const& c) {
    auto const a = array_of<A, 1>(c.operands[0]);
    auto const b = array_of<B, 1>(c.operands[1]);
    return c.integers.at(0) == 0 ? values_of(concatenate(0, a, b)) : values_of(stack(0, a, b));
  }
};

template <class T>
struct ComplexQuotient {
  static Values of(Case const& c) {
    return values_of(array_of<T, 1>(c.operands[0]) / array_of<T, 1>(c.operands[1]));
  }
};

template <class T>
struct Median {
  static Values of(Case const& c) {
    auto const x = array_of<T, 1>(c.operands[0]);
    return c.integers.at(0) == 0 ? values_of(median(x)) : values_of(quantile(x, c.reals.at(0)));
  }
};

template <class T>
struct CountsOfAll {
  static Values of(Case const& c) {
    return values_of(histogram(array_of<T, 1>(c.operands[0]), c.integers.at(0)).counts);
  }
};

Register const all[] = {
    {"reduced", with_type<Reduced, bool, I8, U8, I16, U16, I32, U32, I64, U64, float, double>},
    {"dot", with_type<Product, bool, I8, U8, I16, U16, I32, U32, I64, U64>},
    {"joined", with_types<Joined, Pair<bool, I8>, Pair<I8, U8>, Pair<I16, U16>, Pair<I32, U32>,
                          Pair<I64, U64>, Pair<U8, float>, Pair<I64, float>, Pair<I32, double>,
                          Pair<float, double>, Pair<C32, double>, Pair<I32, C32>, Pair<C32, C64>>},
    {"complex_quotient", with_type<ComplexQuotient, C32, C64>},
    {"median", with_type<Median, float, double, I8, U8, I64>},
    {"histogram_of_all", with_type<CountsOfAll, float, double, I8, I64>}};

}  // namespace
}  // namespace coir::testing::numpy
