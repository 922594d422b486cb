#pragma once

/// \file
/// The arguments and the result of vmap in its kernel, and the part of each that belongs to a call.

#include <coir/array/subarray.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/shape.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace coir::detail {

/// The size of an array of `Count` numbers: at least 1, because C++ has no empty arrays.
template <int Count>
inline constexpr int array_size = Count > 0 ? Count : 1;

/// The number of items of a function's result, if it is a short list: Kokkos::Array, Numbers,
/// std::array.
template <class R>
constexpr int count_items() {
  if constexpr (requires(R const& r) {
                  r[0];
                  std::tuple_size<R>::value;
                })
    return static_cast<int>(std::tuple_size<R>::value);
  else
    return 0;
}
template <class R>
inline constexpr int items_of = count_items<R>();
template <class T, std::size_t N>
inline constexpr int items_of<Kokkos::Array<T, N>> = static_cast<int>(N);

/// The element type and the axes of a function's result.
template <class R>
struct VmapResult {
  using type = R;
  static constexpr int rank = 0, size = 1;
  static void shape_to(std::int64_t*) {}
};
template <class R>
  requires(items_of<R> > 0)
struct VmapResult<R> {
  using Item = VmapResult<std::remove_cvref_t<decltype(std::declval<R const&>()[0])>>;
  using type = typename Item::type;
  static constexpr int rank = 1 + Item::rank, size = items_of<R> * Item::size;
  static void shape_to(std::int64_t* shape) {
    shape[0] = items_of<R>;
    Item::shape_to(shape + 1);
  }
};

/// A call: its number, and its index along the axis that each vmap of a nest maps over, the
/// outermost first.
template <int Levels>
struct VmapCall {
  std::int64_t number;
  std::int64_t index[Levels];
};

/// An argument that is the same number in every call.
template <class T>
struct VmapNumber {
  T value;
  template <int Levels>
  KOKKOS_FORCEINLINE_FUNCTION T at(VmapCall<Levels> const&) const {
    return value;
  }
};

/// An array of which each call reads or writes a part, with the axes that `Levels` vmaps have left.
///
/// \tparam T  const if it is read
template <class T, int Levels, int Rank>
struct VmapArray {
  T* data;
  std::int64_t steps[array_size<Levels>];  // to the next call's part, along each vmap's axis
  std::int64_t shape[array_size<Rank>];    // of a call's part
  std::int64_t strides[array_size<Rank>];

  /// The part of a call: a Subarray, or an element, as a value if it is read.
  KOKKOS_FORCEINLINE_FUNCTION decltype(auto) at(VmapCall<Levels> const& call) const {
    T* first = data;
    COIR_UNROLL
    for (int l = 0; l < Levels; ++l) first += call.index[l] * steps[l];
    if constexpr (Rank > 0)
      return Subarray<T, Rank>(first, shape, strides);
    else if constexpr (std::is_const_v<T>)
      return std::remove_const_t<T>(*first);
    else
      return static_cast<T&>(*first);
  }

  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION void write(VmapCall<Levels> const& call, R const& result) const {
    write_to(at(call), result);
  }

 private:
  template <class To, class R>
  KOKKOS_FORCEINLINE_FUNCTION static void write_to(To&& to, R const& result) {
    if constexpr (items_of<R> == 0) {
      to = result;
    } else {
      for (int c = 0; c < items_of<R>; ++c) write_to(to[c], result[c]);
    }
  }
};

/// A result in C order, where each call's part follows the one before.
template <class T>
struct VmapRows {
  T* data;

  template <int Levels, class R>
  KOKKOS_FORCEINLINE_FUNCTION void write(VmapCall<Levels> const& call, R const& result) const {
    write_to(data + call.number * VmapResult<R>::size, result);
  }

 private:
  template <class R>
  KOKKOS_FORCEINLINE_FUNCTION static void write_to(T* to, R const& result) {
    if constexpr (items_of<R> == 0) {
      *to = result;
    } else {
      for (int c = 0; c < items_of<R>; ++c) write_to(to + c * VmapResult<R>::Item::size, result[c]);
    }
  }
};

