#pragma once

/// Real lines in the lanes of vectors, for lengths with a large prime factor, of which FFTW makes
/// no vectors: it takes 2.5 times as long for real lines of 499 numbers as for complex ones.

#include "lane_transform.hpp"

#include <core/lanes.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace coir::fft::detail {

/// Transforms lines of n real numbers to half spectra, or back. If n is even, the line is one of
/// n / 2 complex numbers, whose transform is taken apart afterwards, or put together before (see
/// LongLine).
template <class T>
class RealLanes {
 public:
  /// Whether so many lines are transformed faster so than by FFTW.
  static bool suits(std::int64_t n, std::int64_t lines) {
    constexpr int largest_prime = 509;
    std::int64_t const lanes = simd::lanes_of_vector<T>(),
                       least = std::max<std::int64_t>(2, lanes / 4);
    bool const long_vectors = lanes * static_cast<std::int64_t>(sizeof(T)) >= 32;
    return long_vectors && lines >= least && has_large_prime(n) &&
           suits_lanes(length_of(n), largest_prime);
  }

  /// Bytes of a thread's buffer.
  static std::int64_t bytes(std::int64_t n) {
    constexpr std::int64_t cache_line = 64;
    return (2 * (n / 2 + 1) + 4 * length_of(n)) * simd::lanes_of_vector<T>() *
               static_cast<std::int64_t>(sizeof(T)) +
           cache_line;
  }

  RealLanes() = default;
  RealLanes(std::int64_t n, bool forward) : n_(n), forward_(forward), transform_(length_of(n)) {
    std::int64_t const m = length_of(n);
    for (std::int64_t k = 0; k < m; ++k)
      inputs_.push_back(forward ? number_of_line(k) : number_of_spectrum(k));
    if (forward)
      for (std::int64_t k = 0; k <= n / 2; ++k) add_mode(k);
    else
      for (std::int64_t j = 0; j < n; ++j) outputs_.push_back(real_number(j));
  }

  explicit operator bool() const { return n_ > 0; }

  /// Transforms some lines, of real numbers `real_step` apart and of spectra `complex_step` complex
  /// numbers apart. They may be in the same memory.
  ///
  /// \param buffer  of bytes()
  void operator()(T const* in, T* out, std::int64_t count, std::int64_t real_step,
                  std::int64_t complex_step, void* buffer) const {
    std::int64_t const numbers = 2 * (n_ / 2 + 1);
    constexpr std::uintptr_t cache_line = 64;
    auto const begin = reinterpret_cast<std::uintptr_t>(buffer);
    auto* const lines = reinterpret_cast<T*>((begin + cache_line - 1) / cache_line * cache_line);
    T *const z = lines + numbers * simd::lanes_of_vector<T>(), *const work = z + transform_.size();
    simd::SomeLines<T> const real{out, n_, 1, real_step, count},
        spectra{out, numbers, 1, 2 * complex_step, count};
    auto const from = forward_ ? real : spectra, to = forward_ ? spectra : real;
    simd::to_lanes(simd::SomeLines<T const>{in, from.n, 1, from.step, count}, lines);
    fill_lanes(inputs_, is_even() && !forward_ ? 4 : 2, lines, z);
    write_lanes(outputs_, transform_(z, work, forward_ && !is_even()), lines);
    simd::from_lanes(lines, to);
  }

 private:
  static std::int64_t length_of(std::int64_t n) { return n % 2 == 0 ? n / 2 : n; }
  bool is_even() const { return n_ % 2 == 0; }

  /// cos and sin of 2 pi k / n, exact at k = 0 and n / 2.
  struct Root {
    double cosine, sine;
  };
  Root root(std::int64_t k) const {
    if (k == 0 || 2 * k == n_) return {k == 0 ? 1. : -1., 0.};
    double const angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n_);
    return {std::cos(angle), std::sin(angle)};
  }

  static std::array<std::int32_t, 4> rows(std::int64_t a, std::int64_t b, std::int64_t c,
                                          std::int64_t d) {
    return {static_cast<std::int32_t>(a), static_cast<std::int32_t>(b),
            static_cast<std::int32_t>(c), static_cast<std::int32_t>(d)};
  }

  LaneInput<T> number_of_line(std::int64_t j) const {
    if (is_even()) return {rows(2 * j, 2 * j + 1, 0, 0), {T(1)}, {T(0), T(1)}};
    return {rows(j, j, 0, 0), {T(1)}, {}};
  }

  /// A number whose forward transform is the conjugate of the backward one that is wanted. The
  /// imaginary parts of modes 0 and n / 2 don't count.
  LaneInput<T> number_of_spectrum(std::int64_t k) const {
    if (!is_even()) {
      std::int64_t const of = std::min(k, n_ - k);
      return {rows(2 * of, 2 * of + (k > 0), 0, 0),
              {T(1)},
              {T(0), T(k == 0    ? 0
                       : of == k ? -1
                                 : 1)}};
    }
    std::int64_t const other = n_ / 2 - k;
    auto const [c, s] = root(k);
    double const counts = k == 0 ? 0 : 1;
    return {rows(2 * k, 2 * k + (k > 0), 2 * other, 2 * other + (k > 0)),
            {T(1 - s), T(-c * counts), T(1 + s), T(-c * counts)},
            {T(-c), T((s - 1) * counts), T(c), T((1 + s) * counts)}};
  }

  /// Mode k of a line: E + w^k O of the modes of n / 2 numbers, by LongLine's names.
  void add_mode(std::int64_t k) {
    auto const mode = [](std::int64_t m) { return static_cast<std::int32_t>(m); };
    if (!is_even()) {
      outputs_.push_back({{mode(k), mode(k)}, {T(1)}});
      outputs_.push_back({{mode(k), mode(k)}, {T(0), T(1)}});
      return;
    }
    std::int64_t const m = n_ / 2;
    auto const [cosine, sine] = root(k);
    double const c = cosine / 2, s = -sine / 2;
    std::array<std::int32_t, 2> const of{mode(k % m), mode((m - k) % m)};
    outputs_.push_back({of, {T(0.5 + s), T(c), T(0.5 - s), T(c)}});
    outputs_.push_back({of, {T(-c), T(0.5 + s), T(c), T(s - 0.5)}});
  }

  LaneOutput<T> real_number(std::int64_t j) const {
    auto const mode = static_cast<std::int32_t>(is_even() ? j / 2 : j);
    if (is_even() && j % 2 == 1) return {{mode, mode}, {T(0), T(-1)}};
    return {{mode, mode}, {T(1)}};
  }

  std::int64_t n_ = 0;
  bool forward_ = true;
  LaneTransform<T> transform_;
  std::vector<LaneInput<T>> inputs_;
  std::vector<LaneOutput<T>> outputs_;
};

}  // namespace coir::fft::detail
