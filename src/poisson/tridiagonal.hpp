#pragma once

/// \file
/// Tridiagonal equations along lines: what a direct solver has left when it has transformed all
/// axes but one.
///
///   -x_(i-1) + a x_i - x_(i+1) = g_i,   a = 2 + h^2 (eigenvalues of the other axes + c),   a >= 2
///
/// Gaussian elimination needs no pivoting, because no row's diagonal is smaller than its other two
/// numbers together.
///
/// \see Golub and Van Loan, Matrix Computations, 4th ed. (2013), sec. 4.3

#include <coir/core/buffers.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/machine.hpp>
#include <coir/core/math.hpp>
#include <coir/core/tasks.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace coir::poisson::detail {

template <class T>
struct TridiagonalLines {
  T* data;  ///< x takes the place of g
  std::int64_t length, stride;
  std::int64_t fields, rows, row_length;               ///< the batch, and the two other axes
  std::int64_t field_stride, row_stride, next_stride;  ///< to the next field, row and line
  T const* eigenvalues[2];                             ///< of the two other axes
  T constant, squared_spacing;
  T scale;  ///< of g: the lines hold g / scale

  constexpr std::int64_t count() const { return fields * rows * row_length; }

  /// The first number of a line; rows of all fields are counted on.
  constexpr T* at(std::int64_t row, std::int64_t line) const {
    return data + (row / rows * field_stride + row % rows * row_stride + line * next_stride);
  }

  /// a - 2, which rounding must not take below 0.
  KOKKOS_FUNCTION T excess(std::int64_t second, std::int64_t third) const {
    T const sum = eigenvalues[0][second] + eigenvalues[1][third] + constant;
    return sum > T(0) ? squared_spacing * sum : T(0);
  }
};

/// The lines that make a device busy. With fewer of them a further transform is faster.
template <class Exec>
inline constexpr std::int64_t fewest_lines = runs_on_host<Exec> ? 1 : 256;

/// On hosts: groups of neighbouring lines, whose rows are vectors. The pivots of a group are kept
/// for the way back.
template <class T>
struct EliminateOnHost {
  TridiagonalLines<T> all;
  T* pivots;  ///< [parts][length + 1][width]
  std::int64_t width, parts;

  std::int64_t groups() const { return (all.row_length + width - 1) / width; }
  std::int64_t tasks() const { return all.fields * all.rows * groups(); }

  void operator()(std::int64_t part) const {
    T* const memory = pivots + part * (all.length + 1) * width;
    std::int64_t const end = tasks() * (part + 1) / parts;
    for (std::int64_t task = tasks() * part / parts; task < end; ++task) {
      std::int64_t const row = task / groups(), first = task % groups() * width;
      std::int64_t const count = std::min(width, all.row_length - first);
      T* const diagonal = memory;
      for (std::int64_t c = 0; c < count; ++c)
        diagonal[c] = T(2) + all.excess(row % all.rows, first + c);
      std::int64_t const apart = all.next_stride;
      if (apart == 1)
        solve(all.at(row, first), memory, count, [](std::int64_t c) { return c; });
      else
        solve(all.at(row, first), memory, count, [=](std::int64_t c) { return c * apart; });
    }
  }

 private:
  template <class At>
  void solve(T* x, T* memory, std::int64_t count, At const& at) const {
    std::int64_t const n = all.length, step = all.stride;
    T const* const diagonal = memory;
    T* w = memory + width;
    COIR_INDEPENDENT_ITERATIONS
    for (std::int64_t c = 0; c < count; ++c) {
      w[c] = T(1) / diagonal[c];
      x[at(c)] *= all.scale * w[c];
    }
    for (std::int64_t i = 1; i < n; ++i) {
      T const* const before = x;
      T const* const last = w;
      x += step;
      w += width;
      COIR_INDEPENDENT_ITERATIONS
      for (std::int64_t c = 0; c < count; ++c) {
        w[c] = T(1) / (diagonal[c] - last[c]);
        x[at(c)] = (all.scale * x[at(c)] + before[at(c)]) * w[c];
      }
    }
    for (std::int64_t i = n - 1; i-- > 0;) {
      T const* const after = x;
      x -= step;
      w -= width;
      COIR_INDEPENDENT_ITERATIONS
      for (std::int64_t c = 0; c < count; ++c) x[at(c)] += w[c] * after[at(c)];
    }
  }
};

/// On devices: a thread for each half of a line. The halves are eliminated from both ends, meet in
/// the middle, and are solved from there. The pivot of row i has a closed form, so that none is
/// kept:
///
///   w_i = sinh((i + 1) t) / sinh((i + 2) t),   a = 2 cosh(t);   (i + 1) / (i + 2) for t = 0
template <class T>
struct HalfLine {
  T* x;
  std::int64_t step, rows;  ///< rows of this half, without the middle
  T excess, rate, turn;     ///< a - 2; 2 t; exp(-t)
  T factor, step_up;        ///< height(i + 1) = factor height(i) + step_up

  KOKKOS_FUNCTION HalfLine(TridiagonalLines<T> const& all, std::int64_t line, bool second) {
    std::int64_t const k = line % all.row_length, row = line / all.row_length;
    x = all.at(row, k);
    step = all.stride;
    std::int64_t const middle = all.length / 2;
    rows = middle;
    if (second) {
      x += (all.length - 1) * step;
      step = -step;
      rows = all.length - 1 - middle;
    }
    excess = all.excess(row % all.rows, k);
    rate = T(4) * math::asinh(T(0.5) * math::sqrt(excess));
    turn = math::exp(T(-0.5) * rate);
    factor = rate > T(0) ? math::exp(-rate) : T(1);
    step_up = height(1);
  }

