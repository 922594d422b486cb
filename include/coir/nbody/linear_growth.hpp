#pragma once

/// \file
/// Which settings of a simulation let waves grow as linear theory says.

#include <coir/mesh/force_kernel.hpp>
#include <coir/nbody/simulation_options.hpp>

#include <string>

namespace coir::nbody {

/// The softening of a simulation's forces: options.softening, or where that is left to choose
///
///   none        where the kernel doesn't need any
///   two_thirds  where it does, at a mesh ratio of 2, or of 1.25 and below
///   gaussian    at other mesh ratios
///
/// \see false_structure()
mesh::Softening softening_of(SimulationOptions const& options);

/// Why forces by these options make structure that isn't there, and what to take instead; empty if they don't.
///
/// Particles on a lattice n = mesh_ratio cells apart have waves at the lattice's frequency, which on the mesh is 2 / n of the
/// mesh's Nyquist frequency, and at its multiples. A displacement of wave number k puts two waves k below and k above each of
/// these. A particle feels all of them, and what it feels cancels, but only where the force treats both waves of a pair
/// alike. It does not
///
///   where the gradient is spectral (naive, eastwood) and a pair lies around the Nyquist frequency, at which the gradient
///   changes its sign: mesh ratio 2 and 4;
///   where modes are divided by the window (eastwood, gadget), which raises those near the corners of the mesh's wave
///   numbers by up to (pi / 2)^12, and small differences with them;
///   where a softening ends sharply (two_thirds, steep) between the waves of a pair: mesh ratio 1.5, 3 and others.
///
/// What is left is a force as large as the true one, on waves of any length. docs/validation.md has its size for all kernels,
/// softenings and assignments. Those for which this is empty have a wave of 32 particles grow as linear theory says to 2 %
/// from a = 0.02 to 1, but for what growth_lost() says.
///
/// \see Marcos et al., Phys. Rev. D 73, 103507 (2006), for waves of a lattice of particles
std::string false_structure(SimulationOptions const& options);

/// The share of its growth by linear theory, from the first to the last scale factor, that a wave loses because the mesh
/// smooths the force, about: with g(k) the force over that of a point mass,
///
///   1 - (a_first / a_last)^(3/5 (1 - g))
///
/// Kernels that overcompensate give less than 0. For a wave along an axis, of 20 particles: a tenth of their Nyquist frequency.
double growth_lost(SimulationOptions const& options);

}  // namespace coir::nbody
