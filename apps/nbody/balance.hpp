#pragma once

/// How unevenly a universe lies on ranks that own slabs of it, by linear theory: what their memory
/// is predicted from.

#include <coir/cosmology/power.hpp>

#include <cstdint>

namespace coir::apps::nbody {

/// The rms contrast of the mass in a slab of a periodic box, across all of it: the root of
///
///   2 / box^3 sum_m P(k_m, a) sinc^2(k_m thickness / 2),  k_m = 2 pi m / box, m = 1, 2, ...,
///
/// for a slab's mass is made of the waves along its normal alone.
double slab_contrast(cosmology::LinearPower<double> const& power, double a, double box,
                     double thickness);

/// The rms displacement of particles along an axis in Mpc/h: the root of int P(k, a) dk / (6 pi^2)
/// over the waves of a box with `side` particles along a side (the Zel'dovich approximation).
double rms_displacement(cosmology::LinearPower<double> const& power, double a, double box,
                        std::int64_t side);

/// Mpc/h that hardly any particle is out of the slab in which it started: 6 times the rms
/// displacement, and at most half of what other ranks have of the box, for beyond that the slab is
/// nearer from its other side.
double farthest_astray(cosmology::LinearPower<double> const& power, double a, double box,
                       std::int64_t side, int ranks);

/// The share of places that a rank keeps free for more particles than an even share is: 5 times the
/// rms contrast of its slab at the latest scale factor, 0.05 at least, 10 at most, and never more
/// than all particles need.
double headroom_for(cosmology::LinearPower<double> const& power, double a, double box, int ranks);

}  // namespace coir::apps::nbody
