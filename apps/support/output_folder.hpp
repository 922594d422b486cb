#pragma once

#include <filesystem>

namespace coir::apps {

/// A folder that files are going to be written to. It is made if it isn't there, and goes again if nothing has come
/// into it when the program ends.
class OutputFolder {
 public:
  /// \param first  a file that is going to come into it
  /// \throws ResourceError naming the path and the cause if the folder can't be made, or the file not written
  OutputFolder(std::filesystem::path path, std::filesystem::path const& first);
  ~OutputFolder();
  OutputFolder(OutputFolder const&) = delete;
  OutputFolder& operator=(OutputFolder const&) = delete;

 private:
  std::filesystem::path path_;
  bool is_new_ = false;
};

}  // namespace coir::apps
