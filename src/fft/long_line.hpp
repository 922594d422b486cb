#pragma once

/// \file
/// Transforms of long lines, each on all threads of a host, by FFTW's plans of short lines.

#include "columns.hpp"
#include "effort.hpp"
#include "fftw.hpp"
#include "lane_transform.hpp"

#include <coir/fft/detail/transforms.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace coir::fft::detail {

/// A product without the checks for infinities, which compilers don't vectorise.
template <class T>
std::array<T, 2> times(std::array<T, 2> const& a, std::array<T, 2> const& b) {
  return {a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]};
}

/// exp(sign 2 pi i m / n) for 0 <= m < n, as products of two numbers that are looked up.
template <class T>
class Roots {
 public:
  using Number = std::array<T, 2>;

  Roots() = default;
  Roots(std::int64_t n, int sign) {
    while ((std::int64_t(1) << (2 * bits_)) < n) ++bits_;
    std::int64_t const step = std::int64_t(1) << bits_;
    auto const root = [=](std::int64_t m) {
      double const angle =
          sign * 2 * std::numbers::pi * static_cast<double>(m) / static_cast<double>(n);
      return Number{static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle))};
    };
    for (std::int64_t m = 0; m < step; ++m) low_.push_back(root(m));
    for (std::int64_t m = 0; m < n; m += step) high_.push_back(root(m));
  }

  Number operator()(std::int64_t m) const {
    auto const low = static_cast<std::size_t>(m & ((std::int64_t(1) << bits_) - 1));
    return times(high_[static_cast<std::size_t>(m >> bits_)], low_[low]);
  }

 private:
  int bits_ = 0;
  std::vector<Number> low_, high_;
};

/// A line of n = n1 n2 complex numbers, as a matrix of n1 rows: its columns are transformed and
/// multiplied by roots of one, then its rows are transformed and stored as columns. Bailey, FFTs in
/// External or Hierarchical Memory, 1990. A line of 2 n real numbers is one of n complex ones,
/// whose transform is taken apart afterwards, or put together before.
///
/// The parts don't depend on the number of threads: with estimated plans a result has the same bits
/// for any.
template <class T>
class LongLine {
 public:
  using Number = std::array<T, 2>;

  /// The rows of the matrix: the largest divisor of n up to its square root; 1 if all are small.
  static std::int64_t rows_of(std::int64_t n) {
    constexpr std::int64_t least = 64;
    auto divisor = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
    while (divisor >= least && n % divisor != 0) --divisor;
    return divisor >= least ? divisor : 1;
  }

  /// Complex numbers of a line.
  static std::int64_t numbers(Request const& request) {
    return request.real ? request.last() / 2 : request.last();
  }

  /// Whether a request has such lines: FFTW alone transforms those faster that fit a core's cache,
  /// unless they have a large prime factor.
  static bool suits(Request const& request) {
    std::int64_t const least = std::int64_t(1) << (has_large_prime(request.last()) ? 15 : 19);
    return request.rank == 1 && !request.options.by_planes &&
           (!request.real || request.last() % 2 == 0) && numbers(request) >= least &&
           rows_of(numbers(request)) > 1;
  }

  /// Bytes of work.
  static std::int64_t bytes(Request const& request, std::int64_t threads) {
    std::int64_t const n = numbers(request), rows = rows_of(n);
    return rows * stride_of(n / rows) * number + threads * buffer_bytes(rows);
  }

  LongLine(Request const& request, std::int64_t threads, bool forward)
      : real_(request.real),
        forward_(forward),
        n_(numbers(request)),
        rows_(rows_of(n_)),
        columns_(n_ / rows_),
        stride_(stride_of(columns_)),
        threads_(threads),
        lines_(request.batch),
        roots_(n_, forward ? -1 : 1) {
    std::int64_t const real_bytes = request.real_row() * static_cast<std::int64_t>(sizeof(T)),
                       complex_bytes = request.complex_row() * number;
    in_step_ = real_ && forward ? real_bytes : complex_bytes;
    out_step_ = real_ && !forward ? real_bytes : complex_bytes;
    for (std::int64_t k = 0; k < rows_; ++k)
      for (std::int64_t c = 0; c < columns<T>; ++c) steps_.push_back(roots_(k * c % n_));
    if (real_) halves_ = Roots<T>(2 * n_, -1);
    auto const kind = forward ? Kind::complex_forward : Kind::complex_backward;
    unsigned const flags = planner_flag(request.options.effort, request.last());
    Scratch<T> const scratch(std::max(buffer_bytes(rows_), columns_ * number));
    constexpr std::int64_t width = columns<T>;
    columns_plan_ = FftwPlan<T>(kind, {{rows_, width, width}}, Axis{width, 1, 1}, scratch.get(),
                                scratch.get(), flags);
    row_plan_ = FftwPlan<T>(kind, {{columns_, 1, 1}}, Axis{1, columns_, columns_}, scratch.get(),
                            scratch.get(), flags);
  }

  /// \param work  of bytes(), aligned by FFTW
  template <class Exec>
  void run(Exec const& exec, void* in, void* out, void* work) const {
    ThreadBuffers const buffers{work, buffer_bytes(rows_)};
    auto* const matrix = static_cast<Number*>(buffers.of(threads_));  // behind those of all
    for (std::int64_t line = 0; line < lines_; ++line) {
      auto* const from = reinterpret_cast<Number*>(static_cast<char*>(in) + line * in_step_);
      auto* const to = reinterpret_cast<Number*>(static_cast<char*>(out) + line * out_step_);
      if (real_ && !forward_) put_together(exec, from);
      transform_columns(exec, from, buffers, matrix);
      transform_rows(exec, matrix, to);
      if (real_ && forward_) take_apart(exec, to);
    }
  }

