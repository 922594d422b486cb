#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace coir::apps {

/// Whether two paths lead to one file, however they are spelt and over whatever links. The file
/// needn't exist.
bool same_file(std::filesystem::path const& a, std::filesystem::path const& b);

/// A file on the command line.
struct NamedFile {
  std::string name;            ///< of the option: "--output"
  std::filesystem::path path;  ///< empty: not given
};

/// Every application calls this, before any work, with all files that it is going to write and all
/// that it reads.
///
/// \throws PreconditionError naming the options if an output is another output or an input, which
/// it would overwrite
void expects_different_files(std::vector<NamedFile> const& outputs,
                             std::vector<NamedFile> const& inputs = {});

/// expects_different_files(), and whether each output can be written; that leaves no trace.
///
/// \throws ResourceError naming the option if one can't, see io::AtomicPath
void expects_good_files(std::vector<NamedFile> const& outputs,
                        std::vector<NamedFile> const& inputs = {});

}  // namespace coir::apps
