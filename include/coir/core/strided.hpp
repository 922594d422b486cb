#pragma once

/// \file
/// Callers' Views of any strided layout: where their elements lie, copies between two Views, and
/// staging. Staging gives a kernel that needs C order a copy in that order.

#include <coir/core/concepts.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/overlap.hpp>
#include <coir/core/shape.hpp>

#include <Kokkos_Complex.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace coir {

/// A Kokkos View whose elements lie at fixed strides: LayoutRight, LayoutLeft or LayoutStride.
template <class V>
concept StridedView =
    Kokkos::is_view<V>::value && (std::same_as<typename V::array_layout, Kokkos::LayoutRight> ||
                                  std::same_as<typename V::array_layout, Kokkos::LayoutLeft> ||
                                  std::same_as<typename V::array_layout, Kokkos::LayoutStride>);

/// The address, extents and strides of a View's elements. Strides count elements. A Strided doesn't
/// keep the memory alive.
template <class T, int Rank>
struct Strided {
  T* data;
  std::array<std::int64_t, Rank> extents, strides;

  template <class Const>  // a template, or nvcc warns that T const needs none
    requires(!std::is_const_v<T> && std::same_as<Const, T const>)
  operator Strided<Const, Rank>() const {
    return {data, extents, strides};
  }

  std::int64_t size() const {
    std::int64_t product = 1;
    for (std::int64_t const extent : extents) product *= extent;
    return product;
  }
};

/// A View as extents and strides.
template <StridedView V>
auto strided(V const& view) {
  constexpr int rank = static_cast<int>(V::rank);
  Strided<typename V::value_type, rank> result{view.data(), {}, {}};
  for (int d = 0; d < rank; ++d) {
    result.extents[d] = static_cast<std::int64_t>(view.extent(d));
    result.strides[d] = static_cast<std::int64_t>(view.stride(d));
  }
  return result;
}

/// Whether the address ranges of two Views overlap, so that writing to one may change the other.
template <class T, int A, class S, int B>
bool share_memory(Strided<T, A> const& a, Strided<S, B> const& b) {
  auto const range = [](auto const& at) {
    return byte_range(at.data, at.extents, at.strides, sizeof(*at.data));
  };
  return a.size() > 0 && b.size() > 0 && range(a).overlaps(range(b));
}

/// The elements with their axes permuted: axis d of the result is axis permutation[d] of the view.
template <class T, int Rank, std::size_t Size>
Strided<T, Rank> permuted(Strided<T, Rank> const& view, std::array<int, Size> const& permutation) {
  static_assert(Size == Rank);
  Strided<T, Rank> result{view.data, {}, {}};
  for (int d = 0; d < Rank; ++d) {
    result.extents[d] = view.extents[permutation[d]];
    result.strides[d] = view.strides[permutation[d]];
  }
  return result;
}

/// The permutation of axes for which permuted() gives C order, possibly with gaps.
template <class T, int Rank>
std::array<int, Rank> memory_order(Strided<T, Rank> const& view) {
  return memory_order(view.extents, view.strides);
}

/// Whether the elements lie one after the other with the last index fastest.
template <class T, int Rank>
bool is_c_order(Strided<T, Rank> const& view) {
  return is_c_order(view.extents, view.strides);
}

namespace detail {

/// The kernel of copy_strided() for four axes. The last one has the target's smallest stride. A box
/// has three indices at most: the body loops over the first axis.
template <class T>
struct CopyStrided {
  T const* from;
  T* to;
  std::int64_t from_stride[4], to_stride[4];
  std::int64_t within;  ///< extent of the first axis

  CopyStrided(Strided<T const, 4> const& source, Strided<T, 4> const& target)
      : from(source.data), to(target.data), within(target.extents[0]) {
    for (int d = 0; d < 4; ++d) {
      from_stride[d] = source.strides[d];
      to_stride[d] = target.strides[d];
    }
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    T const* const source = from + (i * from_stride[1] + j * from_stride[2] + k * from_stride[3]);
    T* const target = to + (i * to_stride[1] + j * to_stride[2] + k * to_stride[3]);
    for (std::int64_t l = 0; l < within; ++l) target[l * to_stride[0]] = source[l * from_stride[0]];
  }

  void stretch(std::int64_t i, std::int64_t j, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t l = 0; l < within; ++l)
      copy_row(from + (l * from_stride[0] + i * from_stride[1] + j * from_stride[2] +
                       begin * from_stride[3]),
               to + (l * to_stride[0] + i * to_stride[1] + j * to_stride[2] + begin * to_stride[3]),
               end - begin);
  }

 private:
  void copy_row(T const* source, T* target, std::int64_t count) const {
    std::int64_t const source_step = from_stride[3], target_step = to_stride[3];
    if (source_step == 1 && target_step == 1) {
      std::copy_n(source, count, target);
      return;
    }
    COIR_INDEPENDENT_ITERATIONS
    for (std::int64_t c = 0; c < count; ++c) target[c * target_step] = source[c * source_step];
  }
};

template <class Exec, class T>
void copy_strided(Exec const& exec, Strided<T const, 4> const& from, Strided<T, 4> const& to) {
  auto permutation = memory_order(to);
  // The body may loop over any axis but the last: the shortest is taken.
  int shortest = 0;
  for (int d = 1; d < 3; ++d)
    if (to.extents[permutation[d]] < to.extents[permutation[shortest]]) shortest = d;
  auto const first = permutation.begin();
  std::rotate(first, first + shortest, first + shortest + 1);
  auto const target = permuted(to, permutation);
  auto const& n = target.extents;
  if (target.size() > 0)
    for_each("coir::core::strided/copy", exec, box({n[1], n[2], n[3]}),
             CopyStrided<T>(permuted(from, permutation), target));
}

