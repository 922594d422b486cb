#pragma once

/// Files to go on from: particles, the steps made, and everything that describes the run.
///
/// Checkpoints are HDF5 files with a checksum behind the end of HDF5's part. A reader trusts a file
/// step by step. The checksum is compared before HDF5 sees the file. Then only datasets of the
/// expected size and kind are read: a text of variable length, for example, could hang HDF5. At
/// last the settings and numbers must make sense. Of several ranks each writes its particles to a
/// file of its own, and the file over them lists the checksums. Any number of ranks may go on.

#include "checkpoint_parts.hpp"
#include "files_of_ranks.hpp"
#include "outputs.hpp"
#include "settings.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/errors.hpp>
#include <coir/distributed/share.hpp>
#include <coir/hdf5/reader.hpp>
#include <coir/hdf5/writer.hpp>
#include <coir/io/checksum.hpp>
#include <coir/nbody/particles.hpp>

#include <support/command_line.hpp>
#include <support/on_all.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace coir::apps::nbody {

/// Called often while something takes long; may throw to stop it.
using Poll = std::function<void()>;

/// Particles of a checkpoint that are in one file.
struct CheckpointPart {
  std::filesystem::path path;
  distributed::Share particles;  ///< by their numbers
  std::unique_ptr<hdf5::Reader>
      file;  ///< open until they are read, if this rank reads some of them
};

/// The state of a run in a checkpoint, without the particles.
struct Checkpoint {
  std::filesystem::path path;
  int steps_done = 0;
  std::vector<double> scale_factors;
  std::map<std::string, std::string>
      texts;  ///< the text of every setting, empty where it isn't set; paths are absolute
  std::optional<std::uint64_t> table_checksum{};  ///< of the run's power table, if it has one
  std::vector<CheckpointPart> parts;  ///< the checkpoint's file itself if one rank wrote it
};

/// Reads all but the particles. Collective.
///
/// \param path  the file, or the folder that it is in
/// \throws InputError if it is no checkpoint, or damaged, or what it says makes no sense, or a part
///   of it is missing or another's
Checkpoint read_checkpoint(distributed::Group const& ranks, std::filesystem::path const& path,
                           Poll const& poll = {});

/// The settings to go on with: those of the checkpoint, and of what says nothing about the physics
/// those that the user gave.
///
/// \param line, given  the command line
/// \throws PreconditionError naming every difference in the physics
Settings settings_to_go_on(CommandLine const& line, Settings const& given,
                           Checkpoint const& checkpoint);

/// Returns action(), a step of reading a checkpoint. A setting that is out of its range is the
/// file's fault then, not the user's.
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

/// Removes a checkpoint with its parts, if there is one.
///
/// \throws ResourceError if it can't be removed
void remove_checkpoint(std::filesystem::path const& path);

/// The particles that a rank has between steps: those of its planes of the lattice.
inline distributed::Share particles_of_rank(distributed::Group const& ranks, std::int64_t side) {
  auto const planes = distributed::share_of(side, ranks.rank(), ranks.size());
  return {planes.first * side * side, planes.count * side * side};
}

namespace detail {

inline constexpr std::int64_t checkpoint_block = 1 << 18;  // particles at a time

/// \param folder  that the file is in
void write_checkpoint_header(hdf5::Writer& file, std::filesystem::path const& folder,
                             Settings const& settings, std::vector<double> const& scale_factors,
                             int steps_done, bool has_parts = false);

/// Writes the file over parts, and removes those of the checkpoint before.
///
/// \param counts, checksums  of each part
void write_checkpoint_over_parts(std::filesystem::path const& path, Settings const& settings,
                                 std::vector<double> const& scale_factors, int steps_done,
                                 char letter, std::vector<std::int64_t> const& counts,
                                 std::vector<std::uint64_t> const& checksums);

/// Removes parts that no checkpoint lists: runs that were ended while they wrote have left them.
void remove_parts_without_head(std::filesystem::path const& path);

template <class Exec, class T>
void write_vectors(hdf5::Writer& file, coir::nbody::Particles<Exec, T> const& particles,
                   Poll const& poll) {
  std::int64_t const count = particles.count();
  std::vector<T> block(3 * static_cast<std::size_t>(std::min(count, checkpoint_block)));
  auto const write = [&](char const* name, auto const& vectors) {
    file.make_dataset(name, hdf5::type_of<T>, {count, 3});
    for (std::int64_t first = 0; first < count; first += checkpoint_block) {
      if (poll) poll();
      std::int64_t const rows = std::min(checkpoint_block, count - first);
      std::span<T> const part(block.data(), 3 * static_cast<std::size_t>(rows));
      copy_rows(vectors, first, part);
      file.append(name, std::span<T const>(part));
    }
  };
  write("positions", particles.position);
  write("momenta", particles.momentum);
}

/// Writes this rank's part, which gets its name when all are written.
///
/// \return its checksum
template <class Exec, class T>
std::uint64_t write_checkpoint_part(distributed::Group const& ranks,
                                    std::filesystem::path const& path,
                                    coir::nbody::Particles<Exec, T> const& particles,
                                    Poll const& poll) {
  auto written = on_all(ranks, [&] {
    std::optional<hdf5::Writer> file;
    if (particles.count() == 0) return file;
    file.emplace(path, hdf5::WriterOptions{.checked = true});
    write_vectors<Exec, T>(*file, particles, poll);
    return file;
  });
  return on_all(ranks, [&] {
    if (!written) return std::uint64_t(0);
    written->commit(poll);
    return io::stored_checksum(path);
  });
}

}  // namespace detail

