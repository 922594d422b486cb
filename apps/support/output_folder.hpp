#pragma once

#include <filesystem>

namespace coir::apps {

/// A folder that files are going to be written to, by one program at a time. It is made if it isn't
/// there, and goes again if nothing has come into it when the program ends.
class OutputFolder {
 public:
  /// \param first  a file that is going to come into it
  /// \throws ResourceError naming the path and the cause if the folder can't be made, or the file
  ///   not written, or another program writes there
  OutputFolder(std::filesystem::path path, std::filesystem::path const& first);
  ~OutputFolder();
  OutputFolder(OutputFolder const&) = delete;
  OutputFolder& operator=(OutputFolder const&) = delete;

 private:
  void lock();

  std::filesystem::path path_;
  bool is_new_ = false;
  int lock_ = -1;  // the folder, opened
};

}  // namespace coir::apps
