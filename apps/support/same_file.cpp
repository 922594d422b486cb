#include <support/same_file.hpp>

#include <coir/core/errors.hpp>
#include <coir/io/atomic_path.hpp>

#include <sys/stat.h>

#include <map>
#include <string>
#include <system_error>

namespace coir::apps {

namespace fs = std::filesystem;

namespace {

/// What tells a file from all others: its place on its device, or its path if it isn't there yet.
std::string identity_of(fs::path const& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0)
    return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
  std::error_code none;
  return io::resolved(fs::absolute(path, none)).string();
}

}  // namespace

bool same_file(fs::path const& a, fs::path const& b) { return identity_of(a) == identity_of(b); }

void expects_different_files(std::vector<NamedFile> const& outputs,
                             std::vector<NamedFile> const& inputs) {
  std::map<std::string, NamedFile> seen;
  auto const expects_unseen = [&seen](NamedFile const& file, bool is_output) {
    if (file.path.empty()) return;
    std::string const identity = identity_of(file.path);
    auto const found = seen.find(identity);
    if (found == seen.end()) {
      if (is_output) seen.emplace(identity, file);
      return;
    }
    NamedFile const& other = found->second;
    throw PreconditionError(
        other.name + " and " + file.name + " must name different files, and " +
        other.path.string() +
        (file.path == other.path ? " is named by both" : " is " + file.path.string()));
  };
  for (auto const& output : outputs) expects_unseen(output, true);
  for (auto const& input : inputs) expects_unseen(input, false);
}

void expects_good_files(std::vector<NamedFile> const& outputs,
                        std::vector<NamedFile> const& inputs) {
  expects_different_files(outputs, inputs);
  for (auto const& output : outputs)
    if (!output.path.empty()) try {
        io::AtomicPath{output.path};
      } catch (ResourceError const& error) {
        throw ResourceError(output.name + " " + error.what());
      }
}

}  // namespace coir::apps
