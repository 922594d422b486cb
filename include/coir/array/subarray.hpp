#pragma once

/// \file
/// Parts of arrays inside kernels, as vmap passes them to its function, and functions of these
/// parts.

#include <coir/array/detail/carried.hpp>
#include <coir/array/element.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace coir {

/// Part of an array inside a kernel, seen through strides. It doesn't keep the array's memory
/// alive.
///
/// \tparam T     the element type; const if it can't be written
/// \tparam Rank  1 or more
template <class T, int Rank>
class Subarray {
 public:
  using element_type = T;
  using value_type = std::remove_const_t<T>;
  static constexpr int rank = Rank;

  /// \param shape, strides  one number for each axis
  KOKKOS_FORCEINLINE_FUNCTION Subarray(T* data, std::int64_t const* shape,
                                       std::int64_t const* strides)
      : data_(data) {
    COIR_UNROLL
    for (int d = 0; d < Rank; ++d) {
      shape_[d] = shape[d];
      strides_[d] = strides[d];
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION Subarray(T* data, std::int64_t size, std::int64_t stride)
    requires(Rank == 1)
      : data_(data), shape_{size}, strides_{stride} {}

  KOKKOS_FORCEINLINE_FUNCTION T* data() const { return data_; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t extent(int axis) const { return shape_[axis]; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t stride(int axis) const { return strides_[axis]; }

  /// The number of elements.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t size() const {
    std::int64_t product = shape_[0];
    COIR_UNROLL
    for (int d = 1; d < Rank; ++d) product *= shape_[d];
    return product;
  }

  /// Along the first axis: an element of a row, or a part with one axis less. Row i of a matrix is
  /// m[i].
  KOKKOS_FORCEINLINE_FUNCTION decltype(auto) operator[](std::int64_t i) const {
    if constexpr (Rank == 1)
      return static_cast<T&>(data_[i * strides_[0]]);
    else
      return Subarray<T, Rank - 1>(data_ + i * strides_[0], shape_ + 1, strides_ + 1);
  }

  /// The element of these indices, one for each axis: m(i, j).
  template <std::integral... I>
    requires(sizeof...(I) == Rank)
  KOKKOS_FORCEINLINE_FUNCTION T& operator()(I... indices) const {
    std::int64_t offset = 0;
    int axis = 0;
    ((offset += static_cast<std::int64_t>(indices) * strides_[axis++]), ...);
    return data_[offset];
  }

 private:
  T* data_;
  std::int64_t shape_[Rank];
  std::int64_t strides_[Rank];
};

/// A read-only row inside a kernel.
template <class T>
using Row = Subarray<T const, 1>;

/// A read-only matrix inside a kernel.
template <class T>
using Matrix = Subarray<T const, 2>;

/// The transpose of a matrix, in kernels: transpose(m)[j] is its column j.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Subarray<T, 2> transpose(Subarray<T, 2> const& x) {
  std::int64_t const shape[2] = {x.extent(1), x.extent(0)};
  std::int64_t const strides[2] = {x.stride(1), x.stride(0)};
  return {x.data(), shape, strides};
}

namespace detail {

/// Rows that hosts add in lanes.
inline constexpr std::int64_t lanes_of_row = 32;

/// The sum of term(0) to term(count - 1) for at least as many terms as there are lanes, on hosts:
/// lane l adds every 32nd term from term(l) on, which compilers vectorise.
template <class Sum, class Term>
KOKKOS_FUNCTION Sum sum_in_lanes(std::int64_t count, Term const& term) {
  constexpr std::int64_t lanes = lanes_of_row;
  Sum of_lane[lanes];
  for (std::int64_t l = 0; l < lanes; ++l) of_lane[l] = term(l);
  std::int64_t i = lanes;
  for (; i + lanes <= count; i += lanes)
    for (std::int64_t l = 0; l < lanes; ++l) of_lane[l] += term(i + l);
  for (std::int64_t width = lanes / 2; width > 0; width /= 2)
    for (std::int64_t l = 0; l < width; ++l) of_lane[l] += of_lane[l + width];
  Sum result = of_lane[0];
  for (; i < count; ++i) result += term(i);
  return result;
}

// Not inlined, so that compilers vectorise over the calls for short rows.
template <class Sum, class T>
KOKKOS_FUNCTION COIR_COMPILED_ONCE Sum long_sum(T const* x, std::int64_t step, std::int64_t count) {
  if (step == 1) return sum_in_lanes<Sum>(count, [=](std::int64_t i) { return x[i]; });
  return sum_in_lanes<Sum>(count, [=](std::int64_t i) { return x[i * step]; });
}
template <class Sum, class T>
KOKKOS_FUNCTION COIR_COMPILED_ONCE Sum long_dot(T const* x, std::int64_t x_step, T const* y,
                                                std::int64_t y_step, std::int64_t count) {
  if (x_step == 1 && y_step == 1)
    return sum_in_lanes<Sum>(count, [=](std::int64_t i) { return x[i] * y[i]; });
  return sum_in_lanes<Sum>(count, [=](std::int64_t i) { return x[i * x_step] * y[i * y_step]; });
}

}  // namespace detail

// Sums of a row of floating-point numbers add one term after the other on devices, and in 32 lanes
// on hosts. Sums over several axes add up the sums of the parts along the first axis.

/// The sum of all elements, in kernels; 0 if there are none. Integers and bool are added in 64
/// bits.
template <class T, int Rank>
KOKKOS_FUNCTION detail::carried_t<std::remove_const_t<T>> sum(Subarray<T, Rank> const& x) {
  using Sum = detail::carried_t<std::remove_const_t<T>>;
  if constexpr (Rank == 1 && std::is_floating_point_v<Sum>)
    if (!COIR_ON_DEVICE && x.extent(0) >= detail::lanes_of_row)
      return detail::long_sum<Sum, std::remove_const_t<T>>(x.data(), x.stride(0), x.extent(0));
  Sum result(0);
  for (std::int64_t i = 0; i < x.extent(0); ++i)
    if constexpr (Rank == 1)
      result = detail::wrapping_sum(result, static_cast<Sum>(x[i]));
    else
      result = detail::wrapping_sum(result, sum(x[i]));
  return result;
}

/// The sum of products of two parts of one shape, in kernels. Integers and bool are multiplied and
/// added in 64 bits.
template <class T, class U, int Rank>
  requires std::same_as<std::remove_const_t<T>, std::remove_const_t<U>>
KOKKOS_FUNCTION detail::carried_t<std::remove_const_t<T>> dot(Subarray<T, Rank> const& x,
                                                              Subarray<U, Rank> const& y) {
  using Sum = detail::carried_t<std::remove_const_t<T>>;
  if constexpr (Rank == 1 && std::is_floating_point_v<Sum>)
    if (!COIR_ON_DEVICE && x.extent(0) >= detail::lanes_of_row)
      return detail::long_dot<Sum, std::remove_const_t<T>>(x.data(), x.stride(0), y.data(),
                                                           y.stride(0), x.extent(0));
  Sum result(0);
  for (std::int64_t i = 0; i < x.extent(0); ++i)
    if constexpr (Rank != 1)
      result = detail::wrapping_sum(result, dot(x[i], y[i]));
    else if constexpr (std::is_integral_v<Sum>)
      result = detail::wrapping_sum(result, detail::MultiplyCarried{}(x[i], y[i]));
    else
      result += x[i] * y[i];
  return result;
}

/// The root of the sum of squares, in kernels: the Euclidean norm of a row, the Frobenius norm of a
/// matrix.
template <class T, int Rank>
  requires RealElement<std::remove_const_t<T>>
KOKKOS_FUNCTION std::remove_const_t<T> norm(Subarray<T, Rank> const& x) {
  return math::sqrt(dot(x, x));
}

/// The smallest element, or NaN if there is one, in kernels; there must be an element.
template <class T, int Rank>
KOKKOS_FUNCTION std::remove_const_t<T> min(Subarray<T, Rank> const& x) {
  if constexpr (Rank == 1) {
    std::remove_const_t<T> result = x[0];
    for (std::int64_t i = 1; i < x.extent(0); ++i)
      if (x[i] < result || x[i] != x[i]) result = x[i];
    return result;
  } else {
    auto result = min(x[0]);
    for (std::int64_t i = 1; i < x.extent(0); ++i) {
      auto const next = min(x[i]);
      if (next < result || next != next) result = next;
    }
    return result;
  }
}

/// The largest element, or NaN if there is one, in kernels; there must be an element.
template <class T, int Rank>
KOKKOS_FUNCTION std::remove_const_t<T> max(Subarray<T, Rank> const& x) {
  if constexpr (Rank == 1) {
    std::remove_const_t<T> result = x[0];
    for (std::int64_t i = 1; i < x.extent(0); ++i)
      if (x[i] > result || x[i] != x[i]) result = x[i];
    return result;
  } else {
    auto result = max(x[0]);
    for (std::int64_t i = 1; i < x.extent(0); ++i) {
      auto const next = max(x[i]);
      if (next > result || next != next) result = next;
    }
    return result;
  }
}

}  // namespace coir
