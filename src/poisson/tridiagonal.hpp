#pragma once

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

/// On devices lines are cut into segments, with one row between two of them: a separator. A thread
/// eliminates the rows of a segment from both ends. What is left are equations of the separators,
/// with
///
///   x_(i-1) = y + s_m x_(i-1-m) + w_m x_i   for the last of m rows between the separators i-1-m
///   and i,  w_j = sinh(j t) / sinh((j + 1) t),  s_m = sinh(t) / sinh((m + 1) t),  a = 2 cosh(t),
///
/// where y solves the equations of the segment alone. When the separators are known, each segment
/// is solved between them. The pivots w_j have closed forms, so that none is kept.
template <class T>
struct Pivots {
  T rate;    ///< 2 t
  T turn;    ///< exp(-t)
  T factor;  ///< exp(-2 t)
  T first;   ///< height(1): height(j + 1) = factor height(j) + first

  KOKKOS_FUNCTION explicit Pivots(T excess)
      : rate(T(4) * math::asinh(T(0.5) * math::sqrt(excess))),
        turn(math::exp(T(-0.5) * rate)),
        factor(rate > T(0) ? math::exp(-rate) : T(1)),
        first(height(1)) {}

  /// A number that is proportional to exp(-j t) sinh(j t).
  KOKKOS_FORCEINLINE_FUNCTION T height(std::int64_t j) const {
    return rate > T(0) ? math::expm1(-rate * static_cast<T>(j)) : static_cast<T>(j);
  }
  /// exp(-j t)
  KOKKOS_FORCEINLINE_FUNCTION T decay(std::int64_t j) const {
    return math::exp(T(-0.5) * rate * static_cast<T>(j));
  }
  /// w_j
  KOKKOS_FORCEINLINE_FUNCTION T at(std::int64_t j) const {
    return j < 1 ? T(0) : turn * (height(j) / height(j + 1));
  }
};

/// The segments of lines, and the memory for the equations of their separators.
template <class T>
struct Segments {
  /// Rows of a segment but the last one of a line, which a thread holds in registers.
  static constexpr int rows = sizeof(T) == 4 ? 31 : 15;
  TridiagonalLines<T> lines;
  T* first;  ///< [segment][line]: the end of elimination upward; then the pivot of a separator
  T* last;   ///< [segment][line]: the right side of the separator after a segment; then its x

  /// At least one; the last one may have no row.
  static constexpr std::int64_t of_line(std::int64_t length) { return length / (rows + 1) + 1; }

  /// A thread's segment of a line.
  struct Place {
    std::int64_t line, segment, slot;
    T* x;       ///< of its first row
    int count;  ///< of its rows
    bool is_last;
    T excess;
  };

  KOKKOS_FUNCTION Place place(std::int64_t q, std::int64_t second, std::int64_t third) const {
    std::int64_t const of_a_line = of_line(lines.length);
    std::int64_t const field = q / of_a_line, segment = q - field * of_a_line;
    std::int64_t const line = (field * lines.rows + second) * lines.row_length + third;
    std::int64_t const begin = segment * (rows + 1), left = lines.length - begin;
    T* const x = lines.data + (field * lines.field_stride + second * lines.row_stride +
                               third * lines.next_stride + begin * lines.stride);
    return {line,
            segment,
            segment * lines.count() + line,
            x,
            left < rows ? static_cast<int>(left) : rows,
            segment == of_a_line - 1,
            lines.excess(second, third)};
  }

  /// Loads the rows of a segment to the end of `values`, times the scale, after zeros.
  KOKKOS_FORCEINLINE_FUNCTION void load(Place const& at, T (&values)[rows]) const {
    int const none = rows - at.count;
    T const* const x = at.x - none * lines.stride;
    COIR_UNROLL
    for (int r = 0; r < rows; ++r) values[r] = r < none ? T(0) : lines.scale * x[r * lines.stride];
  }
};

template <class T>
struct EliminateSegments : Segments<T> {
  static constexpr int cells_per_thread = 1;
  KOKKOS_FUNCTION void operator()(std::int64_t q, std::int64_t second, std::int64_t third) const {
    constexpr int rows = Segments<T>::rows;
    auto const at = this->place(q, second, third);
    T values[rows];
    this->load(at, values);
    T const separator = at.is_last ? T(0) : this->lines.scale * at.x[rows * this->lines.stride];
    Pivots<T> const pivots(at.excess);
    T upward = 0, downward = 0, height = pivots.first;
    COIR_UNROLL
    for (int r = 0; r < rows; ++r) {
      T const next = pivots.factor * height + pivots.first;
      T const pivot = pivots.turn * (height / next);
      height = next;
      if (r < at.count) upward = (values[rows - 1 - r] + upward) * pivot;
      downward = (values[r] + downward) * pivot;
    }
    this->first[at.slot] = upward;
    this->last[at.slot] = separator + downward;
  }
};

/// Solves the equations of a line's separators, of which only neighbours are coupled.
template <class T>
struct SolveSeparators : Segments<T> {
  /// Separators that are loaded together, while those before are computed.
  static constexpr int together = 8;

