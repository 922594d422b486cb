#pragma once

/// \file
/// How a line's trigonometric transform is made of one complex Fourier transform: complex numbers
/// z_j made of the line, their transform Z, and results made of Z.
///
/// The transforms dct1, dst1, dct2 and dht are parts of the transform V of a real sequence v: the
/// even or odd extension of the line, the line in another order, or the line. Where the period of v
/// is even, z_j = v_2j + i v_(2j+1) halves the length. dct3 goes the way of dct2 backward. dct4
/// turns numbers before and after. The sine transforms of types 2 to 4 are the cosine transforms of
/// the line, reversed or with alternating signs.
///
/// Each result depends on two modes at most, so that rounding doesn't grow with the length.
///
/// \see Makhoul, IEEE Trans. ASSP 28 (1980) 27, for types 2 and 3;
///      Press et al., Numerical Recipes, 3rd ed. (2007), sec. 12.3, for packed real sequences

#include <coir/fft/detail/line_transform.hpp>

#include <Kokkos_Complex.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace coir::fft::detail {

/// The numbers of one line.
template <class T>
struct Line {
  T* data;
  std::int64_t stride;
  KOKKOS_FORCEINLINE_FUNCTION T& operator[](std::int64_t j) const { return data[j * stride]; }
  KOKKOS_FORCEINLINE_FUNCTION Line reversed(std::int64_t n) const {
    return {data + (n - 1) * stride, -stride};
  }
};

/// The number of points of the sequence that a transform sees: its transform and the inverse one
/// multiply by it.
constexpr std::int64_t logical_size(Trigonometric kind, std::int64_t n) {
  switch (kind) {
    case Trigonometric::none: return 1;
    case Trigonometric::dct1: return 2 * (n - 1);
    case Trigonometric::dst1: return 2 * (n + 1);
    case Trigonometric::dht: return n;
    default: return 2 * n;
  }
}

/// A part of the sequence v, from `begin` to the next part: v_j = sign x[first + step (j - begin)].
struct Stretch {
  std::int64_t begin, first, step;
  int sign;
};

/// The formulas of one kind and length.
template <class T>
struct LineFormula {
  using Complex = Kokkos::complex<T>;

  Trigonometric base;  ///< dct1, dst1, dct2, dct3, dct4 or dht
  std::int64_t n;
  std::int64_t period;     ///< of v
  std::int64_t length;     ///< of z
  bool packed;             ///< a z_j holds two v_j
  bool reverses_input;     ///< x_(n-1-j) in place of x_j
  bool reverses_output;    ///< y_(n-1-k) in place of y_k
  bool alternates_output;  ///< (-1)^k y_k in place of y_k
  int stretches = 0;       ///< 0: z isn't made of a real sequence
  Stretch stretch[4];
  Complex const* pack = nullptr;    ///< exp(-2 pi i k / period), k <= length
  Complex const* before = nullptr;  ///< factors of inputs
  Complex const* after = nullptr;   ///< factors of results

  LineFormula(Trigonometric kind, std::int64_t points) : base(kind), n(points) {
    bool const sine =
        kind == Trigonometric::dst2 || kind == Trigonometric::dst3 || kind == Trigonometric::dst4;
    reverses_output = kind == Trigonometric::dst2;
    reverses_input = alternates_output = sine && !reverses_output;
    if (kind == Trigonometric::dst2) base = Trigonometric::dct2;
    if (kind == Trigonometric::dst3) base = Trigonometric::dct3;
    if (kind == Trigonometric::dst4) base = Trigonometric::dct4;
    period = base == Trigonometric::dct2 || base == Trigonometric::dct3 ? n : logical_size(base, n);
    packed = period % 2 == 0;
    length = packed ? period / 2 : period;
    if (base == Trigonometric::dct4) {
      packed = n % 2 == 0;
      length = packed ? n / 2 : 2 * n;
    }
    if (base == Trigonometric::dht) add(0, 0, 1, 1);
    if (base == Trigonometric::dct1) {
      add(0, 0, 1, 1);
      add(n, n - 2, -1, 1);
    }
    if (base == Trigonometric::dst1) {
      add(0, 0, 0, 0);
      add(1, 0, 1, 1);
      add(n + 1, 0, 0, 0);
      add(n + 2, n - 1, -1, -1);
    }
    if (base == Trigonometric::dct2) {
      std::int64_t const even = (n + 1) / 2;
      add(0, 0, 2, 1);
      add(even, 2 * (n - even) - 1, -2, kind == Trigonometric::dst2 ? -1 : 1);
    }
  }

  /// The end of a stretch of v.
  KOKKOS_FUNCTION std::int64_t end_of(int number) const {
    return number + 1 < stretches ? stretch[number + 1].begin : period;
  }

  /// v_j
  KOKKOS_FORCEINLINE_FUNCTION T real_at(Line<T const> const& x, std::int64_t j) const {
    int number = 0;
    while (number + 1 < stretches && j >= stretch[number + 1].begin) ++number;
    Stretch const& part = stretch[number];
    if (part.sign == 0) return T(0);
    T const value = x[part.first + part.step * (j - part.begin)];
    return part.sign > 0 ? value : -value;
  }

