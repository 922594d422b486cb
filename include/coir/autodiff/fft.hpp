#pragma once

/// \file
/// The functions of coir/array/fft.hpp and coir/array/trigonometric.hpp for arguments of functions
/// that value_and_grad differentiates. The derivatives are transforms again. Of a transform's
/// result, products with filters, conj, real, imag, abs and exp have derivatives. Programs that
/// include this header link coir::fft.

#include <coir/array/fft.hpp>
#include <coir/array/trigonometric.hpp>
#include <coir/autodiff/array_grad.hpp>
#include <coir/autodiff/custom_derivative.hpp>

#include <cstdint>
#include <type_traits>

namespace coir::fft {

namespace detail {

/// An element of the spectrum whose inverse transform is the adjoint of rfft, with cotangents c of
/// the half spectrum:
///
///   points c_k / 2,  but  points (c_k + conj(c_(-k))) / 2  on the planes k = 0 and n / 2 of the
///   last axis
///
/// The adjoint is x = Re sum_k c_k exp(i k x) over the half spectrum. The inverse transform divides
/// by the number of points, and adds the conjugate of each mode for the other half. On the two
/// planes both of these modes are in the half spectrum.
template <class T, int Rank, int Axes>
struct HalfOfHermitian {
  Kokkos::complex<T> const* half;  // in C order
  std::int64_t shape[Rank];
  std::int64_t n;  // real numbers along the last axis
  T points;

