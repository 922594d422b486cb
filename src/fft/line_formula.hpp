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

/// The formulas of one kind and length.
template <class T>
struct LineFormula {
  using Complex = Kokkos::complex<T>;

  Trigonometric base;  ///< dct1, dst1, dct2, dct3, dct4 or dht
  std::int64_t n;
  std::int64_t period;              ///< of v
  std::int64_t length;              ///< of z
  bool packed;                      ///< a z_j holds two v_j
  bool reverses_input;              ///< x_(n-1-j) in place of x_j
  bool reverses_output;             ///< y_(n-1-k) in place of y_k
  bool alternates_output;           ///< (-1)^k y_k in place of y_k
  bool alternates_input;            ///< (-1)^j x_j in place of x_j
  Complex const* pack = nullptr;    ///< exp(-2 pi i k / period), k <= length
  Complex const* before = nullptr;  ///< factors of inputs
  Complex const* after = nullptr;   ///< factors of results

  LineFormula(Trigonometric kind, std::int64_t points) : base(kind), n(points) {
    bool const third = kind == Trigonometric::dst3 || kind == Trigonometric::dst4;
    alternates_input = reverses_output = kind == Trigonometric::dst2;
    reverses_input = alternates_output = third;
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
  }

  /// Whether z is made of a real sequence v.
  KOKKOS_FORCEINLINE_FUNCTION bool is_of_real() const {
    return base != Trigonometric::dct3 && base != Trigonometric::dct4;
  }

  /// v_j
  KOKKOS_FORCEINLINE_FUNCTION T real_at(Line<T const> const& x, std::int64_t j) const {
    switch (base) {
      case Trigonometric::dct1: return x[j < n ? j : 2 * (n - 1) - j];
      case Trigonometric::dst1:
        if (j <= n) return j == 0 ? T(0) : x[j - 1];
        return j == n + 1 ? T(0) : -x[2 * n + 1 - j];
      case Trigonometric::dct2:
        if (2 * j < n) return x[2 * j];
        return alternates_input ? -x[2 * (n - j) - 1] : x[2 * (n - j) - 1];
      default: return x[j];
    }
  }

  /// z_j
  KOKKOS_FORCEINLINE_FUNCTION Complex input(Line<T const> const& x, std::int64_t j) const {
    if (is_of_real())
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

  /// How many calls of results() make the line.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t parts() const {
    if (is_of_real()) return length / 2 + 1;
    return packed ? length : n;
  }

  /// Calls emit(k, y_k) for the results of one part, which depend on z_part alone, or on
  /// z_(length - part), too. Changes of order and sign are the caller's.
  template <class Modes, class Emit>
  KOKKOS_FORCEINLINE_FUNCTION void results(Modes const& z, std::int64_t part,
                                           Emit const& emit) const {
    if (!is_of_real())
      results_of_one(z, part, emit);
    else if (!packed)
      results_of_mode(part, z[part], emit);
    else if (part == 0)
      results_of_ends(z, emit);
    else
      inner_results(z, part, emit);
  }

  /// The results of modes k and length - k of a packed sequence, 0 < k <= length / 2.
  template <class Modes, class Emit>
  KOKKOS_FORCEINLINE_FUNCTION void inner_results(Modes const& z, std::int64_t k,
                                                 Emit const& emit) const {
    // V_k = (a + conj(b)) / 2 - i w_k (a - conj(b)) / 2, and V_(length - k) likewise with a and b
    // exchanged and -conj(w_k).
    Complex const a = z[k], b = z[length - k], w = pack[k];
    T const re = a.real() - b.real(), im = a.imag() + b.imag();
    T const even_re = a.real() + b.real(), even_im = a.imag() - b.imag();
    T const odd_re = w.real() * im + w.imag() * re, odd_im = w.real() * re - w.imag() * im;
    results_of_mode(k, Complex(T(0.5) * (even_re + odd_re), T(0.5) * (even_im - odd_im)), emit);
    if (2 * k != length)
      results_of_mode(length - k,
                      Complex(T(0.5) * (even_re - odd_re), T(0.5) * (-even_im - odd_im)), emit);
  }

  /// The results of modes 0 and length of a packed sequence.
  template <class Modes, class Emit>
  KOKKOS_FORCEINLINE_FUNCTION void results_of_ends(Modes const& z, Emit const& emit) const {
    Complex const first = z[0];
    results_of_mode(0, Complex(first.real() + first.imag(), T(0)), emit);
    results_of_mode(length, Complex(first.real() - first.imag(), T(0)), emit);
  }

  /// The results of mode V_k of a real sequence, and of V_(period - k), which is its conjugate.
  template <class Emit>
  KOKKOS_FORCEINLINE_FUNCTION void results_of_mode(std::int64_t k, Complex const& v,
                                                   Emit const& emit) const {
    switch (base) {
      case Trigonometric::dct1: emit(k, v.real()); return;
      case Trigonometric::dst1:
        if (k > 0 && k <= n) emit(k - 1, -v.imag());
        return;
      case Trigonometric::dct2:
        emit(k, twice_real(after[k], v));
        if (k > 0 && 2 * k != n)
          emit(n - k, twice_real(after[n - k], Complex(v.real(), -v.imag())));
        return;
      default:  // dht
        emit(k, v.real() - v.imag());
        if (k > 0 && 2 * k != n) emit(n - k, v.real() + v.imag());
    }
  }

  /// 2 Re(w z)
  KOKKOS_FORCEINLINE_FUNCTION static T twice_real(Complex const& w, Complex const& z) {
    return T(2) * (w.real() * z.real() - w.imag() * z.imag());
  }

 private:
  template <class Modes, class Emit>
  KOKKOS_FORCEINLINE_FUNCTION void results_of_one(Modes const& z, std::int64_t k,
                                                  Emit const& emit) const {
    Complex const value = z[k];
    if (base == Trigonometric::dct3) {
      // z holds v or pairs of v, in the order of type 2.
      auto const place = [this](std::int64_t j) { return 2 * j < n ? 2 * j : 2 * (n - j) - 1; };
      emit(place(packed ? 2 * k : k), value.real());
      if (packed) emit(place(2 * k + 1), -value.imag());
      return;
    }
    Complex const w = after[k];
    emit(packed ? 2 * k : k, twice_real(w, value));
    if (packed) emit(n - 1 - 2 * k, T(-2) * (w.real() * value.imag() + w.imag() * value.real()));
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

/// exp(-i pi turn / of), 0 <= turn < 2 of. Sines and cosines are those of angles up to pi / 4,
/// which round least.
template <class T>
Kokkos::complex<T> unit_root(std::int64_t turn, std::int64_t of) {
  double const sign = turn > of ? -1 : 1;
  if (turn > of) turn -= of;
  bool const is_left = 2 * turn > of;
  std::int64_t const right = is_left ? of - turn : turn;
  bool const is_steep = 4 * right > of;
  double const angle = std::numbers::pi * static_cast<double>(is_steep ? of - 2 * right : right) /
                       static_cast<double>(is_steep ? 2 * of : of);
  double const near = std::cos(angle), far = std::sin(angle);
  double const cosine = is_steep ? far : near, sine = is_steep ? near : far;
  return {static_cast<T>(sign * (is_left ? -cosine : cosine)), static_cast<T>(-sign * sine)};
}

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
  /// unit_root(step k + first, of) for k < count.
  static Factors roots(std::int64_t count, std::int64_t step, std::int64_t first, std::int64_t of) {
    Factors result;
    for (std::int64_t k = 0; k < count; ++k) result.push_back(unit_root<T>(step * k + first, of));
    return result;
  }
};

}  // namespace coir::fft::detail
