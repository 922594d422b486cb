#pragma once

/// \file
/// Transforms of several lines at a time, one in each lane of a vector. FFTW makes vectors of the
/// numbers of one line, and of lengths with large prime factors it makes none. Between lanes
/// nothing is added, so that a line's result depends on no other line.

#include <array>
#include <cstdint>
#include <vector>

namespace coir::fft::detail {

/// A Fourier transform without a scale, exp(-2 pi i j k / n), of vectors of lines: the reals of
/// point 0 of all lines, their imaginary parts, those of point 1 and so on.
template <class T>
class LaneTransform {
 public:
  LaneTransform() = default;
  explicit LaneTransform(std::int64_t n);

  /// Transforms z, and says where the result is: in z or in work, which has as much room. Both are
  /// aligned to vectors.
  ///
  /// \param real  whether all imaginary parts of z are 0, which a first large prime factor takes
  ///   half of the work for
  T* operator()(T* z, T* work, bool real = false) const;

  /// Numbers of z.
  std::int64_t size() const;

 private:
  std::int64_t n_ = 0;
  std::vector<int> factors_;
  std::vector<T> roots_;   ///< of each factor's steps: real part, imaginary part
  std::vector<T> primes_;  ///< cosines and sines of 2 pi m / p, for each large prime factor p
};

/// Whether a length has a prime factor for which FFTW has no code of its own.
bool has_large_prime(std::int64_t n);

/// Whether vectors of lines are transformed faster than lines one by one: small factors, or primes
/// whose sums are no longer than other ways to transform them.
///
/// \param largest_prime  of complex lines; at most 509
bool suits_lanes(std::int64_t n, int largest_prime = 251);

/// A number of z, made of four numbers of a line.
template <class T>
struct LaneInput {
  std::array<std::int32_t, 4> rows;
  std::array<T, 4> real, imaginary;
};

/// A number of a line, made of the real and imaginary parts of two modes.
template <class T>
struct LaneOutput {
  std::array<std::int32_t, 2> modes;
  std::array<T, 4> factors;
};

/// z from a vector of lines. Of inputs the first `terms` numbers count, 2 or 4.
template <class T>
void fill_lanes(std::vector<LaneInput<T>> const& inputs, int terms, T const* lines, T* z);

/// A vector of lines from their modes.
template <class T>
void write_lanes(std::vector<LaneOutput<T>> const& outputs, T const* z, T* lines);

}  // namespace coir::fft::detail
