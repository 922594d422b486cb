#pragma once

#include <coir/distributed/group.hpp>

#include <support/output_folder.hpp>

#include <filesystem>
#include <optional>

namespace coir::apps::nbody {

/// The folder of a run's files, which the first rank makes and holds. All others must see it, too,
/// under the same name.
class SharedFolder {
 public:
  /// Collective.
  ///
  /// \param first  a file that is going to come into it
  /// \throws ResourceError as OutputFolder, and naming a rank that doesn't see what the first one
  ///   writes there, or can't write
  SharedFolder(distributed::Group const& ranks, std::filesystem::path const& folder,
               std::filesystem::path const& first);

 private:
  std::optional<OutputFolder> folder_;
};

}  // namespace coir::apps::nbody
