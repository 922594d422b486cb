#pragma once

/// \file
/// Sorts rows of keys on a device: by CUB on NVIDIA's, else by Kokkos' sorts.

#include "sort_on_host.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/pool.hpp>

#include <Kokkos_Sort.hpp>

#ifdef __CUDACC__
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace coir::detail {

namespace sorting {

template <class Exec, class T>
using Flat = Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// These two turn the flat index of an element into its row, and into its column.
struct RowOf {
  std::int64_t const* from;
  std::int64_t* to;
  std::int64_t columns;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to[i] = from[i] / columns; }
};
struct ColumnOf {
  std::int64_t* index;
  std::int64_t columns;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { index[i] %= columns; }
};
struct Count {
  std::int64_t* index;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { index[i] = i; }
};
template <class Key>
struct Gather {
  Key const* from;
  std::int64_t const* index;
  Key* to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to[i] = from[index[i]]; }
};

template <class Exec, class Key>
void sort_keys(Exec const& exec, Key* keys, std::int64_t size) {
  Kokkos::sort(exec, Flat<Exec, Key>(keys, static_cast<std::size_t>(size)));
}

#ifdef COIR_KOKKOS_SORTS_BY_KEY
template <class Exec, class Key>
void sort_by_key(Exec const& exec, Key* keys, std::int64_t* indices, std::int64_t size) {
  auto const count = static_cast<std::size_t>(size);
  Kokkos::Experimental::sort_by_key(exec, Flat<Exec, Key>(keys, count),
                                    Flat<Exec, std::int64_t>(indices, count));
}
#endif

template <class Exec, class Body>
void for_all(Exec const& exec, std::int64_t size, Body const& body) {
  for_each("coir::array::sort_on_device/indices", exec, box<1, std::int64_t>({size}), body);
}

}  // namespace sorting

/// Sorts copies of the rows in host memory, where Kokkos can't sort by key.
template <class Exec, class Key>
void sort_copies(Key* keys, std::int64_t* order, std::int64_t rows, std::int64_t columns) {
  using Host = Kokkos::DefaultHostExecutionSpace;
  using HostSpace = Kokkos::HostSpace;
  using Space = typename Exec::memory_space;
  std::int64_t const size = rows * columns;
  Array<Key, 1, HostSpace> keys_h(Shape<1>{size});
  Array<std::int64_t, 1, HostSpace> order_h(Shape<1>{order ? size : 0});
  std::int64_t const bytes = size * static_cast<std::int64_t>(sizeof(Key));
  copy_bytes<HostSpace, Space>(keys_h.data(), keys, bytes);
  if (order) {
    argsort_on_host(Host{}, keys_h.data(), order_h.data(), rows, columns);
    copy_bytes<Space, HostSpace>(order, order_h.data(),
                                 size * static_cast<std::int64_t>(sizeof(std::int64_t)));
  } else {
    sort_on_host(Host{}, keys_h.data(), rows, columns);
    copy_bytes<Space, HostSpace>(keys, keys_h.data(), bytes);
  }
}

#ifdef COIR_KOKKOS_SORTS_BY_KEY

/// order[i] = the flat index of the element that comes i-th by row and key. Sorting by key moves
/// keys, too.
template <class Exec, class Key>
void sort_flat(Exec const& exec, Key* keys, std::int64_t* order, std::int64_t rows,
               std::int64_t columns) {
  std::int64_t const size = rows * columns;
  sorting::for_all(exec, size, sorting::Count{order});
  // The sorts are stable (radix sorts by thrust and rocThrust): the second one, by rows, leaves
  // each row sorted by keys.
  sorting::sort_by_key(exec, keys, order, size);
  if (rows == 1) return;
  Array<std::int64_t, 1, typename Exec::memory_space> row(Shape<1>{size});
  sorting::for_all(exec, size, sorting::RowOf{order, row.data(), columns});
  sorting::sort_by_key(exec, row.data(), order, size);
}

template <class Exec, class Key>
void sort_on_device(Exec const& exec, Key* keys, std::int64_t rows, std::int64_t columns) {
  std::int64_t const size = rows * columns;
  auto const count = static_cast<std::size_t>(size);
  if (rows == 1) {
    sorting::sort_keys(exec, keys, size);
    return;
  }
  using Space = typename Exec::memory_space;
  Array<Key, 1, Space> copy(Shape<1>{size}), sorted(Shape<1>{size});
  Array<std::int64_t, 1, Space> order(Shape<1>{size});
  copy_contiguous(exec, sorting::Flat<Exec, Key>(copy.data(), count),
                  sorting::Flat<Exec, Key>(keys, count));
  sort_flat(exec, copy.data(), order.data(), rows, columns);
  sorting::for_all(exec, size, sorting::Gather<Key>{keys, order.data(), sorted.data()});
  copy_contiguous(exec, sorting::Flat<Exec, Key>(keys, count),
                  sorting::Flat<Exec, Key>(sorted.data(), count));
}

