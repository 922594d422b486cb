// Sorting, scans, histograms, and arrays made from nothing.

#include <coir/array/scan.hpp>
#include <coir/array/sorting.hpp>
#include <coir/array/statistics.hpp>

#include <array/numpy/types.hpp>

namespace coir::testing::numpy {
namespace {

int axis_of(Case const& c) { return static_cast<int>(c.integers.at(0)); }

#define COIR_ALONG_AXIS(Name, function)                                      \
  template <class T>                                                         \
  struct Name {                                                              \
    static Values of(Case const& c) {                                        \
      return values_of(function(array_of<T, 2>(c.operands[0]), axis_of(c))); \
    }                                                                        \
  };
COIR_ALONG_AXIS(Sorted, sort)
COIR_ALONG_AXIS(Order, argsort)
COIR_ALONG_AXIS(RunningSum, cumsum)
COIR_ALONG_AXIS(RunningProduct, cumprod)
#undef COIR_ALONG_AXIS

template <class T>
struct Unique {
  static Values of(Case const& c) { return values_of(unique(array_of<T, 2>(c.operands[0]))); }
};
template <class T>
struct Quantile {
  static Values of(Case const& c) {
    return values_of(quantile(array_of<T, 2>(c.operands[0]), c.reals.at(0)));
  }
};
template <class A, class B>
struct Search {
  static Values of(Case const& c) {
    return values_of(searchsorted(array_of<A, 1>(c.operands[0]), array_of<B, 2>(c.operands[1]),
                                  c.integers.at(0) == 1 ? Side::right : Side::left));
  }
};
template <class T>
struct Counts {
  static Values of(Case const& c) {
    auto const h =
        histogram(array_of<T, 2>(c.operands[0]), c.integers.at(0), c.reals.at(0), c.reals.at(1));
    return c.integers.at(1) == 0 ? values_of(h.counts) : values_of(h.edges);
  }
};
template <class T>
struct Points {
  static Values of(Case const& c) {
    return values_of(linspace<T>(c.reals.at(0), c.reals.at(1), c.integers.at(0)));
  }
};
Values progression(Case const& c) {
  return values_of(arange<double>(c.reals.at(0), c.reals.at(1), c.reals.at(2)));
}
Values integer_progression(Case const& c) {
  auto const bound = [&](std::size_t i) { return static_cast<I32>(c.integers.at(i)); };
  return values_of(arange<I32>(bound(0), bound(1), bound(2)));
}

Register const all[] = {{"sort", with_type<Sorted, double, I32>},
                        {"argsort", with_type<Order, double, I32>},
                        {"cumsum", with_type<RunningSum, double, float, U8, I32>},
                        {"cumprod", with_type<RunningProduct, double, float, U8, I32>},
                        {"unique", with_type<Unique, double, I32>},
                        {"quantile", with_type<Quantile, double, I32>},
                        {"searchsorted", with_types<Search, Pair<double, I32>, Pair<I32, double>,
                                                    Pair<double, double>, Pair<I64, U64>>},
                        {"histogram", with_type<Counts, double, I32>},
                        {"linspace", with_type<Points, double, float>},
                        {"arange", progression},
                        {"arange_integers", integer_progression}};

}  // namespace
}  // namespace coir::testing::numpy
