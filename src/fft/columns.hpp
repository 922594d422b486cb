#pragma once

/// \file
/// Columns: lines along a leading axis of complex numbers, as many together as fill two lines of the cache.

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

/// Copies columns to a buffer, where their numbers lie columns<T> apart, calls `what` for them there, and copies them
/// to their place. In memory they would share cache lines with other columns.
///
/// \param from, to  the first number of the first column; they may be the same
/// \param stride    from number to number of a column
/// \param width     number of columns
template <class T, class What>
void by_way_of(std::array<T, 2>* buffer, std::array<T, 2> const* from, std::array<T, 2>* to,
               std::int64_t n, std::int64_t stride, std::int64_t width, What const& what) {
  using Number = std::array<T, 2>;
  constexpr std::int64_t full = columns<T>;
  auto const run = [&](auto bytes) {
    for (std::int64_t i = 0; i < n; ++i) std::memcpy(buffer + i * full, from + i * stride, bytes);
    what();
    for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * stride, buffer + i * full, bytes);
  };
  if (width == full)
    run(std::integral_constant<std::size_t, full * sizeof(Number)>{});
  else
    run(static_cast<std::size_t>(width) * sizeof(Number));
}

/// Calls what(columns in a buffer, number of the first, how many) for the columns of [groups, n, stride] numbers along the middle
/// axis. In the buffer they lie columns<T> apart.
///
/// \param in, out  may be the same
template <class T, class Exec, class What>
void for_columns(Exec const& exec, std::int64_t parts, std::array<T, 2> const* in,
                 std::array<T, 2>* out, std::int64_t groups, std::int64_t n, std::int64_t stride,
                 ThreadBuffers const& buffers, What const& what) {
  using Number = std::array<T, 2>;
  std::int64_t const per_group = (stride + columns<T> - 1) / columns<T>;
  auto const work = [=, &what](std::int64_t part, std::int64_t begin, std::int64_t end) {
    auto* const buffer = static_cast<Number*>(buffers.of(part));
    for (std::int64_t task = begin; task < end; ++task) {
      std::int64_t const first = task % per_group * columns<T>;
      std::int64_t const top = task / per_group * n * stride + first;
      std::int64_t const width = std::min(columns<T>, stride - first);
      by_way_of<T>(buffer, in + top, out + top, n, stride, width,
                   [&] { what(buffer, first, width); });
    }
  };
  share_out("coir::fft/columns", exec, parts, groups * per_group, work);
}

}  // namespace coir::fft::detail
