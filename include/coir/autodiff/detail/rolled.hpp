#pragma once

/// \file
/// Which axes of shifted arrays a Fold joins.

#include <coir/array/fold.hpp>

#include <cstdint>

namespace coir::detail {

/// Stands beside an array among an expression's leaves. It has no elements of its own. A Fold
/// doesn't join a shifted axis to the axis before it, because of this leaf.
template <int Rank>
class KeepsShiftedApart {
 public:
  using value_type = char;  // so that no elements seem to lie behind the array's
  static constexpr int rank = Rank;

  KeepsShiftedApart(void const* data, Shape<Rank> const& shape, Strides<Rank> const& shift)
      : data_(data), shape_(shape) {
    std::int64_t stride = 1;
    for (int d = Rank - 1; d >= 0; --d) {
      strides_[d] = stride;
      stride = stride * shape[d] + (shift[d] != 0 ? 1 : 0);
    }
  }

  void const* data() const { return data_; }
  Shape<Rank> const& shape() const { return shape_; }
  Strides<Rank> const& strides() const { return strides_; }

 private:
  void const* data_;
  Shape<Rank> shape_;
  Strides<Rank> strides_;
};

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
