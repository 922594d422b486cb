#pragma once

#include <coir/core/kokkos.hpp>

namespace coir::cosmology::detail {

/// The polynomial of degree 5 with given values f, slopes g and second derivatives c at 0 and h.
/// \param s  the place over h, in [0, 1]
template <class T>
KOKKOS_FUNCTION T quintic(T const& s, double h, T const& f0, T const& g0, T const& c0, T const& f1,
                          T const& g1, T const& c1) {
  T const slope = h * g0, curve = (h * h / 2) * c0;
  T const rise = f1 - f0 - slope - curve;
  T const climb = h * g1 - slope - 2 * curve;
  T const bend = (h * h / 2) * c1 - curve;
  return f0 + s * (slope + s * (curve + s * ((10 * rise - 4 * climb + bend) +
                                             s * ((7 * climb - 15 * rise - 2 * bend) +
                                                  s * (6 * rise - 3 * climb + bend)))));
}

}  // namespace coir::cosmology::detail
