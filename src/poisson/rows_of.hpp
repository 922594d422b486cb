#pragma once

#include <coir/core/strided.hpp>
#include <coir/poisson/detail/callers_grid.hpp>

#include <cstdint>

namespace coir::poisson::detail {

/// Rows first to first + count - 1 of a RowMajorView.
template <class F>
F rows_of(F const& field, std::int64_t first, std::int64_t count) {
  auto at = strided(field);
  at.data += first * at.strides[0];
  at.extents[0] = count;
  return row_major_at<F>(at);
}

}  // namespace coir::poisson::detail
