#pragma once

/// \file
/// scipy.fft's sine and cosine transforms of arrays, with its names and scaling. Plans come from
/// the cache. TrigonometricPlan on Views has a kind for each axis, and takes no further pass for a
/// scale.
///
/// As in SciPy, float gives float, and integers become double. Programs that include this header
/// link coir::fft beside coir::array.

#include <coir/array/fft.hpp>
#include <coir/fft/trigonometric.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

namespace coir::fft {

/// How a transform and its inverse are scaled. S is logical_size(): 2 n, but 2 (n - 1) for cosines
/// and 2 (n + 1) for sines of type 1.
enum class Norm {
  backward,  ///< the inverse one is divided by S
  ortho,     ///< both are divided by sqrt(S); their matrices are orthogonal
  forward,   ///< the forward one is divided by S
};

/// What transforms along one axis take beside an array.
struct TrigonometricOptions {
  int type = 2;                ///< 1 to 4
  Norm norm = Norm::backward;  ///< see there
  int axis = -1;               ///< negative: from the last one on
};

/// What transforms along all axes take beside an array.
struct AllAxesOptions {
  int type = 2;                ///< 1 to 4
  Norm norm = Norm::backward;  ///< see there
};

namespace detail {

/// Factors along one axis: `inside`, times `first` and `last` at its ends.
struct Ends {
  double inside = 1, first = 1, last = 1;

  bool are_ones() const { return inside == 1 && first == 1 && last == 1; }
  friend Ends operator*(Ends const& a, Ends const& b) {
    return {a.inside * b.inside, a.first * b.first, a.last * b.last};
  }
};

/// A transform along one axis with factors before and after it.
struct ScaledTransform {
  Trigonometric kind;
  int axis;  ///< from 0 on
  Ends before = {}, after = {};

