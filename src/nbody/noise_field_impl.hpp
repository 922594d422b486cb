#pragma once

#include "lpt.hpp"
#include "white_noise.hpp"

#include <coir/core/loops.hpp>
#include <coir/core/memory.hpp>
#include <coir/distributed/together.hpp>
#include <coir/nbody/detail/checks.hpp>
#include <coir/nbody/noise_field.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace coir::nbody {

namespace detail {

/// Copies the numbers of sites from a mesh, times a factor.
template <class T>
struct ScaleSites {
  static constexpr bool reads_no_neighbours = true;
  CopySites<T> copy;
  T factor;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    copy.to[(i * copy.n + j) * copy.to_row + k] =
        factor * copy.from[(i * copy.n + j) * copy.from_row + k];
  }
};

}  // namespace detail

template <CompiledSpace Exec, Real T>
Kokkos::View<T***, Kokkos::LayoutRight, typename Exec::memory_space> noise_field(
    Exec const& exec, distributed::Group const& group, NoiseOptions const& options,
    std::int64_t side) {
  using Lpt = detail::Lpt<Exec, T>;
  using Field = Kokkos::View<T***, Kokkos::LayoutRight, typename Exec::memory_space>;
  auto const planes = distributed::share_of(side, group.rank(), group.size());
  auto const field = distributed::together(group, [&] {
    detail::expects_lattice(side, 1, 1);
    std::int64_t const numbers = planes.count * side * side;
    expects_memory<typename Exec::memory_space>(
        Lpt::bytes(group, side, 1, false) + numbers * static_cast<std::int64_t>(sizeof(T)),
        "the white noise of " + std::to_string(side) + "^3 sites");
    auto const n = static_cast<std::size_t>(side);
    return Field(Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::nbody::noise_field"),
                 static_cast<std::size_t>(planes.count), n, n);
  });
  distributed::expects_alike(group, {{"number of sites along a side", side},
                                     {"seed", options.seed},
                                     {"choice of fixed amplitudes", options.fixed_amplitude},
                                     {"choice to invert modes", options.inverted}});
  Lpt const lpt(exec, group, side, 1);
  auto mesh = lpt.meshes(1)[0];
  detail::draw_modes<Exec, T>(exec, options, side, lpt.rows(), mesh.data);
  lpt.backward(mesh);
  double const sites = static_cast<double>(side) * static_cast<double>(side * side);
  for_each("coir::nbody::noise_field/sites", exec,
           coir::box<3, std::int64_t>({planes.count, side, side}),
           detail::ScaleSites<T>{{lpt.numbers(mesh), field.data(), side, 2 * (side / 2 + 1), side},
                                 static_cast<T>(1 / sites)});
  exec.fence();  // the mesh is freed next
  return field;
}

}  // namespace coir::nbody

#define COIR_INSTANTIATE_NOISE_FIELD_OF(Exec, T)                                             \
  template Kokkos::View<T***, Kokkos::LayoutRight, Exec::memory_space> noise_field<Exec, T>( \
      Exec const&, distributed::Group const&, NoiseOptions const&, std::int64_t);
#define COIR_INSTANTIATE_NOISE_FIELD(Exec)      \
  namespace coir::nbody {                       \
  COIR_INSTANTIATE_NOISE_FIELD_OF(Exec, float)  \
  COIR_INSTANTIATE_NOISE_FIELD_OF(Exec, double) \
  }
