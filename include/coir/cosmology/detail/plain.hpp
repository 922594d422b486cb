#pragma once

/// \file
/// What this module asks of its numbers beyond arithmetic: a look at their value. They are float, double
/// or dual numbers of these, which this file knows by their member `value` alone.

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