template <class Exec, class Key>
void argsort_on_device(Exec const& exec, Key* keys, std::int64_t* order, std::int64_t rows,
                       std::int64_t columns) {
  sort_flat(exec, keys, order, rows, columns);
  if (rows > 1) sorting::for_all(exec, rows * columns, sorting::ColumnOf{order, columns});
}

#else

template <class Exec, class Key>
void sort_on_device(Exec const&, Key* keys, std::int64_t rows, std::int64_t columns) {
  sort_copies<Exec, Key>(keys, nullptr, rows, columns);
}

template <class Exec, class Key>
void argsort_on_device(Exec const&, Key* keys, std::int64_t* order, std::int64_t rows,
                       std::int64_t columns) {
  sort_copies<Exec>(keys, order, rows, columns);
}

#endif

#ifdef __CUDACC__

// Kokkos' sorts take iterators for which Thrust copies all keys and indices, so CUB is called
// directly. Radix sorts are stable. Work memory comes from the pool, whose error says how much is
// missing.

namespace sorting {

using Cuda = Kokkos::Cuda;
using CudaSpace = Kokkos::CudaSpace;

/// Calls a function of CUB for the size of its work memory, and again with the memory.
template <class Call>
void with_work_memory(Call const& call) {
  auto const check = [](cudaError_t status) {
    if (status != cudaSuccess)
      throw EnvironmentError(std::string("CUB's sort failed: ") + cudaGetErrorString(status));
  };
  std::size_t bytes = 0;
  check(call(nullptr, bytes));
  auto const block =
      MemoryPool<CudaSpace>::allocate(static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1)));
  check(call(block.get(), bytes));
}

/// The first element of each row.
struct RowBegin {
  std::int64_t columns;
  __host__ __device__ std::int64_t operator()(std::int64_t row) const { return row * columns; }
};

/// Calls sort(first, rows) for groups of consecutive rows. Few long rows are sorted one by one, all
/// others together: in a segmented sort a long row keeps a single block of threads busy.
template <class Sort>
void for_groups_of_rows(std::int64_t rows, std::int64_t columns, Sort const& sort) {
  constexpr std::int64_t few = 64, long_row = 1 << 14, most = std::numeric_limits<int>::max();
  std::int64_t const group =
      rows < few && columns > long_row ? 1 : std::max<std::int64_t>(most / columns, 1);
  for (std::int64_t row = 0; row < rows; row += group)
    sort(row * columns, std::min(group, rows - row));
}

/// The iterators over the beginnings and ends of rows.
struct Segments {
  explicit Segments(std::int64_t columns)
      : begin(thrust::make_transform_iterator(thrust::make_counting_iterator<std::int64_t>(0),
                                              RowBegin{columns})),
        end(begin + 1) {}
  using Iterator = thrust::transform_iterator<RowBegin, thrust::counting_iterator<std::int64_t>>;
  Iterator begin, end;
};

/// Moves what a double buffer holds to where it belongs.
template <class T>
void settle(Cuda const& exec, cub::DoubleBuffer<T>& buffer, T* to, std::int64_t count) {
  if (buffer.Current() != to)
    copy_bytes<CudaSpace, CudaSpace>(exec, to, buffer.Current(),
                                     count * static_cast<std::int64_t>(sizeof(T)));
}

template <class Key>
struct Column {
  Key* index;
  std::int64_t columns;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    index[i] = static_cast<Key>(columns > 0 ? i % columns : i);  // 0: of a single row
  }
};
template <class Index>
struct Widen {
  Index const* from;
  std::int64_t* to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    to[i] = static_cast<std::int64_t>(from[i]);
  }
};

/// A random key's upper half, and its column.
struct UpperHalf {
  std::uint64_t const* keys;
  std::uint32_t* upper;
  std::uint32_t* index;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    upper[i] = static_cast<std::uint32_t>(keys[i] >> 32);
    index[i] = static_cast<std::uint32_t>(i);
  }
};