inline constexpr int of_number = -1;

/// The number of axes that an argument has left.
template <class X>
inline constexpr int vmap_rank = of_number;
template <class T, int Levels, int Rank>
inline constexpr int vmap_rank<VmapArray<T, Levels, Rank>> = Rank;

/// The array after one more vmap, which takes one of its axes if it maps over this argument.
template <bool Mapped, class T, int Levels, int Rank>
auto without_axis(VmapArray<T, Levels, Rank> const& x, int axis) {
  VmapArray<T, Levels + 1, Mapped ? Rank - 1 : Rank> result{x.data, {}, {}, {}};
  for (int l = 0; l < Levels; ++l) result.steps[l] = x.steps[l];
  for (int d = 0, to = 0; d < Rank; ++d) {
    if (Mapped && d == axis) {
      result.steps[Levels] = x.strides[d];
    } else {
      result.shape[to] = x.shape[d];
      result.strides[to++] = x.strides[d];
    }
  }
  return result;
}
template <bool Mapped, class T>
VmapNumber<T> without_axis(VmapNumber<T> const& x, int) {
  return x;
}

/// The array after the further vmaps of a nest, from number `Levels` on, have each taken an axis.
template <class T, int Levels, int Rank, std::size_t Count>
auto without_axes(VmapArray<T, Levels, Rank> const& x, std::array<int, Count> const& axes) {
  if constexpr (Levels == static_cast<int>(Count))
    return x;
  else
    return without_axes(without_axis<true>(x, axes[Levels]), axes);
}

/// The axis of argument number k that in_axes names, counted from the front.
template <bool Mapped, class X>
int checked_axis(X const& x, int axis, std::size_t k) {
  if constexpr (Mapped) {
    constexpr int rank = vmap_rank<X>;
    if (axis < -rank || axis >= rank)
      throw PreconditionError("vmap's in_axes has axis " + std::to_string(axis) + " for argument " +
                              std::to_string(k) + ", whose axes are " + std::to_string(-rank) +
                              " to " + std::to_string(rank - 1) + " of shape " +
                              shape_in_words({x.shape, std::size_t(rank)}) +
                              ": name one of them, or unmapped if every call is to get it whole");
    return axis < 0 ? axis + rank : axis;
  } else {
    return 0;
  }
}

/// An axis of a result of some axes, counted from the front.
inline std::size_t checked_out_axis(int axis, int rank) {
  if (axis < -rank || axis >= rank)
    throw PreconditionError("vmap's out_axes is " + std::to_string(axis) +
                            ", and the result's axes are " + std::to_string(-rank) + " to " +
                            std::to_string(rank - 1) + ": name one of them");
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

/// The length of the axis that is mapped; -1 if none is.
template <bool Mapped, class X>
std::int64_t length_along(X const& x, int axis) {
  if constexpr (Mapped)
    return x.shape[axis];
  else
    return -1;
}

/// The common length of all mapped axes; lengths of -1 are those of arguments that aren't mapped.
///
/// \throws PreconditionError naming the lengths if they differ
template <std::size_t Count>
std::int64_t common_length(std::array<std::int64_t, Count> const& lengths,
                           std::array<int, Count> const& axes) {
  std::int64_t const longest = *std::max_element(lengths.begin(), lengths.end());
  bool differ = false;
  for (std::size_t k = 0; k < Count; ++k)
    differ = differ || (lengths[k] >= 0 && lengths[k] != longest);
  if (!differ) return longest;
  std::string found, where;
  for (std::size_t k = 0; k < Count; ++k) {
    if (lengths[k] < 0) continue;
    found += (found.empty() ? "" : ", ") + std::to_string(lengths[k]);
    where += (where.empty() ? "axis " : ", axis ") + std::to_string(axes[k]) + " of argument " +
             std::to_string(k + 1);
  }
  throw PreconditionError("vmap maps over axes of one length, and these have " + found + " (" +
                          where +
                          "): make them equal, or name unmapped in in_axes what every call is to "
                          "get whole");
}

}  // namespace coir::detail
