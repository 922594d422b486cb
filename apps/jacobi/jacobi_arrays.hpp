#pragma once

/// \file
/// Jacobi's method in one statement over slices of arrays, as one writes it in NumPy.

#include "settings.hpp"

#include <coir/array/array.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/range.hpp>
#include <coir/array/record.hpp>
#include <coir/poisson/iterate.hpp>
#include <coir/poisson/result.hpp>

#include <cstdint>

namespace coir::apps::jacobi {

/// Sweeps between a View and an array of its own. The order of summation is that of
/// poisson::jacobi, and so are the bits.
template <class T, class Space>
class ArraySweeper {
 public:
  ArraySweeper(ArraySweeper const&) = delete;
  ArraySweeper& operator=(ArraySweeper const&) = delete;

  /// \param b  [m, n] in
  /// \param u  [m+2, n+2] inout
  template <class Grid>
  ArraySweeper(Grid const& b, Grid const& u)
      : b_(b.data(), shape_of(b), nullptr), u_(u.data(), shape_of(u), nullptr), v_(u_) {}

  void advance(std::int64_t sweeps) {
    pairs_.run(sweeps / 2);
    if (sweeps % 2 == 0) return;
    sweep(u_, v_);
    u_ = v_;
  }

  auto current() const { return u_.view(); }
  void finish() {}

 private:
  template <class Grid>
  static Shape<2> shape_of(Grid const& grid) {
    return {static_cast<std::int64_t>(grid.extent(0)), static_cast<std::int64_t>(grid.extent(1))};
  }

  void sweep(Array<T, 2, Space> const& from, Array<T, 2, Space>& to) const {
    auto const in = range(1, -1), before = range(0, -2), after = range(2, end);
    to(in, in) =
        T(0.25) * (from(before, in) + from(after, in) + from(in, before) + from(in, after) - b_);
  }

  Array<T, 2, Space> b_, u_, v_;
  Recorded<Space> const pairs_ = record<Space>([this] {
    sweep(u_, v_);
    sweep(v_, u_);
  });
};

/// Sweeps by statements of arrays until a limit is reached, like poisson::jacobi with its plain
/// scheme.
template <class Exec, class Grid>
poisson::Result jacobi_by_arrays(Exec const& exec, Grid const& b, Grid const& u,
                                 Limits const& limits, poisson::Monitor const& monitor) {
  ArraySweeper<typename Grid::value_type, typename Exec::memory_space> sweeper(b, u);
  return poisson::iterate(exec, b, u, sweeper, {limits.sweeps, limits.tolerance, 500, monitor});
}

}  // namespace coir::apps::jacobi
