#pragma once

/// \file
/// Complex numbers whose parts are dual numbers, for derivatives of complex statements. Derivatives
/// are those of the real and imaginary part, so that conj, real and abs have them, too.

#include <coir/array/dual_elements.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/reductions.hpp>

#include <Kokkos_Complex.hpp>

#include <concepts>
#include <type_traits>

namespace coir {

namespace detail {

template <class T, int N>
struct DualComplex {
  Dual<T, N> re, im;

  DualComplex() = default;
  KOKKOS_FORCEINLINE_FUNCTION DualComplex(Dual<T, N> const& real, Dual<T, N> const& imag)
      : re(real), im(imag) {}
  KOKKOS_FORCEINLINE_FUNCTION explicit DualComplex(Dual<T, N> const& real) : re(real), im(T(0)) {}
  template <class S>
    requires std::is_arithmetic_v<S>
  KOKKOS_FORCEINLINE_FUNCTION explicit DualComplex(S const& real)
      : re(static_cast<T>(real)), im(T(0)) {}
  template <class S>
  KOKKOS_FORCEINLINE_FUNCTION explicit DualComplex(Kokkos::complex<S> const& z)
      : re(static_cast<T>(z.real())), im(static_cast<T>(z.imag())) {}
};

template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION DualComplex<T, N> operator-(DualComplex<T, N> const& z) {
  return {-z.re, -z.im};
}
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION DualComplex<T, N> operator+(DualComplex<T, N> const& a,
                                                        DualComplex<T, N> const& b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION DualComplex<T, N> operator-(DualComplex<T, N> const& a,
                                                        DualComplex<T, N> const& b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION DualComplex<T, N> operator*(DualComplex<T, N> const& a,
                                                        DualComplex<T, N> const& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION DualComplex<T, N> operator/(DualComplex<T, N> const& a,
                                                        DualComplex<T, N> const& b) {
  Dual<T, N> const squared = b.re * b.re + b.im * b.im;
  return {(a.re * b.re + a.im * b.im) / squared, (a.im * b.re - a.re * b.im) / squared};
}

/// |z|, with the derivative 0 at 0.
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION Dual<T, N> abs(DualComplex<T, N> const& z) {
  return hypot(z.re, z.im);
}
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION DualComplex<T, N> exp(DualComplex<T, N> const& z) {
  Dual<T, N> const size = exp(z.re);
  return {size * cos(z.im), size * sin(z.im)};
}

/// Whether a number has derivatives.
template <class T>
inline constexpr bool carries_derivatives = is_dual<T>;
template <class T, int N>
inline constexpr bool carries_derivatives<DualComplex<T, N>> = true;

/// The number of directions of a number with derivatives; 0 for other numbers.
template <class T>
inline constexpr int directions_of = 0;
template <class T, int N>
inline constexpr int directions_of<Dual<T, N>> = N;
template <class T, int N>
inline constexpr int directions_of<DualComplex<T, N>> = N;

// The functors that ask is_complex of their operand, for dual numbers.
struct RealOfDual {
  template <class Z>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(Z const& z) const {
    if constexpr (requires { z.re; })
      return z.re;
    else
      return Real{}(z);
  }
};
struct ImagOfDual {
  template <class Z>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(Z const& z) const {
    if constexpr (requires { z.re; })
      return z.im;
    else
      return Imag{}(z);
  }
};
struct ConjOfDual {
  template <class Z>
  KOKKOS_FORCEINLINE_FUNCTION Z operator()(Z const& z) const {
    if constexpr (requires { z.re; })
      return Z(z.re, -z.im);
    else
      return Conj{}(z);
  }
};
struct SquaredAbsOfDual {
  template <class Z>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(Z const& z) const {
    if constexpr (requires { z.re; })
      return z.re * z.re + z.im * z.im;
    else
      return SquaredAbs{}(z);
  }
};

template <class To>
struct CastOfDual {
  template <class X>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(X const& x) const {
    if constexpr (is_dual<X> && std::integral<To>) {
      return (*this)(x.value);
    } else if constexpr (is_dual<X>) {
      Dual<decltype((*this)(x.value)), directions_of<X>> result((*this)(x.value));
      COIR_UNROLL
      for (int k = 0; k < directions_of<X>; ++k) result.derivative[k] = (*this)(x.derivative[k]);
      return result;
    } else {
      return Cast<To>{}(x);
    }
  }
};

/// The functor that does for dual numbers what F does for numbers.
template <class F>
struct ForDuals {
  using type = F;
};
template <>
struct ForDuals<Real> {
  using type = RealOfDual;
};
template <>
struct ForDuals<Imag> {
  using type = ImagOfDual;
};
template <>
struct ForDuals<Conj> {
  using type = ConjOfDual;
};
template <>
struct ForDuals<SquaredAbs> {
  using type = SquaredAbsOfDual;
};

template <class To>
struct ForDuals<Cast<To>> {
  using type = CastOfDual<To>;
};

template <class F>
KOKKOS_FORCEINLINE_FUNCTION typename ForDuals<F>::type for_duals(F const& f) {
  if constexpr (std::same_as<typename ForDuals<F>::type, F>)
    return f;
  else
    return {};
}

}  // namespace detail

template <class T, int N>
inline constexpr bool is_number<detail::DualComplex<T, N>> = true;

template <class T, int N, class B>
struct PromotedOf<detail::DualComplex<T, N>, B> {
  using type = detail::DualComplex<T, N>;
};
template <class A, class T, int N>
struct PromotedOf<A, detail::DualComplex<T, N>> {
  using type = detail::DualComplex<T, N>;
};
template <class T, int N>
struct PromotedOf<detail::DualComplex<T, N>, detail::DualComplex<T, N>> {
  using type = detail::DualComplex<T, N>;
};
template <class T, int N, class S>
struct PromotedOf<detail::DualComplex<T, N>, Kokkos::complex<S>> {
  using type = detail::DualComplex<T, N>;
};
template <class S, class T, int N>
struct PromotedOf<Kokkos::complex<S>, detail::DualComplex<T, N>> {
  using type = detail::DualComplex<T, N>;
};
template <class U, class T, int N>
struct PromotedOf<Dual<U, N>, detail::DualComplex<T, N>> {
  using type = detail::DualComplex<T, N>;
};
template <class T, class U, int N>
struct PromotedOf<detail::DualComplex<T, N>, Dual<U, N>> {
  using type = detail::DualComplex<T, N>;
};
template <class T, int N, class S>
struct PromotedOf<Dual<T, N>, Kokkos::complex<S>> {
  using type = detail::DualComplex<T, N>;
};
template <class T, int N, class S>
struct WeakOf<Dual<T, N>, Kokkos::complex<S>> {
  using type = detail::DualComplex<T, N>;
};
template <class S, class T, int N>
struct PromotedOf<Kokkos::complex<S>, Dual<T, N>> {
  using type = detail::DualComplex<T, N>;
};

template <class T, int N, class S>
  requires std::is_arithmetic_v<S>
struct WeakOf<detail::DualComplex<T, N>, S> {
  using type = T;
};
template <class T, int N, class S>
struct WeakOf<detail::DualComplex<T, N>, Kokkos::complex<S>> {
  using type = Kokkos::complex<T>;
};

template <class T, int N>
struct RealOf<detail::DualComplex<T, N>> {
  using type = T;
};

}  // namespace coir
