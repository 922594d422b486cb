#pragma once

/// How many steps of z -> z^2 + c it takes until |z| > 2, for every pixel of a picture, in one
/// kernel.

#include <coir/core/concepts.hpp>
#include <coir/core/math.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace coir::apps::escape {

/// Which pixel lies where in the complex plane: row 0 is the top, pixels stand for their centres.
template <class T>
struct PixelGrid {
  int rows = 0;
  int columns = 0;
  T left = 0;
  T top = 0;
  T width = 0;   ///< of a pixel
  T height = 0;  ///< of a pixel

  KOKKOS_FORCEINLINE_FUNCTION T real(int column) const {
    return math::multiply_add(T(column) + T(0.5), width, left);
  }
  KOKKOS_FORCEINLINE_FUNCTION T imag(int row) const {
    return math::multiply_add(T(row) + T(0.5), -height, top);
  }
};

/// The iteration of each pixel: from z = 0 with the pixel as c (Mandelbrot), or from the pixel with
/// one c (Julia).
template <class T>
struct Problem {
  PixelGrid<T> pixels;
  int iterations = 256;  ///< the most steps
  bool julia = false;
  T constant_re = 0;  ///< c of a Julia set
  T constant_im = 0;
};

/// The steps of all pixels are made until |z|^2 exceeds this.
inline constexpr int escape_limit = 4;

/// Colours that blend need |z|^2 beyond this, where z^2 + c is as good as z^2; so many steps more
/// reach it from nearly everywhere.
inline constexpr int smooth_limit = 65536;
inline constexpr int smooth_steps = 8;

/// |z|^2
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T squared_abs(T re, T im) {
  return math::multiply_add(re, re, im * im);
}
/// The real part of z^2 + c.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T next_real(T re, T im, T c_re) {
  return math::multiply_add(re, re, math::multiply_add(-im, im, c_re));
}
/// The imaginary part of z^2 + c.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T next_imag(T re, T im, T c_im) {
  return math::multiply_add(re + re, im, c_im);
}

/// A count of steps without jumps from one to the next: n - log2(log2 |z|), where z is what n steps
/// led to, |z| > 1. Where |z| is large it doesn't depend on n, as each step squares z.
///
/// \see Peitgen and Saupe (ed.), The Science of Fractal Images (1988), section 4.2
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T smooth_count(T steps, T squared_abs_z) {
  T const value = steps - math::log2(T(0.5) * math::log2(squared_abs_z));
  return value > T(0) ? value : T(0);
}

/// Some pixels side by side, iterated together. On hosts the loops over them become vector
/// instructions.
template <class T, int Width>
struct Lanes {
  using Int = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

  T re[Width], im[Width];
  T c_re[Width], c_im[Width];
  Int count[Width];
  Int alive[Width];  // all bits while |z| is small, none after

  /// The pixels of a row from a column on. Pixels beyond the picture's edge are iterated, too, and
  /// dropped.
  KOKKOS_FORCEINLINE_FUNCTION void start(Problem<T> const& problem, int row, int first) {
    T const at_im = problem.pixels.imag(row);
    for (int l = 0; l < Width; ++l) {
      T const at_re = problem.pixels.real(first + l);
      re[l] = problem.julia ? at_re : T(0);
      im[l] = problem.julia ? at_im : T(0);
      c_re[l] = problem.julia ? problem.constant_re : at_re;
      c_im[l] = problem.julia ? problem.constant_im : at_im;
      count[l] = 0;
      alive[l] = -1;
    }
  }

  /// Makes up to `most` steps in each lane, and counts them, until |z|^2 > limit. Checks only after
  /// every fourth step whether a lane is left, because a check costs more than a step.
  ///
  /// \tparam keep  whether lanes that are done keep their z, which takes longer
  template <bool keep>
  KOKKOS_FORCEINLINE_FUNCTION void iterate(int most, T limit) {
    constexpr int group = 4;
    for (int n = most % group; n > 0; --n) advance<keep>(limit, std::integer_sequence<int, 0>());
    for (int n = most / group; n > 0; --n)
      if (!advance<keep>(limit, std::make_integer_sequence<int, group>())) return;
  }

 private:
  /// a where the bits of the mask are set, b where they aren't. Compilers turn a condition into a
  /// branch here, and then can't vectorise.
  KOKKOS_FORCEINLINE_FUNCTION static T select(Int mask, T a, T b) {
    if constexpr (Width == 1)
      return mask != 0 ? a : b;
    else
      return std::bit_cast<T>((std::bit_cast<Int>(a) & mask) | (std::bit_cast<Int>(b) & ~mask));
  }

  /// A step for each of the numbers in `n`. Returns whether a lane is alive.
  template <bool keep, int... n>
  KOKKOS_FORCEINLINE_FUNCTION bool advance(T limit, std::integer_sequence<int, n...>) {
    Int any = 0;
    for (int l = 0; l < Width; ++l) {
      T x = re[l], y = im[l];
      T const a = c_re[l], b = c_im[l];
      Int steps = count[l], lives = alive[l];
      auto const step = [&](int) {
        Int const small = squared_abs(x, y) <= limit ? Int(-1) : Int(0);
        lives = keep ? small : lives & small;
        steps -= lives;
        T const next_x = next_real(x, y, a), next_y = next_imag(x, y, b);
        x = keep ? select(lives, next_x, x) : next_x;
        y = keep ? select(lives, next_y, y) : next_y;
      };
      (step(n), ...);
      re[l] = x;
      im[l] = y;
      count[l] = steps;
      alive[l] = lives;
      any |= lives;
    }
    return any != 0;
  }
};

