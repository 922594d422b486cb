#pragma once

#include <coir/mesh/mesh_values.hpp>
#include <coir/mesh/readout.hpp>

#include <algorithm>

namespace coir::mesh::detail {

template <class T, int Components>
struct StoreValue {
  T* value;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t p,
                                              Value<T, Components> const& read) const {
    COIR_UNROLL
    for (int v = 0; v < Components; ++v) value[p * Components + v] = read.component[v];
  }
  void stretch(std::int64_t first, int count, Value<T, Components> const* read) const {
    std::copy_n(read->component, count * Components, value + first * Components);
  }
};

template <class Exec, class T, int Components>
void readout(Exec const& exec, T const* position, std::int64_t particles, double box,
             Cells<T const> const& cells, T* value, Assignment assignment) {
  StoreValue<T, Components> const store{value};
  with_support(assignment, [&]<int Support>(std::integral_constant<int, Support>) {
    read_out("coir::mesh::readout", exec, position, particles,
             MeshValues<Support, Components, T>(cells, box), store);
  });
}

}  // namespace coir::mesh::detail

#define COIR_INSTANTIATE_READOUT_OF(Exec, T, Components)                                  \
  template void readout<Exec, T, Components>(Exec const&, T const*, std::int64_t, double, \
                                             Cells<T const> const&, T*, Assignment);
#define COIR_INSTANTIATE_READOUT(Exec)         \
  namespace coir::mesh::detail {               \
  COIR_INSTANTIATE_READOUT_OF(Exec, float, 1)  \
  COIR_INSTANTIATE_READOUT_OF(Exec, float, 3)  \
  COIR_INSTANTIATE_READOUT_OF(Exec, double, 1) \
  COIR_INSTANTIATE_READOUT_OF(Exec, double, 3) \
  }
