#pragma once

/// \file
/// Which axes a Fold joins where a statement reads arrays shifted.

#include <coir/array/fold.hpp>

#include <cstdint>

namespace coir::detail {

/// Strides of no array. A Fold that has seen them doesn't join an axis d to the axis before it
/// where moved[d] isn't 0.
template <int Rank>
Strides<Rank> strides_apart(Shape<Rank> const& shape, Strides<Rank> const& moved) {
  Strides<Rank> strides;
  std::int64_t stride = 1;
  for (int d = Rank - 1; d >= 0; --d) {
    strides[d] = stride;
    stride = stride * shape[d] + (moved[d] != 0 ? 1 : 0);
  }
  return strides;
}

/// Calls visit(position, axis, inner) for each axis: it is part of the joined axis at `position`,
/// along which its neighbours lie `inner` cells apart.
template <int Rank, class Visit>
void visit_joined(Fold<Rank> const& fold, Shape<Rank> const& shape, Visit const& visit) {
  Strides<Rank> numbers;
  for (int d = 0; d < Rank; ++d) numbers[d] = d + 1;
  auto const innermost = fold.joined(numbers);
  for (int position = 0; position < Rank; ++position) {
    std::int64_t inner = 1;
    for (auto d = static_cast<int>(innermost[position]) - 1; d >= 0; --d) {
      visit(position, d, inner);
      inner *= shape[d];
      if (inner >= fold.extents()[position]) break;
    }
  }
}

}  // namespace coir::detail