/// Pixels of a row that are iterated together, and the unit in which work is handed out. Wider
/// strips wait longer for their slowest pixel, narrower ones leave the processor waiting for its
/// own results.
inline constexpr int strip_width = 64;

/// Strips in a picture; the last of a row may reach beyond its edge.
template <class T>
std::int64_t strips_of(PixelGrid<T> const& pixels) {
  return std::int64_t(pixels.rows) * ((pixels.columns + strip_width - 1) / strip_width);
}

/// The kernel: a strip per iteration on hosts, a pixel per thread on devices.
template <class Exec, class T, bool smooth>
struct EscapeTime {
  using Memory = typename Exec::memory_space;
  Problem<T> problem;
  Kokkos::View<int**, Kokkos::LayoutRight, Memory> counts;
  Kokkos::View<T**, Kokkos::LayoutRight, Memory> values;
  int strips_per_row;

  static constexpr int width = runs_on_host<Exec> ? strip_width : 1;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    constexpr int per_strip = strip_width / width;
    // There are fewer than 2^32 strips in any memory, and devices divide numbers of 32 bits faster.
    auto const strip = static_cast<std::uint32_t>(index / per_strip);
    auto const per_row = static_cast<std::uint32_t>(strips_per_row);
    auto const row = static_cast<int>(strip / per_row);
    auto const first = static_cast<int>(strip % per_row) * strip_width +
                       static_cast<int>(index % per_strip) * width;
    int const left = problem.pixels.columns - first;
    if (left > 0) compute(row, first, left < width ? left : width);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void compute(int row, int first, int size) const {
    Lanes<T, width> lanes;
    lanes.start(problem, row, first);
    lanes.template iterate<smooth>(problem.iterations, T(escape_limit));
    for (int l = 0; l < size; ++l) counts(row, first + l) = static_cast<int>(lanes.count[l]);
    if constexpr (smooth) {
      T const most = static_cast<T>(problem.iterations);
      lanes.template iterate<true>(smooth_steps, T(smooth_limit));
      T value[width];
      for (int l = 0; l < width; ++l)
        value[l] =
            smooth_count(static_cast<T>(lanes.count[l]), squared_abs(lanes.re[l], lanes.im[l]));
      for (int l = 0; l < size; ++l)
        values(row, first + l) = counts(row, first + l) < problem.iterations ? value[l] : most;
    }
  }
};

/// Called now and then with how much is done of how much; returning false stops the computation.
using Monitor = std::function<bool(std::int64_t done, std::int64_t total)>;

/// Counts steps of z -> z^2 + c:
///
///   counts[i, j] = the first n with |z_n|^2 > 4, or `iterations` if there is none below
///
/// Bits are the same for any number of threads, on every backend whose processors can multiply and
/// add in one instruction, and by escape_time_by_arrays.
///
/// \param exec    where to run; asynchronous without a monitor, so fence before reading the result
/// \param counts  [rows, columns] out
/// \param values  [rows, columns] out: smooth_count of each pixel, `iterations` for those that
///   never leave; empty if that isn't wanted
/// \param monitor called with pixels, many times a second
/// \returns false if the monitor stopped it
template <ExecutionSpace Exec, class T>
bool escape_time(
    Exec const& exec, Problem<T> const& problem,
    Kokkos::View<int**, Kokkos::LayoutRight, typename Exec::memory_space> const& counts,
    Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space> const& values,
    Monitor const& monitor = {}) {
  std::int64_t const strips = strips_of(problem.pixels);
  if (strips == 0) return true;
  int const per_row = static_cast<int>(strips / problem.pixels.rows);
  int const per_strip = runs_on_host<Exec> ? 1 : strip_width;

  auto const launch = [&](std::int64_t first, std::int64_t last, auto const& kernel) {
    // Strips take very different times, so that a thread takes few of them at a time.
    using Policy = Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>,
                                       Kokkos::IndexType<std::int64_t>>;
    Policy policy(exec, first * per_strip, last * per_strip);
    if constexpr (runs_on_host<Exec>)
      policy.set_chunk_size(static_cast<int>(std::clamp<std::int64_t>(
          (last - first) / (16 * static_cast<std::int64_t>(exec.concurrency())), 1, 16)));
    Kokkos::parallel_for("coir::apps::escape::escape_time", policy, kernel);
  };
  // The monitor is called between slices, which are short enough even if none of their pixels
  // leaves.
  std::int64_t const threads = static_cast<std::int64_t>(exec.concurrency());
  std::int64_t const steps = runs_on_host<Exec> ? threads << 25 : std::int64_t(1) << 33;
  std::int64_t const fewest = runs_on_host<Exec> ? 2 * threads : 4096;
  std::int64_t const slice =
      monitor ? std::max(fewest, steps / strip_width / std::max(problem.iterations, 1)) : strips;
  for (std::int64_t first = 0; first < strips; first += slice) {
    std::int64_t const last = std::min(first + slice, strips);
    if (values.size() > 0)
      launch(first, last, EscapeTime<Exec, T, true>{problem, counts, values, per_row});
    else
      launch(first, last, EscapeTime<Exec, T, false>{problem, counts, values, per_row});
    if (!monitor) continue;
    exec.fence();
    std::int64_t const columns = problem.pixels.columns;
    if (!monitor(last / per_row * columns, problem.pixels.rows * columns) && last < strips)
      return false;
  }
  return true;
}

}  // namespace coir::apps::escape
