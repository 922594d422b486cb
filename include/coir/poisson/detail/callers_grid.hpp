#pragma once

/// \file
/// A caller's Views as the one type of View that the solvers are compiled for.

#include <coir/core/concepts.hpp>
#include <coir/core/overlap.hpp>
#include <coir/core/strided.hpp>
#include <coir/core/views.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace coir::poisson {

namespace detail {

/// A row-major View that doesn't own its memory.
template <class Exec, class T, int Rank>
using RowMajorView = UnmanagedView<T, Rank, Kokkos::LayoutRight, typename Exec::memory_space>;

template <class V>
auto first_columns(V const& view, std::int64_t columns) {
  return Kokkos::subview(view, Kokkos::ALL, std::pair<std::int64_t, std::int64_t>(0, columns));
}

/// Whether a row-major View may have gaps between rows: in 2-D that depends on Kokkos' version, in
/// 3-D it may not.
template <class V, int Rank = static_cast<int>(V::rank)>
inline constexpr bool rows_may_have_gaps = false;
template <class V>
inline constexpr bool rows_may_have_gaps<V, 2> =
    std::is_convertible_v<decltype(first_columns(std::declval<V const&>(), 0)), V>;

/// Whether elements lie in memory as those of a RowMajorView do.
template <class F, class T, int Rank>
bool is_row_major(Strided<T, Rank> const& at) {
  if (is_c_order(at)) return true;
  return rows_may_have_gaps<F> && (at.extents[1] == 1 || at.strides[1] == 1) &&
         at.strides[0] > at.extents[1];
}

/// Elements as a RowMajorView; is_row_major() must hold.
template <class F, class T, int Rank>
F row_major_at(Strided<T, Rank> const& at) {
  auto const extent = [&](int d) { return static_cast<std::size_t>(at.extents[d]); };
  if constexpr (Rank == 3)
    return F(at.data, extent(0), extent(1), extent(2));
  else if constexpr (rows_may_have_gaps<F>)
    return first_columns(
        F(at.data, extent(0), static_cast<std::size_t>(std::max(at.strides[0], at.extents[1]))),
        at.extents[1]);
  else
    return F(at.data, extent(0), extent(1));
}

/// A caller's View as a RowMajorView with its axes in a given order: in the View's own memory if
/// its strides allow that, otherwise in a copy.
template <class Exec, class T, int Rank>
class CallersView {
  using Unmanaged = RowMajorView<Exec, T, Rank>;

 public:
  /// \param view   of T, or of the same number that isn't const
  /// \param apart  false if it shares memory with another View of the call: then it is copied
  /// \throws ResourceError if a copy is needed and doesn't fit into the free memory
  /// \throws PreconditionError if the View is to be written and two of its elements share a place
  ///   in memory
  template <class V>
  CallersView(Exec const& exec, V const& view, std::array<int, Rank> const& axes, Access access,
              bool apart = true)
      : staged_(exec, permuted(Strided<T, Rank>(strided(view)), axes), apart && stays(view, axes),
                access, "a copy of a field in C order") {
    if (access != Access::read) {
      auto const at = strided(view);
      expects_distinct_elements(at.extents, at.strides, "a field");
    }
    // A single row or column lies like its transpose. Where the axes are permuted, it must become
    // the transpose.
    if constexpr (converts<V>)
      if (!staged_.is_copy() && std::ranges::is_sorted(axes)) {
        view_ = view;
        return;
      }
    view_ = row_major_at<Unmanaged>(staged_.elements());
  }

  Unmanaged const& view() const { return view_; }

  /// Brings a copy's elements to the caller's View, without a fence.
  ///
  /// \return  whether there is a copy
  bool finish() const {
    staged_.finish();
    return staged_.is_copy();
  }

 private:
  template <class V>
  static constexpr bool converts = RowMajor<V> && std::is_convertible_v<V, Unmanaged>;

  template <class V>
  static bool stays(V const& view, std::array<int, Rank> const& axes) {
    if (converts<V> && std::ranges::is_sorted(axes)) return true;
    return is_row_major<Unmanaged>(permuted(strided(view), axes));
  }

  Staged<Exec, T, Rank> staged_;
  Unmanaged view_;
};

/// Checks the extents of a source and an unknown: that u is b with a one-cell ring around it.
void expects_ring(std::span<std::int64_t const> b, std::span<std::int64_t const> u);

/// Checks that a View has as many cells along each axis as the grid that a solver was made for.
///
/// \param name  the View's, for the message: "b"
/// \param grid  the grid, for the message: "the solver's grid"
void expects_extents(char const* name, std::span<std::int64_t const> found, char const* grid,
                     std::span<int const> expected);

/// A caller's source and unknown as RowMajorViews, with checked extents. Their axes are in the
/// order in which the unknown's lie in memory: if the first axis is contiguous, the transposed grid
/// is solved, which is the same problem.
///
/// \tparam Source, Unknown  float or double; const if it is only read
template <class Exec, class Source, class Unknown, int Rank>
class CallersGrid {
 public:
  /// \throws PreconditionError unless u is b with a ring, or if two elements of a View that is
  ///   written share a place
  /// \throws ResourceError     if a copy is needed and doesn't fit into the free memory
  template <class B, class U>
  CallersGrid(Exec const& exec, B const& b, U const& u)
      : exec_(exec),
        axes_(order_of(strided(b), strided(u))),
        source_(exec, b, axes_, std::is_const_v<Source> ? Access::read : Access::write,
                reads_only || !share_memory(strided(b), strided(u))),
        unknown_(exec, u, axes_, std::is_const_v<Unknown> ? Access::read : Access::both) {}

  RowMajorView<Exec, Source, Rank> const& source() const { return source_.view(); }
  RowMajorView<Exec, Unknown, Rank> const& unknown() const { return unknown_.view(); }

  /// Copies results to the caller's Views, if these have copies, and waits.
  void finish() const {
    bool brought = false;
    if constexpr (!std::is_const_v<Source>) brought = source_.finish();
    if constexpr (!std::is_const_v<Unknown>) brought = unknown_.finish() || brought;
    if (brought) exec_.fence();
  }

 private:
  static constexpr bool reads_only = std::is_const_v<Source> && std::is_const_v<Unknown>;

  template <class B, class U>
  static std::array<int, Rank> order_of(B const& b, U const& u) {
    expects_ring(b.extents, u.extents);
    return memory_order(u);
  }

  Exec exec_;
  std::array<int, Rank> axes_;
  CallersView<Exec, Source, Rank> source_;
  CallersView<Exec, Unknown, Rank> unknown_;
};

}  // namespace detail

/// A source and an unknown that fit together: Views of rank 2 or 3 with the same kind of number,
/// which kernels on Exec may touch, of any layout. If u's first axis is contiguous, as in Kokkos'
/// default layout on devices, solvers work on the transposed grid, at the same speed. A View is
/// copied if no axis has a stride of 1, or if rows or planes of a 3-D grid have gaps. b is also
/// copied if its layout differs from u's. The copy of u is copied back at the end.
template <class Exec, class B, class U>
concept SourceAndUnknown =
    ExecutionSpace<Exec> && (RealViewOfRank<B, 2> || RealViewOfRank<B, 3>) &&
    WritableRealViewOfRank<U, static_cast<int>(B::rank)> && SameValueType<B, U> && StridedView<B> &&
    StridedView<U> && CanAccess<Exec, B, U>;

}  // namespace coir::poisson