/// Writes a checkpoint, whole or not at all: one that was there before stays until then.
/// Collective.
///
/// \throws ResourceError if it can't be written
template <class Exec, class T>
void write_checkpoint(distributed::Group const& ranks, std::filesystem::path const& path,
                      Settings const& settings, std::vector<double> const& scale_factors,
                      int steps_done, coir::nbody::Particles<Exec, T> const& particles,
                      Poll const& poll = {}) {
  if (ranks.size() == 1) {
    hdf5::Writer file(path, {.checked = true});
    detail::write_checkpoint_header(file, path.parent_path(), settings, scale_factors, steps_done);
    detail::write_vectors<Exec, T>(file, particles, poll);
    file.commit(poll);
    remove_other_parts(path, 0, 0);
    return;
  }
  char letter = 0;
  on_first(ranks, [&] {
    detail::remove_parts_without_head(path);
    letter = free_checkpoint_letter(path);
  });
  ranks.broadcast(static_cast<void*>(&letter), 1);  // as bytes, not as text
  FilesOfRanks const all(ranks, particles.count());
  auto const part = checkpoint_part(path, letter, all.number);
  try {
    auto const checksum = detail::write_checkpoint_part<Exec, T>(ranks, part, particles, poll);
    auto const checksums =
        ranks.gather_all(std::span(&checksum, particles.count() > 0 ? std::size_t(1) : 0));
    on_first(ranks, [&] {
      detail::write_checkpoint_over_parts(path, settings, scale_factors, steps_done, letter,
                                          all.counts, checksums);
    });
  } catch (...) {
    std::error_code none;
    if (particles.count() > 0) std::filesystem::remove(part, none);
    throw;
  }
}

/// Reads this rank's particles from a checkpoint, and closes it. Collective.
///
/// \throws InputError if they aren't finite, or outside of the box
template <class Exec, class T>
coir::nbody::Particles<Exec, T> read_particles(distributed::Group const& ranks,
                                               Checkpoint& checkpoint, Settings const& settings,
                                               Poll const& poll = {}) {
  using Particles = coir::nbody::Particles<Exec, T>;
  using Vectors = typename Particles::Vectors;
  Particles particles{settings.particles, settings.box, {}, {}};
  auto const own = particles_of_rank(ranks, settings.particles);
  particles.sites = own;
  std::vector<T> block;
  // Reads a block of one part's particles, from `first` on.
  auto const read_block = [&](CheckpointPart const& part, char const* name, std::int64_t first,
                              std::size_t rows, Vectors const& vectors, auto const& is_possible,
                              std::string const& limits) {
    std::span<T> const numbers(block.data(), 3 * rows);
    part.file->read_rows(name, first - part.particles.first, numbers);
    auto const bad = std::find_if_not(numbers.begin(), numbers.end(), is_possible);
    if (bad != numbers.end())
      throw InputError(part.path.string() + ": in '" + name + "' of particle " +
                       std::to_string(first + (bad - numbers.begin()) / 3) + " is " +
                       in_words(*bad) + ", which must be " + limits + ": the file is damaged");
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    Kokkos::View<T const* [3], Kokkos::LayoutRight, Kokkos::HostSpace, Unmanaged> const source(
        block.data(), rows);
    Kokkos::View<T* [3], Kokkos::LayoutRight, typename Exec::memory_space, Unmanaged> const target(
        vectors.data() + 3 * (first - own.first), rows);
    copy_contiguous(target, source);
  };
  auto const read = [&](char const* name, auto const& is_possible, std::string const& limits) {
    Vectors const vectors(Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::nbody::particles"),
                          static_cast<std::size_t>(own.count));
    for (auto const& part : checkpoint.parts) {
      std::int64_t const end = std::min(own.end(), part.particles.end());
      for (std::int64_t first = std::max(own.first, part.particles.first); first < end;
           first += detail::checkpoint_block) {
        if (poll) poll();
        auto const rows = static_cast<std::size_t>(std::min(detail::checkpoint_block, end - first));
        read_block(part, name, first, rows, vectors, is_possible, limits);
      }
    }
    return vectors;
  };
  T const length = static_cast<T>(settings.box);
  on_all(ranks, [&] {
    block.resize(3 * static_cast<std::size_t>(std::min(own.count, detail::checkpoint_block)));
    particles.position = read(
        "positions", [=](T x) { return x >= T(0) && x < length; },
        "in the box, from 0 to below " + in_words(settings.box));
    particles.momentum = read("momenta", [](T p) { return std::isfinite(p); }, "finite");
  });
  checkpoint.parts.clear();
  return particles;
}

}  // namespace coir::apps::nbody
