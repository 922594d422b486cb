#pragma once

/// \file
/// Arrays that kernels read shifted periodically, where they are: what `roll` is before it is
/// stored.

#include <coir/array/fold.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

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

/// An array in memory whose element c is read at c - shift, periodically.
template <class T, int Outer>
struct RolledKernel {
  using Value = std::remove_const_t<T>;
  using Row = typename SliceKernel<T, Outer>::Row;
  static constexpr std::size_t scratch_bytes = scratch_for<Value>;
  SliceKernel<T, Outer> slice;
  bool is_rolled = false;
  std::int64_t shift[Outer + 1] = {};  // at least 0 and below the extent
  std::int64_t extent[Outer + 1] = {};

  bool direct() const { return slice.direct() && shift[Outer] == 0; }
  std::int64_t contiguous_until(std::int64_t first, std::int64_t end) const {
    if (slice.step != 1) return first;
    return first < shift[Outer] ? std::min(end, shift[Outer]) : end;
  }

  template <bool Direct = false, class S>
  Row row(Place<Outer> const& at, std::int64_t first, std::int64_t count, S& scratch) const {
    if (!is_rolled) return slice.template row<Direct>(at, first, count, scratch);
    Place<Outer> from;
    for (int d = 0; d < Outer; ++d) from.index[d] = source(at.index[d], d);
    std::int64_t const begin = source(first, Outer), to_the_end = extent[Outer] - begin;
    if constexpr (!Direct) {
      if (count > to_the_end) {
        Value* const gathered = scratch.template take<Value>();
        if (slice.step == 1) {
          T* const start = slice.start(from);
          std::copy_n(start, count - to_the_end, std::copy_n(start + begin, to_the_end, gathered));
        } else {
          slice.gather(from, begin, to_the_end, gathered);
          slice.gather(from, 0, count - to_the_end, gathered + to_the_end);
        }
        return SliceKernel<T, Outer>::as_row(gathered);
      }
    }
    return slice.template row<Direct>(from, begin, count, scratch);
  }

  template <class I>
  KOKKOS_FORCEINLINE_FUNCTION Value cell(Place<Outer, I> const& at, I column) const {
    if (!is_rolled) return slice.cell(at, column);
    Place<Outer, I> from;
    COIR_UNROLL
    for (int d = 0; d < Outer; ++d) from.index[d] = source(at.index[d], d);
    return slice.cell(from, source(column, Outer));
  }

  template <int Width>
  bool has_vectors() const {
    return !is_rolled && slice.template has_vectors<Width>();
  }
  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION Vector<Value, Width> vector(std::int64_t first) const {
    return slice.template vector<Width>(first);
  }

 private:
  template <class I>
  KOKKOS_FORCEINLINE_FUNCTION I source(I index, int d) const {
    I const before = index - static_cast<I>(shift[d]);
    return before < 0 ? before + static_cast<I>(extent[d]) : before;
  }
};

}  // namespace coir::detail
