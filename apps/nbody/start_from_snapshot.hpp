#pragma once

/// Runs that start from a snapshot: of an earlier run, or another code's initial conditions.

#include "checkpoint.hpp"
#include "settings.hpp"
#include "snapshot_reader.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/distributed/group.hpp>
#include <coir/nbody/particles.hpp>

#include <support/on_all.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace coir::apps::nbody {

/// Takes from a snapshot what the user gave no option for: the number of particles, the box, the
/// scale factor to start at, and the cosmology that its header has.
///
/// \throws InputError if it can't be read, or its particles are no cube
/// \throws PreconditionError if an option was given that the snapshot contradicts
void take_settings_of_start(CommandLine const& line, Settings& settings);

namespace detail {

/// Whether particles that follow each other, which should be neighbours on a lattice, are near each
/// other.
///
/// \param position  x, y, z of each of `count` particles
template <class T>
bool follow_a_lattice(T const* position, std::size_t count, double box) {
  double sum = 0;
  std::size_t const pairs = count < 1 ? 0 : count - 1;
  for (std::size_t p = 0; p < pairs; ++p)
    for (std::size_t d = 0; d < 3; ++d) {
      double const apart =
          static_cast<double>(position[3 * p + 3 + d]) - static_cast<double>(position[3 * p + d]);
      sum += std::abs(apart - box * std::round(apart / box));
    }
  // Places at random are a quarter of the box apart on average.
  return pairs < 64 || sum / static_cast<double>(3 * pairs) < box / 8;
}

}  // namespace detail

/// The particles that a run starts from, in the order of their IDs, which count the sites of a
/// lattice. Collective.
///
/// \throws InputError if IDs aren't 0 to N - 1 or 1 to N, each once, or a number isn't finite
template <class Exec, class T>
coir::nbody::Particles<Exec, T> read_start(distributed::Group const& ranks,
                                           Settings const& settings, Poll const& poll) {
  using Particles = coir::nbody::Particles<Exec, T>;
  using Vectors = typename Particles::Vectors;
  Particles particles{settings.particles, settings.box, {}, {}};
  auto const own = particles_of_rank(ranks, settings.particles);
  particles.sites = own;
  on_all(ranks, [&] {
    Snapshot const snapshot = find_snapshot(settings.start);
    std::string const name = settings.start.string();
    auto const count = static_cast<std::uint64_t>(snapshot.particles);
    auto const here = static_cast<std::size_t>(own.count);
    auto const allocate = [&] {
      return Vectors(Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::nbody::particles"),
                     here);
    };
    particles.position = allocate();
    particles.momentum = allocate();
    auto const position = Kokkos::create_mirror_view(particles.position),
               momentum = Kokkos::create_mirror_view(particles.momentum);
    std::vector<bool> found(here, false);
    // Whether IDs count from 0 or from 1 is known once all are seen.
    bool has_zero = false, has_last = false;
    read_snapshot<T>(snapshot, [&](hdf5::GadgetBlock<T const> const& block) {
      if (poll) poll();
      for (std::uint64_t const id : block.ids) {
        has_zero = has_zero || id == 0;
        has_last = has_last || id == count;
      }
    });
    auto const fail = [&](std::string const& what) {
      throw InputError(name + ": " + what + ": a run starts from particles whose IDs count the " +
                       "sites of a lattice, from 0 to N - 1 or from 1 to N, each once");
    };
    if (has_zero && has_last) fail("has the IDs 0 and " + std::to_string(count));
    double const to_momentum = snapshot.a / 100;
    std::size_t taken = 0;
    read_snapshot<T>(snapshot, [&](hdf5::GadgetBlock<T const> const& block) {
      if (poll) poll();
      for (std::size_t n = 0; n < block.ids.size(); ++n) {
        std::uint64_t const site = block.ids[n] - (has_zero ? 0 : 1);
        if (site >= count) fail("has the ID " + std::to_string(block.ids[n]));
        if (site < static_cast<std::uint64_t>(own.first) ||
            site >= static_cast<std::uint64_t>(own.end()))
          continue;
        auto const at = static_cast<std::size_t>(site - static_cast<std::uint64_t>(own.first));
        if (found[at]) fail("has the ID " + std::to_string(block.ids[n]) + " twice");
        found[at] = true;
        ++taken;
        for (std::size_t d = 0; d < 3; ++d) {
          position(at, d) = place_in_box<T>(
              snapshot, snapshot.to_mpc * static_cast<double>(block.positions[3 * n + d]));
          double const p = to_momentum * static_cast<double>(block.velocities[3 * n + d]);
          if (!std::isfinite(p)) fail("a velocity isn't finite");
          momentum(at, d) = static_cast<T>(p);
        }
      }
    });
    if (taken != here) fail("lacks some IDs");
    if (settings.pictures && !detail::follow_a_lattice(position.data(), here, settings.box))
      throw InputError(name +
                       ": particles whose IDs follow each other aren't near each other, and "
                       "pictures of the sheet between them can't be made: add --no-pictures");
    copy_contiguous(particles.position, position);
    copy_contiguous(particles.momentum, momentum);
  });
  return particles;
}

}  // namespace coir::apps::nbody
