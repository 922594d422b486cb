#pragma once

/// \file
/// The plain value of a number, which may be a float, a double, or a dual number of these.

namespace coir::cosmology::detail {

/// The value of a number without its derivatives, to choose branches by and to put into messages.
template <class T>
double plain(T const& x) {
  if constexpr (requires { x.value; })
    return plain(x.value);
  else
    return static_cast<double>(x);
}

}  // namespace coir::cosmology::detail
