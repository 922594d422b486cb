#pragma once

/// \file
/// Columns: lines along a leading axis of complex numbers. Columns of two cache lines are
/// transformed together, and up to four times as many are copied together.

#include <coir/core/tasks.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace coir::fft::detail {

/// Columns that are transformed together: two cache lines.
template <class T>
constexpr std::int64_t columns = 128 / static_cast<std::int64_t>(2 * sizeof(T));

/// A piece of memory for each thread.
struct ThreadBuffers {
  void* data;
  std::int64_t bytes;  ///< of one

  void* of(std::int64_t part) const { return static_cast<char*>(data) + part * bytes; }
};

/// Calls work(part, first task, task after the last) for each part of the tasks, on threads.
template <class Exec, class Work>
void share_out(char const* label, Exec const& exec, std::int64_t parts, std::int64_t tasks,
               Work const& work) {
  std::int64_t const used = std::min(parts, tasks);
  for_each_task(label, exec, used, [=](std::int64_t part) {
    work(part, tasks * part / used, tasks * (part + 1) / used);
  });
}

/// The columns along the middle axis of [planes, n, stride] numbers, and the number that is copied
/// together.
template <class T>
struct Columns {
  using Number = std::array<T, 2>;
  std::int64_t planes = 1, n = 1, stride = 1;
  /// Groups of columns<T> that are copied together, because longer copies from memory are faster.
  /// Fewer if the buffer would exceed half a core's cache, or some threads would have no work. One
  /// if all columns fit a cache of 2 MiB.
  std::int64_t together = 1;

  Columns() = default;
  Columns(std::int64_t planes_, std::int64_t n_, std::int64_t stride_, std::int64_t threads)
      : planes(planes_), n(n_), stride(stride_) {
    constexpr std::int64_t half_a_cache = std::int64_t(1) << 19, most = 4;
    constexpr std::int64_t fits_cache = std::int64_t(1) << 21;
    if (planes * n * stride * static_cast<std::int64_t>(sizeof(Number)) <= fits_cache) return;
    together = std::clamp<std::int64_t>(half_a_cache / buffer_bytes(), 1, most);
    while (together > 1 && tasks() < 4 * threads) --together;
  }

  /// Bytes of one thread's buffer.
  std::int64_t buffer_bytes() const {
    return together * n * columns<T> * static_cast<std::int64_t>(sizeof(Number));
  }
  std::int64_t in_plane() const {
    std::int64_t const width = together * columns<T>;
    return (stride + width - 1) / width;
  }
  std::int64_t tasks() const { return planes * in_plane(); }
};

/// Copies n rows of `width` numbers that lie in blocks of columns<T>.
///
/// \param from_row, from_block  numbers to the next row, and to the next block of a row
template <class T>
void copy_rows(std::array<T, 2> const* from, std::int64_t from_row, std::int64_t from_block,
               std::array<T, 2>* to, std::int64_t to_row, std::int64_t to_block, std::int64_t n,
               std::int64_t width) {
  constexpr std::size_t number = sizeof(std::array<T, 2>);
  std::int64_t const whole = width / columns<T>, rest = width % columns<T>;
  if (whole == 1 && rest == 0) {  // straight moves, because the number of bytes is constant
    for (std::int64_t i = 0; i < n; ++i)
      std::memcpy(to + i * to_row, from + i * from_row, columns<T> * number);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    auto const* const here = from + i * from_row;
    auto* const there = to + i * to_row;
    for (std::int64_t b = 0; b < whole; ++b)
      std::memcpy(there + b * to_block, here + b * from_block, columns<T> * number);
    if (rest > 0)
      std::memcpy(there + whole * to_block, here + whole * from_block,
                  static_cast<std::size_t>(rest) * number);
  }
}

/// Calls what(columns in a buffer, number of the first in its plane, how many) for all columns, at
/// most columns<T> at a time. Columns are copied to the buffer and back, because in memory they
/// share cache lines with others. In the buffer the numbers of a column are columns<T> apart.
///
/// \param in, out  may be the same
template <class T, class Exec, class What>
void for_columns(Exec const& exec, std::int64_t parts, Columns<T> const& all,
                 std::array<T, 2> const* in, std::array<T, 2>* out, ThreadBuffers const& buffers,
                 What const& what) {
  constexpr std::int64_t full = columns<T>;
  auto const work = [=, &what](std::int64_t part, std::int64_t begin, std::int64_t end) {
    auto* const buffer = static_cast<std::array<T, 2>*>(buffers.of(part));
    std::int64_t const in_plane = all.in_plane(), block = all.n * full;
    for (std::int64_t task = begin; task < end; ++task) {
      std::int64_t const first = task % in_plane * all.together * full;
      std::int64_t const top = task / in_plane * all.n * all.stride + first;
      std::int64_t const width = std::min(all.together * full, all.stride - first);
      copy_rows<T>(in + top, all.stride, full, buffer, full, block, all.n, width);
      for (std::int64_t done = 0; done < width; done += full)
        what(buffer + done * all.n, first + done, std::min(full, width - done));
      copy_rows<T>(buffer, full, block, out + top, all.stride, full, all.n, width);
    }
  };
  share_out("coir::fft::columns", exec, parts, all.tasks(), work);
}

}  // namespace coir::fft::detail