  KOKKOS_FUNCTION void operator()(std::int64_t line) const {
    constexpr std::int64_t period = Segments<T>::rows + 1;
    auto const& all = this->lines;
    std::int64_t const count = all.count(), separators = Segments<T>::of_line(all.length) - 1;
    if (separators == 0) return;
    T* const first = this->first + line;
    T* const last = this->last + line;
    std::int64_t const row = line / all.row_length;
    T const excess = all.excess(row % all.rows, line - row * all.row_length);
    Pivots<T> const pivots(excess);
    // The pivot of separator s is sinh(p (s + 1) t) / sinh(p (s + 2) t), p = period.
    T const turn = pivots.decay(period), factor = turn * turn, step_up = pivots.height(period);
    // 1 / s_m times turn, which overflows for no t
    T const of_source = pivots.turn * (step_up / pivots.first);
    T height = step_up, before = 0;
    T sources[together], firsts[together];
    auto const load = [&](std::int64_t from) {
      COIR_UNROLL
      for (int s = 0; s < together; ++s)
        if (from + s < separators) {
          sources[s] = last[(from + s) * count];
          firsts[s] = first[(from + s + 1) * count];
        }
    };
    load(0);
    for (std::int64_t from = 0; from < separators; from += together) {
      T sum[together];
      COIR_UNROLL
      for (int s = 0; s < together; ++s) sum[s] = sources[s] + firsts[s];
      load(from + together);
      COIR_UNROLL
      for (int s = 0; s < together; ++s)
        if (from + s < separators - 1) {
          T const next = factor * height + step_up;
          T const ratio = height / next;
          height = next;
          before = of_source * ratio * sum[s] + turn * ratio * before;
          last[(from + s) * count] = before;
          first[(from + s) * count] = turn * ratio;
        } else if (from + s == separators - 1) {
          std::int64_t const above = separators * period - 1;
          T const coupling = pivots.decay(period - 1) * (pivots.first / step_up);
          before = (sum[s] + coupling * before) /
                   (T(2) + excess - pivots.at(above) - pivots.at(all.length - 1 - above));
          last[(from + s) * count] = before;
        }
    }
    std::int64_t remaining = separators - 1;
    while (remaining > 0) {
      COIR_UNROLL
      for (int s = 0; s < together; ++s)
        if (s < remaining) {
          sources[s] = last[(remaining - 1 - s) * count];
          firsts[s] = first[(remaining - 1 - s) * count];
        }
      COIR_UNROLL
      for (int s = 0; s < together; ++s)
        if (s < remaining) {
          before = sources[s] + firsts[s] * before;
          last[(remaining - 1 - s) * count] = before;
        }
      remaining -= together;
    }
  }
};

/// Solves the rows of each segment between its separators.
template <class T>
struct SolveSegments : Segments<T> {
  static constexpr int cells_per_thread = 1;
  KOKKOS_FUNCTION void operator()(std::int64_t q, std::int64_t second, std::int64_t third) const {
    constexpr int rows = Segments<T>::rows;
    auto const& all = this->lines;
    auto const at = this->place(q, second, third);
    T values[rows], pivot[rows];
    this->load(at, values);
    T const above = at.segment > 0 ? this->last[at.slot - all.count()] : T(0);
    T const below = at.is_last ? T(0) : this->last[at.slot];
    Pivots<T> const pivots(at.excess);
    T height = pivots.first, x = below;
    COIR_UNROLL
    for (int r = rows - 1; r >= 0; --r) {
      T const next = pivots.factor * height + pivots.first;
      pivot[r] = pivots.turn * (height / next);
      height = next;
      x = (values[r] + x) * pivot[r];
      values[r] = x;
    }
    int const none = rows - at.count;
    T* const to = at.x - none * all.stride;
    x = above;
    COIR_UNROLL
    for (int r = 0; r < rows; ++r)
      if (r >= none) {
        x = values[r] + pivot[r] * x;
        to[r * all.stride] = x;
      }
    if (!at.is_last) to[rows * all.stride] = below;
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
      all.add(memory_, "coir::poisson::tridiagonal/pivots", parts_ * (length + 1) * width_);
    } else {
      all.add(memory_, "coir::poisson::tridiagonal/separators",
              2 * Segments<T>::of_line(length) * (cells / length));
    }
  }

  void solve(Exec const& exec, TridiagonalLines<T> const& equations) const {
    if constexpr (runs_on_host<Exec>) {
      EliminateOnHost<T> const eliminate{equations, memory_.data(), width_, parts_};
      for_each_task("coir::poisson::tridiagonal/lines", exec, parts_, eliminate);
    } else {
      std::int64_t const of_line = Segments<T>::of_line(equations.length);
      Segments<T> const segments{equations, memory_.data(),
                                 memory_.data() + of_line * equations.count()};
      auto const all =
          box<3, std::int64_t>({equations.fields * of_line, equations.rows, equations.row_length});
      for_each("coir::poisson::tridiagonal/eliminate", exec, all, EliminateSegments<T>{segments});
      // A thread for each line, in small blocks: a few thousand threads must reach all
      // multiprocessors.
      using Policy =
          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<32, 1>>;
      Kokkos::parallel_for("coir::poisson::tridiagonal/separators",
                           Policy(exec, 0, equations.count()), SolveSeparators<T>{segments});
      for_each("coir::poisson::tridiagonal/solve", exec, all, SolveSegments<T>{segments});
    }
  }

 private:
  /// Of pivots on hosts, of separators on devices.
  Kokkos::View<T*, Kokkos::LayoutRight, typename Exec::memory_space> memory_;
  std::int64_t width_ = 0, parts_ = 1;
};

}  // namespace coir::poisson::detail
