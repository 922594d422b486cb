#pragma once

/// \file
/// numpy.fft's transforms in functions that value_and_grad differentiates; the derivatives are transforms again. Products
/// with filters, conj, real, imag, abs and exp of what they give have derivatives, too. Include it before the function that uses
/// them is defined.

#include <coir/autodiff/array_grad.hpp>
#include <coir/autodiff/custom_derivative.hpp>
#include <coir/fft/numpy.hpp>

#include <cstdint>
#include <type_traits>

namespace coir::fft {

namespace detail {

/// The adjoint of a real forward transform of cotangents c is x = Re sum_k c_k exp(i k x) over the half spectrum alone. As the inverse
/// of a half spectrum, which divides by the number of points and counts the conjugates of the other half, that is the inverse of
///
///   points c_k / 2,  but  points (c_k + conj(c_(-k))) / 2  on the planes k = 0 and n / 2 of the last axis,
///
/// whose conjugates are among themselves. This is such an element.
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

/// How often an element of a row of the half spectrum counts in the real transform back, over the number of points.
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

template <int Axes, class E>
auto traced_real_forward(E const& x) {
  constexpr int rank = rank_of<E>;
  if constexpr (DualExpression<E>) {
    return trial_result<Kokkos::complex<Precision<E>>, rank>(x);
  } else {
    auto const stored = evaluate(x);
    using X = std::remove_const_t<decltype(stored)>;
    using T = value_t<X>;
    using Space = typename X::space;
    return with_pull_back(stored, real_forward<Axes>(stored.values()),
                          [stored](Slice<Kokkos::complex<T> const, rank, Space> const& cotangent) {
                            auto const& shape = stored.shape();
                            std::int64_t const points = points_of<Axes>(shape);
                            HalfOfHermitian<T, rank, Axes> half{
                                cotangent.data(), {}, shape.back(), static_cast<T>(points)};
                            for (int d = 0; d < rank; ++d) half.shape[d] = cotangent.shape()[d];
                            auto const spectrum = from_function<Space>(cotangent.shape(), half);
                            add_to_cotangent(stored, real_inverse<Axes>(spectrum, shape.back()));
                          });
  }
}

template <int Axes, class E>
auto traced_real_inverse(E const& spectrum, std::int64_t n) {
  constexpr int rank = rank_of<E>;
  if constexpr (DualExpression<E>) {
    return trial_result<Precision<E>, rank>(spectrum);
  } else {
    auto const stored = evaluate(spectrum);
    using X = std::remove_const_t<decltype(stored)>;
    using T = real_t<value_t<X>>;
    using Space = typename X::space;
    return with_pull_back(stored, real_inverse<Axes>(stored.values(), n),
                          [stored, n](Slice<T const, rank, Space> const& cotangent) {
                            std::int64_t const points = points_of<Axes>(cotangent.shape());
                            auto const counts =
                                from_function<Space>(Shape<1>{stored.shape().back()},
                                                     CountInRow<T>{n, static_cast<T>(points)});
                            auto const spectrum = real_forward<Axes>(cotangent);
                            if constexpr (is_complex<value_t<X>>)
                              add_to_cotangent(stored, spectrum * counts);
                            else
                              add_to_cotangent(stored, real(spectrum) * counts);
                          });
  }
}

template <int Axes, class E>
auto traced_complex_transform(E const& x, bool forward) {
  constexpr int rank = rank_of<E>;
  if constexpr (DualExpression<E>) {
    return trial_result<Kokkos::complex<Precision<E>>, rank>(x);
  } else {
    auto const stored = evaluate(x);
    using X = std::remove_const_t<decltype(stored)>;
    using T = real_t<value_t<X>>;
    using Space = typename X::space;
    return with_pull_back(
        stored, complex_transform<Axes>(stored.values(), forward),
        [stored, forward](Slice<Kokkos::complex<T> const, rank, Space> const& cotangent) {
          T const points = static_cast<T>(points_of<Axes>(cotangent.shape()));
          auto const back = complex_transform<Axes>(cotangent, !forward);
          T const scale = forward ? points : T(1) / points;
          if constexpr (is_complex<value_t<X>>)
            add_to_cotangent(stored, back * scale);
          else
            add_to_cotangent(stored, real(back) * scale);
        });
  }
}

}  // namespace detail

/// A real expression of arguments of value_and_grad.
template <class E>
concept DifferentiatedRealField = RealField<E> && DifferentiatedExpression<E>;

/// Any expression of them.
template <class E>
concept DifferentiatedField = NumberField<E> && DifferentiatedExpression<E>;

// The functions of numpy.hpp, with the same names, arguments and errors.

template <DifferentiatedField E>
auto fft(E const& x) {
  return detail::traced_complex_transform<1>(x, true);
}
template <DifferentiatedField E>
auto ifft(E const& spectrum) {
  return detail::traced_complex_transform<1>(spectrum, false);
}
template <DifferentiatedField E>
  requires OfRankAtMost<E, 3>
auto fftn(E const& x) {
  return detail::traced_complex_transform<rank_of<E>>(x, true);
}
template <DifferentiatedField E>
  requires OfRankAtMost<E, 3>
auto ifftn(E const& spectrum) {
  return detail::traced_complex_transform<rank_of<E>>(spectrum, false);
}
template <DifferentiatedField E>
  requires OfRankAtLeast<E, 2>
auto fft2(E const& x) {
  return detail::traced_complex_transform<2>(x, true);
}
template <DifferentiatedField E>
  requires OfRankAtLeast<E, 2>
auto ifft2(E const& spectrum) {
  return detail::traced_complex_transform<2>(spectrum, false);
}

template <DifferentiatedRealField E>
auto rfft(E const& x) {
  return detail::traced_real_forward<1>(x);
}
template <DifferentiatedField E>
auto irfft(E const& spectrum, std::int64_t n) {
  return detail::traced_real_inverse<1>(spectrum, n);
}
template <DifferentiatedField E>
auto irfft(E const& spectrum) {
  return irfft(spectrum, 2 * (spectrum.shape().back() - 1));
}
template <DifferentiatedRealField E>
  requires OfRankAtMost<E, 3>
auto rfftn(E const& x) {
  return detail::traced_real_forward<rank_of<E>>(x);
}
template <DifferentiatedField E>
  requires OfRankAtMost<E, 3>
auto irfftn(E const& spectrum, std::int64_t n) {
  return detail::traced_real_inverse<rank_of<E>>(spectrum, n);
}
template <DifferentiatedField E>
  requires OfRankAtMost<E, 3>
auto irfftn(E const& spectrum) {
  return irfftn(spectrum, 2 * (spectrum.shape().back() - 1));
}
template <DifferentiatedRealField E>
  requires OfRankAtLeast<E, 2>
auto rfft2(E const& x) {
  return detail::traced_real_forward<2>(x);
}
template <DifferentiatedField E>
  requires OfRankAtLeast<E, 2>
auto irfft2(E const& spectrum, std::int64_t n) {
  return detail::traced_real_inverse<2>(spectrum, n);
}
template <DifferentiatedField E>
  requires OfRankAtLeast<E, 2>
auto irfft2(E const& spectrum) {
  return irfft2(spectrum, 2 * (spectrum.shape().back() - 1));
}

}  // namespace coir::fft
