#pragma once

/// Files of a snapshot that was written in another number of files, as on another number of ranks:
/// readers would take them together with those of the new one.

#include "schedule.hpp"

#include <filesystem>
#include <vector>

namespace coir::apps::nbody {

/// The files of a snapshot that are in the run's folder and that one in so many files doesn't
/// replace: snapshot_a1.000.hdf5 and snapshot_a1.000.2.hdf5, say, beside snapshot_a1.000.0.hdf5 and
/// snapshot_a1.000.1.hdf5.
std::vector<std::filesystem::path> other_snapshot_files(FileNames const& names, double a,
                                                        int files);

/// \throws ResourceError naming one of them and the remedy, if there are any
void expects_no_other_snapshot_files(FileNames const& names, double a, int files);

void remove_other_snapshot_files(FileNames const& names, double a, int files);

}  // namespace coir::apps::nbody
