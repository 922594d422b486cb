#pragma once

/// \file
/// Files to go on from: particles, the steps made, and everything that describes the run.
///
/// They are HDF5, with a checksum behind its end. What comes from one is believed in steps: the checksum tells damage
/// before HDF5 sees the file; then nothing is read whose size or kind isn't as it must be, no text of variable length for
/// one, which HDF5 may not come back from; then settings and numbers must make sense.

#include "outputs.hpp"
#include "settings.hpp"

#include <coir/core/errors.hpp>
#include <coir/hdf5/reader.hpp>
#include <coir/hdf5/writer.hpp>
#include <coir/nbody/particles.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace coir::apps::nbody {

/// Called often while something takes long; may throw to stop it.
using Poll = std::function<void()>;

/// What a checkpoint says about its run.
struct Checkpoint {
  std::filesystem::path path;
  int steps_done = 0;
  std::vector<double> scale_factors;
  std::map<std::string, std::string>
      texts;                           ///< the text of every setting, empty where it isn't set
  std::unique_ptr<hdf5::Reader> file;  ///< open until the particles are read
};

/// Reads all but the particles.
///
/// \param path  the file, or the folder that it is in
/// \throws InputError if it is no checkpoint, or damaged, or what it says makes no sense
Checkpoint read_checkpoint(std::filesystem::path const& path, Poll const& poll = {});

/// The settings to go on with: those of the checkpoint, and of what says nothing about the physics those that the user
/// gave.
///
/// \param app, given  the command line
/// \throws PreconditionError naming every difference in the physics
Settings settings_to_go_on(CLI::App const& app, Settings const& given,
                           Checkpoint const& checkpoint);

/// What a step of reading a checkpoint gives. What it finds wrong with a setting is the file's fault then, not the user's.
///
/// \throws InputError naming the file, in place of PreconditionError
template <class Action>
auto blaming(std::filesystem::path const& path, Action const& action) {
  try {
    return action();
  } catch (PreconditionError const& error) {
    throw InputError(path.string() + " makes no sense (" +
                     std::string(error.what()).substr(0, 300) +
                     "): it is damaged, or no checkpoint of coir-nbody");
  }
}

namespace detail {
inline constexpr std::int64_t checkpoint_block = 1 << 18;  // particles at a time
void write_checkpoint_header(hdf5::Writer& file, Settings const& settings,
                             std::vector<double> const& scale_factors, int steps_done);
}  // namespace detail

/// Writes a checkpoint, whole or not at all: one that was there before stays until then.
///
/// \throws ResourceError if it can't be written
template <class Exec, class T>
void write_checkpoint(std::filesystem::path const& path, Settings const& settings,
                      std::vector<double> const& scale_factors, int steps_done,
                      coir::nbody::Particles<Exec, T> const& particles, Poll const& poll = {}) {
  hdf5::Writer file(path, {.checked = true});
  detail::write_checkpoint_header(file, settings, scale_factors, steps_done);
  std::int64_t const count = particles.count();
  std::vector<T> block(3 * static_cast<std::size_t>(std::min(count, detail::checkpoint_block)));
  auto const write = [&](char const* name, auto const& vectors) {
    file.make_dataset(name, hdf5::type_of<T>, {count, 3});
    for (std::int64_t first = 0; first < count; first += detail::checkpoint_block) {
      if (poll) poll();
      std::int64_t const rows = std::min(detail::checkpoint_block, count - first);
      std::span<T> const part(block.data(), 3 * static_cast<std::size_t>(rows));
      copy_rows(vectors, first, part);
      file.append(name, std::span<T const>(part));
    }
  };
  write("positions", particles.position);
  write("momenta", particles.momentum);
  file.commit(poll);
}

/// Reads a checkpoint's particles, and closes it.
///
/// \throws InputError if they aren't as many as the settings say, of another precision, not finite, or outside of the box
template <class Exec, class T>
coir::nbody::Particles<Exec, T> read_particles(Checkpoint& checkpoint, Settings const& settings,
                                               Poll const& poll = {}) {
  hdf5::Reader const& file = *checkpoint.file;
  coir::nbody::Particles<Exec, T> particles{settings.particles, settings.box, {}, {}};
  std::int64_t const count = particles.count();
  using Vectors = typename coir::nbody::Particles<Exec, T>::Vectors;
  std::vector<T> block(3 * static_cast<std::size_t>(std::min(count, detail::checkpoint_block)));
  auto const read = [&](char const* name, auto const& is_possible, std::string const& limits) {
    Vectors const vectors(Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::nbody::particles"),
                          static_cast<std::size_t>(count));
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    for (std::int64_t first = 0; first < count; first += detail::checkpoint_block) {
      if (poll) poll();
      auto const rows = static_cast<std::size_t>(std::min(detail::checkpoint_block, count - first));
      std::span<T> const part(block.data(), 3 * rows);
      file.read_rows(name, first, part);
      auto const bad = std::find_if_not(part.begin(), part.end(), is_possible);
      if (bad != part.end())
        throw InputError(checkpoint.path.string() + ": in '" + name + "' of particle " +
                         std::to_string(first + (bad - part.begin()) / 3) + " is " +
                         in_words(*bad) + ", which must be " + limits + ": the file is damaged");
      Kokkos::View<T const* [3], Kokkos::LayoutRight, Kokkos::HostSpace, Unmanaged> const source(
          block.data(), rows);
      Kokkos::View<T* [3], Kokkos::LayoutRight, typename Exec::memory_space, Unmanaged> const
          target(vectors.data() + 3 * first, rows);
      Kokkos::deep_copy(target, source);
    }
    return vectors;
  };
  T const length = static_cast<T>(settings.box);
  particles.position = read(
      "positions", [=](T x) { return x >= T(0) && x < length; },
      "in the box, from 0 to below " + in_words(settings.box));
  particles.momentum = read("momenta", [](T p) { return std::isfinite(p); }, "finite");
  checkpoint.file.reset();
  return particles;
}

}  // namespace coir::apps::nbody
