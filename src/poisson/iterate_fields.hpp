#pragma once

/// coir::poisson::iterate on row-major Views whose extents are checked.

#include <coir/poisson/iterate.hpp>

#include <cstdint>

namespace coir::poisson::detail {

template <class Exec, class T, int Rank, class Sweeper>
Result iterate_fields(Exec const& exec, RowMajorView<Exec, T const, Rank> const& b,
                      RowMajorView<Exec, T, Rank> const& u, Sweeper& sweeper,
                      IterationLimits const& limits) {
  Sweeps const sweeps{[&](std::int64_t count) { sweeper.advance(count); }, [&] { exec.fence(); },
                      [&] { return residual_norm<Exec, T, Rank>(exec, b, sweeper.current()); }};
  Result const result = iterate(sweeps, source_norm<Exec, T, Rank>(exec, b, u),
                                static_cast<std::int64_t>(b.size()), limits);
  sweeper.finish();
  exec.fence();
  return result;
}

}  // namespace coir::poisson::detail
