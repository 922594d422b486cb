#pragma once

/// \file
/// Files to go on from: particles, the steps made, and everything that describes the run.

#include "outputs.hpp"
#include "settings.hpp"

#include <coir/hdf5/reader.hpp>
#include <coir/hdf5/writer.hpp>
#include <coir/io/finite.hpp>
#include <coir/nbody/particles.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace coir::apps::nbody {

/// What a checkpoint says about its run.
struct Checkpoint {
  std::filesystem::path path;
  int steps_done = 0;
  std::vector<double> scale_factors;
  std::map<std::string, std::string> fields;  ///< the text of each field that is set
};

/// Reads all but the particles.
///
/// \param path  the file, or the folder that it is in
/// \throws InputError if it is no checkpoint, or damaged
Checkpoint read_checkpoint(std::filesystem::path const& path);

/// The settings to go on with: those of the checkpoint, and of what says nothing about the physics those that the user
/// gave.
///
/// \param app, given  the command line
/// \throws PreconditionError naming every difference in the physics
/// \throws InputError if the checkpoint's settings can't be read
Settings settings_to_go_on(CLI::App const& app, Settings const& given,
                           Checkpoint const& checkpoint);

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
                      coir::nbody::Particles<Exec, T> const& particles) {
  hdf5::Writer file(path);
  detail::write_checkpoint_header(file, settings, scale_factors, steps_done);
  std::int64_t const count = particles.count();
  std::vector<T> block(3 * static_cast<std::size_t>(std::min(count, detail::checkpoint_block)));
  auto const write = [&](char const* name, auto const& vectors) {
    file.make_dataset(name, hdf5::type_of<T>, {count, 3});
    for (std::int64_t first = 0; first < count; first += detail::checkpoint_block) {
      std::int64_t const rows = std::min(detail::checkpoint_block, count - first);
      std::span<T> const part(block.data(), 3 * static_cast<std::size_t>(rows));
      copy_rows(vectors, first, part);
      file.append(name, std::span<T const>(part));
    }
  };
  write("positions", particles.position);
  write("momenta", particles.momentum);
  file.commit();
}

/// Reads a checkpoint's particles.
///
/// \throws InputError if they aren't as many as the settings say, of another precision, or not finite
template <class Exec, class T>
coir::nbody::Particles<Exec, T> read_particles(Checkpoint const& checkpoint,
                                               Settings const& settings) {
  hdf5::Reader const file(checkpoint.path);
  coir::nbody::Particles<Exec, T> particles{settings.particles, settings.box, {}, {}};
  std::int64_t const count = particles.count();
  using Vectors = typename coir::nbody::Particles<Exec, T>::Vectors;
  std::vector<T> block(3 * static_cast<std::size_t>(std::min(count, detail::checkpoint_block)));
  auto const read = [&](char const* name) {
    file.require_shape(name, {count, 3});
    if (file.type(name) != hdf5::type_of<T>)
      throw InputError(checkpoint.path.string() + ": '" + name + "' must be " +
                       hdf5::name_of(hdf5::type_of<T>) + ", not " + hdf5::name_of(file.type(name)) +
                       ": the file is damaged");
    Vectors const vectors(Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::nbody::particles"),
                          static_cast<std::size_t>(count));
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    for (std::int64_t first = 0; first < count; first += detail::checkpoint_block) {
      auto const rows = static_cast<std::size_t>(std::min(detail::checkpoint_block, count - first));
      std::span<T> const part(block.data(), 3 * rows);
      file.read_rows(name, first, part);
      Kokkos::View<T const* [3], Kokkos::LayoutRight, Kokkos::HostSpace, Unmanaged> const source(
          block.data(), rows);
      io::require_finite(source, checkpoint.path.string() + ": '" + name + "'");
      Kokkos::View<T* [3], Kokkos::LayoutRight, typename Exec::memory_space, Unmanaged> const
          target(vectors.data() + 3 * first, rows);
      Kokkos::deep_copy(target, source);
    }
    return vectors;
  };
  particles.position = read("positions");
  particles.momentum = read("momenta");
  return particles;
}

}  // namespace coir::apps::nbody