  /// z_j
  KOKKOS_FORCEINLINE_FUNCTION Complex input(Line<T const> const& x, std::int64_t j) const {
    if (stretches > 0)
      return packed ? Complex(real_at(x, 2 * j), real_at(x, 2 * j + 1))
                    : Complex(real_at(x, j), T(0));
    if (base == Trigonometric::dct4) {
      if (packed) return Complex(x[2 * j], x[n - 1 - 2 * j]) * before[j];
      return j < n ? Complex(x[j] * before[j].real(), x[j] * before[j].imag()) : Complex();
    }
    // dct3: the conjugate, because the transform back is the conjugate of a transform forward.
    Complex const v = mode_of_dct3(x, j);
    if (!packed) return conjugate(v);
    Complex const w = conjugate(mode_of_dct3(x, length - j));
    Complex const turned = conjugate(pack[j]) * (v - w);
    return conjugate(v + w + Complex(-turned.imag(), turned.real()));
  }

  /// V_k of a packed sequence for 0 < k < length.
  template <class Modes>
  KOKKOS_FORCEINLINE_FUNCTION Complex inner_mode(Modes const& z, std::int64_t k) const {
    Complex const a = z[k], b = z[length - k], w = pack[k];
    T const re = a.real() - b.real(), im = a.imag() + b.imag();
    return {T(0.5) * (a.real() + b.real() + w.real() * im + w.imag() * re),
            T(0.5) * (a.imag() - b.imag() - w.real() * re + w.imag() * im)};
  }

  /// V_k, 0 <= k < period.
  template <class Modes>
  KOKKOS_FORCEINLINE_FUNCTION Complex mode(Modes const& z, std::int64_t k) const {
    if (!packed) return z[k];
    if (k == 0) return {z[0].real() + z[0].imag(), T(0)};
    if (k == length) return {z[0].real() - z[0].imag(), T(0)};
    return k < length ? inner_mode(z, k) : conjugate(inner_mode(z, period - k));
  }

  /// y_k, without the changes of order and sign.
  template <class Modes>
  KOKKOS_FORCEINLINE_FUNCTION T output(Modes const& z, std::int64_t k) const {
    switch (base) {
      case Trigonometric::dct1: return mode(z, k).real();
      case Trigonometric::dst1: return -inner_mode(z, k + 1).imag();
      case Trigonometric::dct2: return twice_real(after[k], mode(z, k));
      case Trigonometric::dht: {
        Complex const v = mode(z, k);
        return v.real() - v.imag();
      }
      case Trigonometric::dct3: {
        std::int64_t const j = k % 2 == 0 ? k / 2 : n - 1 - k / 2;
        if (!packed) return z[j].real();
        Complex const pair = z[j / 2];
        return j % 2 == 0 ? pair.real() : -pair.imag();
      }
      default: break;  // dct4
    }
    if (!packed) return twice_real(after[k], z[k]);
    if (k % 2 == 0) return twice_real(after[k / 2], z[k / 2]);
    std::int64_t const j = (n - 1 - k) / 2;
    Complex const value = z[j], w = after[j];
    return T(-2) * (w.real() * value.imag() + w.imag() * value.real());
  }

  /// 2 Re(w z)
  KOKKOS_FORCEINLINE_FUNCTION static T twice_real(Complex const& w, Complex const& z) {
    return T(2) * (w.real() * z.real() - w.imag() * z.imag());
  }

 private:
  void add(std::int64_t begin, std::int64_t first, std::int64_t step, int sign) {
    stretch[stretches++] = {begin, first, step, sign};
  }

  KOKKOS_FORCEINLINE_FUNCTION static Complex conjugate(Complex const& z) {
    return {z.real(), -z.imag()};
  }
  KOKKOS_FORCEINLINE_FUNCTION Complex mode_of_dct3(Line<T const> const& x, std::int64_t k) const {
    T const re = x[k], im = k == 0 ? T(0) : -x[n - k];
    Complex const w = before[k];
    return {w.real() * re + w.imag() * im, w.real() * im - w.imag() * re};
  }
};

/// The factors that a formula points to, in host memory.
template <class T>
struct LineFactors {
  using Factors = std::vector<Kokkos::complex<T>>;
  Factors pack, before, after;

  explicit LineFactors(LineFormula<T> const& f) {
    std::int64_t const n = f.n;
    if (f.base == Trigonometric::dct4) {
      before = f.packed ? roots(f.length, 4, 1, 4 * n) : roots(n, 1, 0, 2 * n);
      after = f.packed ? roots(f.length, 1, 0, n) : roots(n, 2, 1, 4 * n);
      return;
    }
    if (f.packed) pack = roots(f.length + 1, 2, 0, f.period);
    if (f.base == Trigonometric::dct2) after = roots(n, 1, 0, 2 * n);
    if (f.base == Trigonometric::dct3) before = roots(n + 1, 1, 0, 2 * n);
  }

 private:
  /// exp(-i pi (step k + first) / of) for k < count, a fraction in [0, 1]. Sines and cosines are
  /// those of angles up to pi / 4, which round least.
  static Factors roots(std::int64_t count, std::int64_t step, std::int64_t first, std::int64_t of) {
    Factors result(static_cast<std::size_t>(count));
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t const turn = step * k + first;
      bool const is_left = 2 * turn > of;
      std::int64_t const right = is_left ? of - turn : turn;
      bool const is_steep = 4 * right > of;
      double const angle = std::numbers::pi *
                           static_cast<double>(is_steep ? of - 2 * right : right) /
                           static_cast<double>(is_steep ? 2 * of : of);
      double const near = std::cos(angle), far = std::sin(angle);
      double const cosine = is_steep ? far : near, sine = is_steep ? near : far;
      result[static_cast<std::size_t>(k)] =
          Kokkos::complex<T>(static_cast<T>(is_left ? -cosine : cosine), static_cast<T>(-sine));
    }
    return result;
  }
};

}  // namespace coir::fft::detail