 private:
  static constexpr std::int64_t number = sizeof(Number);

  static std::int64_t buffer_bytes(std::int64_t rows) { return rows * columns<T> * number; }

  /// From row to row of the matrix: whole pairs of cache lines, an odd number of them, so that rows
  /// don't share the same lines of the cache.
  static std::int64_t stride_of(std::int64_t in_row) {
    return ((in_row + columns<T> - 1) / columns<T> | 1) * columns<T>;
  }

  /// Multiplies the numbers of a row in a buffer by root and by the step of each.
  static void multiply(Number* row, Number const root, Number const* step) {
    for (std::int64_t c = 0; c < columns<T>; ++c) row[c] = times(row[c], times(root, step[c]));
  }

  template <class Exec>
  void transform_columns(Exec const& exec, Number const* in, ThreadBuffers const& buffers,
                         Number* work) const {
    constexpr std::int64_t at_once = columns<T>;
    std::int64_t const groups = (columns_ + at_once - 1) / at_once;
    share_out(
        "coir::fft::long_line/columns", exec, threads_, groups,
        [=, this](std::int64_t part, std::int64_t begin, std::int64_t end) {
          auto* const buffer = static_cast<Number*>(buffers.of(part));
          for (std::int64_t first = begin * at_once; first < std::min(end * at_once, columns_);
               first += at_once) {
            std::int64_t const width = std::min(at_once, columns_ - first);
            copy_rows<T>(in + first, columns_, at_once, buffer, at_once, at_once, rows_, width);
            columns_plan_(buffer, buffer);
            for (std::int64_t k = 1; k < rows_; ++k)
              multiply(buffer + k * at_once, roots_(k * first), &steps_[k * at_once]);
            copy_rows<T>(buffer, at_once, at_once, work + first, stride_, at_once, rows_, width);
          }
        });
  }

  /// Some rows at a time, so that whole cache lines are written.
  template <class Exec>
  void transform_rows(Exec const& exec, Number* work, Number* out) const {
    constexpr std::int64_t at_once = columns<T>;
    std::int64_t const groups = (rows_ + at_once - 1) / at_once;
    share_out("coir::fft::long_line/rows", exec, threads_, groups,
              [=, this](std::int64_t, std::int64_t begin, std::int64_t end) {
                for (std::int64_t first = begin * at_once; first < std::min(end * at_once, rows_);
                     first += at_once) {
                  std::int64_t const count = std::min(at_once, rows_ - first);
                  Number* const row = work + first * stride_;
                  for (std::int64_t r = 0; r < count; ++r)
                    row_plan_(row + r * stride_, row + r * stride_);
                  for (std::int64_t k = 0; k < columns_; ++k)
                    for (std::int64_t r = 0; r < count; ++r)
                      out[k * rows_ + first + r] = row[r * stride_ + k];
                }
              });
  }

  /// The transform Z of z(j) = x(2 j) + i x(2 j + 1) becomes that of x:
  /// X(k) = E + w^k O and X(n - k) = conj(E - w^k O), with w = exp(-pi i / n),
  /// E = (Z(k) + conj(Z(n - k))) / 2 and O = (Z(k) - conj(Z(n - k))) / 2i.
  template <class Exec>
  void take_apart(Exec const& exec, Number* z) const {
    Number const zero = z[0];
    for_pairs(exec, [=, this](std::int64_t k) {
      Number const a = z[k], b = z[n_ - k];
      Number const even{(a[0] + b[0]) / 2, (a[1] - b[1]) / 2};
      Number const odd = times({(a[1] + b[1]) / 2, (b[0] - a[0]) / 2}, halves_(k));
      z[k] = {even[0] + odd[0], even[1] + odd[1]};
      z[n_ - k] = {even[0] - odd[0], odd[1] - even[1]};
    });
    z[0] = {zero[0] + zero[1], T(0)};
    z[n_] = {zero[0] - zero[1], T(0)};
  }

  /// The reverse of take_apart(), times two: FFTW's backward transforms aren't divided by their
  /// length.
  template <class Exec>
  void put_together(Exec const& exec, Number* x) const {
    T const first = x[0][0], last = x[n_][0];
    for_pairs(exec, [=, this](std::int64_t k) {
      Number const a = x[k], b = x[n_ - k], root = halves_(k);
      Number const even{a[0] + b[0], a[1] - b[1]};
      Number const odd = times({a[0] - b[0], a[1] + b[1]}, Number{root[0], -root[1]});
      x[k] = {even[0] - odd[1], even[1] + odd[0]};
      x[n_ - k] = {even[0] + odd[1], odd[0] - even[1]};
    });
    x[0] = {first + last, first - last};
  }

  /// Calls body(k) for 1 <= k <= n / 2.
  template <class Exec, class Body>
  void for_pairs(Exec const& exec, Body const& body) const {
    share_out("coir::fft::long_line/pairs", exec, threads_, n_ / 2,
              [=](std::int64_t, std::int64_t begin, std::int64_t end) {
                for (std::int64_t k = begin; k < end; ++k) body(k + 1);
              });
  }

  bool real_, forward_;
  std::int64_t n_, rows_, columns_, stride_, threads_, lines_;
  std::int64_t in_step_, out_step_;  // bytes from line to line
  Roots<T> roots_, halves_;
  std::vector<Number> steps_;  // for row k and column c of those at once: root k c
  FftwPlan<T> columns_plan_, row_plan_;
};

}  // namespace coir::fft::detail
