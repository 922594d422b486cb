#pragma once

/// \file
/// Sorts rows of keys on a device: by Thrust on NVIDIA's, else by Kokkos' sorts.

#include "sort_on_host.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/pool.hpp>

#include <Kokkos_Sort.hpp>

#ifdef __CUDACC__
#include <thrust/sort.h>
#include <thrust/system/cuda/execution_policy.h>
#endif

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

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

#ifdef __CUDACC__

// Thrust is called directly, because Kokkos gives it iterators for which it copies all keys and
// indices. Thrust's work memory comes from the pool, whose error says how much is missing.

/// Memory of the pool for Thrust, during its lifetime.
class WorkMemory {
 public:
  using value_type = char;
  char* allocate(std::ptrdiff_t bytes) {
    blocks_.push_back(MemoryPool<Kokkos::CudaSpace>::allocate(bytes));
    return static_cast<char*>(blocks_.back().get());
  }
  void deallocate(char*, std::size_t) {}

 private:
  std::vector<std::shared_ptr<void>> blocks_;
};

template <class Key>
void sort_keys(Kokkos::Cuda const& exec, Key* keys, std::int64_t size) {
  WorkMemory memory;
  thrust::sort(thrust::cuda::par(memory).on(exec.cuda_stream()), keys, keys + size);
}

template <class Key>
void sort_by_key(Kokkos::Cuda const& exec, Key* keys, std::int64_t* indices, std::int64_t size) {
  WorkMemory memory;
  thrust::sort_by_key(thrust::cuda::par(memory).on(exec.cuda_stream()), keys, keys + size, indices);
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
  sort_on_host(Host{}, Keyed<Key>{keys_h.data(), order ? order_h.data() : nullptr}, rows, columns);
  if (order)
    copy_bytes<Space, HostSpace>(order, order_h.data(),
                                 size * static_cast<std::int64_t>(sizeof(std::int64_t)));
  else
    copy_bytes<Space, HostSpace>(keys, keys_h.data(), bytes);
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

}  // namespace coir::detail
