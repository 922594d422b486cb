#pragma once

/// \file
/// The settings of a simulation for which waves grow as by linear theory.

#include <coir/mesh/force_kernel.hpp>
#include <coir/nbody/simulation_options.hpp>

#include <string>

namespace coir::nbody {

/// The softening of a simulation's forces: options.softening if it is given, otherwise
///
///   none        if the kernel needs no softening
///   two_thirds  if it does, at a mesh ratio of 2, or of 1.25 and below
///   gaussian    if it does, at other mesh ratios
///
/// \see false_structure()
mesh::Softening softening_of(SimulationOptions const& options);

/// The reason why forces with these options make false structure, and a remedy; empty if they
/// don't.
///
/// A lattice of particles n = mesh_ratio cells apart has density waves at multiples of its
/// frequency, which is 2 / n of the mesh's Nyquist frequency. A displacement of wave number k adds
/// a pair of waves to each of these, k below and k above it. Their forces on a particle cancel if
/// the force treats both waves of a pair alike. It does not in three cases:
///
/// - The gradient is spectral (naive, eastwood), and a pair lies around the Nyquist frequency,
///   where the gradient changes its sign: mesh ratios 2 and 4.
/// - Modes are divided by the window (eastwood, gadget). That amplifies modes near the corners of
///   the mesh's wave numbers, and their small differences, by up to (pi / 2)^12.
/// - A softening ends sharply (two_thirds, steep) between the waves of a pair: mesh ratios 1.5, 3
///   and others.
///
/// The remaining force is as large as the true one, on waves of any length: docs/validation.md has
/// its size for all kernels, softenings and assignments. With options for which the result is
/// empty, a wave of 32 particles grows as by linear theory to 2 % from a = 0.02 to 1, apart from
/// growth_lost().
///
/// \see Marcos et al., Phys. Rev. D 73, 103507 (2006), for waves of a lattice of particles
std::string false_structure(SimulationOptions const& options);

/// About the share of its linear growth, from the first to the last scale factor, that a wave loses
/// because the mesh smooths the force:
///
///   1 - (a_first / a_last)^(3/5 (1 - g)),  with g(k) the force over that of a point mass
///
/// for a wave of 20 particles along an axis, a tenth of their Nyquist frequency. It is negative for
/// kernels that overcompensate.
double growth_lost(SimulationOptions const& options);

}  // namespace coir::nbody