  /// A number that is proportional to exp(i t) sinh(i t).
  KOKKOS_FORCEINLINE_FUNCTION T height(std::int64_t i) const {
    return rate > T(0) ? math::expm1(-rate * static_cast<T>(i)) : static_cast<T>(i);
  }
  /// The pivot of row i.
  KOKKOS_FUNCTION T pivot(std::int64_t i) const {
    return i < 0 ? T(0) : turn * (height(i + 1) / height(i + 2));
  }
};

/// Rows that are loaded together, while those before are computed.
inline constexpr int rows_together = 8;

/// Calls each(number, pivot, where the number lies) for the rows of a half line, from its outer end
/// inward, or back. Loads rows ahead.
template <class T, class Each>
KOKKOS_FORCEINLINE_FUNCTION void for_rows(HalfLine<T> const& half, bool backward,
                                          Each const& each) {
  constexpr int count = rows_together;
  std::int64_t const rows = half.rows;
  auto const row_of = [&](std::int64_t at) { return backward ? rows - 1 - at : at; };
  T ahead[count];
  auto const load = [&](std::int64_t from) {
    COIR_UNROLL
    for (int r = 0; r < count; ++r)
      ahead[r] = from + r < rows ? half.x[row_of(from + r) * half.step] : T(0);
  };
  load(0);
  for (std::int64_t from = 0; from < rows; from += count) {
    T values[count], heights[count + 1];
    COIR_UNROLL
    for (int r = 0; r < count; ++r) values[r] = ahead[r];
    load(from + count);
    // Heights ascend with rows, because the recurrence is stable in that direction alone.
    std::int64_t const lowest = backward ? rows - from - count : from;
    heights[0] = half.height(lowest < 0 ? 1 : lowest + 1);
    COIR_UNROLL
    for (int r = 0; r < count; ++r)
      heights[r + 1] = lowest + r < 0 ? heights[r] : half.factor * heights[r] + half.step_up;
    COIR_UNROLL
    for (int r = 0; r < count; ++r) {
      int const above = backward ? count - 1 - r : r;
      if (from + r < rows)
        each(values[r], half.turn * (heights[above] / heights[above + 1]),
             half.x[row_of(from + r) * half.step]);
    }
  }
}

template <class T>
struct EliminateHalves {
  TridiagonalLines<T> all;
  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    std::int64_t const count = all.count();
    HalfLine<T> const half(all, task % count, task >= count);
    T before = 0;
    for_rows(half, false, [&](T g, T pivot, T& row) {
      before = (all.scale * g + before) * pivot;
      row = before;
    });
  }
};

template <class T>
struct SolveMiddle {
  TridiagonalLines<T> all;
  KOKKOS_FUNCTION void operator()(std::int64_t line) const {
    HalfLine<T> const first(all, line, false), second(all, line, true);
    T& middle = first.x[first.rows * first.step];
    T sum = all.scale * middle;
    if (first.rows > 0) sum += first.x[(first.rows - 1) * first.step];
    if (second.rows > 0) sum += second.x[(second.rows - 1) * second.step];
    middle =
        sum / (T(2) + first.excess - first.pivot(first.rows - 1) - second.pivot(second.rows - 1));
  }
};

template <class T>
struct SolveHalves {
  TridiagonalLines<T> all;
  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    std::int64_t const count = all.count();
    HalfLine<T> const half(all, task % count, task >= count);
    T after = half.x[half.rows * half.step];
    for_rows(half, true, [&](T d, T pivot, T& row) {
      after = d + pivot * after;
      row = after;
    });
  }
};

/// The memory for such equations, and their solution.
template <class Exec, class T>
class Tridiagonal {
 public:
  /// \param row_length  lines beside each other
  /// \param cells       of all lines
  void list(Buffers& all, Exec const& exec, std::int64_t length, std::int64_t row_length,
            std::int64_t cells) {
    if constexpr (runs_on_host<Exec>) {
      width_ = std::clamp<std::int64_t>((std::int64_t(1) << 16) / length / 16 * 16, 16, 512);
      width_ = std::min(width_, row_length);
      std::int64_t const groups =
          cells / length / row_length * ((row_length + width_ - 1) / width_);
      parts_ = std::min<std::int64_t>(host_threads(exec), groups);
      all.add(pivots_, "coir::poisson::tridiagonal/pivots", parts_ * (length + 1) * width_);
    }
  }

  void solve(Exec const& exec, TridiagonalLines<T> const& equations) const {
    if constexpr (runs_on_host<Exec>) {
      EliminateOnHost<T> const eliminate{equations, pivots_.data(), width_, parts_};
      for_each_task("coir::poisson::tridiagonal/lines", exec, parts_, eliminate);
    } else {
      std::int64_t const count = equations.count();
      run("coir::poisson::tridiagonal/eliminate", exec, 2 * count, EliminateHalves<T>{equations});
      run("coir::poisson::tridiagonal/middle", exec, count, SolveMiddle<T>{equations});
      run("coir::poisson::tridiagonal/solve", exec, 2 * count, SolveHalves<T>{equations});
    }
  }

 private:
  /// A thread for each task, in small blocks: a few thousand threads must reach all
  /// multiprocessors.
  template <class Body>
  static void run(char const* label, Exec const& exec, std::int64_t count, Body const& body) {
    using Policy =
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<64, 1>>;
    Kokkos::parallel_for(label, Policy(exec, 0, count), body);
  }

  Kokkos::View<T*, Kokkos::LayoutRight, typename Exec::memory_space> pivots_;
  std::int64_t width_ = 0, parts_ = 1;
};

}  // namespace coir::poisson::detail
