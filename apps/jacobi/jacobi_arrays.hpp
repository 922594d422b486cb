#pragma once

/// \file
/// Jacobi's method in one statement over slices of arrays, as one writes it in NumPy.

#include "settings.hpp"

#include <coir/array/array.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/range.hpp>
#include <coir/poisson/detail/iterate.hpp>
#include <coir/poisson/result.hpp>

#include <cstdint>

namespace coir::apps::jacobi {

/// Sweeps between a View and an array of its own. The order of summation is that of poisson::jacobi, and so
/// are the bits.
template <class T>
class ArraySweeper {
 public:
  /// \param b  [m, n] in
  /// \param u  [m+2, n+2] inout
  template <class Grid>
  ArraySweeper(Grid const& b, Grid const& u)
      : b_(b.data(), shape_of(b), nullptr), u_(u.data(), shape_of(u), nullptr), v_(u_) {}

  void advance(std::int64_t sweeps) {
    auto const in = range(1, -1), before = range(0, -2), after = range(2, end);
    for (; sweeps > 0; --sweeps) {
      v_(in, in) = T(0.25) * (u_(before, in) + u_(after, in) + u_(in, before) + u_(in, after) - b_);
      u_.swap(v_);
      odd_ = !odd_;
    }
  }

  auto current() const { return u_.view(); }

  /// Puts the result into the View.
  void finish() {
    if (!odd_) return;
    v_ = u_;
    u_.swap(v_);
    odd_ = false;
  }

 private:
  template <class Grid>
  static Shape<2> shape_of(Grid const& grid) {
    return {static_cast<std::int64_t>(grid.extent(0)), static_cast<std::int64_t>(grid.extent(1))};
  }

  Array<T, 2> b_, u_, v_;
  bool odd_ = false;  // u_ is the array, not the View
};

/// As poisson::jacobi by its plain scheme.
template <class Exec, class Grid>
poisson::Result jacobi_by_arrays(Exec const& exec, Grid const& b, Grid const& u,
                                 Limits const& limits, poisson::Monitor const& monitor) {
  ArraySweeper<typename Grid::value_type> sweeper(b, u);
  return poisson::detail::iterate(exec, b, u, sweeper,
                                  {limits.sweeps, limits.tolerance, 500, monitor});
}

}  // namespace coir::apps::jacobi