/// Writes the order of keys that are sorted by their upper halves. Runs with equal ones, which are
/// few and short, are sorted by the whole keys by the thread of the first element.
struct SettleRuns {
  std::uint64_t const* keys;
  std::uint32_t const* upper;
  std::uint32_t const* index;
  std::int64_t* order;
  std::int64_t size;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    std::uint32_t const mine = upper[i];
    if (i > 0 && upper[i - 1] == mine) return;
    std::int64_t end = i + 1;
    order[i] = index[i];
    for (; end < size && upper[end] == mine; ++end) {
      std::int64_t const element = index[end];
      std::uint64_t const key = keys[element];
      std::int64_t to = end;
      for (; to > i && keys[order[to - 1]] > key; --to) order[to] = order[to - 1];
      order[to] = element;
    }
  }
};

/// See argsort_random().
inline void argsort_by_halves(Cuda const& exec, std::uint64_t const* keys, std::int64_t* order,
                              std::int64_t size) {
  using Words = Array<std::uint32_t, 1, CudaSpace>;
  Shape<1> const shape{size};
  Words upper(shape), other_upper(shape), index(shape), other_index(shape);
  for_all(exec, size, UpperHalf{keys, upper.data(), index.data()});
  cub::DoubleBuffer<std::uint32_t> k(upper.data(), other_upper.data()),
      v(index.data(), other_index.data());
  with_work_memory([&](void* work, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(work, bytes, k, v, size, 0, 32, exec.cuda_stream());
  });
  for_all(exec, size, SettleRuns{keys, k.Current(), v.Current(), order, size});
  exec.fence("coir::array: a sort's work memory is in use");
}

/// order[i] = the column of the element that comes i-th in its row, sorted as Index, which holds
/// all columns.
template <class Index, class Key>
void argsort_by(Cuda const& exec, Key* keys, std::int64_t* order, std::int64_t rows,
                std::int64_t columns) {
  std::int64_t const size = rows * columns;
  Array<Key, 1, CudaSpace> other_keys(Shape<1>{size});
  Array<Index, 1, CudaSpace> index(Shape<1>{size}), other_index(Shape<1>{size});
  for_all(exec, size, Column<Index>{index.data(), rows > 1 ? columns : 0});
  for_groups_of_rows(rows, columns, [&](std::int64_t first, std::int64_t count) {
    cub::DoubleBuffer<Key> k(keys + first, other_keys.data() + first);
    cub::DoubleBuffer<Index> v(index.data() + first, other_index.data() + first);
    with_work_memory([&](void* work, std::size_t& bytes) {
      if (count == 1)
        return cub::DeviceRadixSort::SortPairs(work, bytes, k, v, columns, 0, 8 * sizeof(Key),
                                               exec.cuda_stream());
      Segments const segments(columns);
      return cub::DeviceSegmentedSort::StableSortPairs(
          work, bytes, k, v, static_cast<int>(count * columns), static_cast<int>(count),
          segments.begin, segments.end, exec.cuda_stream());
    });
    for_each("coir::array::sort_on_device/indices", exec, box<1, std::int64_t>({count * columns}),
             Widen<Index>{v.Current(), order + first});
  });
  exec.fence("coir::array: a sort's work memory is in use");
}

}  // namespace sorting

template <class Key>
void sort_on_device(Kokkos::Cuda const& exec, Key* keys, std::int64_t rows, std::int64_t columns) {
  using namespace sorting;
  Array<Key, 1, CudaSpace> other(Shape<1>{rows * columns});
  for_groups_of_rows(rows, columns, [&](std::int64_t first, std::int64_t count) {
    cub::DoubleBuffer<Key> both(keys + first, other.data() + first);
    with_work_memory([&](void* work, std::size_t& bytes) {
      if (count == 1)
        return cub::DeviceRadixSort::SortKeys(work, bytes, both, columns, 0, 8 * sizeof(Key),
                                              exec.cuda_stream());
      Segments const segments(columns);
      return cub::DeviceSegmentedSort::SortKeys(
          work, bytes, both, static_cast<int>(count * columns), static_cast<int>(count),
          segments.begin, segments.end, exec.cuda_stream());
    });
    settle(exec, both, keys + first, count * columns);
  });
  exec.fence("coir::array: a sort's work memory is in use");
}

template <class Key>
void argsort_on_device(Kokkos::Cuda const& exec, Key* keys, std::int64_t* order, std::int64_t rows,
                       std::int64_t columns) {
  if (columns <= std::int64_t(std::numeric_limits<std::uint32_t>::max()))
    sorting::argsort_by<std::uint32_t>(exec, keys, order, rows, columns);
  else
    sorting::argsort_by<std::int64_t>(exec, keys, order, rows, columns);
}

#endif

}  // namespace coir::detail