  /// The transform whose matrix is the transposed one. Types 2 and 3 are each other's, but for the
  /// number that one of them counts half. Cosines of type 1 count both ends half.
  ScaledTransform transposed() const {
    Ends first = after, last = before;
    switch (kind) {
      case Trigonometric::dct1:
        first = first * Ends{1, 2, 2};
        last = last * Ends{1, 0.5, 0.5};
        break;
      case Trigonometric::dct2: first = first * Ends{1, 2, 1}; break;
      case Trigonometric::dct3: last = last * Ends{1, 0.5, 1}; break;
      case Trigonometric::dst2: first = first * Ends{1, 1, 2}; break;
      case Trigonometric::dst3: last = last * Ends{1, 1, 0.5}; break;
      default: break;
    }
    return {inverse_of(kind), axis, first, last};
  }
};

template <class T>
struct EndFactors {
  int axis;
  std::int64_t n;
  T inside, first, last;
  template <class... I>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(I... indices) const {
    std::int64_t const at[] = {static_cast<std::int64_t>(indices)...};
    T value = inside;
    if (at[axis] == 0) value *= first;
    if (at[axis] == n - 1) value *= last;
    return value;
  }
};

template <class T, int Rank, class Space>
void multiply_ends(Array<T, Rank, Space>& x, Ends const& ends, int axis) {
  if (ends.are_ones()) return;
  Shape<Rank> shape;
  shape.fill(1);
  shape[static_cast<std::size_t>(axis)] = x.extent(axis);
  x *= from_function<Space>(shape,
                            EndFactors<T>{axis, x.extent(axis), static_cast<T>(ends.inside),
                                          static_cast<T>(ends.first), static_cast<T>(ends.last)});
}

/// An overload for arguments of value_and_grad is in coir/autodiff/fft.hpp. Calls find it by the
/// namespace of the second argument.
template <class E>
auto trigonometric(E const& x, ScaledTransform const& transform) {
  if constexpr (transformed<E>()) {
    using T = Precision<E>;
    using Space = space_like<E>;
    using A = Array<T, rank_of<E>, Space>;
    auto const exec = fft_instance<Space>();
    int const axis = transform.axis;
    std::int64_t const n = x.shape()[static_cast<std::size_t>(axis)];
    A result(x.shape());
    if (result.size() == 0) return result;
    std::int64_t before = 1;
    for (int d = 0; d < axis; ++d) before *= result.extent(d);
    Shape<2> const shape{n, result.size() / n / before};
    TrigonometricPlan<typename Space::execution_space, T, 2> const plan(
        exec, shape, {transform.kind, Trigonometric::none}, before);
    auto const run = [&](T const* from) {
      run_transform<Space>(
          [plan, in = plan_view<Space>(from, before, shape),
           out = plan_view<Space>(result.data(), before, shape)] { plan.run(in, out); });
    };
    if (transform.before.are_ones()) {
      run(as_array<T>(x).data());
    } else {
      A weighted(x);
      multiply_ends(weighted, transform.before, axis);
      run(weighted.data());
    }
    multiply_ends(result, transform.after, axis);
    return result;
  } else {
    return operand(x);
  }
}

/// The transform that SciPy's options name.
template <std::size_t Rank>
ScaledTransform scaled_transform(std::array<std::int64_t, Rank> const& shape, bool sine,
                                 bool forward, int type, Norm norm, int axis) {
  constexpr int rank = static_cast<int>(Rank);
  expects(type >= 1 && type <= 4, "sine and cosine transforms have the types 1 to 4", type);
  if (axis < -rank || axis >= rank)
    throw PreconditionError("axis " + std::to_string(axis) + " is none of an array of shape " +
                            in_words(shape));
  constexpr Trigonometric kinds[] = {Trigonometric::dct1, Trigonometric::dct2, Trigonometric::dct3,
                                     Trigonometric::dct4, Trigonometric::dst1, Trigonometric::dst2,
                                     Trigonometric::dst3, Trigonometric::dst4};
  Trigonometric const wanted = kinds[(sine ? 4 : 0) + type - 1];
  ScaledTransform result{forward ? wanted : inverse_of(wanted), axis < 0 ? axis + rank : axis};
  auto const n = shape[static_cast<std::size_t>(result.axis)];
  check_line(result.kind, n);
  auto const size = static_cast<double>(logical_size(result.kind, n));
  if (norm != Norm::ortho) {
    if ((norm == Norm::forward) == forward) result.after.inside = 1 / size;
    return result;
  }
  // In orthogonal matrices the cosine of a constant, and the sine that alternates, are divided by
  // sqrt(2).
  double const root = std::sqrt(2.);
  result.after.inside = 1 / std::sqrt(size);
  switch (result.kind) {
    case Trigonometric::dct1:
      result.before = {1, root, root};
      result.after.first = result.after.last = 1 / root;
      break;
    case Trigonometric::dct2: result.after.first = 1 / root; break;
    case Trigonometric::dct3: result.before.first = root; break;
    case Trigonometric::dst2: result.after.last = 1 / root; break;
    case Trigonometric::dst3: result.before.last = root; break;
    default: break;
  }
  return result;
}

/// Transforms along all axes from `axis` down to 0.
template <class E>
auto along_all(E const& x, bool sine, bool forward, AllAxesOptions const& options) {
  auto const along = [&](auto const& values, int axis) {
    return trigonometric(
        values, scaled_transform(x.shape(), sine, forward, options.type, options.norm, axis));
  };
  constexpr int last = rank_of<E> - 1;
  auto result = along(x, last);
  if constexpr (last > 0)
    for (int axis = last - 1; axis >= 0; --axis) result = along(result, axis);
  return result;
}

}  // namespace detail

/// The cosine transform along one axis. SciPy's fft.dct.
///
///   type 1   x_0 + (-1)^k x_(n-1) + 2 sum_(0 < j < n-1) x_j cos(pi j k / (n-1))
///   type 2   2 sum_j x_j cos(pi (2j+1) k / 2n)
///   type 3   x_0 + 2 sum_(j > 0) x_j cos(pi j (2k+1) / 2n)
///   type 4   2 sum_j x_j cos(pi (2j+1) (2k+1) / 4n)
///
/// \throws PreconditionError if the axis is empty, if there is no such axis or type, if an axis of
///   type 1 has 1 number, or on devices while record() records, as all transforms
template <RealField E>
auto dct(E const& x, TrigonometricOptions const& options = {}) {
  return trigonometric(x, detail::scaled_transform(x.shape(), false, true, options.type,
                                                   options.norm, options.axis));
}

/// The inverse of dct with the same options. SciPy's fft.idct.
template <RealField E>
auto idct(E const& x, TrigonometricOptions const& options = {}) {
  return trigonometric(x, detail::scaled_transform(x.shape(), false, false, options.type,
                                                   options.norm, options.axis));
}

/// The sine transform along one axis. SciPy's fft.dst.
///
///   type 1   2 sum_j x_j sin(pi (j+1) (k+1) / (n+1))
///   type 2   2 sum_j x_j sin(pi (2j+1) (k+1) / 2n)
///   type 3   (-1)^k x_(n-1) + 2 sum_(j < n-1) x_j sin(pi (j+1) (2k+1) / 2n)
///   type 4   2 sum_j x_j sin(pi (2j+1) (2k+1) / 4n)
///
/// \throws PreconditionError as dct
template <RealField E>
auto dst(E const& x, TrigonometricOptions const& options = {}) {
  return trigonometric(
      x, detail::scaled_transform(x.shape(), true, true, options.type, options.norm, options.axis));
}

/// The inverse of dst with the same options. SciPy's fft.idst.
template <RealField E>
auto idst(E const& x, TrigonometricOptions const& options = {}) {
  return trigonometric(x, detail::scaled_transform(x.shape(), true, false, options.type,
                                                   options.norm, options.axis));
}

/// dct along all axes. SciPy's fft.dctn.
template <RealField E>
auto dctn(E const& x, AllAxesOptions const& options = {}) {
  return detail::along_all(x, false, true, options);
}

/// The inverse of dctn. SciPy's fft.idctn.
template <RealField E>
auto idctn(E const& x, AllAxesOptions const& options = {}) {
  return detail::along_all(x, false, false, options);
}

/// dst along all axes. SciPy's fft.dstn.
template <RealField E>
auto dstn(E const& x, AllAxesOptions const& options = {}) {
  return detail::along_all(x, true, true, options);
}

/// The inverse of dstn. SciPy's fft.idstn.
template <RealField E>
auto idstn(E const& x, AllAxesOptions const& options = {}) {
  return detail::along_all(x, true, false, options);
}

}  // namespace coir::fft
