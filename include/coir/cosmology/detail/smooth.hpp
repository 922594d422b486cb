#pragma once

#include <coir/core/kokkos.hpp>

#include <cmath>

namespace coir::cosmology::detail {

/// exp, log and 1/x of a number, which may be a dual number, where the slope is finite. The
/// functions of coir/core/dual.hpp look at each derivative, in case that a slope is infinite; these
/// don't, and compilers vectorise them.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T smooth_exp(T const& x) {
  if constexpr (requires { x.derivative; }) {
    T result(smooth_exp(x.value));
    for (int k = 0; k < T::directions; ++k) result.derivative[k] = result.value * x.derivative[k];
    return result;
  } else {
    return std::exp(x);
  }
}

template <class T>
KOKKOS_FORCEINLINE_FUNCTION T smooth_inverse(T const& x) {
  if constexpr (requires { x.derivative; }) {
    T result(smooth_inverse(x.value));
    auto const slope = -result.value * result.value;
    for (int k = 0; k < T::directions; ++k) result.derivative[k] = slope * x.derivative[k];
    return result;
  } else {
    return 1 / x;
  }
}

template <class T>
KOKKOS_FORCEINLINE_FUNCTION T smooth_log(T const& x) {
  if constexpr (requires { x.derivative; }) {
    T result(smooth_log(x.value));
    auto const slope = smooth_inverse(x.value);
    for (int k = 0; k < T::directions; ++k) result.derivative[k] = slope * x.derivative[k];
    return result;
  } else {
    return std::log(x);
  }
}

}  // namespace coir::cosmology::detail
