#include "sort_on_host.hpp"

namespace coir::detail {

template <class Exec, class Key>
void sort_rows(Exec const& exec, Key* keys, std::int64_t rows, std::int64_t columns) {
  sort_on_host(exec, Keyed<Key>{keys, nullptr}, rows, columns);
}

template <class Exec, class Key>
void argsort_rows(Exec const& exec, Key* keys, std::int64_t* order, std::int64_t rows,
                  std::int64_t columns) {
  sort_on_host(exec, Keyed<Key>{keys, order}, rows, columns);
}

using Host = Kokkos::DefaultHostExecutionSpace;
#define COIR_INSTANTIATE(Key)                                             \
  template void sort_rows(Host const&, Key*, std::int64_t, std::int64_t); \
  template void argsort_rows(Host const&, Key*, std::int64_t*, std::int64_t, std::int64_t);
COIR_INSTANTIATE(std::uint8_t)
COIR_INSTANTIATE(std::uint16_t)
COIR_INSTANTIATE(std::uint32_t)
COIR_INSTANTIATE(std::uint64_t)
#undef COIR_INSTANTIATE

}  // namespace coir::detail