// Compiled once, in the library, for its spaces and usual elements.
#define COIR_COPY_STRIDED(keyword, Exec, T)                                            \
  keyword template void copy_strided<Exec, T>(Exec const&, Strided<T const, 4> const&, \
                                              Strided<T, 4> const&)
COIR_COPY_STRIDED(extern, Kokkos::DefaultHostExecutionSpace, float);
COIR_COPY_STRIDED(extern, Kokkos::DefaultHostExecutionSpace, double);
COIR_COPY_STRIDED(extern, Kokkos::DefaultHostExecutionSpace, Kokkos::complex<float>);
COIR_COPY_STRIDED(extern, Kokkos::DefaultHostExecutionSpace, Kokkos::complex<double>);
COIR_COPY_STRIDED(extern, Kokkos::DefaultExecutionSpace, float);
COIR_COPY_STRIDED(extern, Kokkos::DefaultExecutionSpace, double);
COIR_COPY_STRIDED(extern, Kokkos::DefaultExecutionSpace, Kokkos::complex<float>);
COIR_COPY_STRIDED(extern, Kokkos::DefaultExecutionSpace, Kokkos::complex<double>);

/// The elements with axes of extent 1 in front, so that there are four axes.
template <class T, int Rank>
Strided<T, 4> with_four_axes(Strided<T, Rank> const& view) {
  Strided<T, 4> result{view.data, {1, 1, 1, 1}, {}};
  std::int64_t span = 0;
  for (int d = 0; d < Rank; ++d) {
    result.extents[4 - Rank + d] = view.extents[d];
    result.strides[4 - Rank + d] = view.strides[d];
    span = std::max(span, view.extents[d] * view.strides[d]);
  }
  for (int d = 0; d < 4 - Rank; ++d) result.strides[d] = span;  // slowest
  return result;
}

}  // namespace detail

/// The elements at one index of the first axis.
template <class T, int Rank>
  requires(Rank >= 1)
Strided<T, Rank - 1> slab(Strided<T, Rank> const& view, std::int64_t index) {
  Strided<T, Rank - 1> result{view.data + index * view.strides[0], {}, {}};
  for (int d = 1; d < Rank; ++d) {
    result.extents[d - 1] = view.extents[d];
    result.strides[d - 1] = view.strides[d];
  }
  return result;
}

/// Copies elements to others of the same extents, which must not overlap them. Without a fence. Up
/// to four axes are one kernel; beyond that there is one for each index of the axes before the last
/// four.
template <ExecutionSpace Exec, class T, int Rank>
  requires(Rank >= 1)
void copy_strided(Exec const& exec, Strided<T const, Rank> const& from,
                  Strided<T, Rank> const& to) {
  if constexpr (Rank <= 4)
    detail::copy_strided<Exec, T>(exec, detail::with_four_axes(from), detail::with_four_axes(to));
  else
    for (std::int64_t i = 0; i < to.extents[0]; ++i)
      copy_strided<Exec, T, Rank - 1>(exec, slab(from, i), slab(to, i));
}

/// How a kernel accesses its elements.
enum class Access { read, write, both };

/// Gives a kernel a caller's elements: in place if the kernel takes their strides, otherwise as a
/// copy in C order without gaps.
///
/// \tparam T  const if the kernel only reads
template <class Exec, class T, int Rank>
class Staged {
 public:
  /// \param exec     where the kernel and the copies run; without a fence
  /// \param suits    whether the kernel takes the caller's strides
  /// \param access   `read` and `both`: a copy begins with the caller's elements; `write` and
  ///   `both`: finish() copies it back
  /// \param what     the copy, for messages: "a copy of the mesh in C order"
  /// \throws ResourceError if the copy doesn't fit into the free memory
  Staged(Exec const& exec, Strided<T, Rank> const& callers, bool suits, Access access,
         std::string_view what)
      : exec_(exec), callers_(callers), elements_(callers), access_(access) {
    if (suits || callers.size() == 0) return;
    using Memory = typename Exec::memory_space;
    expects_memory<Memory>(callers.size() * static_cast<std::int64_t>(sizeof(T)),
                           std::string(what));
    copy_ = Copy(Kokkos::view_alloc("coir::core::strided/staged", Kokkos::WithoutInitializing),
                 static_cast<std::size_t>(callers.size()));
    elements_ = {copy_.data(), callers.extents, c_strides(callers.extents)};
    if (access != Access::write)
      copy_strided<Exec, Value, Rank>(exec, callers,
                                      {copy_.data(), elements_.extents, elements_.strides});
  }

  bool is_copy() const { return elements_.data != callers_.data; }

  /// The elements for the kernel, valid while this object and the caller's View live.
  Strided<T, Rank> const& elements() const { return elements_; }

  /// Copies the elements of a copy back to the caller's, unless the kernel only reads.
  void finish() const {
    if constexpr (!std::is_const_v<T>)
      if (is_copy() && access_ != Access::read)
        copy_strided<Exec, Value, Rank>(exec_, elements_, callers_);
  }

 private:
  using Value = std::remove_const_t<T>;
  using Copy = Kokkos::View<Value*, typename Exec::memory_space>;
  Exec exec_;
  Strided<T, Rank> callers_, elements_;
  Access access_;
  Copy copy_;
};

}  // namespace coir
