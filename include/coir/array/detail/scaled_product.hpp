#pragma once

/// \file
/// Products that overflow, or vanish, only if the whole product does, whatever the order of
/// factors.
///
/// A partial product is a number times a power of two. If it leaves the middle of the range of
/// double, it is scaled by 2^600 or 2^-600, which is exact.

#include <coir/array/element.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>

#include <Kokkos_Complex.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace coir::detail {

/// Whether products of T are scaled: true for real and complex numbers.
template <class T>
inline constexpr bool is_scaled_in_products =
    (std::same_as<real_t<T>, float> || std::same_as<real_t<T>, double>) &&
    (std::same_as<real_t<T>, T> || is_complex<T>);

/// The type that products of T are made in.
template <class T>
using scaled_number_t = std::conditional_t<is_complex<T>, Kokkos::complex<double>, double>;

/// Multiplies a number beyond 2^300 by 2^-600, and one below 2^-300 by 2^600, and counts that in
/// `steps`, so that number 2^(600 steps) stays the same. Afterwards any number of double but 0, the
/// least of which is 2^-1074, has a size from 2^-474 to 2^424.
template <class Number>
KOKKOS_FORCEINLINE_FUNCTION void rescale(Number& number, double& steps) {
  double size;  // of a complex number that of the larger part
  if constexpr (is_complex<Number>) {
    double const re = math::abs(number.real()), im = math::abs(number.imag());
    size = re > im ? re : im;
  } else {
    size = math::abs(number);
  }
  bool const large = size > 0x1p300, small = size < 0x1p-300;
  number *= math::select(large, 0x1p-600, math::select(small, 0x1p600, 1.0));
  steps += math::select(large, 1.0, math::select(small, -1.0, 0.0));
}

/// The value number 2^(600 steps). The size of `number` is 0, infinite, NaN, or lies between 2^-474
/// and 2^424.
template <class Number>
struct Scaled {
  Number number;
  double steps;

  KOKKOS_FORCEINLINE_FUNCTION void rescale() { detail::rescale(number, steps); }

  KOKKOS_FORCEINLINE_FUNCTION void multiply(Scaled const& other) {
    if constexpr (is_complex<Number>) {
      // In infinity times 1 the formula for complex products has infinity times 0, which is NaN.
      if (other.is_one()) return;
      if (is_one()) {
        *this = other;
        return;
      }
    }
    number *= other.number;  // from 2^-948 to 2^848, which double holds
    steps += other.steps;
    rescale();
  }

  KOKKOS_FORCEINLINE_FUNCTION bool is_one() const {
    return steps == 0 && number.real() == 1 && number.imag() == 0;
  }

  /// The number, rounded once; infinite or 0 where double doesn't hold it.
  KOKKOS_FORCEINLINE_FUNCTION Number value() const {
    Number result = number;
    double const factor = steps > 0 ? 0x1p600 : 0x1p-600;
    double const left = math::abs(steps);
    // Three steps lead from any number in the range beyond all that double holds.
    for (int taken = 0; taken < 3 && taken < left; ++taken) result *= factor;
    return result;
  }

  /// value() of several in a loop: without branches, so that compilers vectorise it.
  Number value_in_lanes() const {
    Number result = number;
    double const factor = steps > 0 ? 0x1p600 : 0x1p-600, left = math::abs(steps);
    COIR_UNROLL
    for (int taken = 0; taken < 3; ++taken) result *= math::select(taken < left, factor, 1.0);
    return result;
  }
};

/// A factor of type T.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Scaled<scaled_number_t<T>> scaled(T const& x) {
  Scaled<scaled_number_t<T>> result{stored<scaled_number_t<T>>(x), 0};
  if constexpr (sizeof(real_t<T>) == 8) result.rescale();  // no float leaves the range
  return result;
}

// Factors of moderate size are from 2^-32 to below 2^32.

/// Bits that several factors' may be joined with by |, for are_moderate().
inline std::uint64_t beyond_moderate(double factor) {
  return std::bit_cast<std::uint64_t>(factor) - (std::uint64_t(1023 - 32) << 52);
}

/// Whether factors are of moderate size: that leaves all bits of the exponent but the lowest six 0.
inline bool are_moderate(std::uint64_t beyond) { return (beyond >> 58 & 0x1f) == 0; }

