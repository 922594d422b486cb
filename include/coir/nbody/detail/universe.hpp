#pragma once

#include <coir/core/concepts.hpp>
#include <coir/core/dual.hpp>
#include <coir/cosmology/growth.hpp>
#include <coir/cosmology/parameter_derivatives.hpp>
#include <coir/cosmology/parameters.hpp>
#include <coir/cosmology/power.hpp>
#include <coir/distributed/group.hpp>
#include <coir/nbody/cotangents.hpp>
#include <coir/nbody/particles.hpp>

#include <cstdint>
#include <memory>

namespace coir::nbody::detail {

/// The growth functions with derivatives with respect to the parameters of the cosmology.
using VariedGrowth = cosmology::Growth<Dual<double, cosmology::varied_parameters>>;

/// What initial conditions and steps take from a cosmology: see src/nbody/universe_tables.hpp.
class Universe;

/// \throws PreconditionError if the spectrum doesn't reach over the modes of the lattice, or a is
///   out of the range of its growth
std::shared_ptr<Universe const> new_universe(cosmology::LinearPower<double> const& power,
                                             std::int64_t side, double box, double a);

cosmology::Growth<double> const& growth_of(Universe const& universe);

/// Starts to compute derivatives on another thread, if that isn't done yet. The functions below
/// start it, too, and wait for it.
void begin_derivatives(Universe const& universe);
VariedGrowth const& varied_growth_of(Universe const& universe);

/// As initial_conditions(), in memory of kept_view().
template <CompiledSpace Exec, Real T>
Particles<Exec, T> kept_initial_conditions(
    Exec const& exec, distributed::Group const& group, Universe const& universe, int order,
    Kokkos::View<T const***, Kokkos::LayoutStride, typename Exec::memory_space> const& noise);

/// As initial_conditions_pull_back().
template <CompiledSpace Exec, Real T>
cosmology::Parameters<double> pull_back_to_start(
    Exec const& exec, distributed::Group const& group, Universe const& universe, int order,
    Kokkos::View<T const***, Kokkos::LayoutStride, typename Exec::memory_space> const& noise,
    Cotangents<Exec, T> const& cotangents,
    Kokkos::View<T***, Kokkos::LayoutStride, typename Exec::memory_space> const& slope_of_noise);

}  // namespace coir::nbody::detail
