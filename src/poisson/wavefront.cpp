#include "wavefront.hpp"

#include <core/simd.hpp>

#include <algorithm>

namespace coir::poisson::detail {

using simd::Simd;

namespace {

constexpr int rows_at_once = 4;  // a vector loaded for one row serves as the next one's neighbour

/// One sweep on the cells [first, last) of a row, one at a time.
template <class T>
void sweep_cells(T const* in, T* out, T const* source, std::ptrdiff_t stride, int first, int last) {
  for (int c = first; c < last; ++c) {
    T const sum = ((in[c - stride] + in[c + stride]) + in[c - 1]) + in[c + 1];
    out[c] = (sum - source[c]) * T(0.25);
  }
}

/// One sweep on `Rows` rows of `columns` cells.
template <class T, int Rows>
void sweep_rows(T const* __restrict in, T* __restrict out, T const* __restrict source,
                std::ptrdiff_t stride, std::ptrdiff_t source_stride, int columns, bool padded) {
  using S = Simd<T>;
  using Vector = typename S::Vector;
  constexpr int width = S::width;
  int const whole = columns - columns % width;

  if (padded || whole > 0) {
    Vector before[Rows], here[Rows], after[Rows];
    for (int r = 0; r < Rows; ++r) {
      before[r] = S::load(in + r * stride - width);
      here[r] = S::load(in + r * stride);
    }
    auto const update = [&](std::ptrdiff_t column, auto keep) {
      for (int r = 0; r < Rows; ++r) after[r] = S::load(in + r * stride + column + width);
      Vector const above = S::load(in - stride + column);
      Vector const below = S::load(in + Rows * stride + column);
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) {
        Vector const north = r == 0 ? above : here[r - 1];
        Vector const south = r == Rows - 1 ? below : here[r + 1];
        Vector const sum =
            ((north + south) + S::west(before[r], here[r])) + S::east(here[r], after[r]);
        Vector const value = (sum - S::load(source + r * source_stride + column)) * T(0.25);
        S::store(out + r * stride + column, keep(value, here[r]));
      }
    };
    for (int column = 0; column < whole; column += width) {
      update(column, [](Vector value, Vector) { return value; });
      for (int r = 0; r < Rows; ++r) {
        before[r] = here[r];
        here[r] = after[r];
      }
    }
    if (padded && whole < columns) {
      // Beyond the interior the boundary and the padding keep what they hold.
      Vector lane;
      for (int l = 0; l < width; ++l) lane[l] = T(l);
      auto const inside = lane < T(columns - whole);
      update(whole, [inside](Vector value, Vector old) { return inside ? value : old; });
    }
  }
  if (!padded)
    for (int r = 0; r < Rows; ++r)
      sweep_cells(in + r * stride, out + r * stride, source + r * source_stride, stride, whole,
                  columns);
}

}  // namespace

template <class T>
int wavefront_vector_width() {
  return Simd<T>::width;
}
template int wavefront_vector_width<float>();
template int wavefront_vector_width<double>();

/// One thread's rows in one block of sweeps, in which borders move to higher rows. A block in which
/// they move down is described on the grid turned upside down, with the same sums, because north +
/// south commutes.
template <class T>
struct Wavefront<T>::Band {
  T* field[2];  // row 0, parity of the block's first sweep
  T const* source;
  std::ptrdiff_t stride;
  std::ptrdiff_t source_stride;
  int lower;  // rows [lower + k * leans_below, upper + k * leans_above) in the block's sweep k
  int upper;
  int leans_below;
  int leans_above;
  int depth;
  Progress* own;
  Progress const* above;
};

// Below this depth threads would wait for each other too often.
constexpr int least_depth = 4;

// The rows of a band that makes so many sweeps in a pass. A band needs the first rows of the next
// one when it reaches its own last rows. With so many rows the next one has them ready. Otherwise
// each band would wait for the next one, and so for all that follow.
constexpr int rows_for_depth(int depth) { return 2 * (depth + rows_at_once); }

// Cells of a band, below which a thread takes longer to fetch its neighbours' rows than to sweep.
constexpr std::int64_t least_cells = 2048;

