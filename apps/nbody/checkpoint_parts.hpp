#pragma once

/// The files of a checkpoint that several ranks wrote: a part from each, and over them the one that
/// names the checkpoint, which is written last. The parts of a new checkpoint have another letter
/// in their names, so that the earlier one stays whole until then.

#include <filesystem>
#include <string_view>

namespace coir::apps::nbody {

/// The name of every checkpoint that a run writes: parts of one have names that begin alike.
inline constexpr std::string_view checkpoint_name = "checkpoint.hdf5";

inline constexpr std::string_view checkpoint_letters = "abcdefghijklmnopqrstuvwxyz";

/// web/checkpoint.hdf5 -> web/checkpoint.a.0.hdf5
std::filesystem::path checkpoint_part(std::filesystem::path const& checkpoint, char letter,
                                      int part);

/// web/checkpoint.a.0.hdf5 -> web/checkpoint.hdf5; empty if it isn't the name of a part
std::filesystem::path checkpoint_of_part(std::filesystem::path const& part);

/// A letter of which there are no parts.
///
/// \throws ResourceError if there is none left
char free_checkpoint_letter(std::filesystem::path const& checkpoint);

/// Removes the parts beside a checkpoint that don't belong to it: of earlier ones, and of runs that
/// were ended while they wrote theirs, on whatever number of ranks.
///
/// \param letter, parts  of those that belong to it; letter 0: none does
void remove_other_parts(std::filesystem::path const& checkpoint, char letter, int parts);

}  // namespace coir::apps::nbody
