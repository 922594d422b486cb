#pragma once

#include "sums_in_any_order.hpp"

#include <coir/core/kokkos.hpp>
#include <coir/core/loops.hpp>
#include <coir/nbody/losses.hpp>

#include <cstdint>
#include <string_view>

namespace coir::nbody::detail {

template <class T>
struct ScaleMesh {
  T* mesh;
  T factor;
  KOKKOS_FUNCTION void operator()(std::int64_t c) const { mesh[c] *= factor; }
};

template <class T>
struct Misfit {
  T const* density;
  T const* target;
  T const* weight;  // or null
  T inverse_variance;
  KOKKOS_FUNCTION T weighted(std::int64_t c) const {
    return inverse_variance * (weight == nullptr ? T(1) : weight[c]);
  }
  /// Where the weight is 0 the target may be no number.
  KOKKOS_FUNCTION T away(std::int64_t c) const {
    return weighted(c) == T(0) ? T(0) : density[c] - target[c];
  }
  /// As sums_in_any_order() asks for it.
  KOKKOS_FUNCTION void operator()(std::int64_t c, double (&of)[1]) const {
    double const distance = static_cast<double>(away(c));
    of[0] = 0.5 * static_cast<double>(weighted(c)) * distance * distance;
  }
};

template <class T>
struct MisfitSlope {
  Misfit<T> misfit;
  T* slope;
  KOKKOS_FUNCTION void operator()(std::int64_t c) const {
    slope[c] = misfit.weighted(c) * misfit.away(c);
  }
};

template <CompiledSpace Exec, Real T>
void scale_mesh(std::string_view label, Exec const& exec, T* mesh, std::int64_t cells, T factor) {
  for_each(label, exec, coir::box<1, std::int64_t>({cells}), ScaleMesh<T>{mesh, factor});
}

template <CompiledSpace Exec, Real T>
double density_misfit(Exec const& exec, distributed::Group const& group, std::int64_t cells,
                      std::int64_t all_cells, T const* density, T const* target, T const* weight,
                      T inverse_variance, T* slope) {
  auto const here = coir::box<1, std::int64_t>({cells});
  Misfit<T> const body{density, target, weight, inverse_variance};
  double const sum = sums_in_any_order<1>("coir::nbody::losses/misfit", exec, group, here,
                                          static_cast<double>(all_cells), body)[0];
  for_each("coir::nbody::losses/misfit_slope", exec, here, MisfitSlope<T>{body, slope});
  return sum;
}

}  // namespace coir::nbody::detail

#define COIR_INSTANTIATE_LOSSES_OF(Exec, T)                                                     \
  template void scale_mesh<Exec, T>(std::string_view, Exec const&, T*, std::int64_t, T);        \
  template double density_misfit<Exec, T>(Exec const&, distributed::Group const&, std::int64_t, \
                                          std::int64_t, T const*, T const*, T const*, T, T*);
#define COIR_INSTANTIATE_LOSSES(Exec)      \
  namespace coir::nbody::detail {          \
  COIR_INSTANTIATE_LOSSES_OF(Exec, float)  \
  COIR_INSTANTIATE_LOSSES_OF(Exec, double) \
  }
