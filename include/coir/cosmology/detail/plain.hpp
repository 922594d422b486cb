#pragma once

/// \file
/// The plain value of a number, which may be a float, a double, or a dual number of these.

#include <coir/core/kokkos.hpp>

namespace coir::cosmology::detail {

/// The value of a number without its derivatives, to choose branches by and to put into messages.
template <class T>
KOKKOS_FUNCTION double plain(T const& x) {
  if constexpr (requires { x.value; })
    return plain(x.value);
  else
    return static_cast<double>(x);
}

/// Whether a number is 0 and, if it is a dual number, all of its derivatives are.
template <class T>
KOKKOS_FUNCTION bool all_zero(T const& x) {
  if constexpr (requires { x.derivative; }) {
    bool zero = all_zero(x.value);
    for (int k = 0; k < T::directions; ++k) zero = zero && all_zero(x.derivative[k]);
    return zero;
  } else {
    return x == T(0);
  }
}

}  // namespace coir::cosmology::detail
