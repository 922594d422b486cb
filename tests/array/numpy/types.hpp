#pragma once

/// \file
/// The pairs of types of generate.py's lists.

#include <array/numpy/cases.hpp>

namespace coir::testing::numpy {

using I8 = std::int8_t;
using U8 = std::uint8_t;
using I16 = std::int16_t;
using U16 = std::uint16_t;
using I32 = std::int32_t;
using U32 = std::uint32_t;
using I64 = std::int64_t;
using U64 = std::uint64_t;
using C32 = Kokkos::complex<float>;
using C64 = Kokkos::complex<double>;

template <template <class, class> class F>
Values with_real_pairs(Case const& c) {
  return with_types<F, Pair<bool, bool>, Pair<U8, U8>, Pair<I32, I32>, Pair<U64, U64>,
                    Pair<float, float>, Pair<double, double>, Pair<I8, U8>, Pair<U16, I16>,
                    Pair<I32, U32>, Pair<I64, U64>, Pair<U8, float>, Pair<I64, double>>(c);
}

/// Of an array and a number.
template <template <class, class> class F>
Values with_number_pairs(Case const& c) {
  return with_types<F, Pair<U8, I32>, Pair<I32, double>, Pair<U32, I32>, Pair<I64, U64>,
                    Pair<float, double>, Pair<float, I32>, Pair<double, I64>, Pair<bool, I32>>(c);
}

}  // namespace coir::testing::numpy