/// Products on hosts of a few real numbers in each of several lanes, which vectorise. Factors of
/// moderate size are multiplied without scaling.
template <int Lanes>
struct ModerateProducts {
  /// The most factors of a lane.
  static constexpr std::int64_t most_terms = 16;

  double product[Lanes];
  std::uint64_t beyond[Lanes];

  void clear(std::int64_t lanes) {
    std::fill_n(product, lanes, 1.0);
    std::fill_n(beyond, lanes, std::uint64_t(0));
  }

  void fold(std::int64_t lane, double factor, std::int64_t) {
    product[lane] *= factor;
    beyond[lane] |= beyond_moderate(factor);
  }

  /// Whether all factors were of moderate size; otherwise the products mean nothing.
  bool valid(std::int64_t lanes) const {
    std::uint64_t any = 0;
    for (std::int64_t l = 0; l < lanes; ++l) any |= beyond[l];
    return are_moderate(any);
  }

  /// The product of a lane, from 2^-512 to 2^512.
  Scaled<double> of(std::int64_t lane, std::int64_t) const {
    Scaled<double> result{product[lane], 0};
    result.rescale();
    return result;
  }

  /// The product of all lanes.
  Scaled<double> of_all() const {
    double number[Lanes], steps[Lanes];
    for (int l = 0; l < Lanes; ++l) {
      number[l] = product[l];
      steps[l] = 0;
      rescale(number[l], steps[l]);
    }
    for (int width = Lanes / 2; width > 0; width /= 2)
      for (int l = 0; l < width; ++l) {
        number[l] *= number[l + width];
        steps[l] += steps[l + width];
        rescale(number[l], steps[l]);
      }
    return {number[0], steps[0]};
  }
};

/// The product of real or complex numbers, as a monoid: see monoids.hpp.
template <class T>
struct ScaledProduct {
  using Number = scaled_number_t<T>;
  using value_type = Scaled<Number>;
  using result_type = T;

  KOKKOS_FORCEINLINE_FUNCTION value_type neutral() const { return {Number(1), 0}; }
  KOKKOS_FORCEINLINE_FUNCTION void fold(value_type& into, T const& x, std::int64_t) const {
    into.multiply(scaled(x));
  }
  KOKKOS_FORCEINLINE_FUNCTION void join(value_type& into, value_type const& other) const {
    into.multiply(other);
  }

  template <int Size>
    requires(!is_complex<T>)
  using Columns = ModerateProducts<Size>;

  /// Multiplies `into` by real numbers row[0 ... count), on hosts.
  template <class Row>
  void fold_row(value_type& into, Row const& row, std::int64_t count, std::int64_t) const
    requires(!is_complex<T>)
  {
    constexpr int lanes = 32;
    constexpr std::int64_t most = ModerateProducts<lanes>::most_terms;
    std::int64_t first = 0;
    for (; count - first >= lanes; first += std::min(count - first, lanes * most))
      fold_lanes<lanes>(into, row, first, std::min(count - first, lanes * most));
    for (; first < count; first += most)
      fold_lanes<1>(into, row, first, std::min(count - first, most));
  }

  KOKKOS_FORCEINLINE_FUNCTION T result(value_type const& value) const {
    return stored<T>(value.value());
  }

 private:
  /// Multiplies `into` by at least as many numbers as there are lanes, and at most most_terms for
  /// each of them.
  template <int Lanes, class Row>
  void fold_lanes(value_type& into, Row const& row, std::int64_t first, std::int64_t count) const {
    ModerateProducts<Lanes> products;
    products.clear(Lanes);
    std::int64_t const whole = count - count % Lanes;
    for (std::int64_t i = 0; i < whole; i += Lanes) {
      COIR_INDEPENDENT_ITERATIONS
      for (int l = 0; l < Lanes; ++l) products.fold(l, static_cast<double>(row[first + i + l]), 0);
    }
    for (std::int64_t i = whole; i < count; ++i)
      products.fold(i - whole, static_cast<double>(row[first + i]), 0);
    if (products.valid(Lanes))
      into.multiply(products.of_all());
    else
      for (std::int64_t i = 0; i < count; ++i) fold(into, row[first + i], i);
  }
};

}  // namespace coir::detail
