#include "sort_on_host.hpp"

#include <Kokkos_Sort.hpp>

namespace coir::detail {

using Device = Kokkos::DefaultExecutionSpace;
using Host = Kokkos::DefaultHostExecutionSpace;

template <class T, class Space = Device::memory_space>
using Flat = Kokkos::View<T*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

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

template <class Body>
void for_all(Device const& exec, std::int64_t size, Body const& body) {
  for_each("coir::array::sort/indices", exec, box<1, std::int64_t>({size}), body);
}

/// Sorts copies of the rows in host memory, where Kokkos can't sort by key.
template <class Key>
void sort_copies(Device const& exec, Key* keys, std::int64_t* order, std::int64_t rows,
                 std::int64_t columns) {
  using HostSpace = Kokkos::HostSpace;
  std::int64_t const size = rows * columns;
  Array<Key, 1, HostSpace> keys_h(Shape<1>{size});
  Array<std::int64_t, 1, HostSpace> order_h(Shape<1>{order ? size : 0});
  auto const count = static_cast<std::size_t>(size);
  exec.fence();
  Kokkos::deep_copy(Flat<Key, HostSpace>(keys_h.data(), count), Flat<Key>(keys, count));
  sort_on_host(Host{}, Keyed<Key>{keys_h.data(), order ? order_h.data() : nullptr}, rows, columns);
  if (order)
    Kokkos::deep_copy(Flat<std::int64_t>(order, count),
                      Flat<std::int64_t, HostSpace>(order_h.data(), count));
  else
    Kokkos::deep_copy(Flat<Key>(keys, count), Flat<Key, HostSpace>(keys_h.data(), count));
}

#ifdef COIR_KOKKOS_SORTS_BY_KEY

/// order[i] = the flat index of the element that comes i-th by row and key. Sorting by key moves keys, too.
template <class Key>
void sort_flat(Device const& exec, Key* keys, std::int64_t* order, std::int64_t rows,
               std::int64_t columns) {
  std::int64_t const size = rows * columns;
  auto const count = static_cast<std::size_t>(size);
  Flat<std::int64_t> const indices(order, count);
  for_all(exec, size, Count{order});
  // The sorts are stable (radix sorts by thrust and rocThrust): the second one, by rows, leaves each row
  // sorted by keys.
  Kokkos::Experimental::sort_by_key(exec, Flat<Key>(keys, count), indices);
  if (rows == 1) return;
  Array<std::int64_t, 1, Device::memory_space> row(Shape<1>{size});
  for_all(exec, size, RowOf{order, row.data(), columns});
  Kokkos::Experimental::sort_by_key(exec, Flat<std::int64_t>(row.data(), count), indices);
}

template <class Exec, class Key>
void sort_rows(Exec const& exec, Key* keys, std::int64_t rows, std::int64_t columns) {
  std::int64_t const size = rows * columns;
  auto const count = static_cast<std::size_t>(size);
  if (rows == 1) {
    Kokkos::sort(exec, Flat<Key>(keys, count));
    return;
  }
  Array<Key, 1, Device::memory_space> copy(Shape<1>{size}), sorted(Shape<1>{size});
  Array<std::int64_t, 1, Device::memory_space> order(Shape<1>{size});
  Kokkos::deep_copy(exec, Flat<Key>(copy.data(), count), Flat<Key>(keys, count));
  sort_flat(exec, copy.data(), order.data(), rows, columns);
  for_all(exec, size, Gather<Key>{keys, order.data(), sorted.data()});
  Kokkos::deep_copy(exec, Flat<Key>(keys, count), Flat<Key>(sorted.data(), count));
}

template <class Exec, class Key>
void argsort_rows(Exec const& exec, Key* keys, std::int64_t* order, std::int64_t rows,
                  std::int64_t columns) {
  sort_flat(exec, keys, order, rows, columns);
  if (rows > 1) for_all(exec, rows * columns, ColumnOf{order, columns});
}

#else

template <class Exec, class Key>
void sort_rows(Exec const& exec, Key* keys, std::int64_t rows, std::int64_t columns) {
  sort_copies<Key>(exec, keys, nullptr, rows, columns);
}

template <class Exec, class Key>
void argsort_rows(Exec const& exec, Key* keys, std::int64_t* order, std::int64_t rows,
                  std::int64_t columns) {
  sort_copies(exec, keys, order, rows, columns);
}

#endif

#define COIR_INSTANTIATE(Key)                                               \
  template void sort_rows(Device const&, Key*, std::int64_t, std::int64_t); \
  template void argsort_rows(Device const&, Key*, std::int64_t*, std::int64_t, std::int64_t);
COIR_INSTANTIATE(std::uint8_t)
COIR_INSTANTIATE(std::uint16_t)
COIR_INSTANTIATE(std::uint32_t)
COIR_INSTANTIATE(std::uint64_t)
#undef COIR_INSTANTIATE

}  // namespace coir::detail
