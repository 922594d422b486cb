#pragma once

/// Particles of a snapshot in GADGET's format, in one file or several.

#include <coir/core/errors.hpp>
#include <coir/hdf5/gadget.hpp>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace coir::apps::nbody {

/// The files of a snapshot, and what their headers say together.
struct Snapshot {
  std::filesystem::path path{};  ///< as the user named it
  std::string name{};            ///< of its files, without folder, numbers and ".hdf5"
  std::vector<std::filesystem::path> files{};
  std::int64_t particles = 0;  ///< in all files
  double box = 0;              ///< Mpc/h
  double to_mpc = 1;           ///< Mpc/h by the files' unit of length
  double a = 1;
  double omega_m = 0, omega_lambda = 0, hubble = 0;
};

/// Finds the files of a snapshot by any one of them, or by their common name: "snapshot.hdf5" for
/// snapshot.0.hdf5, snapshot.1.hdf5 and so on.
///
/// \throws InputError if one is missing, is no snapshot, or belongs to another one
Snapshot find_snapshot(std::filesystem::path const& path);

/// Reads all particles, block by block.
///
/// \param take  called with each block, whose `first` counts from the first file's first particle
/// \throws InputError if the files have other numbers of particles than their headers say together
template <class T>
void read_snapshot(Snapshot const& snapshot,
                   std::function<void(hdf5::GadgetBlock<T const> const&)> const& take) {
  std::int64_t before = 0;
  for (auto const& file : snapshot.files) {
    auto const header = hdf5::read_gadget<T>(file, [&](hdf5::GadgetBlock<T const> const& block) {
      if (before + block.first + block.count() <= snapshot.particles)
        take({before + block.first, block.positions, block.velocities, block.ids});
    });
    before += header.particles;
  }
  if (before != snapshot.particles)
    throw InputError(snapshot.path.string() + ": its files have " + std::to_string(before) +
                     " particles of type 1, and must have the " +
                     std::to_string(snapshot.particles) +
                     " of NumPart_Total: write or copy them again");
}

/// A coordinate of a snapshot's particle in the periodic box [0, box).
///
/// \param x  Mpc/h
/// \throws InputError if it isn't finite
template <class T>
T place_in_box(Snapshot const& snapshot, double x) {
  if (!std::isfinite(x))
    throw InputError(snapshot.path.string() +
                     ": a position isn't finite: write or copy the file again");
  T const box = static_cast<T>(snapshot.box);
  T const inside = static_cast<T>(x - snapshot.box * std::floor(x / snapshot.box));
  return inside >= T(0) && inside < box ? inside : T(0);
}

}  // namespace coir::apps::nbody
