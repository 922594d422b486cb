#pragma once

#include <coir/mesh/interpolation_slopes.hpp>
#include <coir/mesh/pull_back.hpp>

#include <cstdint>

namespace coir::mesh::detail {

/// to(p, d) = sum_v weight(p, v) slope(v, d), or += if it adds. Without weights they are 1.
template <class T, int Components>
struct StoreSlopes {
  T const* weight;
  T* to;
  bool adds;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t p,
                                              Value<T, 3 * Components> const& slope) const {
    COIR_UNROLL
    for (int d = 0; d < 3; ++d) {
      T sum = 0;
      COIR_UNROLL
      for (int v = 0; v < Components; ++v)
        sum += (weight == nullptr ? T(1) : weight[p * Components + v]) * slope.component[3 * v + d];
      to[3 * p + d] = adds ? to[3 * p + d] + sum : sum;
    }
  }
};

template <class Exec, class T, int Components>
void interpolation_slopes(Exec const& exec, T const* position, std::int64_t particles, double box,
                          CellsWindow<T const> const& cells, T const* weight, T* to,
                          Assignment assignment, Derivatives derivatives) {
  StoreSlopes<T, Components> const store{weight, to, derivatives == Derivatives::add};
  with_support(assignment, [&]<int Support>(std::integral_constant<int, Support>) {
    read_out("coir::mesh::pull_back", exec, position, particles,
             InterpolationSlopes<Support, Components, T>(cells, box), store);
  });
}

}  // namespace coir::mesh::detail

#define COIR_INSTANTIATE_PULL_BACK_OF(Exec, T, Components)                                     \
  template void interpolation_slopes<Exec, T, Components>(Exec const&, T const*, std::int64_t, \
                                                          double, CellsWindow<T const> const&, \
                                                          T const*, T*, Assignment, Derivatives);
#define COIR_INSTANTIATE_PULL_BACK(Exec)         \
  namespace coir::mesh::detail {                 \
  COIR_INSTANTIATE_PULL_BACK_OF(Exec, float, 1)  \
  COIR_INSTANTIATE_PULL_BACK_OF(Exec, float, 3)  \
  COIR_INSTANTIATE_PULL_BACK_OF(Exec, double, 1) \
  COIR_INSTANTIATE_PULL_BACK_OF(Exec, double, 3) \
  }
