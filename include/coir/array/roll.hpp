#pragma once

/// \file
/// Arrays that statements read shifted periodically, where they are.

#include <coir/array/axes.hpp>
#include <coir/array/fold.hpp>
#include <coir/array/slices.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace coir {

namespace detail {

/// Stands beside a rolled array among an expression's leaves. It has no elements of its own. A Fold
/// keeps all axes apart because of it. A statement that writes into the array's memory reads a
/// copy.
template <class Slice>
struct ReadElsewhere {
  Slice const& slice;
};

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

  explicit RolledKernel(SliceKernel<T, Outer> const& elements) : slice(elements) {}
  /// \param fold  keeps all axes apart, because it has seen ReadElsewhere
  template <std::size_t Rank>
  RolledKernel(SliceKernel<T, Outer> const& elements, std::array<std::int64_t, Rank> const& by,
               Fold<Outer + 1> const& fold)
      : slice(elements), is_rolled(by != std::array<std::int64_t, Rank>{}) {
    std::copy(by.begin(), by.end(), shift + Outer + 1 - Rank);
    std::copy(fold.extents().begin(), fold.extents().end(), extent);
  }

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

}  // namespace detail

/// The expression that roll() returns: element i is element i - shift of a slice, periodically.
template <class T, int Rank, class Space>
class Rolled : public ExpressionBase {
 public:
  using value_type = T;
  using space = Space;
  static constexpr int rank = Rank;

  /// 0 <= shift[d] < max(1, extent).
  Rolled(Slice<T const, Rank, Space> const& slice, Shape<Rank> const& shift)
      : slice_(slice), shift_(shift) {}

  Shape<Rank> const& shape() const { return slice_.shape(); }
  std::int64_t extent(int axis) const { return slice_.extent(axis); }
  std::int64_t size() const { return slice_.size(); }

  /// A slice or an element of the rolled array, whose elements are stored for it.
  ///
  /// \throws PreconditionError if an index or bound is outside of its axis
  template <Index... I>
    requires(detail::axes_indexed<I...> <= Rank) && (sizeof...(I) > 0)
  auto operator()(I... indices) const {
    return elements_of(*this)(indices...);
  }

  template <class Visit>
  void visit_leaves(Visit const& visit) const {
    slice_.visit_leaves(visit);
    visit(detail::ReadElsewhere{slice_});
  }

  template <int Target>
  auto kernel(detail::Fold<Target> const& fold) const {
    return detail::RolledKernel<T const, Target - 1>(slice_.kernel(fold), shift_, fold);
  }

 private:
  Slice<T const, Rank, Space> slice_;
  Shape<Rank> shift_;
};

namespace detail {

/// How far each axis is shifted if axes[k] is shifted by shifts[k]: at least 0 and below the
/// extent.
template <class X, std::size_t Count>
Shape<rank_of<X>> shift_of_axes(X const& x, std::array<std::int64_t, Count> const& shifts,
                                std::array<int, Count> const& axes) {
  Shape<rank_of<X>> shift{};
  for (std::size_t k = 0; k < Count; ++k) {
    int const d = checked_axis(x, axes[k]);
    std::int64_t const n = std::max<std::int64_t>(x.shape()[d], 1);
    shift[d] = ((shift[d] + shifts[k] % n) % n + n) % n;
  }
  return shift;
}

}  // namespace detail

/// Elements shifted by shifts[k] along axes[k], periodically: NumPy's roll, as an expression. A
/// statement reads the array where it is: `u = u + roll(u, 1) + roll(u, -1)` stores no rolled
/// array. An axis that is named twice is shifted by both.
///
/// \throws PreconditionError if there is no such axis
template <Expression X, std::size_t Count>
auto roll(X const& x, std::array<std::int64_t, Count> const& shifts,
          std::array<int, Count> const& axes) {
  auto const slice = elements_of(x).as_operand();
  return Rolled<value_t<X>, rank_of<X>, typename decltype(slice)::space>(
      slice, detail::shift_of_axes(slice, shifts, axes));
}
template <Expression X, std::size_t Count>
auto roll(X const& x, std::int64_t const (&shifts)[Count], int const (&axes)[Count]) {
  return roll(x, std::to_array(shifts), std::to_array(axes));
}

/// Elements shifted along one axis, periodically: NumPy's roll, as an expression.
///
/// \throws PreconditionError if there is no such axis
template <Expression X, std::integral Shift>
auto roll(X const& x, Shift shift, int axis = 0) {
  return roll(x, std::array{static_cast<std::int64_t>(shift)}, std::array{axis});
}

}  // namespace coir