template <class T>
Wavefront<T>::Wavefront(WavefrontGrid<T> const& grid, int threads, int depth, std::int64_t sweeps)
    : grid_(grid), sweeps_(sweeps) {
  std::int64_t const cells = std::int64_t(grid.rows) * grid.columns;
  auto const most =
      std::min<std::int64_t>(grid.rows / rows_for_depth(least_depth), cells / least_cells);
  threads_ = static_cast<int>(std::clamp<std::int64_t>(most, 1, threads));
  if (threads_ > 1) depth = std::clamp(grid.rows / threads_ / 2 - rows_at_once, least_depth, depth);
  depth_ = static_cast<int>(std::clamp<std::int64_t>(sweeps, 1, depth));
  finished_ = std::vector<Progress>(static_cast<std::size_t>(threads_));
}

template <class T>
int Wavefront<T>::border(int thread) const {
  return static_cast<int>(static_cast<std::int64_t>(grid_.rows) * thread / threads_);
}

template <class T>
void Wavefront<T>::run(int thread) {
  bool const bottom = thread == 0;
  bool const top = thread == threads_ - 1;
  int lean = 0;  // rows by which the borders have moved
  std::int64_t number = 0;
  bool upward = true;
  for (std::int64_t done = 0; done < sweeps_; upward = !upward) {
    int const depth = static_cast<int>(std::min<std::int64_t>(depth_, sweeps_ - done));
    int const low = bottom ? 0 : border(thread) + lean;
    int const high = top ? grid_.rows : border(thread + 1) + lean;
    std::ptrdiff_t const turn = upward ? 0 : grid_.rows - 1;
    std::ptrdiff_t const sign = upward ? 1 : -1;
    Band const band{{grid_.field[done % 2] + turn * grid_.field_stride,
                     grid_.field[(done + 1) % 2] + turn * grid_.field_stride},
                    grid_.source + turn * grid_.source_stride,
                    sign * grid_.field_stride,
                    sign * grid_.source_stride,
                    upward ? low : grid_.rows - high,
                    upward ? high : grid_.rows - low,
                    upward ? !bottom : !top,
                    upward ? !top : !bottom,
                    depth,
                    &finished_[thread],
                    upward ? (top ? nullptr : &finished_[thread + 1])
                           : (bottom ? nullptr : &finished_[thread - 1])};
    advance(band, ++number);
    lean += upward ? depth : -depth;
    done += depth;
  }
}

template <class T>
void Wavefront<T>::advance(Band const& band, std::int64_t number) {
  int const height = band.upper - band.lower;
  int const steps = (height + 2 * band.depth + rows_at_once - 1) / rows_at_once;
  int const first_rows_done = (band.depth + 1) / 2;  // the step after which the band below may read
  bool waiting = band.above != nullptr;

  for (int step = 0; step < steps; ++step) {
    int const front = band.lower + rows_at_once * step;
    if (waiting && front + rows_at_once >= band.upper) {
      wait_for(*band.above, number);
      waiting = false;
    }
    for (int k = 1; k <= band.depth; ++k) {
      int const begin = std::max(front - (k - 1), band.lower + k * band.leans_below);
      int const end = std::min(front - (k - 1) + rows_at_once, band.upper + k * band.leans_above);
      if (begin >= end) continue;
      T const* const in = band.field[(k - 1) % 2];
      T* const out = band.field[k % 2];
      if (end - begin == rows_at_once) {
        sweep_rows<T, rows_at_once>(in + begin * band.stride, out + begin * band.stride,
                                    band.source + begin * band.source_stride, band.stride,
                                    band.source_stride, grid_.columns, grid_.padded);
      } else {
        for (int row = begin; row < end; ++row)
          sweep_rows<T, 1>(in + row * band.stride, out + row * band.stride,
                           band.source + row * band.source_stride, band.stride, band.source_stride,
                           grid_.columns, grid_.padded);
      }
    }
    if (step == first_rows_done) band.own->done.store(number, std::memory_order_release);
  }
  band.own->done.store(number, std::memory_order_release);
}

template class Wavefront<float>;
template class Wavefront<double>;

}  // namespace coir::poisson::detail
