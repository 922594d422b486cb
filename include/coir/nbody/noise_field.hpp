#pragma once

/// \file
/// White noise in real space.

#include <coir/core/concepts.hpp>
#include <coir/distributed/group.hpp>
#include <coir/nbody/initial_conditions.hpp>

#include <cstdint>

namespace coir::nbody {

/// The white noise whose transform white_noise() gives: a number of mean 0 and variance 1 for each
/// site of a lattice, as a noise file has them. Each rank gets its planes, as
/// distributed::share_of() gives them. On hosts it has the same bits for any number of ranks.
/// Collective.
///
/// \param side  sites along a side, from 1 to 2^18
/// \return (planes, side, side)
/// \throws PreconditionError on all ranks if the side is out of its range on one, or an argument
///   differs between ranks
/// \throws ResourceError on all ranks if one has no memory
template <CompiledSpace Exec, Real T>
Kokkos::View<T***, Kokkos::LayoutRight, typename Exec::memory_space> noise_field(
    Exec const& exec, distributed::Group const& group, NoiseOptions const& options,
    std::int64_t side);

}  // namespace coir::nbody
