// Reductions of all elements and along an axis.

#include <coir/array/axis_reductions.hpp>
#include <coir/array/reductions.hpp>

#include <array/numpy/types.hpp>

namespace coir::testing::numpy {
namespace {

// By number as in generate.py; 9 stands for all axes.
#define COIR_REDUCTION(number, name) \
  case number: return axis == 9 ? values_of(name(x)) : values_of(name(x, axis));

template <class T, int Rank>
Values reduced(Case const& c) {
  auto const x = array_of<T, Rank>(c.operands[0]);
  int const axis = static_cast<int>(c.integers.at(1));
  constexpr bool every = Rank == 2, ordered = !is_complex<T>;
  switch (c.integers.at(0)) {
    COIR_REDUCTION(0, sum)
    COIR_REDUCTION(8, count_nonzero)
    COIR_REDUCTION(10, var)
  }
  if constexpr (every) switch (c.integers[0]) {
      COIR_REDUCTION(1, prod)
      COIR_REDUCTION(6, any)
      COIR_REDUCTION(9, mean)
    }
  if constexpr (ordered) switch (c.integers[0]) {
      COIR_REDUCTION(3, max)
      COIR_REDUCTION(4, argmin)
    }
  if constexpr (ordered && every) switch (c.integers[0]) {
      COIR_REDUCTION(2, min)
      COIR_REDUCTION(5, argmax)
      COIR_REDUCTION(7, all)
    }
  throw std::logic_error("this reduction isn't compiled for these elements");
}
#undef COIR_REDUCTION

template <class T>
struct OfMatrices {
  static Values of(Case const& c) { return reduced<T, 2>(c); }
};

Values reduction(Case const& c) {
  switch (c.operands.at(0).axes.size()) {
    case 1: return reduced<double, 1>(c);
    case 3: return reduced<double, 3>(c);
    case 4: return reduced<double, 4>(c);
  }
  return with_type<OfMatrices, bool, U8, float, double, C64>(c);
}

Register const reductions("reduction", reduction);

}  // namespace
}  // namespace coir::testing::numpy