  template <class... I>
  KOKKOS_FORCEINLINE_FUNCTION Kokkos::complex<T> operator()(I... indices) const {
    std::int64_t const at[Rank] = {static_cast<std::int64_t>(indices)...};
    std::int64_t const k = at[Rank - 1];
    std::int64_t own = 0, mirrored = 0;
    COIR_UNROLL
    for (int d = 0; d < Rank; ++d) {
      bool const mirrors = d >= Rank - Axes && d < Rank - 1 && at[d] > 0;
      own = own * shape[d] + at[d];
      mirrored = mirrored * shape[d] + (mirrors ? shape[d] - at[d] : at[d]);
    }
    auto const value = half[own];
    auto const scale = points * T(0.5);
    if (k != 0 && 2 * k != n) return {value.real() * scale, value.imag() * scale};
    auto const other = half[mirrored];
    return {(value.real() + other.real()) * scale, (value.imag() - other.imag()) * scale};
  }
};

/// The number of times that an element of a row of the half spectrum counts in the inverse
/// transform, divided by the number of points.
template <class T>
struct CountInRow {
  std::int64_t n;
  T points;
  KOKKOS_FORCEINLINE_FUNCTION T operator()(std::int64_t k) const {
    return (k == 0 || 2 * k == n ? T(1) : T(2)) / points;
  }
};

/// The number of points of a transform along the last `Axes` axes.
template <int Axes, std::size_t Rank>
std::int64_t points_of(std::array<std::int64_t, Rank> const& shape) {
  std::int64_t points = 1;
  for (std::size_t d = Rank - Axes; d < Rank; ++d) points *= shape[d];
  return points;
}

template <class E>
constexpr void check_first_order() {
  static_assert(!coir::detail::carries_derivatives<value_t<E>>,
                "through transforms with complex numbers there are derivatives of the first order "
                "alone: no hessian and no hvp");
}

template <int Axes, DifferentiatedExpression E>
auto real_forward(LastAxes<Axes> axes, E const& x) {
  constexpr int rank = rank_of<E>;
  if constexpr (DualExpression<E>) {
    return trial_result<Kokkos::complex<Precision<E>>, rank>(x);
  } else {
    check_first_order<E>();
    auto const stored = evaluate(x);
    using X = std::remove_const_t<decltype(stored)>;
    using T = value_t<X>;
    using Space = typename X::space;
    return with_pull_back(
        stored, real_forward(axes, stored.values()),
        [stored, axes](Slice<Kokkos::complex<T> const, rank, Space> const& cotangent) {
          auto const& shape = stored.shape();
          std::int64_t const points = points_of<Axes>(shape);
          HalfOfHermitian<T, rank, Axes> half{
              cotangent.data(), {}, shape.back(), static_cast<T>(points)};
          for (int d = 0; d < rank; ++d) half.shape[d] = cotangent.shape()[d];
          auto const spectrum = from_function<Space>(cotangent.shape(), half);
          add_to_cotangent(stored, real_inverse(axes, spectrum, shape.back()));
        });
  }
}

template <int Axes, DifferentiatedExpression E>
auto real_inverse(LastAxes<Axes> axes, E const& spectrum, std::int64_t n) {
  constexpr int rank = rank_of<E>;
  if constexpr (DualExpression<E>) {
    return trial_result<Precision<E>, rank>(spectrum);
  } else {
    check_first_order<E>();
    auto const stored = evaluate(spectrum);
    using X = std::remove_const_t<decltype(stored)>;
    using T = real_t<value_t<X>>;
    using Space = typename X::space;
    return with_pull_back(stored, real_inverse(axes, stored.values(), n),
                          [stored, n, axes](Slice<T const, rank, Space> const& cotangent) {
                            std::int64_t const points = points_of<Axes>(cotangent.shape());
                            auto const counts =
                                from_function<Space>(Shape<1>{stored.shape().back()},
                                                     CountInRow<T>{n, static_cast<T>(points)});
                            auto const spectrum = real_forward(axes, cotangent);
                            if constexpr (is_complex<value_t<X>>)
                              add_to_cotangent(stored, spectrum * counts);
                            else
                              add_to_cotangent(stored, real(spectrum) * counts);
                          });
  }
}

template <int Axes, DifferentiatedExpression E>
auto complex_transform(LastAxes<Axes> axes, E const& x, bool forward) {
  constexpr int rank = rank_of<E>;
  if constexpr (DualExpression<E>) {
    return trial_result<Kokkos::complex<Precision<E>>, rank>(x);
  } else {
    check_first_order<E>();
    auto const stored = evaluate(x);
    using X = std::remove_const_t<decltype(stored)>;
    using T = real_t<value_t<X>>;
    using Space = typename X::space;
    return with_pull_back(
        stored, complex_transform(axes, stored.values(), forward),
        [stored, forward, axes](Slice<Kokkos::complex<T> const, rank, Space> const& cotangent) {
          T const points = static_cast<T>(points_of<Axes>(cotangent.shape()));
          auto const back = complex_transform(axes, cotangent, !forward);
          T const scale = forward ? points : T(1) / points;
          if constexpr (is_complex<value_t<X>>)
            add_to_cotangent(stored, back * scale);
          else
            add_to_cotangent(stored, real(back) * scale);
        });
  }
}

/// The adjoint is the transposed matrix, which is a transform, too.
template <DifferentiatedExpression E>
auto trigonometric(E const& x, ScaledTransform const& transform) {
  constexpr int rank = rank_of<E>;
  if constexpr (DualExpression<E>) {
    return trial_result<Precision<E>, rank>(x);
  } else {
    auto const stored = evaluate(x);
    using X = std::remove_const_t<decltype(stored)>;
    using T = value_t<X>;
    using Space = typename X::space;
    return with_pull_back(stored, trigonometric(stored.values(), transform),
                          [stored, transform](Slice<T const, rank, Space> const& cotangent) {
                            add_to_cotangent(stored,
                                             trigonometric(cotangent, transform.transposed()));
                          });
  }
}

// Of arrays of duals, which jvp makes: transforms are linear.

template <int Axes, ForwardExpression E>
auto real_forward(LastAxes<Axes> axes, E const& x) {
  return forward_linear(x, [&](auto const& part) { return real_forward(axes, part); });
}
template <int Axes, ForwardExpression E>
auto real_inverse(LastAxes<Axes> axes, E const& spectrum, std::int64_t n) {
  return forward_linear(spectrum, [&](auto const& part) { return real_inverse(axes, part, n); });
}
template <int Axes, ForwardExpression E>
auto complex_transform(LastAxes<Axes> axes, E const& x, bool forward) {
  return forward_linear(x,
                        [&](auto const& part) { return complex_transform(axes, part, forward); });
}
template <ForwardExpression E>
auto trigonometric(E const& x, ScaledTransform const& transform) {
  return forward_linear(x, [&](auto const& part) { return trigonometric(part, transform); });
}

}  // namespace detail

}  // namespace coir::fft
